/// A row of any table as the feed gives it, also of a table that this version doesn't know.
public struct FeedRow: Hashable, Sendable {
    public var table: Text
    public var id: ItemID
    public var version: Int64
    public var changeSeq: Int64
    /// Whether it is a tombstone.
    public var deleted: Bool
    /// The whole row.
    public var json: JSON

    public init(json: JSON) throws(RowError) {
        let row = try MemberReader(json, "row")
        table = try row.text("table")
        id = try row.id("id")
        version = try row.integer("version")
        changeSeq = try row.integer("change_seq")
        deleted = try row.orNull("deleted_at")?.text("deleted_at") != nil
        self.json = json
    }

    /// Whose row it is: a profile is its user's own, every other row names its owner.
    public var owner: ItemID? { table == "profiles" ? id : json["user_id"]?.text.flatMap { ItemID($0) } }
}

/// One page of the change feed.
public struct FeedPage: Hashable, Sendable {
    /// In the order of their `change_seq`. Rows of another user than `userID` are dropped.
    public var rows: [FeedRow]
    /// The cursor for the next page.
    public var next: Int64
    /// Whether there is another page now.
    public var more: Bool
    public var userID: ItemID
    public var schemaVersion: Int
    public var serverTime: Text
    /// Which of the change ids that were named as in flight were applied.
    public var applied: [ItemID]
    /// The cursor asked for is beyond the server's newest number.
    public var behind: Bool
    /// On the last page: how many rows the user has over all tables.
    public var total: Int64?
    /// On the last page: the sum of their `change_seq`, which may be beyond 64 bits.
    public var sum: Text?

    /// Reads the answer to a page that was asked for from the cursor `since`.
    public init(json: JSON, since: Int64) throws(RowError) {
        let page = try MemberReader(json, "page")
        var rows: [FeedRow] = []
        for json in try page.array("rows") { rows.append(try FeedRow(json: json)) }
        next = try page.integer("next")
        more = try page.bool("more")
        userID = try page.id("user_id")
        schemaVersion = Int(try page.integer("schema_version"))
        serverTime = try page.text("server_time")
        applied = try page.ids("applied")
        behind = try page.bool("behind")
        total = try page.orNull("total")?.integer("total")
        sum = try page.orNull("sum")?.text("sum")

        // A feed that repeats or skips is worse than none: it would loop, or lose a row for good.
        var last = since
        for row in rows {
            guard row.changeSeq > last else { throw RowError("page.rows", expected: "in order behind the cursor") }
            last = row.changeSeq
        }
        guard next == last else { throw RowError("page.next", expected: "the number of the last row") }
        if more, rows.isEmpty { throw RowError("page.rows", expected: "at least one row, though there are more") }
        let owner = userID
        self.rows = rows.filter { $0.owner == owner }
    }
}
