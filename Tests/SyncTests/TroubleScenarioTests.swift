import LocalSupabase
import Model
import Supabase
import Testing
import Workspace

@testable import Sync

/// sync.md, "Network trouble" and "Processes", as the engine sees them.
struct TroubleScenarioTests {
    private let files = ["one": "# One\n\nnotes\n", "two": "# Two\n", "three": "# Three\n"]

    @Test func `unreachable: changes wait, and status says since when`() async throws {
        let (world, a, b) = try await World.withTwo(files)
        let reached = try #require(try a.engine().status().lastPull)
        #expect(try a.engine().status().connection == .online)
        world.clock.advance(1_000)
        a.loseNetwork(true)
        a.replace("one", "notes", "edited")
        a.write("new", "# New\n")
        a.remove("two")
        let report = try await a.sync()
        #expect(report.failure?.kind == .unreachable)
        #expect(Set(report.waiting.map(\.path)) == ["tasks/one.md", "tasks/new.md", "tasks/two.md"])
        let status = try a.engine().status()
        #expect(status.connection == .unreachable)
        #expect(status.lastPull == reached)
        #expect(status.lastError != nil)
        #expect(try a.engine().tasks().map(\.title) == ["New", "One", "Three"])
        a.loseNetwork(false)
        try await settle(a, b)
        #expect(try a.engine().status().connection == .online)
        #expect(try a.engine().status().lastError == nil)
        #expect(b.places == ["new", "one", "three"])
    }

    @Test func `offline is simulated until it is ended`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        try a.engine().simulateOffline(true)
        a.replace("one", "notes", "edited")
        let report = try await a.sync()
        #expect(report.failure?.kind == .offline)
        #expect(report.requests == 0)
        #expect(report.waiting.map(\.path) == ["tasks/one.md"])
        #expect(try a.engine().status().connection == .offline)
        try a.engine().simulateOffline(false)
        #expect(try a.engine().status().connection != .offline)
        try await settle(a, b)
    }

    @Test func `days without a network: edits, moves, new files and removals on both sides come together`() async throws
    {
        let (world, a, b) = try await World.withTwo(files)
        a.loseNetwork(true)
        for day in 1...3 {
            a.write("day\(day)", "# Day \(day)\n")
            a.replace("one", day == 1 ? "notes" : "day \(day - 1)", "day \(day)")
            try await a.sync()
            world.clock.advance(86_400)
        }
        a.move("two", "sub/two")
        a.remove("three")
        b.replace("one", "# One", "# Eins")
        b.write("b", "# B\n")
        try await b.sync()
        try await a.sync()
        a.loseNetwork(false)
        try await settle(a, b)
        #expect(a.places == ["b", "day1", "day2", "day3", "one", "sub/two"])
        #expect(try b.contents()["one"] == TaskContent(title: "Eins", notes: "day 3"))
    }

    @Test func `an expired token is refreshed once, and the request repeated`() async throws {
        let (world, a, b) = try await World.withTwo(files)
        a.replace("one", "notes", "edited")
        await world.server.addFault(.expireToken, times: 1, on: calls("push_changes"))
        let report = try await a.sync()
        #expect(report.failure == nil)
        #expect(report.sent.tasks == 1)
        try await settle(a, b)
    }

    @Test func `signed out: changes wait, and nothing goes out with the bare key`() async throws {
        let (world, a, b) = try await World.withTwo(files)
        a.replace("one", "notes", "edited")
        Shell.remove(world.folder + "/sessions-a")
        a.intercept { request, server in
            Issue.record("a request went out: \(request.target)")
            return try await server(request)
        }
        let report = try await a.sync()
        #expect(report.failure?.kind == .signedOut)
        #expect(report.waiting.map(\.path) == ["tasks/one.md"])
        #expect(try a.engine().status().connection == .signedOut)
        a.intercept(nil)
        try await a.signIn(email: Text(world.server.demo.email), password: Text(world.server.demo.password))
        try await settle(a, b)
        #expect(try b.contents()["one"]?.notes == "edited")
    }

    @Test func `the account is gone: said in one line, nothing here is removed`() async throws {
        let (world, a, _) = try await World.withTwo(files)
        let before = try a.contents()
        try await world.server.deleteUser(try await RestClient(world).session.userID)
        let report = try await a.sync()
        #expect(report.failure?.kind == .signedOut)
        #expect(report.failure?.text.string.contains("account is gone") == true)
        #expect(report.failure?.text.string.contains("\n") == false)
        #expect(try a.contents() == before)
        #expect(try await a.sync().failure?.kind == .signedOut)
    }

    @Test(arguments: [Verb.pull, .push, .sync])
    func `another account's session: nothing is sent or written`(_ verb: Verb) async throws {
        let (world, a, b) = try await World.withTwo(files)
        let other = try await RestClient.ofSomebodyElse(world)
        try await other.add("Not mine")
        b.replace("one", "notes", "edited")
        try await b.sync()
        a.replace("two", "# Two", "# Zwei")
        a.write("new", "# New\n")
        let before = a.disk().filter { $0.key.hasPrefix("tasks/") }
        let token = other.session.accessToken.string
        a.intercept { request, server in
            if calls("push_changes")(request) { Issue.record("something was sent") }
            var request = request
            request.headers["authorization"] = "Bearer " + token
            return try await server(request)
        }
        let report = try await a.run(verb)
        #expect(report.failure?.kind == .otherAccount)
        #expect(a.disk().filter { $0.key.hasPrefix("tasks/") } == before)
        #expect(try await other.titles() == ["Not mine"])
        a.intercept(nil)
        try await settle(a, b)
        #expect(try b.contents()["two"]?.title == "Zwei")
    }

    @Test func `a schema that isn't set up is one clear line`() async throws {
        let (_, a, _) = try await World.withTwo(files)
        a.intercept { request, server in
            guard calls("pull_changes")(request) else { return try await server(request) }
            var request = request
            request.target = "/rest/v1/rpc/pull_changes_of_nobody"
            return try await server(request)
        }
        #expect(try await a.sync().failure?.kind == .schema)
    }

    @Test func `a sign-in page instead of an answer changes nothing`() async throws {
        let (world, a, b) = try await World.withTwo(files)
        a.replace("one", "notes", "edited")
        let page = HTTPResponse(
            status: 200, headers: ["content-type": "text/html"], body: Array("<html>Hello</html>".utf8))
        await world.server.addFault(.answer(page), times: 1)
        let before = try a.contents()
        #expect(try await a.sync().failure?.kind == .failed)
        #expect(try a.contents() == before)
        try await settle(a, b)
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
    func `what passes is tried again in the same run`(_ status: Int) async throws {
        let (world, a, b) = try await World.withTwo(files)
        a.replace("one", "notes", "edited")
        await world.server.addFault(.status(status), times: 2)
        await world.server.addFault(.status(status), times: 2, on: calls("push_changes"))
        #expect(try await a.sync().failure == nil)
        try await settle(a, b)
        #expect(try b.contents()["one"]?.notes == "edited")
    }

    @Test(arguments: [413, 400, 403])
    func `a batch that is answered as a whole is halved, down to the item`(_ status: Int) async throws {
        let (world, a, b) = try await World.withTwo()
        for number in 1...9 { a.write("t\(number)", "# Task \(number)\n") }
        a.write("poison", "# Poison\n")
        await world.server.addFault(.status(status), times: 1_000) { request in
            calls("push_changes")(request) && request.body.contains("Poison")
        }
        let report = try await a.sync()
        #expect(report.failure == nil)
        #expect(report.sent.tasks == 9)
        #expect(report.refused.map(\.path) == ["tasks/poison.md"])
        await world.server.removeFaults()
        #expect(try await a.sync().requests == 1)
        a.write("poison", "# Cured\n")
        try await settle(a, b)
        #expect(b.places.count == 10)
    }

    // MARK: Processes

    @Test func `a second run finds the workspace busy, and a background run leaves at once`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        let lock = try a.engine().lock(wait: 0)
        await #expect(throws: WorkspaceLock.Busy.self) { try await a.sync { $0.wait = 0 } }
        await #expect(throws: WorkspaceLock.Busy.self) { try await a.sync { $0.background = true } }
        // Readers never wait.
        #expect(try a.engine().status().counts.tasks == 3)
        #expect(try a.engine().tasks().count == 3)
        lock.release()
        try await settle(a, b)
    }

    @Test func `a marker of another workspace stops the run before it does anything`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        let own = Shell.read(a.root + "/.otask/config.yaml")!
        let other = Shell.read(b.root + "/.otask/config.yaml")!
        a.replace("one", "notes", "edited")
        a.write("new", "# New\n")
        Shell.write(a.root + "/.otask/config.yaml", other)
        let before = a.disk()
        a.intercept { request, server in
            Issue.record("a request went out")
            return try await server(request)
        }
        await #expect(throws: (any Error).self) { try await a.sync() }
        #expect(a.disk() == before)
        a.intercept(nil)
        Shell.write(a.root + "/.otask/config.yaml", own)
        try await settle(a, b)
    }

    @Test func `a marker that goes away between two batches stops the sending`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        let own = Shell.read(a.root + "/.otask/config.yaml")!
        a.replace("one", "notes", "edited")
        let path = a.root + "/.otask/config.yaml"
        a.intercept { request, server in
            if calls("push_changes")(request) { Issue.record("something was sent") }
            if calls("pull_changes")(request) { Shell.unlink(path) }
            return try await server(request)
        }
        let report = try await a.sync()
        #expect(report.failure?.kind == .failed)
        a.intercept(nil)
        Shell.write(path, own)
        try await settle(a, b)
    }

    // MARK: Options

    @Test func `a dry run changes nothing on disk, in the journal or on the server, and its plan is carried out then`()
        async throws
    {
        var all = files
        for name in ["moved", "theirs", "both", "notes", "gone", "revived"] {
            all[name] = "---\nkey: \(name)\n---\n# \(name)\n\nfirst\n\nmiddle\n\nlast\n"
        }
        let (world, a, b) = try await World.withTwo(all)
        a.replace("one", "notes", "edited")
        a.replace("both", "# both", "# mine")
        a.replace("notes", "first", "FIRST")
        a.replace("revived", "first", "edited")
        a.write("new", "# New\n")
        a.remove("two")
        a.move("moved", "sub/moved")
        b.replace("theirs", "first", "edited")
        b.replace("theirs", "key: theirs\n", "")
        b.replace("both", "# both", "# theirs")
        b.replace("notes", "last", "LAST")
        b.move("three", "sub/three")
        b.write("fresh", "# Fresh\n")
        b.remove("gone")
        b.remove("revived")
        try await b.sync()
        let phone = try await RestClient(world)
        let disk = a.disk(), rows = try await phone.tasks()
        let plan = try await a.sync { $0.dryRun = true }.plan
        #expect(a.disk() == disk)
        #expect(try await phone.tasks() == rows)
        let report = try await a.sync()
        func told(_ lines: [PlanLine]) -> Set<String> {
            Set(lines.map { "\($0.action) \($0.path) \($0.fields.map(\.name.string)) \($0.to?.string ?? "")" })
        }
        let (planned, done) = (told(plan), told(report.plan))
        #expect(planned.subtracting(done) == ["conflict tasks/both.md [\"title\"] "])
        #expect(done.subtracting(planned) == [])
        for conflict in report.conflicts { try a.engine().resolve(conflict.id, .mine) }
        try await settle(a, b)
        #expect(a.places == ["both", "fresh", "new", "notes", "one", "revived", "sub/moved", "sub/three", "theirs"])
    }

    @Test func `a dry run of what the guard holds says so and holds it`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        for name in files.keys { a.remove(name) }
        let plan = try await a.sync { $0.dryRun = true }.plan
        #expect(plan.map(\.action) == [.hold, .hold, .hold])
        let allowed = try await a.sync {
            $0.dryRun = true
            $0.allowDeletions = 3
        }.plan
        #expect(allowed.map(\.action) == [.sendDeletion, .sendDeletion, .sendDeletion])
        try await b.sync()
        #expect(b.places.count == 3)
    }

    @Test func `only the tasks that were named are sent and written`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        a.replace("one", "notes", "edited")
        a.replace("two", "# Two", "# Zwei")
        b.replace("one", "# One", "# Eins")
        b.replace("three", "# Three", "# Drei")
        try await b.sync()
        let one = try #require(try a.engine().tasks().first { $0.title == "One" }?.id)
        let report = try await a.sync { $0.only = [one] }
        #expect(report.sent.tasks == 1)
        #expect(report.received.tasks == 1)
        #expect(try a.contents()["three"]?.title == "Three")
        #expect(try a.contents()["one"] == TaskContent(title: "Eins", notes: "edited"))
        #expect(report.waiting.map(\.path) == ["tasks/two.md"])
        try await settle(a, b)
        #expect(try b.contents()["two"]?.title == "Zwei")
    }
}
