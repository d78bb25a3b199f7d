import Model
import Testing

@testable import Sync

/// sync.md, "Whole items", on two devices.
struct DeletionScenarioTests {
    private let files = ["one": "---\ntags: [home]\n---\n# One\n\nnotes\n", "two": "# Two\n", "three": "# Three\n"]

    @Test func `deleted here, edited there: the edit wins, the file comes back, a notice says so`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        a.remove("one")
        b.replace("one", "notes", "edited")
        try await b.sync()
        let report = try await a.sync()
        #expect(report.sent.deleted == 0)
        #expect(report.notices.contains { $0.path == "tasks/one.md" })
        try await settle(a, b)
        #expect(try a.contents()["one"]?.notes == "edited")
    }

    @Test func `edited here, deleted there: revived with the same id, its own keys and its path`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        let id = try a.engine().tasks().first { $0.title == "One" }?.id
        b.move("one", "sub/one")
        try await b.sync()
        try await a.sync()
        b.remove("sub/one")
        try await b.sync()
        a.replace("sub/one", "notes", "edited")
        let report = try await a.sync()
        #expect(report.sent.tasks == 1)
        try await settle(a, b)
        #expect(b.places.contains("sub/one"))
        #expect(
            try b.contents()["sub/one"] == TaskContent(title: "One", notes: "edited", properties: ["tags": ["home"]]))
        #expect(try b.engine().tasks().first { $0.title == "One" }?.id == id)
    }

    @Test func `push leaves a revival to sync`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        b.remove("one")
        try await b.sync()
        a.replace("one", "notes", "edited")
        let report = try await a.run(.push)
        #expect(report.sent == Tally())
        #expect(report.waiting.map(\.path) == ["tasks/one.md"])
        try await a.sync()
        try await settle(a, b)
        #expect(try b.contents()["one"]?.notes == "edited")
    }

    @Test func `deleted on both sides is agreed`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        a.remove("one")
        b.remove("one")
        try await a.sync()
        let report = try await b.sync()
        #expect(report.sent == Tally())
        try await settle(a, b)
        #expect(a.places == ["three", "two"])
    }

    @Test func `renamed against deleted, the deletion wins`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        a.move("one", "renamed")
        b.remove("one")
        try await b.sync()
        try await a.sync()
        try await settle(a, b)
        #expect(a.places == ["three", "two"])
    }

    @Test func `deleted against renamed, the deletion wins`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        a.move("one", "renamed")
        try await a.sync()
        b.remove("one")
        try await b.sync()
        try await settle(a, b)
        #expect(b.places == ["three", "two"])
    }

    @Test func `renamed here, edited there: both apply`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        a.move("one", "sub/renamed")
        b.replace("one", "notes", "edited")
        try await b.sync()
        try await a.sync()
        try await settle(a, b)
        #expect(try b.contents()["sub/renamed"]?.notes == "edited")
    }

    @Test func `moved on both sides, the server's place stands`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        a.move("one", "here")
        b.move("one", "there")
        try await b.sync()
        let report = try await a.sync()
        #expect(report.notices.contains { $0.text.string.contains("the server's place stands") })
        try await settle(a, b)
        #expect(a.places == ["there", "three", "two"])
    }

    @Test func `absence on the server is never a deletion`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        a.change(answersOf: "pull_changes") { members in
            members["rows"] = []
            members["total"] = .null
            members["sum"] = .null
        }
        let report = try await a.sync()
        #expect(report.received == Tally())
        a.intercept(nil)
        #expect(a.places == ["one", "three", "two"])
        try await settle(a, b)
    }

    @Test func `a phone's new row, edit and deletion arrive`() async throws {
        let (world, a, b) = try await World.withTwo(files)
        let phone = try await RestClient(world)
        try await phone.add("Phone", ["notes": "hello", "properties": ["due": "today"]])
        try await phone.edit("One", ["notes": "by phone", "done": true])
        try await phone.delete("Two")
        try await settle(a, b)
        let contents = try a.contents()
        #expect(contents["phone"] == TaskContent(title: "Phone", notes: "hello", properties: ["due": "today"]))
        #expect(contents["one"]?.notes == "by phone")
        #expect(contents["one"]?.done == true)
        #expect(contents["one"]?.properties == ["tags": ["home"]])
        #expect(contents["two"] == nil)
    }

    @Test func `a phone's edit and a file's edit of other fields both survive`() async throws {
        let (world, a, b) = try await World.withTwo(files)
        let phone = try await RestClient(world)
        a.replace("one", "notes", "by file")
        try await phone.edit("One", ["done": true])
        try await settle(a, b)
        #expect(
            try b.contents()["one"]
                == TaskContent(
                    title: "One", notes: "by file", done: true, properties: ["tags": ["home"]]))
    }

    @Test func `a phone deletes what was edited here: the edit wins`() async throws {
        let (world, a, b) = try await World.withTwo(files)
        let phone = try await RestClient(world)
        a.replace("one", "notes", "edited")
        try await phone.delete("One")
        try await settle(a, b)
        #expect(try await phone.titles() == ["One", "Three", "Two"])
        #expect(try b.contents()["one"]?.notes == "edited")
    }

    @Test func `edited here, edited and then deleted there: the edit wins`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        b.replace("one", "notes", "other words")
        b.replace("one", "# One", "# Eins")
        try await b.sync()
        b.remove("one")
        try await b.sync()
        a.replace("one", "notes", "edited")
        #expect(try await a.sync().conflicts.isEmpty)
        try await settle(a, b)
        #expect(try b.contents()["one"]?.notes == "edited")
    }

    @Test func `deleted, and written again with the same id: it is wanted back`() async throws {
        let (_, a, b) = try await World.withTwo(files)
        let text = a.read("one")!
        a.remove("one")
        try await a.sync()
        try await b.sync()
        a.write("one", text)
        try await settle(a, b)
        #expect(b.places == ["one", "three", "two"])
    }
}
