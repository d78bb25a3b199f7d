import PostgreSQL
import Testing

/// The tests that ship with the Supabase project, as `supabase test db` runs them: each file as the role `postgres`.
@Suite("The tests of the Supabase project")
struct PgTAPTests {
    @Test("template/supabase/tests", arguments: try fileNames(in: "template/supabase/tests", endingWith: ".sql"))
    func file(_ name: String) throws {
        let database = try Cluster.shared().makeDatabase(.tested)
        let connection = try database.connect(as: "postgres")
        let report = tap(try readFile("template/supabase/tests/" + name), on: connection)
        #expect(report.problems == [])
        #expect(report.passed > 0)
    }

    @Test(
        "a file that fails is seen to fail",
        arguments: [
            ("select plan(1); select ok(false, 'no')", "not ok 1 - no"),
            ("select plan(2); select ok(true); select * from finish()", "# Looks like you planned 2 tests but ran 1"),
            ("select plan(1); select 1 / 0", "division by zero (22012)"),
            ("select ok(true)", "there is no plan"),
        ])
    func failure(_ script: String, _ problem: String) throws {
        let database = try Cluster.shared().makeDatabase(.tested)
        let report = tap("begin; \(script); rollback", on: try database.connect(as: "postgres"))
        #expect(report.problems.contains { $0.hasPrefix(problem) }, "\(report.problems)")
    }

    /// Runs a file; how many of its tests passed, and every line that says otherwise.
    private func tap(_ script: String, on connection: Connection) -> (passed: Int, problems: [String]) {
        var lines: [String] = []
        var error: PostgreSQLError?
        do {
            try connection.script(script) { answer in
                lines += answer.rows.compactMap { $0.first?.text }.flatMap {
                    $0.split(separator: "\n").map(String.init)
                }
            }
        } catch let caught {
            error = caught
        }
        let plan = lines.first { $0.hasPrefix("1..") }.flatMap { Int($0.dropFirst(3)) }
        let passed = lines.count { $0.hasPrefix("ok ") }
        var problems = lines.filter { $0.hasPrefix("not ok") || $0.hasPrefix("#") }
        if let error { problems.append("\(error)") }
        if let plan, plan != passed { problems.append("\(passed) of \(plan) tests passed") }
        if plan == nil { problems.append(error == nil ? "there is no plan" : "there is no plan, since it ended early") }
        return (passed, problems)
    }
}
