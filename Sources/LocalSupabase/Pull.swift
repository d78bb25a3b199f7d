import Libraries
import Model

/// `pull_changes`: one page of the feed, all of it from one state of the database (sync.md, *The feed*).
struct Pull {
    let since: Int64
    let maxRows: Int64
    let maxBytes: Int64
    let inFlight: [String]

    init(_ arguments: [Text: JSON]) throws {
        func integer(_ name: Text) throws -> Int64? {
            try ColumnType.bigint.value(of: arguments[name] ?? .null).integer
        }
        since = try integer("since") ?? 0
        maxRows = max(1, try integer("max_rows") ?? 1000)
        maxBytes = try integer("max_bytes") ?? 4_194_304
        inFlight = try (arguments["in_flight"]?.array ?? []).compactMap { try ColumnType.uuid.value(of: $0).text }
    }

    /// The sizes that count against a page, before any JSON is made.
    private static let sizes =
        ofAllTables { table in
            let texts = table.columns.filter { $0.type == .text || $0.type == .jsonb }
            let size = texts.map { "ifnull(length(cast(\($0.name) as blob)), 0)" }.joined(separator: " + ")
            return "select change_seq, \(size) + 400 from \(table.name) where \(table.owner) = ?1 and change_seq > ?2"
        } + " order by 1 limit ?3"

    private static let sums =
        "select count(*), ifnull(sum(change_seq), 0), ifnull(max(change_seq), 0) from ("
        + ofAllTables { "select change_seq from \($0.name) where \($0.owner) = ?1" } + ")"

    private static func ofAllTables(_ select: (Table) -> String) -> String {
        Table.all.map(select).joined(separator: " union all ")
    }

    /// The answer, as JSON.
    func run(store: Store, user: String, now: Int64) throws -> [UInt8] {
        try store.read {
            try store.requireProfile(of: user)
            let sizes = try store.database.query(Pull.sizes, .text(user), .integer(since), .integer(maxRows + 1))
            var bytes: Int64 = 0
            let page = sizes.prefix(Int(clamping: maxRows)).prefix { size in
                bytes += size[1].integer!
                return bytes <= maxBytes || bytes == size[1].integer!
            }
            let last = page.last?[0].integer ?? since
            let more = page.count < sizes.count
            let sums = try store.database.query(Pull.sums, .text(user))[0].map { $0.integer! }
            let applied = try inFlight.filter {
                try !store.database.query(
                    "select 1 from applied_changes where user_id = ? and change_id = ?", .text(user), .text($0)
                ).isEmpty
            }
            let rest: JSON = [
                "next": .integer(last), "more": .bool(more), "user_id": .string(Text(user)),
                "schema_version": .integer(Functions.schemaVersion),
                "server_time": .string(Text(Timestamp.rest(now))),
                "applied": .array(applied.map { .string(Text($0)) }), "behind": .bool(since > sums[2]),
                "total": more ? .null : .integer(sums[0]),
                "sum": more ? .null : .string(Text(String(sums[1]))),
            ]
            var out = Array("{\"rows\":[".utf8)
            for (index, row) in try rows(store: store, user: user, through: last).enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                row.write(into: &out, named: true)
            }
            out.append(contentsOf: "],".utf8)
            out.append(contentsOf: rest.serialized.dropFirst())
            return out
        }
    }

    private func rows(store: Store, user: String, through last: Int64) throws -> [Row] {
        let rows = try Table.all.flatMap { table in
            try store.rows(
                table, "\(table.owner) = ? and change_seq > ? and change_seq <= ?",
                [.text(user), .integer(since), .integer(last)])
        }
        return rows.sorted { $0.sequence < $1.sequence }
    }
}
