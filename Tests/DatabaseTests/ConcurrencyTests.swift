import Dispatch
import Libraries
import Model
import PostgreSQL
import Testing

@Suite("Many writers at once")
struct ConcurrencyTests {
    @Test("a reader who follows the cursor ends with every row at its last state, and nothing deadlocks")
    func feed() async throws {
        let database = try Cluster.shared().makeDatabase()
        let crowd = try Crowd(database)
        try await crowd.write()
        #expect(crowd.problems == [])
        #expect(crowd.written == Crowd.writers * Crowd.rounds * Crowd.changesARound)
        #expect(try crowd.missed() == [])
        let admin = try database.connect(as: "supabase_admin")
        let deadlocks =
            "select pg_stat_force_next_flush(), deadlocks from pg_stat_database where datname = current_database()"
        #expect(try admin.run(deadlocks).rows[0][1].text == "0")
        let numbers = """
            select count(*), count(distinct change_seq) from (
                select change_seq from public.tasks union all select change_seq from public.photos
                union all select change_seq from public.profiles) as a
            """
        let row = try admin.run(numbers).rows[0]
        #expect(row[0] == row[1])
    }

    /// One writer draws its number, another draws a later one and commits first, and a reader passes in between.
    @Test("without the locks a reader would miss a row; with them the second writer waits", arguments: [true, false])
    func overtaking(withLocks: Bool) throws {
        let database = try Cluster.shared().makeDatabase()
        let user = try database.addUser("ann")
        if !withLocks {
            // The head's row would make the second writer wait, too, though later.
            try database.connect(as: "postgres").script(
                """
                create or replace function otask.lock_owner(owner uuid) returns void language sql as '';
                create or replace function otask.move_heads() returns trigger language plpgsql
                    as 'begin return null; end';
                """)
        }
        let (first, second, reader) = (try database.client(user), try database.client(user), try database.client(user))
        var seen: Set<String> = []
        var cursor: Int64 = 0
        func read() throws {
            let page = try reader.pull(since: cursor)
            cursor = page["next"]!.integer!
            seen.formUnion(page["rows"]!.array!.compactMap { $0["title"]?.text?.string })
        }
        try first.request { connection in
            try connection.run("insert into public.tasks (title) values ('first')")
            let overtake = {
                try second.request {
                    try $0.run("set local lock_timeout = '50ms'")
                    try $0.run("insert into public.tasks (title) values ('second')")
                }
            }
            if withLocks {
                // The lock's own limit of 3 s ends the wait.
                let error = #expect(throws: PostgreSQLError.self) { try overtake() }
                #expect(error?.sqlstate == "55P03")
            } else {
                try overtake()
            }
            try read()
        }
        if withLocks { try second.run("insert into public.tasks (title) values ('second')") }
        try read()
        #expect(seen == (withLocks ? ["first", "second"] : ["second"]))
    }
}

/// Writers of one user on connections of their own, a service that writes all rows in between, and a reader who follows
/// the cursor all the while.
private final class Crowd: Sendable {
    static let writers = 40
    static let rounds = 3
    /// One batch of twenty, four patches, a deletion.
    static let changesARound = 25

    private struct State {
        var problems: [String] = []
        var written = 0
        var isWriting = true
        /// What the reader holds: the version of each row.
        var rows: [String: String] = [:]
    }

    private let database: Database
    private let user: String
    private let state = Mutex(State())

    init(_ database: Database) throws {
        self.database = database
        user = try database.addUser("ann")
    }

    var problems: [String] { state.withLock { $0.problems } }
    var written: Int { state.withLock { $0.written } }

    /// Runs everybody to the end; each has a thread, since libpq's calls wait.
    func write() async throws {
        async let reader: Void = run("reader") { try self.read() }
        async let service: Void = run("service") { try self.serve() }
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<Self.writers {
                group.addTask { await self.run("writer \(writer)") { try self.write(as: writer) } }
            }
        }
        state.withLock { $0.isWriting = false }
        _ = await (reader, service)
    }

    private func run(_ name: String, _ body: @escaping @Sendable () throws -> Void) async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: name).async {
                do { try body() } catch { self.state.withLock { $0.problems.append("\(name): \(error)") } }
                continuation.resume()
            }
        }
    }

    private func write(as writer: Int) throws {
        let client = try database.client(user)
        for round in 0..<Self.rounds {
            let ids = (0..<20).map { Self.id(writer, round * 20 + $0) }
            let changes: [JSON] = ids.enumerated().map { index, id in
                [
                    "change_id": .string(Text(Self.id(100 + writer, round * 20 + index))), "table": "tasks",
                    "op": "upsert", "id": .string(Text(id)), "base_version": nil, "device": "laptop",
                    "fields": ["title": .string(Text("\(writer) \(index)"))],
                ]
            }
            let answers = try again { try client.push(changes) }
            var count = answers.count { $0["status"] == "applied" }
            // The rows of another writer too, in another order.
            let other = Self.id((writer + 1) % Self.writers, round * 20)
            for id in [ids[3], other, ids[1], ids[2]] {
                try again { try client.run("update public.tasks set notes = notes || 'x' where id = $1", id) }
                count += 1
            }
            try again { try client.run("delete from public.tasks where id = $1", ids[0]) }
            let total = count + 1
            state.withLock { $0.written += total }
        }
    }

    /// Repeats what waited too long for its turn: to a client that is a passing failure.
    @discardableResult
    private func again<Result>(_ body: () throws -> Result) throws -> Result {
        while true {
            do { return try body() } catch let error as PostgreSQLError where error.sqlstate == "55P03" {}
        }
    }

    private func serve() throws {
        let service = try database.connect(as: "postgres")
        while state.withLock({ $0.isWriting }) {
            try again {
                try service.transaction {
                    try service.run("set local role service_role")
                    try service.run("update public.tasks set path = coalesce(path, '') || 'y' where deleted_at is null")
                }
            }
        }
    }

    private func read() throws {
        let client = try database.client(user)
        var cursor: Int64 = 0
        while true {
            let isLast = !state.withLock { $0.isWriting }
            let page = try client.pull(since: cursor)
            cursor = page["next"]!.integer!
            let rows = page["rows"]!.array!.map { ($0["id"]!.text!.string, $0["version"]!.integer!.description) }
            state.withLock { state in for (id, version) in rows { state.rows[id] = version } }
            if isLast, page["more"] == false, rows.isEmpty { return }
        }
    }

    /// The rows that the reader doesn't hold at their last state.
    func missed() throws -> [String] {
        let sql = "select id, version from public.tasks union all select id, version from public.profiles"
        let rows = try database.connect(as: "supabase_admin").run(sql).rows
        return state.withLock { state in
            rows.filter { state.rows[$0[0].text!] != $0[1].text }.map { "\($0[0].text!), version \($0[1].text!)" }
        }
    }

    private static func id(_ a: Int, _ b: Int) -> String {
        let digits = String(1_000_000_000_000 + a * 1_000_000 + b).dropFirst()
        return "a0000000-0000-4000-8000-\(digits)"
    }
}
