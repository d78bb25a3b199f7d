import Libraries
import Model
import Workspace

/// What is noted of an item by its id alone.
public enum Mark: String, Hashable, Sendable, CaseIterable {
    /// Its file was here and this device saw it go, or `restore` or `undo` is about to lay it down: a file that bears
    /// the id is wanted back.
    case gone
    /// Its deletion was made by name: the guard doesn't count it, and other devices don't ask.
    case deletedByName
    /// The id belongs to another account: a file that bears it is a copy from elsewhere.
    case takenElsewhere
}

/// Each reading throws `JournalError`. Several that must fit together belong in one `snapshot`.
extension Journal {
    public func meta() throws -> Meta {
        let rows = try wrapped { try database.query("select key, value from meta") }
        var stored: [String: SQLValue] = [:]
        for row in rows { if let key = row[0].text { stored[key] = row[1] } }
        return Meta(stored: stored)
    }

    /// A small fact that was put under this key.
    public func fact(_ key: Text) throws -> Text? {
        try wrapped { try database.query("select value from facts where key = ?", SQLValue(key)).first?[0].asText }
    }

    public func knownTasks() throws -> [ItemID: KnownTask] { try byID(all(), \.id) }

    /// Those of these tasks that are known.
    public func known(_ ids: some Sequence<ItemID>) throws -> [ItemID: KnownTask] {
        try byID(ids.flatMap { try all("where id = ?", [SQLValue($0)]) }, \.id)
    }

    /// The stat cache, by path relative to the workspace.
    public func cachedFiles() throws -> [Text: CachedFile] {
        let entries: [CacheEntry] = try all()
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.path, $0.file) })
    }

    public func conflicts() throws -> [ItemID: ConflictRecord] { try byID(all(), \.id) }

    /// The items of which a conflict, a refusal, a later try or a record in flight is kept.
    public func itemsWithRecords() throws -> [ItemID] {
        try wrapped {
            try database.query(
                "select id from conflicts union select id from refusals union select id from later union select id from in_flight"
            ).compactMap { $0[0].id }
        }
    }

    public func refusals() throws -> [RefusalRecord] { try all("order by id, field") }

    public func later() throws -> [ItemID: LaterRecord] { try byID(all(), \.id) }

    /// In the order in which they were sent.
    public func inFlight() throws -> [InFlightRecord] { try all("order by sent, rowid") }

    /// Those of the last 30 days that nobody was shown, the oldest first.
    public func notices(at now: Instant) throws -> [Notice] {
        try all("where shown = 0 and time >= ? order by time, rowid", [SQLValue(now + -Lifetime.notice)])
    }

    public func formerPlaces() throws -> [Text: FormerPlace] {
        let places: [FormerPlace] = try all()
        return Dictionary(uniqueKeysWithValues: places.map { ($0.place, $0) })
    }

    public func pendingWrites() throws -> [PendingWrite] { try all("order by rowid") }

    public func moves() throws -> [MoveRecord] { try all("order by rowid") }

    public func displaced() throws -> [DisplacedRecord] { try all("order by at, rowid") }

    /// The files of which the history doesn't have what they are now.
    public func unrecorded() throws -> [UnrecordedFile] { try all("order by path") }

    /// The items with this mark, and since when.
    public func marked(_ mark: Mark) throws -> [ItemID: Instant] {
        try wrapped {
            let rows = try database.query("select id, since from marks where kind = ?", .text(mark.rawValue))
            var marked: [ItemID: Instant] = [:]
            for row in rows {
                var reader = RowReader(row, of: "marks")
                marked[try reader.id()] = try reader.instant()
            }
            return marked
        }
    }

    /// Refused new files that a person dismissed: they stay here only, until they change. By place, with their content.
    public func keptHere() throws -> [Text: Digest] {
        try wrapped {
            var kept: [Text: Digest] = [:]
            for row in try database.query("select place, digest from kept_here") {
                var reader = RowReader(row, of: "kept_here")
                kept[try reader.text()] = try reader.digest()
            }
            return kept
        }
    }

    /// Deletions that went through since this moment, allowed ones left out by whoever put them.
    public func recentDeletions(since: Instant) throws -> [DeletionCount] {
        try all("where at >= ? order by at, rowid", [SQLValue(since)])
    }

    private func byID<Value>(_ values: [Value], _ id: KeyPath<Value, ItemID>) -> [ItemID: Value] {
        Dictionary(uniqueKeysWithValues: values.map { ($0[keyPath: id], $0) })
    }
}

/// How long the journal keeps what it keeps for a while, in seconds.
enum Lifetime {
    static let inFlight = 86_400.0
    static let formerPlace = 86_400.0
    static let beforeID = 7 * 86_400.0
    static let notice = 30 * 86_400.0
    static let deletions = 3_600.0
}
