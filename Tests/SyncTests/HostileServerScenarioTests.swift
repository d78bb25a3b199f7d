import Model
import Testing

@testable import Sync

/// Rows that no good server sends: each is dealt with on its own, and nothing is ever written outside the task folder.
struct HostileServerScenarioTests {
    /// Changes the rows of the task with the title `Bad` on their way to `device`.
    private func spoil(_ device: Device, _ change: @escaping @Sendable (inout [Text: JSON]) -> Void) {
        device.change(answersOf: "pull_changes") { page in
            page["rows"] = .array(
                (page["rows"]?.array ?? []).map { row in
                    guard var members = row.object, members["title"] == "Bad" else { return row }
                    change(&members)
                    return .object(members)
                })
        }
    }

    private static let nul = Text(String(UnicodeScalar(0)))

    static let badRows: [String: [Text: JSON]] = [
        "a path with a NUL": ["path": .string("a\(nul)b")],
        "a path that leads out": ["path": "../../etc/x"],
        "a path through a dot": ["path": "a/./../../x"],
        "an absolute path": ["path": "/tmp/otask-hostile"],
        "a path into the private folder": ["path": "../.otask/config"],
        "a path of 300 characters": ["path": .string(Text(String(repeating: "n", count: 300)))],
        "a path of a thousand folders": ["path": .string(Text(String(repeating: "d/", count: 1_000) + "x"))],
        "a path with line breaks": ["path": "a\nb"],
        "an empty path": ["path": ""],
        "a path with a blank at its end": ["path": "x /y"],
        "own keys that mean something": ["properties": ["id": "x", "done": true, "title": "y", "ok": "z"]],
        "an own key with line breaks": ["properties": ["a\n---\nid: x": "b\n---\n"]],
        "deeply nested own keys": ["properties": ["a": [["b": [["c": [[[1]]]]]]]]],
        "a title of line breaks": ["title": "\n\n"],
        "a title with a heading below": ["title": "a\n# b"],
        "a title that closes the front matter": ["title": "---"],
        "a title with control characters": ["title": "a\u{1B}[31mb\u{7}"],
        "notes that look like front matter": ["notes": "---\nid: 1\n---\n"],
        "notes with carriage returns": ["notes": "a\r\nb\rc"],
        "times without fractions": ["created_at": "2026-01-01T00:00:00+00:00", "updated_at": "2026-01-01T00:00:00Z"],
        "times with nine digits": ["created_at": "2026-01-01T00:00:00.123456789+00:00"],
        "infinite times": ["created_at": "infinity", "updated_at": "-infinity"],
        "times that are none": ["created_at": "yesterday", "updated_at": ""],
        "years before all": ["created_at": "0044-03-15T00:00:00+00:00 BC"],
    ]

    @Test(arguments: badRows.keys.sorted())
    func `a bad row becomes an ordinary task or waits, inside the task folder`(_ name: String) async throws {
        let pair = try await Pair(["home/one": "# One\n"])
        let (a, fields) = (pair.a, Self.badRows[name]!)
        _ = try await pair.b.phoneAdds("Bad", notes: "w1")
        _ = try await pair.b.phoneAdds("Good", path: "good")
        spoil(a) { row in row.merge(fields) { $1 } }
        let outside = Set(Shell.entries(pair.world.folder))
        for _ in 0..<2 {
            let report = try await a.sync()
            #expect(report.failure == nil)
            #expect(report.sent.deleted == 0)
        }
        #expect(a.places.contains("good"))
        // A title that no line can hold waits, and is told.
        let problems = try a.engine().status().problems.count
        #expect(a.own.count == 3 - problems)
        #expect(problems == (fields["title"]?.text?.string.contains("\n") == true ? 1 : 0))
        #expect(Set(Shell.entries(pair.world.folder)) == outside)
        #expect(Set(Shell.entries(a.root)) == [".otask", "tasks"])
        #expect(!Shell.exists("/tmp/otask-hostile.md"))
        _ = try a.engine().status()
        // Every file can be read, and says of itself what was meant.
        #expect(try a.contents().count == a.places.count)
        #expect(try await a.sync().sent == Tally())
    }

    static let unreadable: [String: [Text: JSON]] = [
        "a title that is a number": ["title": 5], "done that is a text": ["done": "yes"],
        "own keys that are a list": ["properties": []], "a path that is a list": ["path": ["x"]],
        "notes that are an object": ["notes": [:]], "changed that is a text": ["changed": "x"],
        "a time that is a number": ["created_at": 5], "notes with a NUL": ["notes": .string("a\(nul)b")],
        "a title with a NUL": ["title": .string("a\(nul)b")],
        "an own key with a NUL": ["properties": .object(["a\(nul)b": 1])],
    ]

    @Test(arguments: unreadable.keys.sorted(), [true, false])
    func `a row that can't be read is told, keeps what is here, and stops nothing`(_ name: String, _ isKnown: Bool)
        async throws
    {
        let pair = try await Pair(["one": "# One\n"])
        let (a, fields) = (pair.a, Self.unreadable[name]!)
        let id = try await pair.b.phoneAdds("Bad", notes: "w1", path: "bad")
        if isKnown {
            try await a.sync()
            try await pair.b.phoneEdits(id, [.done: true])
        }
        _ = try await pair.b.phoneAdds("Good", path: "good")
        spoil(a) { row in row.merge(fields) { $1 } }
        for _ in 0..<2 {
            let report = try await a.sync()
            #expect(report.failure == nil)
            #expect(report.sent == Tally())
            #expect(report.problems.count == 1)
        }
        #expect(try a.engine().status().problems.count == 1)
        #expect(try a.engine().status().waiting == [])
        #expect(a.own == (isKnown ? ["bad", "good", "one"] : ["good", "one"]))
        if isKnown { #expect(try a.notes("bad") == "w1") }
        // Once the server is in order, all is.
        a.intercept(nil)
        try await pair.b.phoneEdits(id, [.notes: "w2"])
        try await pair.settle()
        #expect(try a.notes("bad") == "w2")
    }

    @Test func `a link planted on the way is followed by nothing`() async throws {
        let pair = try await Pair(["home/one": "# One\n\nw1\n", "two": "# Two\n", "three": "# Three\n\nw3\n"])
        let (a, b) = (pair.a, pair.b)
        let outside = pair.world.folder + "/outside"
        Shell.copyFolder(a.root + "/tasks/home", outside)
        Shell.write(outside + "/four.md", Array("theirs".utf8))
        let before = Shell.read(outside + "/one.md")
        Shell.remove(a.root + "/tasks/home")
        Shell.symlink(a.root + "/tasks/home", to: outside)
        let ids = try (b.id("home/one"), b.id("two"), b.id("three"))
        try await b.phoneEdits(ids.0, [.notes: "w2"])
        try await b.phoneEdits(ids.1, [.path: "home/two"])
        try await b.phoneDeletes(ids.0)
        _ = try await b.phoneAdds("Four", path: "home/four")
        _ = try await b.phoneAdds("Five", path: "home/sub/five")
        _ = try await b.phoneAdds("Six", path: "six")
        for _ in 0..<3 {
            let report = try await a.sync()
            #expect(report.failure == nil)
            #expect(report.sent == Tally())
            #expect(report.problems.contains { $0.path == "tasks/home" })
        }
        #expect(Set(Shell.entries(outside)) == ["one.md", "four.md"])
        #expect(Shell.read(outside + "/one.md") == before)
        #expect(a.own.contains("six") && a.own.contains("three"))
        Shell.unlink(a.root + "/tasks/home")
        try await pair.settle()
        #expect(a.own == ["home/four", "home/sub/five", "home/two", "six", "three"])
    }

    @Test(arguments: ["more without rows", "the cursor stands still", "the cursor goes back", "the cursor leaps"])
    func `a feed that doesn't lead on ends the run with one line, and nothing is changed`(_ kind: String) async throws {
        let pair = try await Pair(["one": "# One\n\nw1\n"])
        let a = pair.a
        try await pair.b.phoneEdits(pair.b.id("one"), [.notes: "w2"])
        a.replace("one", "# One", "# Eins")
        a.change(answersOf: "pull_changes") { page in
            let next = page["next"]?.integer ?? 0
            switch kind {
            case "more without rows":
                page["more"] = true
                page["rows"] = []
            case "the cursor stands still":
                page["more"] = true
                page["next"] = .integer(next - 1)
            case "the cursor goes back":
                page["more"] = true
                page["next"] = 0
            default: page["next"] = .integer(next + 1_000)
            }
        }
        let report = try await a.sync()
        #expect(report.failure != nil)
        #expect(report.failure?.text.string.contains("\n") == false)
        #expect(a.read("one")?.contains("w1") == true)
        #expect(report.waiting.map(\.path) == ["tasks/one.md"])
        a.intercept(nil)
        try await pair.settle()
        #expect(try a.readable()["one"] == TaskContent(title: "Eins", notes: "w2"))
    }

    @Test func `files that went with yesterday's server come back as conflicts or are sent again`() async throws {
        let pair = try await Pair(["one": "# One\n\nw1\n", "two": "# Two\n\nw2\n", "gone": "# Gone\n"])
        let backup = pair.world.folder + "/backup"
        try await pair.world.server.backUp(to: backup)
        pair.a.replace("one", "w1", "w3")
        pair.a.write("new", "# New\n\nw4\n")
        pair.a.remove("gone")
        try await pair.a.sync()
        try await pair.b.sync()
        try await pair.world.server.restore(from: backup)
        for device in [pair.a, pair.b, pair.a, pair.b] {
            let report = try await device.sync()
            #expect(report.sent.deleted == 0)
            for conflict in report.conflicts { try device.engine().resolve(conflict.id, .mine) }
        }
        try await pair.settle()
        #expect(try pair.b.notes("one") == "w3")
        #expect(try pair.b.notes("new") == "w4")
        #expect(pair.a.own == ["gone", "new", "one", "two"])
    }
}
