/// What is said to the server about one item, in one call with others. A change id belongs to one set of values.
public struct Change: Hashable, Sendable {
    public enum Operation: String, Sendable {
        case upsert, delete
    }

    public var changeID: ItemID
    /// The name of this device, for `why` and for notices elsewhere.
    public var device: Text
    public var table: Text
    public var operation: Operation
    public var id: ItemID
    /// The version of the Remote row that the plan was made from; nil for a row that isn't there yet.
    public var baseVersion: Int64?
    /// The fields of a task that changed, own keys too.
    public var fields: FieldValues
    /// The columns that changed in a row of another table.
    public var columns: [Text: JSON]
    /// Own keys that were removed.
    public var removed: [Text]
    /// A deletion that was allowed by number or made by name.
    public var allowed: Bool
    /// With the deletion of a task: the cursor it was planned at.
    public var seen: Int64?

    public init(
        changeID: ItemID, device: Text, table: Text = "tasks", operation: Operation, id: ItemID, baseVersion: Int64?,
        fields: FieldValues = [:], columns: [Text: JSON] = [:], removed: [Text] = [], allowed: Bool = false,
        seen: Int64? = nil
    ) {
        self.changeID = changeID
        self.device = device
        self.table = table
        self.operation = operation
        self.id = id
        self.baseVersion = baseVersion
        self.fields = fields
        self.columns = columns
        self.removed = removed
        self.allowed = allowed
        self.seen = seen
    }

    /// The change as it goes over the wire and into the journal.
    public var json: JSON {
        var values = columns
        var properties: [Text: JSON] = [:]
        for (field, value) in fields {
            if case .property(let key) = field { properties[key] = value } else { values[field.name] = value }
        }
        return [
            "change_id": .string(changeID.text), "device": .string(device), "table": .string(table),
            "op": .string(Text(operation.rawValue)), "id": .string(id.text),
            "base_version": baseVersion.map { .integer($0) } ?? .null, "fields": .object(values),
            "properties": .object(properties), "removed": .array(removed.map(JSON.string)),
            "allowed": .bool(allowed), "seen": seen.map { .integer($0) } ?? .null,
        ]
    }

    /// Reads what `json` wrote.
    public init(json: JSON) throws(RowError) {
        let change = try MemberReader(json, "change")
        let table = try change.text("table")
        guard let operation = Operation(rawValue: try change.text("op").string) else {
            throw RowError("change.op", expected: "upsert or delete")
        }
        var fields: FieldValues = [:]
        var columns: [Text: JSON] = [:]
        for (name, value) in try change.object("fields") {
            if table == "tasks", let field = Field(name: name) { fields[field] = value } else { columns[name] = value }
        }
        for (key, value) in try change.object("properties") { fields[.property(key)] = value }
        self.init(
            changeID: try change.id("change_id"), device: try change.text("device"), table: table,
            operation: operation, id: try change.id("id"),
            baseVersion: try change.orNull("base_version")?.integer("base_version"),
            fields: fields, columns: columns, removed: try change.texts("removed"),
            allowed: try change.bool("allowed"),
            seen: try change.orNull("seen")?.integer("seen"))
    }
}
