import Libraries
import Model
import Workspace

/// Writes into the transaction of one `Journal.commit`.
public struct JournalWriter: ~Copyable {
    let journal: Journal

    // MARK: The workspace

    public func updateMeta(_ change: (inout Meta) -> Void) throws {
        let old = try journal.meta()
        var meta = old
        change(&meta)
        if meta == old { return }
        for (key, value) in meta.stored {
            try journal.run("insert or replace into meta (key, value) values (?, ?)", [.text(key), value])
        }
    }

    /// Puts a small fact under a key; nil takes it away.
    public func put(fact: Text?, for key: Text) throws {
        if let fact {
            try journal.run(
                "insert or replace into facts (key, value) values (?, ?)", [SQLValue(key), SQLValue(fact)])
        } else {
            try journal.run("delete from facts where key = ?", [SQLValue(key)])
        }
    }

    // MARK: Remote

    /// Stores the rows of a page and moves the cursor behind it.
    public func store(_ page: FeedPage) throws -> StoredRows {
        let result = try store(page.rows)
        try updateMeta {
            $0.cursor = page.next
            $0.serverSchema = Int64(page.schemaVersion)
            $0.serverTime = page.serverTime
        }
        return result
    }

    /// Stores rows of answers: each goes into Remote, unless the row there has a higher version.
    public func store(_ rows: [FeedRow]) throws -> StoredRows {
        var result = StoredRows()
        for row in rows {
            if try journal.store(row) { result.stored += 1 } else { result.suspects.append(row) }
        }
        return result
    }

    /// The feed is read from 0 again, with nothing forgotten.
    public func rewind() throws { try updateMeta { $0.cursor = 0 } }

    /// The server was set back: cursor, versions and Base are forgotten, places and ids stay.
    public func forgetRemoteAndBase() throws {
        try rewind()
        try journal.run("delete from remote")
        try journal.run("update known set base = null, unagreed = null, has_base = 0, clean = null, settled = 0")
    }

    /// The account changes: everything goes but what tells the workspace and this machine, and the mark of the change.
    public func empty() throws {
        for table in Self.contents { try journal.run("delete from \(table)") }
        try updateMeta { meta in
            let old = meta
            meta = Meta()
            meta.marker = old.marker
            meta.machineID = old.machineID
            meta.homeIdentity = old.homeIdentity
            meta.device = old.device
            meta.accountChange = old.accountChange
        }
    }

    /// Every table but `meta`.
    static let contents = [
        "facts", "remote", "known", "files", "outline", "conflicts", "refusals", "later", "in_flight", "notices",
        "former_places", "pending_writes", "moves", "displaced", "marks", "kept_here", "recent_deletions",
        "unrecorded",
    ]

    // MARK: Tasks

    public func put(_ task: KnownTask) throws {
        let row = task.base == nil ? nil : try journal.remoteTask(task.id)
        let settled = Journal.isSettled(task, row: row)
        try journal.run(KnownTask.table.put, task.columns + [SQLValue(settled)])
    }

    public func removeKnownTask(_ id: ItemID) throws { try remove("known", "id", SQLValue(id)) }

    public func put(_ conflict: ConflictRecord) throws { try journal.put(conflict) }
    public func removeConflict(_ id: ItemID) throws { try remove("conflicts", "id", SQLValue(id)) }

    public func put(_ refusal: RefusalRecord) throws { try journal.put(refusal) }
    /// All refusals of an item.
    public func removeRefusals(_ id: ItemID) throws { try remove("refusals", "id", SQLValue(id)) }
    /// The refusal of one field, or (nil) of the whole change.
    public func removeRefusal(_ id: ItemID, _ field: Field?) throws {
        try journal.run(
            "delete from refusals where id = ? and field = ?", [SQLValue(id), SQLValue(field?.name ?? "")])
    }

    public func put(_ later: LaterRecord) throws { try journal.put(later) }
    public func removeLater(_ id: ItemID) throws { try remove("later", "id", SQLValue(id)) }

    public func put(_ record: InFlightRecord) throws { try journal.put(record) }
    public func removeInFlight(changeID: ItemID) throws { try remove("in_flight", "change_id", SQLValue(changeID)) }

    public func mark(_ id: ItemID, _ mark: Mark, since: Instant) throws {
        try journal.run(
            "insert or replace into marks (kind, id, since) values (?, ?, ?)",
            [.text(mark.rawValue), SQLValue(id), SQLValue(since)])
    }

    public func unmark(_ id: ItemID, _ mark: Mark) throws {
        try journal.run("delete from marks where kind = ? and id = ?", [.text(mark.rawValue), SQLValue(id)])
    }

    public func put(_ count: DeletionCount) throws { try journal.put(count) }

    // MARK: Files

    /// Brings the stat cache up to date.
    public func replaceCachedFiles(changed: [Text: CachedFile], removed: some Sequence<Text>) throws {
        for path in removed { try remove("files", "path", SQLValue(path)) }
        for (path, file) in changed { try journal.put(CacheEntry(path: path, file: file)) }
    }

    /// The workspace was copied or restored: no stamp means anything here.
    public func dropCachedFiles() throws { try journal.run("delete from files") }

    public func put(_ place: FormerPlace) throws { try journal.put(place) }
    public func removeFormerPlace(_ place: Text) throws { try remove("former_places", "place", SQLValue(place)) }

    /// From here on the target isn't what the history has.
    public func put(_ write: PendingWrite) throws {
        try journal.put(write)
        try putUnrecorded(write.target, .own, leaving: write.kind == .place ? nil : write.item)
        if write.kind != .remove { try putUnrecorded(write.target, .own, arriving: write.item) }
    }
    public func removePendingWrite(temporary: Text) throws {
        try remove("pending_writes", "temporary", SQLValue(temporary))
    }

    /// From here on both places aren't what the history has.
    public func put(_ move: MoveRecord) throws {
        try journal.put(move)
        try putUnrecorded(move.move.from, .own, leaving: move.id)
        try putUnrecorded(move.move.to, .own, arriving: move.id)
    }
    public func removeMove(from: Text) throws { try remove("moves", #""from""#, SQLValue(from)) }

    public func put(_ displaced: DisplacedRecord) throws { try journal.put(displaced) }
    public func removeDisplaced(path: Text) throws { try remove("displaced", "path", SQLValue(path)) }

    /// Keeps a dismissed new file here only, until it is no longer this content.
    public func keepHere(_ place: Text, _ digest: Digest) throws {
        try journal.run(
            "insert or replace into kept_here (place, digest) values (?, ?)", [SQLValue(place), SQLValue(digest)])
    }

    public func removeKeptHere(_ place: Text) throws { try remove("kept_here", "place", SQLValue(place)) }

    // MARK: The history

    /// The history doesn't have what this file is now.
    ///
    /// - Parameters:
    ///   - leaving: the task whose file it was.
    ///   - arriving: the task whose file it is.
    public func putUnrecorded(
        _ path: Text, _ origin: UnrecordedFile.Origin, leaving old: ItemID? = nil, arriving new: ItemID? = nil
    ) throws {
        try journal.run(
            """
            insert into unrecorded (path, own, old_id, new_id) values (?, ?, ?, ?) on conflict (path) do update set \
            own = max(own, excluded.own), old_id = coalesce(old_id, excluded.old_id), \
            new_id = coalesce(excluded.new_id, new_id)
            """, [SQLValue(path), SQLValue(origin == .own), SQLValue(old), SQLValue(new)])
    }

    /// The history has it now.
    public func removeUnrecorded(_ path: Text) throws { try remove("unrecorded", "path", SQLValue(path)) }

    // MARK: People

    /// The same notice a second time changes nothing.
    public func put(_ notice: Notice) throws {
        try journal.run(
            "insert or ignore into notices (time, path, text, undo) values (?, ?, ?, ?)", notice.columns)
    }

    public func markShown(_ notices: [Notice]) throws {
        for notice in notices {
            try journal.run(
                "update notices set shown = 1 where time = ? and path = ? and text = ?",
                [SQLValue(notice.time), SQLValue(notice.path), SQLValue(notice.text)])
        }
    }

    /// Removes what is kept only for a while: records in flight and former places after a day, what a file held before
    /// its id line after a week, notices after 30 days, counts of deletions after an hour.
    public func forgetExpired(at now: Instant) throws {
        let rules = [
            ("delete from in_flight where sent < ?", Lifetime.inFlight),
            ("delete from former_places where since < ?", Lifetime.formerPlace),
            (
                "update known set before_id = null, before_id_since = null where before_id_since < ?",
                Lifetime.beforeID
            ),
            ("delete from notices where time < ?", Lifetime.notice),
            ("delete from recent_deletions where at < ?", Lifetime.deletions),
        ]
        for (sql, seconds) in rules { try journal.run(sql, [SQLValue(now + -seconds)]) }
    }

    private func remove(_ table: String, _ key: String, _ value: SQLValue) throws {
        try journal.run("delete from \(table) where \(key) = ?", [value])
    }
}
