import Libraries
import Model

extension KnownTask: Stored {
    static let table = Table(
        "known",
        """
        id, place, is_moved, inode, birth, clean, modified, has_id_line, frozen, base, unagreed, before_id, before_id_since, \
        before_pull, before_pull_since, has_base, settled
        """)

    /// All but `settled`, which takes the remote row to know.
    var columns: [SQLValue] {
        [
            SQLValue(id), SQLValue(place), SQLValue(isMoved), SQLValue(inode: identity?.inode),
            SQLValue(identity?.birth),
            SQLValue(cleanDigest), SQLValue(modified), SQLValue(hasIDLine), SQLValue(frozen), SQLValue(base?.values),
            base.map { SQLValue($0.unagreed) } ?? .null, SQLValue(beforeID?.values), SQLValue(beforeID?.since),
            SQLValue(beforePull?.values), SQLValue(beforePull?.since), SQLValue(base != nil),
        ]
    }

    init(_ row: inout RowReader) throws {
        self.init(
            id: try row.id(), place: try row.optionalText(), isMoved: try row.flag(), identity: try row.identity(),
            cleanDigest: try row.optionalDigest(), modified: try row.optional(\.integer))
        hasIDLine = try row.flag()
        frozen = try row.optionalText()
        let values = try row.optionalFields()
        let unagreed = try row.optional { $0.json?.array }
        beforeID = try row.earlierText()
        beforePull = try row.earlierText()
        guard let values, let unagreed else { return }
        base = Base(values: values, unagreed: Set(unagreed.compactMap { $0.text.flatMap { Field(name: $0) } }))
    }
}

/// What a run reads of every task, without its texts.
public struct TaskOutline: Hashable, Sendable {
    /// The server's row, as last seen.
    public struct Remote: Hashable, Sendable {
        public var version: Int64
        public var isDeleted: Bool
        /// False for a row that this `otask` can't read as a task (`Journal.unreadableTasks`).
        public var isReadable: Bool
    }

    public let id: ItemID
    /// False for a task that only the server has: all that follows, `remote` apart, is empty.
    public var isKnown: Bool
    public var place: Text?
    public var isMoved: Bool
    public var identity: FileIdentity?
    public var cleanDigest: Digest?
    /// Nanoseconds since 1970.
    public var modified: Int64?
    public var hasIDLine: Bool
    public var hasBase: Bool
    /// The server's row is live and says in every field what the base says: with a file of `cleanDigest` at `place`,
    /// which no person moved there (`isMoved`), there is nothing to do.
    public var isSettled: Bool
    public var frozen: Text?
    public var remote: Remote?
}

extension TaskOutline {
    static let known = """
        select k.id, 1, k.place, k.is_moved, k.inode, k.birth, k.clean, k.modified, k.has_id_line, k.has_base, \
        k.settled, k.frozen, r.version, r.deleted, r.readable \
        from known k left join remote r indexed by remote_outline on r.kind = 'tasks' and r.id = k.id
        """
    static let remoteOnly = """
        select id, 0, null, 0, null, null, null, null, 0, 0, 0, null, version, deleted, readable \
        from remote where kind = 'tasks' and id not in (select id from known)
        """

    init(_ row: inout RowReader) throws {
        id = try row.id()
        isKnown = try row.flag()
        place = try row.optionalText()
        isMoved = try row.flag()
        identity = try row.identity()
        cleanDigest = try row.optionalDigest()
        modified = try row.optional(\.integer)
        hasIDLine = try row.flag()
        hasBase = try row.flag()
        isSettled = try row.flag()
        frozen = try row.optionalText()
        let version = try row.optional(\.integer)
        let isDeleted = try row.optional(\.flag)
        let isReadable = try row.optional(\.flag)
        guard let version, let isDeleted, let isReadable else { return }
        remote = Remote(version: version, isDeleted: isDeleted, isReadable: isReadable)
    }
}
