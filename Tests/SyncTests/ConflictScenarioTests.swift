import Model
import Testing
import Workspace

@testable import Sync

/// sync.md, "Conflicts" and "One field", on two devices.
struct ConflictScenarioTests {
    /// Two devices with one task whose notes differ; `b` has seen the conflict.
    private func clash() async throws -> (world: World, a: Device, b: Device, id: ItemID) {
        let (world, a, b) = try await World.withTwo(["one": "# One\n\nline\n\nmiddle\n\nend\n", "two": "# Two\n"])
        a.replace("one", "line", "from a")
        b.replace("one", "line", "from b")
        try await a.sync()
        let report = try await b.sync()
        return (world, a, b, try #require(report.conflicts.first?.id))
    }

    @Test func `fields in conflict wait, and every other field goes on in both directions`() async throws {
        let (_, a, b, _) = try await clash()
        a.replace("one", "# One", "# First")
        b.replace("one", "---\n# One", "due: tomorrow\n---\n# One")
        try await a.sync()
        let report = try await b.sync()
        #expect(report.conflicts.first?.fields == [.notes])
        try await a.sync()
        #expect(
            try b.contents()["one"]
                == TaskContent(title: "First", notes: "from b\n\nmiddle\n\nend", properties: ["due": "tomorrow"]))
        #expect(
            try a.contents()["one"]
                == TaskContent(title: "First", notes: "from a\n\nmiddle\n\nend", properties: ["due": "tomorrow"]))
        #expect(!b.read("one")!.contains("<<<<"))
    }

    @Test func `a conflict is over when the sides are equal`() async throws {
        let (_, a, b, _) = try await clash()
        a.replace("one", "from a", "from b")
        try await a.sync()
        let report = try await b.sync()
        #expect(report.conflicts.isEmpty)
        try await settle(a, b)
    }

    @Test func `a conflict is over when the sides merge cleanly`() async throws {
        let (_, a, b, _) = try await clash()
        a.replace("one", "from a", "line")
        a.replace("one", "end", "END")
        try await a.sync()
        #expect(try await b.sync().conflicts.isEmpty)
        try await settle(a, b)
        #expect(try a.contents()["one"]?.notes == "from b\n\nmiddle\n\nEND")
    }

    @Test func `a conflict is over when this side deleted the task: the edit wins`() async throws {
        let (_, a, b, _) = try await clash()
        b.remove("one")
        let report = try await b.sync()
        #expect(report.conflicts.isEmpty)
        #expect(report.notices.contains { $0.text.string.contains("the edit wins") })
        try await settle(a, b)
        #expect(try b.contents()["one"]?.notes == "from a\n\nmiddle\n\nend")
    }

    @Test func `a conflict is over when the other side deleted the task: the edit wins`() async throws {
        let (_, a, b, _) = try await clash()
        a.remove("one")
        try await a.sync()
        let report = try await b.sync()
        #expect(report.conflicts.isEmpty)
        try await settle(a, b)
        #expect(try a.contents()["one"]?.notes == "from b\n\nmiddle\n\nend")
    }

    @Test func `a conflict is replaced in place, without a new notice, when either side moved`() async throws {
        let (_, a, b, id) = try await clash()
        let notices = try b.engine().status().notices.count
        a.replace("one", "from a", "from a again")
        try await a.sync()
        b.replace("one", "from b", "from b again")
        let report = try await b.sync()
        #expect(report.conflicts.map(\.id) == [id])
        #expect(try b.engine().status().notices.count == notices)
        try b.engine().resolve(id, .mine)
        try await settle(a, b)
        #expect(try a.contents()["one"]?.notes == "from b again\n\nmiddle\n\nend")
    }

    @Test func `resolve works on the value last shown by a run by hand`() async throws {
        let (world, a, b, id) = try await clash()
        a.replace("one", "from a", "never shown")
        try await a.sync()
        world.clock.advance(11)
        try await b.sync { $0.background = true }
        try b.engine().resolve(id, .mine)
        // What the server has by then is merged against it like any edit: here a new conflict.
        let report = try await b.sync()
        #expect(report.conflicts.map(\.id) == [id])
        try b.engine().resolve(id, .theirs)
        try await settle(a, b)
        #expect(try b.contents()["one"]?.notes == "never shown\n\nmiddle\n\nend")
    }

    @Test func `diff shows both sides, and resolve works on what it showed`() async throws {
        let (world, a, b, id) = try await clash()
        a.replace("one", "from a", "seen in diff")
        try await a.sync()
        world.clock.advance(11)
        try await b.sync { $0.background = true }
        let rest: Text = "\n\nmiddle\n\nend"
        let sides = try b.engine().sides(of: id)
        #expect(
            sides == [
                FieldSides(
                    field: .notes, base: .string("line" + rest), mine: .string("from b" + rest),
                    theirs: .string("seen in diff" + rest))
            ])
        try b.engine().resolve(id, .mine)
        #expect(try await b.sync().conflicts.isEmpty)
        try await settle(a, b)
        #expect(try a.contents()["one"]?.notes == "from b\n\nmiddle\n\nend")
    }

    @Test func `resolve --mine: the file as it now stands is the answer`() async throws {
        let (_, a, b, id) = try await clash()
        b.replace("one", "from b", "from b and a")
        try b.engine().resolve(id, .mine)
        try await settle(a, b)
        #expect(try a.contents()["one"]?.notes == "from b and a\n\nmiddle\n\nend")
    }

    @Test func `the server moved again after resolve: merged like any edit, and may be a new conflict`() async throws {
        let (_, a, b, id) = try await clash()
        try b.engine().resolve(id, .mine)
        a.replace("one", "from a", "moved again")
        a.replace("one", "# One", "# Title")
        try await a.sync()
        let report = try await b.sync()
        #expect(report.conflicts.first?.fields == [.notes])
        #expect(try b.contents()["one"]?.title == "Title")
        try b.engine().resolve(id, .theirs)
        try await settle(a, b)
        #expect(try b.contents()["one"]?.notes == "moved again\n\nmiddle\n\nend")
    }

    @Test func `an edited scratch file becomes the file`() async throws {
        let (_, a, b, id) = try await clash()
        let scratch = try b.engine().scratch(for: id)
        let text = String(decoding: scratch.bytes, as: UTF8.self)
        for part in ["<<<<<<<", "|||||||", ">>>>>>>", "from a", "from b", "\nline\n"] { #expect(text.contains(part)) }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = lines.firstIndex { $0.hasPrefix("<<<<<<<") }!, end = lines.firstIndex { $0.hasPrefix(">>>>>>>") }!
        let saved = (lines[..<start] + ["from both"] + lines[(end + 1)...]).joined(separator: "\n")
        try b.engine().resolve(id, .edited(scratch, bytes: Array(saved.utf8)))
        try await settle(a, b)
        #expect(try a.contents()["one"]?.notes == "from both\n\nmiddle\n\nend")
    }

    @Test func `a scratch file with markers left is refused`() async throws {
        let (_, _, b, id) = try await clash()
        let before = b.read("one")
        let scratch = try b.engine().scratch(for: id)
        #expect(throws: PathProblem.self) { try b.engine().resolve(id, .edited(scratch, bytes: scratch.bytes)) }
        #expect(b.read("one") == before)
        #expect(try b.engine().status().conflicts.map(\.id) == [id])
    }

    @Test func `if the file is no longer what the scratch file was made from, it isn't written`() async throws {
        let (_, _, b, id) = try await clash()
        let scratch = try b.engine().scratch(for: id)
        b.replace("one", "from b", "meanwhile")
        #expect(throws: PathProblem.self) {
            try b.engine().resolve(id, .edited(scratch, bytes: Array("# One\n\nedited\n".utf8)))
        }
        #expect(try b.contents()["one"]?.notes == "meanwhile\n\nmiddle\n\nend")
        #expect(try b.engine().status().conflicts.map(\.id) == [id])
    }

    @Test func `background runs leave conflicts alone`() async throws {
        let (world, a, b, id) = try await clash()
        let before = b.read("one")
        for _ in 1...2 {
            world.clock.advance(11)
            try await b.sync { $0.background = true }
        }
        #expect(b.read("one") == before)
        #expect(try b.engine().status().conflicts.map(\.id) == [id])
        #expect(try a.engine().status().conflicts.isEmpty)
    }

    @Test func `no base on either side: a difference is a conflict, never a silent choice`() async throws {
        let (_, a, b) = try await World.withTwo(["one": "# One\n\nnotes\n"])
        Shell.remove(b.root + "/.otask/journal.sqlite")
        Shell.remove(b.root + "/.otask/journal.sqlite-wal")
        b.replace("one", "# One", "# Mine")
        let report = try await b.sync()
        #expect(report.conflicts.first?.fields == [.title])
        try b.engine().resolve(report.conflicts[0].id, .mine)
        try await settle(a, b)
        #expect(try a.contents()["one"]?.title == "Mine")
    }

    @Test(arguments: [
        ("[a, b]", "[a, b, c]", "[b, d]", "[b, d, c]"),
        ("[a]", "[a, b]", "[]", "[b]"),
        ("[a, b]", "[b, a]", "[a, b, c]", "[a, b, c]"),
    ])
    func `lists merge as sets when both sides changed one`(
        _ base: String, _ mine: String, _ theirs: String, _ result: String
    ) async throws {
        func text(_ list: String) -> String { "---\ntags: \(list)\n---\n# One\n" }
        let (_, a, b) = try await World.withTwo(["one": text(base)])
        a.replace("one", "tags: \(base)", "tags: \(theirs)")
        b.replace("one", "tags: \(base)", "tags: \(mine)")
        try await a.sync()
        #expect(try await b.sync().conflicts.isEmpty)
        try await settle(a, b)
        let wanted = try TaskFile.parse(Array(text(result).utf8), name: "one", idsInFiles: true).content
        #expect(try b.contents()["one"] == wanted)
    }

    @Test func `changed to the same on both sides is agreed: nothing is sent or written`() async throws {
        let (_, a, b) = try await World.withTwo(["one": "# One\n"])
        a.replace("one", "# One", "# Two")
        b.replace("one", "# One", "# Two")
        try await a.sync()
        let report = try await b.sync()
        #expect(report.sent == Tally())
        #expect(report.received == Tally())
        try await settle(a, b)
    }

    @Test func `an own key removed here and changed there is a conflict`() async throws {
        let (_, a, b) = try await World.withTwo(["one": "---\ndue: monday\n---\n# One\n"])
        a.replace("one", "due: monday", "due: friday")
        b.replace("one", "due: monday\n", "")
        try await a.sync()
        let report = try await b.sync()
        #expect(report.conflicts.first?.fields == [.property("due")])
        try b.engine().resolve(report.conflicts[0].id, .mine)
        try await settle(a, b)
        #expect(try a.contents()["one"]?.properties == [:])
    }
}
