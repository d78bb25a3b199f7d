import Model
import Testing

@testable import Sync

/// Two devices of one person, step by step.
struct TwoDevicesTests {
    @Test func `a file written by any tool arrives with the same meaning`() async throws {
        let world = try World()
        let a = try await world.device("a")
        let b = try await world.device("b")
        a.write("buy-milk", "# Buy milk\n\nTwo bottles.\n")
        a.write("home/fence", "---\ntags: [home, spring]\ndone: yes\n---\nPaint it\n")
        let sent = try await a.sync()
        #expect(sent.failure == nil)
        #expect(sent.sent.tasks == 2)
        try await b.sync()
        #expect(b.places == ["buy-milk", "home/fence"])
        let contents = try b.contents()
        #expect(contents == (try a.contents()))
        #expect(contents["buy-milk"]?.title == "Buy milk")
        #expect(contents["home/fence"]?.done == true)
        #expect(a.read("buy-milk")?.hasPrefix("---\nid: ") == true)
    }

    @Test func `a sync with nothing to do is one request`() async throws {
        let world = try World()
        let a = try await world.device("a")
        a.write("one", "# One\n")
        try await a.sync()
        let report = try await a.sync()
        #expect(report.requests == 1)
        #expect(report.sent == Tally())
        #expect(report.received == Tally())
    }

    @Test func `different fields edited on two devices both survive`() async throws {
        let world = try World()
        let a = try await world.device("a")
        let b = try await world.device("b")
        a.write("one", "# One\n\nnotes\n")
        try await a.sync()
        try await b.sync()
        a.replace("one", "# One", "# First")
        b.replace("one", "notes", "other notes")
        try await a.sync()
        try await b.sync()
        try await a.sync()
        #expect(try a.contents()["one"] == TaskContent(title: "First", notes: "other notes"))
        #expect(try a.contents() == (try b.contents()))
    }

    @Test func `different paragraphs of the notes are merged`() async throws {
        let world = try World()
        let a = try await world.device("a")
        let b = try await world.device("b")
        a.write("one", "# One\n\nfirst\n\nmiddle\n\nlast\n")
        try await a.sync()
        try await b.sync()
        a.replace("one", "first", "FIRST")
        b.replace("one", "last", "LAST")
        try await a.sync()
        let report = try await b.sync()
        #expect(report.conflicts.isEmpty)
        try await a.sync()
        #expect(try a.contents()["one"]?.notes == "FIRST\n\nmiddle\n\nLAST")
        #expect(try a.contents() == (try b.contents()))
    }

    @Test(arguments: ["mine", "theirs", "equal"])
    func `the same line is a conflict of that one task`(_ way: String) async throws {
        let world = try World()
        let a = try await world.device("a")
        let b = try await world.device("b")
        a.write("one", "# One\n\nline\n")
        a.write("two", "# Two\n")
        try await a.sync()
        try await b.sync()
        a.replace("one", "line", "from a")
        b.replace("one", "line", "from b")
        b.replace("two", "# Two", "# Zwei")
        try await a.sync()
        let report = try await b.sync()
        #expect(report.conflicts.map(\.path) == ["tasks/one.md"])
        #expect(report.conflicts.first?.fields == [.notes])
        #expect(b.read("one")?.contains("from b") == true)
        #expect(report.sent.tasks == 1)
        let id = try #require(report.conflicts.first?.id)
        switch way {
        case "mine": try b.engine().resolve(id, .mine)
        case "theirs": try b.engine().resolve(id, .theirs)
        default: b.replace("one", "from b", "from a")
        }
        let after = try await b.sync()
        #expect(after.conflicts.isEmpty)
        try await a.sync()
        #expect(try a.contents() == (try b.contents()))
        #expect(try a.contents()["one"]?.notes == (way == "mine" ? "from b" : "from a"))
        #expect(try a.engine().status().conflicts.isEmpty)
    }

    @Test func `mv, cp and rm are seen for what they are`() async throws {
        let world = try World()
        let a = try await world.device("a")
        let b = try await world.device("b")
        for name in ["a", "b", "c", "d"] { a.write(name, "# Title \(name)\n") }
        try await a.sync()
        try await b.sync()
        a.move("a", "sub/a2")
        a.copy("b", "b-copy")
        a.remove("c")
        try await a.sync()
        let report = try await b.sync()
        #expect(report.failure == nil)
        #expect(b.places == ["b", "b-copy", "d", "sub/a2"])
        #expect(try a.contents() == (try b.contents()))
        #expect(a.read("b-copy") != a.read("b"))
    }

    @Test func `a swap of two files is two renames`() async throws {
        let world = try World()
        let a = try await world.device("a")
        let b = try await world.device("b")
        a.write("a", "# A\n")
        a.write("b", "# B\n")
        try await a.sync()
        try await b.sync()
        a.move("a", "t")
        a.move("b", "a")
        a.move("t", "b")
        try await a.sync()
        try await b.sync()
        #expect(try b.contents()["a"]?.title == "B")
        #expect(try b.contents()["b"]?.title == "A")
        #expect(try a.contents() == (try b.contents()))
    }

    @Test func `rm and a new file at once are a deletion and a new task`() async throws {
        let world = try World()
        let a = try await world.device("a")
        let b = try await world.device("b")
        a.write("a", "# A\n")
        a.write("keep", "# Keep\n")
        try await a.sync()
        try await b.sync()
        a.remove("a")
        a.write("b", "# B\n")
        let report = try await a.sync()
        #expect(report.sent.deleted == 1)
        #expect(report.sent.tasks == 1)
        try await b.sync()
        #expect(b.places == ["b", "keep"])
    }

    @Test func `a refused change names the server's reason and holds nothing up`() async throws {
        let world = try World()
        let a = try await world.device("a")
        let long = String(repeating: "x", count: 501)
        a.write("long", "# \(long)\n")
        a.write("good", "# Good\n")
        let report = try await a.sync()
        #expect(report.sent.tasks == 1)
        #expect(report.refused.map(\.path) == ["tasks/long.md"])
        #expect(report.refused.first?.code == "23514")
        let status = try a.engine().status()
        #expect(status.refused.map(\.path) == ["tasks/long.md"])
        #expect(try await a.sync().requests == 1)
        _ = try a.engine().retry(["tasks/long.md"])
        #expect(try await a.sync().requests == 2)
        _ = try a.engine().dismiss(["tasks/long.md"], remove: false)
        #expect(try a.engine().status().refused.isEmpty)
        #expect(a.places == ["good", "long"])
        #expect(try await a.sync().requests == 1)
        a.write("long", "# short\n")
        #expect(try await a.sync().sent.tasks == 1)
    }

    @Test func `an update refused with several fields is sent once more field by field`() async throws {
        let world = try World()
        let a = try await world.device("a")
        let b = try await world.device("b")
        a.write("one", "# One\n\nnotes\n")
        try await a.sync()
        a.write(
            "one",
            a.read("one")!.replacing("# One", with: "# " + String(repeating: "x", count: 501)).replacing(
                "notes", with: "other"))
        let report = try await a.sync()
        #expect(report.refused.map(\.fields) == [[.title]])
        try await b.sync()
        #expect(try b.contents()["one"] == TaskContent(title: "One", notes: "other"))
        #expect(try await a.sync().requests == 1)
    }

    @Test func `many deletions are held, and go with their number`() async throws {
        let world = try World()
        let a = try await world.device("a")
        let b = try await world.device("b")
        for number in 1...14 { a.write("t\(number)", "# Task \(number)\n") }
        try await a.sync()
        try await b.sync()
        for number in 1...12 { a.remove("t\(number)") }
        a.replace("t13", "# Task 13", "# Edited")
        a.write("new", "# New\n")
        let held = try await a.sync()
        #expect(held.guarded == GuardedDeletions(count: 12, onServer: 12, here: 0, wentBackInTime: 0))
        #expect(held.sent.tasks == 2)
        #expect(held.sent.deleted == 0)
        let wrong = try await a.sync { $0.allowDeletions = 11 }
        #expect(wrong.guarded?.count == 12)
        let right = try await a.sync { $0.allowDeletions = 12 }
        #expect(right.guarded == nil)
        #expect(right.sent.deleted == 12)
        let other = try await b.sync()
        #expect(other.guarded == nil)
        #expect(b.places == ["new", "t13", "t14"])
    }

    @Test func `a missing task folder stops the run before anything`() async throws {
        let world = try World()
        let a = try await world.device("a")
        a.write("one", "# One\n")
        try await a.sync()
        Shell.remove(a.root + "/tasks")
        await #expect(throws: (any Error).self) { try await a.sync() }
    }

    @Test func `the only task can be deleted without a word`() async throws {
        let world = try World()
        let a = try await world.device("a")
        a.write("one", "# One\n")
        try await a.sync()
        a.remove("one")
        let report = try await a.sync()
        #expect(report.guarded == nil)
        #expect(report.sent.deleted == 1)
    }

    @Test func `a thousand changed tasks are at most four requests`() async throws {
        let world = try World()
        let a = try await world.device("a")
        for number in 1...1000 { a.write("t\(number)", "# Task \(number)\n") }
        let report = try await a.sync()
        #expect(report.sent.tasks == 1000)
        #expect(report.requests <= 4)
    }

    @Test func `everything of a person's in a file survives an edit from the other device`() async throws {
        let world = try World()
        let a = try await world.device("a")
        let b = try await world.device("b")
        a.write(
            "one",
            "\u{FEFF}---\r\n# a comment\r\ndue:\r\nversion: 1.10 # keep\r\nquoted: 'yes'\r\n---\r\n# One\r\n\r\nnotes")
        try await a.sync()
        try await b.sync()
        b.replace("one", "# One", "# Two")
        try await b.sync()
        try await a.sync()
        let text = try #require(a.read("one"))
        for part in [
            "\u{FEFF}---\r\n", "# a comment\r\n", "due:\r\n", "version: 1.10 # keep\r\n", "quoted: 'yes'\r\n",
            "# Two\r\n\r\nnotes",
        ] {
            #expect(text.utf8.split(separator: Array(part.utf8)).count > 0)
            #expect(Text(text).bytes.contains(part))
        }
        #expect(text.hasSuffix("notes"))
        #expect(try b.contents()["one"]?.properties["due"] == .null)
        #expect(try b.contents()["one"]?.properties["version"] == "1.10")
    }
}

extension [UInt8] {
    func contains(_ part: String) -> Bool {
        let part = Array(part.utf8)
        return indices.contains { self[$0...].starts(with: part) }
    }
}
