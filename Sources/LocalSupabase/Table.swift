import Libraries
import Model

/// A column's type, by the name that PostgreSQL's messages use. Kept as: uuid, text and jsonb as text, boolean and
/// bigint as integers, times as microseconds since 1970.
enum ColumnType: String {
    case uuid
    case text
    case boolean
    case bigint
    case time = "timestamp with time zone"
    case jsonb
}

struct Column {
    enum Role {
        /// The primary key. Once written it stays.
        case key
        /// Whose row it is. Once written it stays.
        case owner
        /// Once written it stays.
        case created
        /// What people write. A change of it makes a new version.
        case content
        /// What the server writes; values that are sent are passed over.
        case bookkeeping
    }

    /// What a row gets that does not say.
    enum Initial {
        case value(SQLValue)
        case newID
        case caller
        case now
    }

    let name: String
    let type: ColumnType
    let role: Role
    let nullable: Bool
    let initial: Initial

    init(
        _ name: String, _ type: ColumnType, _ role: Role = .content, null: Bool = false,
        initially initial: Initial = .value(.null)
    ) {
        self.name = name
        self.type = type
        self.role = role
        nullable = null
        self.initial = initial
    }
}

/// A table as clients see it (server.md, *Tables*), with the statements for its rows.
final class Table: Sendable {
    let name: String
    let columns: [Column]
    /// The column that says whose row it is.
    let owner: String
    let content: [Int]
    let positions: [String: Int]
    let list: String
    let insert: String
    let update: String
    let selectByID: String

    private init(_ name: String, owner: String = "user_id", _ own: [Column]) {
        let columns = own + Table.bookkeeping
        let names = columns.map(\.name)
        let positions = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        let settings = names.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: ", ")
        self.name = name
        self.owner = owner
        self.columns = columns
        self.positions = positions
        content = columns.indices.filter { columns[$0].role == .content }
        list = names.map { "\(name).\($0)" }.joined(separator: ", ")
        insert = "insert into \(name) (\(names.joined(separator: ", "))) values (\(marks))"
        update = "update \(name) set \(settings) where id = ?\(positions["id"]! + 1)"
        selectByID = "select \(list) from \(name) where id = ?"
    }

    private static let bookkeeping = [
        Column("updated_at", .time, .bookkeeping), Column("deleted_at", .time, .bookkeeping, null: true),
        Column("version", .bigint, .bookkeeping), Column("change_seq", .bigint, .bookkeeping),
        Column("allowed", .boolean, .bookkeeping), Column("changed", .jsonb, .bookkeeping),
    ]

    static let tasks = Table(
        "tasks",
        [
            Column("id", .uuid, .key, initially: .newID), Column("user_id", .uuid, .owner, initially: .caller),
            Column("title", .text),
            Column("notes", .text, initially: .value("")), Column("done", .boolean, initially: .value(0)),
            Column("path", .text, null: true), Column("properties", .jsonb, initially: .value("{}")),
            Column("created_at", .time, .created, initially: .now),
        ])

    static let photos = Table(
        "photos",
        [
            Column("id", .uuid, .key, initially: .newID), Column("user_id", .uuid, .owner, initially: .caller),
            Column("task_id", .uuid), Column("name", .text),
            Column("object_path", .text, null: true), Column("bytes", .bigint, null: true),
            Column("content_type", .text, null: true), Column("sha256", .text, null: true),
            Column("deleted_with_task", .boolean, .bookkeeping),
            Column("created_at", .time, .created, initially: .now),
        ])

    static let profiles = Table(
        "profiles", owner: "id",
        [
            Column("id", .uuid, .key, initially: .caller), Column("username", .text, null: true),
            Column("full_name", .text, null: true), Column("website", .text, null: true),
            Column("avatar_url", .text, null: true), Column("created_at", .time, .created, initially: .now),
        ])

    static let all = [tasks, photos, profiles]

    static func named(_ name: String) -> Table? { all.first { $0.name == name } }

    func column(_ name: String) -> Column? { positions[name].map { columns[$0] } }
}

/// A row of one of the three tables: its values in the order of the table's columns.
struct Row {
    let table: Table
    var values: [SQLValue]

    /// The value of a column that the table has.
    subscript(name: String) -> SQLValue {
        get { values[table.positions[name]!] }
        set { values[table.positions[name]!] = newValue }
    }

    var id: String { self["id"].text! }
    var owner: String { self[table.owner].text! }
    var version: Int64 { self["version"].integer! }
    var sequence: Int64 { self["change_seq"].integer! }
    var isTombstone: Bool { !self["deleted_at"].isNull }

    /// The positions of the content columns in which the two rows say something else.
    func changes(since old: Row) -> [Int] {
        table.content.filter { !table.columns[$0].type.same(values[$0], old.values[$0]) }
    }

    /// The row as a JSON object, the members in the order of the columns. `named` puts the table's name before them.
    func write(into out: inout [UInt8], named: Bool = false) {
        out.append(UInt8(ascii: "{"))
        if named { out.append(contentsOf: "\"table\":\"\(table.name)\",".utf8) }
        for (index, column) in table.columns.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.append(contentsOf: "\"\(column.name)\":".utf8)
            column.type.write(values[index], into: &out)
        }
        out.append(UInt8(ascii: "}"))
    }
}
