import Libraries
import Model

/// One change of a `push_changes` call. Its values are read as the types of their columns only when it is applied;
/// fields that no column has are passed over.
struct PushedChange {
    enum Operation {
        case upsert
        /// `seen`: for a task, the cursor that the deletion was planned at.
        case delete(allowed: Bool, seen: Int64?)
    }

    /// A field as it was sent.
    struct Value {
        let column: String
        let type: ColumnType
        let json: JSON

        func value() throws -> SQLValue { try type.value(of: json) }
    }

    let changeID: ItemID
    let origin: Origin
    let table: Table
    let operation: Operation
    let id: ItemID
    /// The version of the row that the change was made from; nil for a new row.
    let baseVersion: Int64?
    let values: [Value]
    /// Own keys that changed, and those that are gone.
    let properties: [Text: JSON]
    let removed: [Text]

    init(_ json: JSON) throws {
        guard json.object != nil else { throw RestError("22023", "a change must be an object") }
        changeID = try PushedChange.id(json, "change_id")
        id = try PushedChange.id(json, "id")
        let name = json["table"]?.text?.string ?? ""
        guard let table = Table.named(name) else { throw RestError("42P01", "there is no table \"\(name)\"") }
        self.table = table
        let device = try ColumnType.text.value(of: json["device"] ?? .null)
        origin = Origin(device: device, change: .text(changeID.description))
        baseVersion = try PushedChange.integer(json, "base_version")
        switch json["op"]?.text {
        case "upsert": operation = .upsert
        case "delete":
            let allowed = try ColumnType.boolean.value(of: json["allowed"] ?? .null)
            operation = .delete(allowed: allowed == 1, seen: try PushedChange.integer(json, "seen"))
        default: throw RestError("22023", "op must be upsert or delete")
        }
        let fields = json["fields"]?.object ?? [:]
        values = table.content.compactMap { position in
            let column = table.columns[position]
            guard column.type != .jsonb, let json = fields[Text(column.name)] else { return nil }
            return Value(column: column.name, type: column.type, json: json)
        }
        properties = json["properties"]?.object ?? [:]
        removed = (json["removed"]?.array ?? []).compactMap(\.text)
    }

    private static func id(_ json: JSON, _ member: Text) throws -> ItemID {
        let value = try ColumnType.uuid.value(of: json[member] ?? .null)
        guard let id = value.text.flatMap({ ItemID($0) }) else { throw RestError("22023", "\(member) is missing") }
        return id
    }

    private static func integer(_ json: JSON, _ member: Text) throws -> Int64? {
        try ColumnType.bigint.value(of: json[member] ?? .null).integer
    }

    /// The row that this change makes where there was none.
    func newRow(user: String, now: Int64) throws -> Row {
        var row = Row(table: table, values: [])
        for column in table.columns {
            switch column.initial {
            case .value(let value): row.values.append(value)
            case .caller: row.values.append(.text(user))
            case .now: row.values.append(.integer(now))
            case .newID: row.values.append(.text(id.description))
            }
        }
        row["id"] = .text(id.description)
        // A profile comes with its account, and nobody writes another's.
        if row.owner != user { throw RestError.rowSecurity(table) }
        return try applied(to: row)
    }

    /// The row with what this change says.
    func applied(to row: Row) throws -> Row {
        var row = row
        for value in values { row[value.column] = try value.value() }
        if table === Table.tasks, !properties.isEmpty || !removed.isEmpty {
            var merged = JSON(kept: row["properties"].text!).object ?? [:]
            for key in removed { merged[key] = nil }
            for (key, value) in properties { merged[key] = try value.normalized() }
            row["properties"] = .text(JSON.object(merged).serializedText.string)
        }
        return row
    }
}
