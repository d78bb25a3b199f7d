import LocalSupabase
import Model
import Testing

@testable import Sync

/// sync.md, "The feed", and the verbs.
struct FeedScenarioTests {
    private let files = ["one": "# One\n\nnotes\n", "two": "# Two\n", "three": "# Three\n"]

    // MARK: Verbs

    @Test func `pull sends nothing`() async throws {
        let (world, a, b) = try await World.withTwo(files)
        b.replace("two", "# Two", "# Zwei")
        try await b.sync()
        a.replace("one", "notes", "edited")
        a.write("new", "# New\n")
        a.remove("three")
        a.intercept { request, server in
            if calls("push_changes")(request) { Issue.record("a pull sent something") }
            return try await server(request)
        }
        let report = try await a.run(.pull)
        #expect(report.sent == Tally())
        #expect(report.received.tasks == 1)
        #expect(a.read("new") == "# New\n")
        #expect(try await RestClient(world).titles() == ["One", "Three", "Zwei"])
        a.intercept(nil)
        try await settle(a, b)
    }

    @Test func `push edits no task file except to write an id`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        b.replace("one", "notes", "from b")
        b.replace("two", "# Two", "# Zwei")
        b.move("three", "sub/three")
        b.write("fresh", "# Fresh\n")
        try await b.sync()
        let before = a.disk().filter { $0.key.hasPrefix("tasks/") }
        a.replace("one", "# One", "# Eins")
        a.write("new", "# New\n")
        let one = a.read("one")
        let report = try await a.run(.push)
        #expect(report.sent.tasks == 2)
        #expect(a.read("one") == one)
        #expect(a.read("new")?.hasSuffix("---\n# New\n") == true)
        for path in ["tasks/two.md", "tasks/three.md"] { #expect(a.disk()[path] == before[path]) }
        #expect(a.places == ["new", "one", "three", "two"])
        try await settle(a, b)
        #expect(try b.contents()["one"] == TaskContent(title: "Eins", notes: "from b"))
    }

    @Test func `push lists for sync what changed on both sides`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        b.replace("one", "notes", "from b")
        try await b.sync()
        a.replace("one", "notes", "from a")
        let report = try await a.run(.push)
        #expect(report.sent == Tally())
        #expect(report.conflicts.map(\.path) == ["tasks/one.md"])
    }

    // MARK: Pages

    /// Pages of two rows for this device.
    private func smallPages(_ device: Device, lost: Int? = nil) {
        let count = Counter()
        device.intercept { request, server in
            guard calls("pull_changes")(request), var body = try JSON(parsing: request.body).object else {
                return try await server(request)
            }
            if let lost, await count.next() > lost { throw ConnectionRefused() }
            body["max_rows"] = 2
            var small = request
            small.body = JSON.object(body).serialized
            return try await server(small)
        }
    }

    @Test func `a feed of many pages is read to its end`() async throws {
        let (world, a, _) = try await World.withTwo(files)
        let c = try await world.device("c")
        smallPages(c)
        let report = try await c.sync()
        #expect(report.requests == 2)
        #expect(c.places == ["one", "three", "two"])
        try await settle(a, c)
    }

    @Test
    func
        `a pull that ends early writes only fields of tasks that have a file; nothing new is placed, moved or removed`()
        async throws
    {
        let (_, a, b) = try await World.withTwo(files)
        b.replace("one", "notes", "edited")
        try await b.sync()
        b.write("new", "# New\n")
        b.move("two", "sub/two")
        b.remove("three")
        try await b.sync()
        smallPages(a, lost: 1)
        let report = try await a.sync()
        #expect(report.failure?.kind == .unreachable)
        #expect(try a.contents()["one"]?.notes == "edited")
        #expect(a.places == ["one", "three", "two"])
        a.intercept(nil)
        try await settle(a, b)
        #expect(a.places == ["new", "one", "sub/two"])
    }

    @Test func `pages that were stored are not asked for again`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        for number in 1...5 { b.write("n\(number)", "# N\(number)\n") }
        try await b.sync()
        smallPages(a, lost: 2)
        try await a.sync()
        a.intercept(nil)
        let report = try await a.sync()
        #expect(report.received.tasks == 5)
        try await settle(a, b)
    }

    @Test func `a page that never ends stops the run`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        b.replace("one", "notes", "edited")
        try await b.sync()
        a.change(answersOf: "pull_changes") { $0["more"] = true }
        let report = try await a.sync()
        #expect(report.failure != nil)
        #expect(report.requests < 10)
        a.intercept(nil)
        try await settle(a, b)
    }

    @Test func `a row of another user is dropped`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        b.replace("one", "notes", "edited")
        try await b.sync()
        a.change(answersOf: "pull_changes") { members in
            var rows = members["rows"]?.array ?? []
            guard var row = rows.last?.object, let next = members["next"]?.integer else { return }
            row["id"] = .string(ItemID.random().text)
            row["user_id"] = .string(ItemID.random().text)
            row["title"] = "Somebody else's"
            row["change_seq"] = .integer(next + 1)
            rows.append(.object(row))
            members["rows"] = .array(rows)
            members["next"] = .integer(next + 1)
        }
        try await a.sync()
        a.intercept(nil)
        #expect(a.places == ["one", "three", "two"])
        try await settle(a, b)
    }

    @Test func `rows of a table that this otask doesn't know are kept, and count in the totals`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        let added: Int64 = 1_000_000
        let withLabel: @Sendable (inout [Text: JSON]) -> Void = { members in
            guard let total = members["total"]?.integer, let sum = members["sum"]?.text.flatMap({ Int64($0.string) }),
                let user = members["user_id"]
            else { return }
            members["total"] = .integer(total + 1)
            members["sum"] = .string(Text(String(sum + added)))
            members["behind"] = false
            if members["next"]?.integer != added {
                let row: JSON = [
                    "table": "labels", "id": "11111111-1111-4111-8111-111111111111", "user_id": user, "version": 1,
                    "change_seq": .integer(added), "deleted_at": .null, "changed": [:], "colour": "red",
                ]
                members["rows"] = .array((members["rows"]?.array ?? []) + [row])
                members["next"] = .integer(added)
            }
        }
        a.change(answersOf: "pull_changes", withLabel)
        #expect(try await a.sync().failure == nil)
        let report = try await a.sync()
        #expect(report.requests == 1)
        #expect(try a.engine().status().notices.isEmpty)
        #expect(a.places == ["one", "three", "two"])
        _ = b
    }

    @Test func `a newer schema of the server is read-only: it pulls what it knows, sends nothing, says so`()
        async throws
    {
        let (world, a, b) = try await World.withTwo(files)
        b.replace("one", "notes", "edited")
        try await b.sync()
        a.replace("two", "# Two", "# Zwei")
        a.change(answersOf: "pull_changes") { $0["schema_version"] = 2 }
        let report = try await a.sync()
        #expect(report.failure?.kind == .readOnly)
        #expect(report.sent == Tally())
        #expect(try a.contents()["one"]?.notes == "edited")
        #expect(report.waiting.map(\.path) == ["tasks/two.md"])
        #expect(try await RestClient(world).titles().contains("Two"))
        a.intercept(nil)
        try await settle(a, b)
    }

    // MARK: A server set back

    @Test(arguments: [false, true])
    func `a server set back loses nothing: the run says so, forgets, keeps every file, and fetches all`(
        _ withOtherEdits: Bool
    ) async throws {
        let (world, a, b) = try await World.withTwo(files)
        let phone = try await RestClient(world)
        try await world.server.backUp(to: world.folder + "/backup")
        a.replace("two", "# Two", "# Zwei")
        a.write("later", "# Later\n")
        b.remove("three")
        try await a.sync()
        try await b.sync()
        try await a.sync()
        try await world.server.restore(from: world.folder + "/backup")
        if withOtherEdits {
            // The numbers go beyond what the devices have seen.
            for number in 1...9 { try await phone.add("Phone \(Text(String(number)))") }
            try await phone.edit("One", ["done": true])
        }
        let report = try await a.sync()
        #expect(report.notices.contains { $0.text.string.contains("set back") })
        #expect(a.read("later") != nil)
        #expect(report.conflicts.map(\.path) == (withOtherEdits ? ["tasks/one.md"] : []) + ["tasks/two.md"])
        for conflict in report.conflicts {
            try a.engine().resolve(conflict.id, conflict.path == "tasks/one.md" ? .theirs : .mine)
        }
        try await a.sync()
        let other = try await b.sync()
        for conflict in other.conflicts { try b.engine().resolve(conflict.id, .theirs) }
        try await settle(a, b)
        let contents = try a.contents()
        #expect(contents["two"]?.title == "Zwei")
        #expect(contents["later"]?.title == "Later")
        // What was deleted since the backup is there again: nothing is deleted.
        #expect(contents["three"]?.title == "Three")
        #expect(contents["one"]?.done == withOtherEdits)
        #expect(contents.count == (withOtherEdits ? 13 : 4))
    }

    @Test func `a late answer is no restored server`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        let old = Old()
        a.intercept { request, server in
            let answer = try await server(request)
            if calls("pull_changes")(request) { await old.keep(answer) }
            return answer
        }
        b.replace("one", "notes", "first")
        try await b.sync()
        try await a.sync()
        b.replace("one", "first", "second")
        try await b.sync()
        try await a.sync()
        // A proxy answers once with what it had.
        let count = Counter()
        a.intercept { request, server in
            if calls("pull_changes")(request), await count.next() == 1, let answer = await old.answer { return answer }
            return try await server(request)
        }
        let report = try await a.sync()
        #expect(!report.notices.contains { $0.text.string.contains("set back") })
        a.intercept(nil)
        try await settle(a, b)
        #expect(try a.contents()["one"]?.notes == "second")
    }

    @Test func `an account that suddenly sees nothing loses nothing`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        a.change(answersOf: "pull_changes") { members in
            members["rows"] = []
            members["next"] = 0
            members["total"] = 0
            members["sum"] = "0"
            members["behind"] = true
            members["more"] = false
        }
        let before = try a.contents()
        try await a.run(.pull)
        #expect(try a.contents() == before)
        a.intercept(nil)
        try await settle(a, b)
        #expect(try a.contents() == before)
    }

    @Test func `a deletion that waits while the server is set back is not carried out`() async throws {
        let (world, a, b) = try await World.withTwo(files)
        try await world.server.backUp(to: world.folder + "/backup")
        b.replace("two", "# Two", "# Zwei")
        try await b.sync()
        try await a.sync()
        try await world.server.restore(from: world.folder + "/backup")
        a.remove("one")
        let report = try await a.sync()
        #expect(report.sent.deleted == 0)
        for conflict in report.conflicts { try a.engine().resolve(conflict.id, .mine) }
        try await a.sync()
        for conflict in try await b.sync().conflicts { try b.engine().resolve(conflict.id, .mine) }
        try await settle(a, b)
        #expect(try a.contents()["one"]?.notes == "notes")
    }
}

private actor Counter {
    private var count = 0
    func next() -> Int {
        count += 1
        return count
    }
}

private actor Old {
    var answer: HTTPResponse?
    func keep(_ answer: HTTPResponse) { if self.answer == nil { self.answer = answer } }
}
