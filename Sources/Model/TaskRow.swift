/// A row of `tasks` as the feed gives it, a tombstone too.
public struct TaskRow: Hashable, Sendable {
    public var id: ItemID
    public var userID: ItemID
    public var content: TaskContent
    /// Where the task lies, without `.md`; nil for a task that no device with files has placed yet.
    public var path: Text?
    /// Times as the server writes them (`2026-11-30T10:00:00.123456+00:00`), kept as text: nothing is lost.
    public var createdAt: Text
    public var updatedAt: Text
    /// When the row became a tombstone; nil for a live one.
    public var deletedAt: Text?
    public var version: Int64
    public var changeSeq: Int64
    /// Whether the deletion was allowed by number or made by name: no other device asks again.
    public var allowed: Bool
    /// Field name → when, by which device, in which change.
    public var changed: JSON

    public init(
        id: ItemID, userID: ItemID, content: TaskContent, path: Text? = nil, createdAt: Text, updatedAt: Text,
        deletedAt: Text? = nil, version: Int64, changeSeq: Int64, allowed: Bool = false, changed: JSON = [:]
    ) {
        self.id = id
        self.userID = userID
        self.content = content
        self.path = path
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.deletedAt = deletedAt
        self.version = version
        self.changeSeq = changeSeq
        self.allowed = allowed
        self.changed = changed
    }

    /// Own keys that would be taken for something else in the front matter; a row's are passed over.
    private static let reservedKeys: Set<Text> = ["id", "done", "title"]

    /// Reads a row. Null counts as empty in the columns that an app's own table may have left open; another type, or a
    /// column that is not there at all, throws.
    public init(json: JSON) throws(RowError) {
        let row = try MemberReader(json, "tasks")
        let properties = try row.orNull("properties")?.object("properties") ?? [:]
        let notes = try row.orNull("notes")?.text("notes") ?? ""
        self.init(
            id: try row.id("id"), userID: try row.id("user_id"),
            content: TaskContent(
                title: try row.orNull("title")?.text("title") ?? "",
                notes: TaskContent.normalizedNotes(notes),
                done: try row.orNull("done")?.bool("done") ?? false,
                properties: properties.filter { !Self.reservedKeys.contains($0.key) }),
            path: try row.orNull("path")?.text("path"),
            createdAt: try row.text("created_at"), updatedAt: try row.text("updated_at"),
            deletedAt: try row.orNull("deleted_at")?.text("deleted_at"),
            version: try row.integer("version"), changeSeq: try row.integer("change_seq"),
            allowed: try row.bool("allowed"), changed: .object(try row.object("changed")))
    }

    /// The row as the feed writes it.
    public var json: JSON {
        [
            "table": "tasks", "id": .string(id.text), "user_id": .string(userID.text), "title": .string(content.title),
            "notes": .string(content.notes), "done": .bool(content.done), "path": path.map(JSON.string) ?? .null,
            "properties": .object(content.properties), "created_at": .string(createdAt),
            "updated_at": .string(updatedAt), "deleted_at": deletedAt.map(JSON.string) ?? .null,
            "version": .integer(version), "change_seq": .integer(changeSeq), "allowed": .bool(allowed),
            "changed": changed,
        ]
    }

    /// The fields of the task: those of its content, and `path` where it has one.
    public var fields: FieldValues {
        var fields = content.fields
        if let path { fields[.path] = .string(path) }
        return fields
    }
}
