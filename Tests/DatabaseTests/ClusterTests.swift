import PostgreSQL
import Testing

@Suite("The server of the tests")
struct ClusterTests {
    @Test("a connection gives rows with texts and nulls, and counts what changed")
    func rows() throws {
        let connection = try Cluster.shared().connect("postgres", as: "supabase_admin")
        let answer = try connection.run("select $1::text as a, $2::int as b, null as c", "ü\"'", "12")
        #expect(answer.columns == ["a", "b", "c"])
        #expect(answer.rows.map { $0.map(\.text) } == [["ü\"'", "12", nil]])
        #expect(answer.rows[0][2].isNull)
        try connection.run("create temporary table t (n int)")
        #expect(try connection.run("insert into t select generate_series(1, 7)").count == 7)
        #expect(try connection.run("delete from t where n > 5").count == 2)
        #expect(try connection.run("select null").first == nil)
        #expect(connection.serverVersion >= 150_000)
    }

    @Test("a refusal says its code, message, detail and hint, and the connection goes on")
    func errors() throws {
        let connection = try Cluster.shared().connect("postgres", as: "supabase_admin")
        let raise = "do $$ begin raise exception sqlstate 'OT001' using message = 'm', detail = 'd', hint = 'h'; end $$"
        #expect(throws: PostgreSQLError(sqlstate: "OT001", message: "m", detail: "d", hint: "h")) {
            try connection.run(raise)
        }
        let error = PostgreSQLError(sqlstate: "OT001", message: "m", detail: "d", hint: "h")
        #expect("\(error)" == "m (OT001); d; h")
        #expect(throws: PostgreSQLError(sqlstate: "42601", message: "syntax error at or near \"nonsense\"")) {
            try connection.run("nonsense")
        }
        #expect(throws: PostgreSQLError.self) { try connection.run("select $1", "a\u{0}b") }
        #expect(throws: PostgreSQLError.self) { try connection.run("copy pg_class to stdout") }
        #expect(throws: PostgreSQLError.self) { try connection.run("copy pg_class from stdin") }
        #expect(try connection.run("select 1").first == "1")
    }

    @Test("a script gives each answer, up to the statement that fails; a transaction that throws leaves nothing")
    func scripts() throws {
        let connection = try Cluster.shared().connect("postgres", as: "supabase_admin")
        var seen: [String?] = []
        #expect(throws: PostgreSQLError.self) {
            try connection.script("select 1; select 2; select 1 / 0; select 3") { seen.append($0.first) }
        }
        #expect(seen == ["1", "2"])
        try connection.run("create temporary table t (n int)")
        #expect(throws: PostgreSQLError.self) {
            try connection.transaction {
                try connection.run("insert into t values (1)")
                try connection.run("select 1 / 0")
            }
        }
        #expect(try connection.run("select count(*) from t").first == "0")
    }

    @Test("a server that isn't there is an error without a code")
    func unreachable() throws {
        let error = #expect(throws: PostgreSQLError.self) { try Connection(["host": "/nowhere", "dbname": "x"]) }
        #expect(error?.sqlstate == "")
        #expect(error?.message.contains("/nowhere") == true)
    }
}
