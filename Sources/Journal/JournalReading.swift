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

    /// The stat cache, with the files of settled tasks marked in it, and the tasks that are not settled. No text of a task is
    /// read for it.
    ///
    /// - Parameter idsInFiles: a file that lacks its id line isn't settled: it is to be written there.
    public func settledFiles(idsInFiles: Bool) throws -> (files: SettledFiles, others: [ItemID]) {
        try wrapped {
            var files = SettledFiles()
            var (place, id, digest) = ([UInt8](), [UInt8](), [UInt8]())
            let damage = { (table: String) in UnreadableRow(reason: Text("a row of \(table) can't be read")) }
            func item(_ bytes: [UInt8]) throws -> ItemID {
                guard let id = ItemID(String(decoding: bytes, as: UTF8.self)) else { throw damage("known") }
                return id
            }
            try database.forEach("select path, digest, size, modified, changed, inode, birth, recorded from files") {
                row in
                guard row.read(0, into: &place), row.read(1, into: &digest), let size = row.integer(2),
                    let modified = row.integer(3), let changed = row.integer(4), let inode = row.integer(5),
                    let recorded = row.integer(7)
                else { throw damage("files") }
                files.add(
                    path: place,
                    stamp: FileStamp(
                        size: size, modified: modified, changed: changed, inode: UInt64(bitPattern: inode),
                        birth: row.integer(6)),
                    recorded: Instant(nanoseconds: recorded), digest: digest)
            }
            var others: [ItemID] = []
            try database.forEach(
                """
                select id, place, clean, inode, birth, modified, has_id_line, settled, done \
                from known indexed by known_outline
                """
            ) { row in
                guard row.read(0, into: &id), id.count == 36 else { throw damage("known") }
                guard row.read(1, into: &place) else { return others.append(try item(id)) }
                var isSettled = row.integer(7) == 1 && (row.integer(6) == 1 || !idsInFiles)
                if isSettled, row.read(2, into: &digest), let inode = row.integer(3), let birth = row.integer(4) {
                    isSettled = files.settle(
                        place: place, id: id, digest: digest,
                        identity: FileIdentity(inode: UInt64(bitPattern: inode), birth: birth),
                        modified: row.integer(5), isDone: row.integer(8) == 1)
                } else {
                    isSettled = false
                }
                if isSettled { return }
                others.append(try item(id))
                files.contest(place: place)
            }
            return (files, others)
        }
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
