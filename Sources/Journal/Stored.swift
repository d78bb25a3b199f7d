import Libraries
import Model

/// A value that has one row in a table of its own.
protocol Stored {
    static var table: Table { get }
    /// In the order of the table's columns.
    var columns: [SQLValue] { get }
    /// Reads what `columns` wrote.
    init(_ row: inout RowReader) throws
}

/// A table of the journal and the columns that a `Stored` reads and writes.
struct Table: Sendable {
    let name: String
    let select: String
    let put: String

    init(_ name: String, _ columns: String) {
        self.name = name
        select = "select \(columns) from \(name)"
        let places = columns.split(separator: ",").map { _ in "?" }.joined(separator: ", ")
        put = "insert or replace into \(name) (\(columns)) values (\(places))"
    }
}

extension Journal {
    /// The rows of a table, those that the rest of the statement (`where …`, `order by …`) leaves.
    func all<Value: Stored>(_ rest: String = "", _ values: [SQLValue] = []) throws -> [Value] {
        try wrapped {
            var all: [Value] = []
            try database.forEach(Value.table.select + " " + rest, values) { row in
                var reader = RowReader(row.values, of: Value.table.name)
                all.append(try Value(&reader))
            }
            return all
        }
    }

    func put(_ value: some Stored) throws {
        try run(type(of: value).table.put, value.columns)
    }

    func run(_ sql: String, _ values: [SQLValue] = []) throws {
        _ = try wrapped { try database.run(sql, values) }
    }
}

/// Reads the columns of a row one after the other. What the journal can't have written is damage.
struct RowReader {
    private var values: ArraySlice<SQLValue>
    private let table: String

    init(_ values: [SQLValue], of table: String) {
        self.values = values[...]
        self.table = table
    }

    mutating func value() throws -> SQLValue {
        guard let value = values.popFirst() else { throw unreadable }
        return value
    }

    var unreadable: UnreadableRow { UnreadableRow(reason: Text("a row of \(table) can't be read")) }

    /// The next column as `convert` reads it; nil where it is null.
    mutating func optional<Result>(_ convert: (SQLValue) -> Result?) throws -> Result? {
        let value = try value()
        if value.isNull { return nil }
        guard let result = convert(value) else { throw unreadable }
        return result
    }

    /// The next column as `convert` reads it.
    mutating func required<Result>(_ convert: (SQLValue) -> Result?) throws -> Result {
        guard let result = try optional(convert) else { throw unreadable }
        return result
    }

    mutating func integer() throws -> Int64 { try required(\.integer) }
    mutating func flag() throws -> Bool { try required(\.flag) }
    mutating func text() throws -> Text { try required(\.asText) }
    mutating func optionalText() throws -> Text? { try optional(\.asText) }
    mutating func id() throws -> ItemID { try required(\.id) }
    mutating func optionalID() throws -> ItemID? { try optional(\.id) }
    mutating func digest() throws -> Digest { try required(\.digest) }
    mutating func optionalDigest() throws -> Digest? { try optional(\.digest) }
    mutating func instant() throws -> Instant { try required(\.instant) }
    mutating func json() throws -> JSON { try required(\.json) }
    mutating func fields() throws -> FieldValues { try required(\.fields) }
    mutating func optionalFields() throws -> FieldValues? { try optional(\.fields) }

    mutating func fieldNames() throws -> Set<Field> {
        let names = try json().array ?? []
        return Set(names.compactMap { $0.text.flatMap { Field(name: $0) } })
    }

    /// Two columns: inode and birth time.
    mutating func identity() throws -> FileIdentity? {
        let inode = try optional(\.integer)
        let birth = try optional(\.integer)
        guard let inode, let birth else { return nil }
        return FileIdentity(inode: UInt64(bitPattern: inode), birth: birth)
    }

    /// Two columns: the values and since when.
    mutating func earlierText() throws -> EarlierText? {
        let values = try optionalFields()
        let since = try optional(\.instant)
        guard let values, let since else { return nil }
        return EarlierText(values: values, since: since)
    }
}

extension SQLValue {
    init(_ value: Text?) { self.init(value?.string) }
    init(_ value: ItemID?) { self.init(value?.description) }
    init(_ value: Digest?) { self.init(value?.bytes) }
    init(_ value: Instant?) { self.init(value?.nanoseconds) }
    init(_ value: JSON?) { self.init(value?.serializedText) }
    init(_ value: FieldValues?) { self.init(value?.json) }
    init(_ fields: Set<Field>) { self.init(JSON.array(fields.sorted().map { .string($0.name) })) }
    init(inode: UInt64?) { self.init(inode.map { Int64(bitPattern: $0) }) }

    var flag: Bool? { integer.map { $0 != 0 } }
    var asText: Text? { text.map { Text($0) } }
    var id: ItemID? { text.flatMap { ItemID($0) } }
    var digest: Digest? { blob.map { Digest(bytes: $0) } }
    var instant: Instant? { integer.map { Instant(nanoseconds: $0) } }
    var json: JSON? { asText.flatMap { try? JSON(parsing: $0) } }
    var fields: FieldValues? { json.map { FieldValues(json: $0) } }
}
