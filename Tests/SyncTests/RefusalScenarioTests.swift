import LocalSupabase
import Model
import Testing

@testable import Sync

/// sync.md, "Refused, held, later".
struct RefusalScenarioTests {
    private let long = String(repeating: "x", count: 501)

    /// Two devices; the title of `one` on `a` was refused.
    private func refused() async throws -> (world: World, a: Device, b: Device) {
        let (world, a, b) = try await World.withTwo(["one": "# One\n\nnotes\n", "two": "# Two\n"])
        a.replace("one", "# One", "# \(long)")
        let report = try await a.sync()
        #expect(report.refused.map(\.fields) == [[.title]])
        return (world, a, b)
    }

    @Test func `a refusal is remembered over runs and not sent again`() async throws {
        let (_, a, _) = try await refused()
        for _ in 1...3 { #expect(try await a.sync().requests == 1) }
        #expect(try await a.run(.push).requests == 1)
        #expect(try a.engine().status().refused.map(\.code) == ["23514"])
        #expect(try a.engine().status().waiting.isEmpty)
    }

    @Test func `a change of the file clears a refusal`() async throws {
        let (_, a, b) = try await refused()
        a.replace("one", long, "Short")
        let report = try await a.sync()
        #expect(report.refused.isEmpty)
        try await settle(a, b)
        #expect(try b.contents()["one"]?.title == "Short")
    }

    @Test func `the refused title of a file that takes its old words back is over`() async throws {
        let (_, a, b) = try await refused()
        a.replace("one", long, "One")
        #expect(try await a.sync().refused.isEmpty)
        try await settle(a, b)
    }

    @Test func `a change of the server's row clears a refusal: it is sent once more`() async throws {
        let (world, a, _) = try await refused()
        try await RestClient(world).edit("One", ["done": true])
        let report = try await a.sync()
        #expect(report.requests > 1)
        #expect(report.refused.map(\.fields) == [[.title]])
        #expect(try a.contents()["one"]?.done == true)
        #expect(try await a.sync().requests == 1)
    }

    @Test func `other fields of a refused task go on, and the refusal stays`() async throws {
        let (_, a, b) = try await refused()
        a.replace("one", "notes", "other")
        let report = try await a.sync()
        #expect(report.refused.map(\.fields) == [[.title]])
        #expect(try await a.sync().requests == 1)
        try await b.sync()
        #expect(try b.contents()["one"] == TaskContent(title: "One", notes: "other"))
    }

    @Test func `retry sends a refused change again`() async throws {
        let (_, a, _) = try await refused()
        #expect(try a.engine().retry(["tasks/one.md"]) == ["tasks/one.md"])
        #expect(try a.engine().status().refused.isEmpty)
        #expect(try await a.sync().requests == 2)
        #expect(try a.engine().status().refused.count == 1)
    }

    @Test func `dismiss gives a refused edit the server's state, and prints its undo`() async throws {
        let (_, a, b) = try await refused()
        a.replace("one", "notes", "other")
        let notices = try a.engine().dismiss(["tasks/one.md"], remove: false)
        #expect(notices.allSatisfy { $0.undo != nil } && !notices.isEmpty)
        try await settle(a, b)
        #expect(try b.contents()["one"] == TaskContent(title: "One", notes: "other"))
    }

    @Test func `dismiss of a refused new file keeps it here only, until it changes`() async throws {
        let (_, a, b) = try await World.withTwo()
        a.write("new", "# \(long)\n")
        try await a.sync()
        _ = try a.engine().dismiss(["tasks/new.md"], remove: false)
        let report = try await a.sync()
        #expect(report.requests == 1)
        #expect(report.refused.isEmpty)
        #expect(a.places == ["new"])
        a.write("new", "# New\n")
        try await settle(a, b)
        #expect(b.places == ["new"])
    }

    @Test func `dismiss --remove moves a refused new file aside`() async throws {
        let (_, a, b) = try await World.withTwo()
        a.write("new", "# \(long)\n")
        try await a.sync()
        let notices = try a.engine().dismiss(["tasks/new.md"], remove: true)
        #expect(notices.first?.undo != nil)
        #expect(a.places == [])
        #expect(a.displaced.contains("# \(long)\n"))
        try await settle(a, b)
    }

    @Test func `a dismissal of what was not refused says so`() async throws {
        let (_, a, _) = try await World.withTwo(["one": "# One\n"])
        a.replace("one", "# One", "# Two")
        #expect(throws: RunFailure.self) { try a.engine().dismiss(["tasks/one.md"], remove: false) }
        #expect(throws: RunFailure.self) { try a.engine().discard(["tasks/none.md"]) }
    }

    @Test func `discard gives a waiting edit the server's fields`() async throws {
        let (_, a, b) = try await World.withTwo(["one": "---\ndue: monday\n---\n# One\n\nnotes\n"])
        a.write("one", a.read("one")!.replacing("# One", with: "# Other").replacing("due: monday", with: "new: key"))
        let notices = try a.engine().discard(["tasks/one.md"])
        #expect(notices.first?.undo != nil)
        #expect(try a.contents()["one"] == TaskContent(title: "One", notes: "notes", properties: ["due": "monday"]))
        let report = try await a.sync()
        #expect(report.sent == Tally())
        try await settle(a, b)
    }

    @Test func `discard takes a move back, with an edit of the same file`() async throws {
        let (_, a, b) = try await World.withTwo(["one": "# One\n\nnotes\n"])
        a.move("one", "sub/moved")
        a.replace("sub/moved", "notes", "edited")
        #expect(try a.engine().status().waiting.map(\.path) == ["tasks/sub/moved.md"])
        let notices = try a.engine().discard(["tasks/sub/moved.md"])
        #expect(notices.count == 2)
        #expect(a.places == ["one"])
        #expect(try a.contents()["one"]?.notes == "notes")
        #expect(try await a.sync().sent == Tally())
        try await settle(a, b)
    }

    @Test func `discard puts a removed file back`() async throws {
        let (_, a, b) = try await World.withTwo(["one": "# One\n\nnotes\n"])
        a.remove("one")
        let notices = try a.engine().discard(["tasks/one.md"])
        #expect(notices.first?.undo != nil)
        #expect(try await a.sync().sent == Tally())
        try await settle(a, b)
        #expect(a.places == ["one"])
    }

    @Test func `discard moves a file that the server doesn't have aside`() async throws {
        let (_, a, b) = try await World.withTwo()
        a.write("new", "# New\n")
        #expect(try a.engine().discard(["tasks/new.md"]).count == 1)
        #expect(a.places == [])
        #expect(a.displaced.contains("# New\n"))
        try await settle(a, b)
    }

    @Test func `discard of an edit of a task deleted elsewhere agrees to the deletion`() async throws {
        let (_, a, b) = try await World.withTwo(["one": "# One\n\nnotes\n", "two": "# Two\n", "three": "# Three\n"])
        b.remove("one")
        try await b.sync()
        a.replace("one", "notes", "edited")
        try await a.run(.push)
        _ = try a.engine().discard(["tasks/one.md"])
        try await settle(a, b)
        #expect(a.places == ["three", "two"])
    }

    @Test func `an edit made while the run sends inherits no refusal`() async throws {
        let (_, a, b) = try await World.withTwo(["one": "# One\n\nnotes\n"])
        a.write("one", a.read("one")!.replacing("# One", with: "# \(long)").replacing("notes", with: "other"))
        let once = Once()
        let long = long
        a.intercept { [a] request, server in
            let answer = try await server(request)
            if calls("push_changes")(request), once.isFirst() { a.replace("one", long, "Short") }
            return answer
        }
        try await a.sync()
        a.intercept(nil)
        let report = try await a.sync()
        #expect(report.refused.isEmpty)
        #expect(report.sent.tasks == 1)
        try await settle(a, b)
        #expect(try b.contents()["one"] == TaskContent(title: "Short", notes: "other"))
    }

    @Test func `fields sent on their own over several batches are each based on the row that the last one made`()
        async throws
    {
        let (_, a, b) = try await World.withTwo(["one": "# One\n\nnotes\n"])
        let (notes, key) = (String(repeating: "n", count: 870_000), String(repeating: "k", count: 60_000))
        let text = a.read("one")!.replacing("---\nid: ", with: "---\nzzz: \(key)\nid: ")
        a.write("one", text.replacing("# One", with: "# \(long)").replacing("notes", with: notes))
        let report = try await a.sync()
        #expect(report.problems.isEmpty)
        // The feed, the whole change, and its fields in two batches: none is in conflict with the one before.
        #expect(report.requests == 4)
        #expect(report.sent.tasks == 2)
        #expect(report.refused.map(\.fields) == [[.title]])
        try await b.sync()
        #expect(try b.contents()["one"]?.notes.utf8.count == 870_000)
        #expect(try b.contents()["one"]?.properties["zzz"]?.text?.utf8.count == 60_000)
    }

    // MARK: Later

    /// Every push that says `word` fails in passing.
    private func failing(_ word: String, _ world: World) async {
        await world.server.addFault(.status(503), times: 1_000) { request in
            calls("push_changes")(request) && request.body.contains(word)
        }
    }

    @Test func `a passing failure of one item backs off on its own in background runs`() async throws {
        let (world, a, b) = try await World.withTwo(["one": "# One\n", "two": "# Two\n"])
        a.replace("one", "# One", "# Poison")
        a.replace("two", "# Two", "# Zwei")
        world.clock.advance(11)
        await failing("Poison", world)
        let report = try await a.sync { $0.background = true }
        #expect(report.failure == nil)
        #expect(report.sent.tasks == 1)
        #expect(report.waiting.map(\.state) == [.later])
        #expect(try a.engine().status().nextTry != nil)
        #expect(try await a.sync { $0.background = true }.requests == 1)
        world.clock.advance(26)
        #expect(try await a.sync { $0.background = true }.requests > 1)
        world.clock.advance(26)
        #expect(try await a.sync { $0.background = true }.requests == 1)
        world.clock.advance(100)
        await world.server.removeFaults()
        #expect(try await a.sync { $0.background = true }.sent.tasks == 1)
        #expect(try a.engine().status().nextTry == nil)
        try await settle(a, b)
        #expect(try b.contents()["one"]?.title == "Poison")
    }

    @Test func `a run by hand clears the waiting time`() async throws {
        let (world, a, b) = try await World.withTwo(["one": "# One\n"])
        a.replace("one", "# One", "# Poison")
        world.clock.advance(11)
        await failing("Poison", world)
        #expect(try await a.sync { $0.background = true }.waiting.map(\.state) == [.later])
        await world.server.removeFaults()
        #expect(try await a.sync().sent.tasks == 1)
        try await settle(a, b)
    }

    @Test func `a change of the file clears the waiting time`() async throws {
        let (world, a, b) = try await World.withTwo(["one": "# One\n"])
        a.replace("one", "# One", "# Poison")
        world.clock.advance(11)
        await failing("Poison", world)
        #expect(try await a.sync { $0.background = true }.waiting.map(\.state) == [.later])
        a.replace("one", "# Poison", "# Cure")
        world.clock.advance(11)
        #expect(try await a.sync { $0.background = true }.sent.tasks == 1)
        try await settle(a, b)
    }

    @Test func `a change of the server's row clears the waiting time`() async throws {
        let (world, a, b) = try await World.withTwo(["one": "# One\n"])
        a.replace("one", "# One", "# Poison")
        world.clock.advance(11)
        await failing("Poison", world)
        #expect(try await a.sync { $0.background = true }.waiting.map(\.state) == [.later])
        await world.server.removeFaults()
        try await RestClient(world).edit("One", ["done": true])
        #expect(try await a.sync { $0.background = true }.sent.tasks == 1)
        try await settle(a, b)
    }

    @Test func `one bad item never blocks the rest`() async throws {
        let (world, a, b) = try await World.withTwo()
        for number in 1...9 { a.write("t\(number)", "# Task \(number)\n") }
        a.write("bad", "# Bad \(long)\n")
        a.write("poison", "# Poison\n")
        a.write("broken", "---\n: [\n---\n# Broken\n")
        a.write("nul", "# Nul\n\na\u{0}b\n")
        await failing("Poison", world)
        let report = try await a.sync()
        #expect(report.sent.tasks == 9)
        #expect(report.refused.map(\.path) == ["tasks/bad.md"])
        #expect(Set(report.problems.map(\.path)).isSuperset(of: ["tasks/broken.md"]))
        try await b.sync()
        #expect(b.places.count == 9)
    }
}
