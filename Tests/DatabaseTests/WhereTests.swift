import PostgreSQL
import Testing

/// The extension pg-safeupdate, which a project loads for the API's roles, refuses updates and deletions without
/// `where`, also inside functions. It isn't packaged, so the functions are read instead.
@Suite("Statements in the migration's functions")
struct WhereTests {
    @Test("every update and deletion says which rows")
    func functions() throws {
        let database = try Cluster.shared().lendDatabase()
        defer { try? database.giveBack() }
        let connection = try database.connect(as: "postgres")
        #expect(try bare(in: connection) == [])
    }

    @Test(
        "a function with a statement for all rows is found, wherever it stands",
        arguments: [
            ("update public.tasks t set done = true", 1), ("DELETE FROM public.tasks", 1),
            ("with gone as (delete from public.tasks returning id) update public.tasks set done = true where false", 1),
            ("update public.tasks set notes = 'where'", 1), ("update public.tasks set done = true -- where", 1),
            ("update public.tasks set done = (select done from public.tasks where false)", 1),
            ("update public.tasks set done = true where not done", 0),
            ("insert into public.tasks (title) values ('a') on conflict (id) do update set title = excluded.title", 0),
            ("select 1 from public.tasks for update", 0), ("select 'delete from public.tasks'", 0),
        ])
    func planted(_ statement: String, _ count: Int) throws {
        let database = try Cluster.shared().lendDatabase()
        defer { try? database.giveBack() }
        let connection = try database.connect(as: "postgres")
        let body = "begin \(statement)\n; end"
        try connection.run("begin")
        try connection.run(
            "create function otask.planted() returns void language plpgsql as \(literal(body))")
        #expect(try bare(in: connection).count == count)
        try connection.run("rollback")
    }

    /// The statements without `where` in all functions that the migration made.
    private func bare(in connection: Connection) throws -> [String] {
        let answer = try connection.run(
            """
            select p.proname, p.prosrc from pg_proc p
            where p.pronamespace = 'otask'::regnamespace
                or p.pronamespace = 'public'::regnamespace and p.proowner = 'postgres'::regrole
            """)
        #expect(answer.rows.count > 20)
        return answer.rows.flatMap { row in
            Self.bareStatements(row[1].text!).map { "\(row[0].text!): \($0)" }
        }
    }

    /// Reads words outside quotes and comments. A statement ends with `;`, or with the parenthesis that it stands in; a
    /// `where` counts for the statement on whose level it stands.
    private static func bareStatements(_ source: String) -> [String] {
        var found: [String] = []
        var open: [(level: Int, text: String)] = []
        var level = 0
        var before = ""
        for word in words(source) {
            switch word {
            case "(": level += 1
            case ")", ";":
                if word == ")" { level -= 1 }
                while let last = open.last, word == ";" || last.level > level {
                    found.append(last.text)
                    open.removeLast()
                }
            // `on conflict do update` and `for update` are no statements of their own, nor is a trigger's event.
            case "update" where !["do", "for", "or", "key"].contains(before): open.append((level, word))
            case "delete": open.append((level, word))
            case "where" where open.last?.level == level: open.removeLast()
            default:
                if let last = open.last, last.text.count < 60 { open[open.count - 1].text = last.text + " " + word }
            }
            before = word
        }
        return found
    }

    private static func words(_ source: String) -> [String] {
        let plain = source.replacing(/--[^\n]*/, with: " ").replacing(/'(?:[^']|'')*'/, with: "''")
        return plain.lowercased().matches(of: /[a-z_0-9.]+|[();]/).map { String($0.output) }
    }
}
