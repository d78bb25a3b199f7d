import Testing

@testable import Libraries

struct SQLiteTests {
    private struct Enough: Error {}

    private func database() throws -> SQLite {
        let database = try SQLite(path: ":memory:")
        try database.execute("create table t (n integer, name text, data blob)")
        for number in 0..<3 {
            try database.run(
                "insert into t values (?, ?, ?)", .integer(Int64(number)), .text("é\(number)"),
                number == 0 ? .null : .blob([UInt8](repeating: 7, count: number)))
        }
        return database
    }

    @Test func `rows come one after the other, each column as it is`() throws {
        var seen: [String] = []
        var buffer: [UInt8] = [1]
        try database().forEach("select n, name, data from t where n >= ? order by n", [.integer(0)]) { row in
            #expect(row.integer(1) == nil)
            let name = row.read(1, into: &buffer) ? String(decoding: buffer, as: UTF8.self) : "-"
            let data = row.read(2, into: &buffer) ? "\(buffer)" : "-"
            seen.append("\(row.integer(0) ?? -1) \(name) \(data) \(row.values.count)")
        }
        #expect(seen == ["0 é0 - 3", "1 é1 [7] 3", "2 é2 [7, 7] 3"])
    }

    @Test func `what the body throws ends it, and the statement can be run again`() throws {
        let database = try database()
        var count = 0
        for _ in 0..<2 {
            #expect(throws: Enough.self) {
                try database.forEach("select n from t") { _ in
                    count += 1
                    if count % 2 == 0 { throw Enough() }
                }
            }
        }
        #expect(count == 4)
    }
}
