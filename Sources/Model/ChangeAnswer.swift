/// What the server says about one change of a batch.
public struct ChangeAnswer: Hashable, Sendable {
    public enum Status: String, Sendable {
        case applied
        /// The version had moved.
        case conflict
        /// A rule said no: `code` and `message` say which.
        case refused
        /// What it depends on wasn't applied.
        case held
    }

    public var changeID: ItemID
    public var status: Status
    /// An SQLSTATE, or a code of our own (`OT001`).
    public var code: Text?
    public var message: Text?
    /// The row as it now stands, with all its columns.
    public var row: JSON?

    public init(changeID: ItemID, status: Status, code: Text? = nil, message: Text? = nil, row: JSON? = nil) {
        self.changeID = changeID
        self.status = status
        self.code = code
        self.message = message
        self.row = row
    }

    public init(json: JSON) throws(RowError) {
        let answer = try MemberReader(json, "answer")
        guard let status = Status(rawValue: try answer.text("status").string) else {
            throw RowError("answer.status", expected: "applied, conflict, refused or held")
        }
        self.init(
            changeID: try answer.id("change_id"), status: status, code: try answer.orNull("code")?.text("code"),
            message: try answer.orNull("message")?.text("message"),
            row: (try answer.orNull("row")?.object("row")).map(JSON.object))
    }
}
