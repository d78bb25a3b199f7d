import Libraries
import Model

/// The body of a write: objects with the same keys.
struct Payload {
    let table: Table
    let objects: [[Text: JSON]]
    /// The columns that the body writes.
    let positions: [Int]
    private let missingIsDefault: Bool

    init(_ body: JSON, query: TableQuery, preferences: Preferences) throws(RestError) {
        table = query.table
        var objects: [[Text: JSON]] = []
        for item in body.array ?? [body] {
            guard let object = item.object else { throw RestError("PGRST102", "Empty or invalid json") }
            objects.append(object)
        }
        self.objects = objects
        missingIsDefault = preferences.missingIsDefault ?? false
        let keys = objects.first.map { Set($0.keys) } ?? []
        if query.columns == nil, objects.contains(where: { Set($0.keys) != keys }) {
            throw RestError("PGRST102", "All object keys must match")
        }
        var positions: [Int] = []
        for name in query.columns ?? keys.map(\.string).sorted() {
            guard let position = table.positions[name] else {
                throw RestError(
                    "PGRST204", "Could not find the '\(name)' column of '\(table.name)' in the schema cache")
            }
            positions.append(position)
        }
        self.positions = positions.sorted()
    }

    /// What an object says, by the column's position. A member that it lacks is null, or left out where the default
    /// is to stand for it.
    func values(_ object: [Text: JSON]) throws(RestError) -> [(Int, SQLValue)] {
        var values: [(Int, SQLValue)] = []
        for position in positions {
            let column = table.columns[position]
            guard let json = object[Text(column.name)] else {
                if !missingIsDefault { values.append((position, .null)) }
                continue
            }
            values.append((position, try column.type.value(of: json)))
        }
        return values
    }

    /// The row that an object makes, with defaults for what it does not say.
    func row(_ object: [Text: JSON], access: TableAccess) throws(RestError) -> Row {
        var row = Row(table: table, values: [])
        for column in table.columns {
            switch column.initial {
            case .value(let value): row.values.append(value)
            case .newID: row.values.append(.text(access.call.random.newID()))
            case .caller: row.values.append(.text(access.user))
            case .now: row.values.append(.integer(access.call.now))
            }
        }
        for (position, value) in try values(object) { row.values[position] = value }
        for column in table.columns where column.role != .bookkeeping && column.role != .content {
            guard row[column.name].isNull else { continue }
            throw RestError(
                "23502",
                "null value in column \"\(column.name)\" of relation \"\(table.name)\" violates not-null constraint")
        }
        return row
    }
}
