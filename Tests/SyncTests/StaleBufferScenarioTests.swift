import Libraries
import Model
import Testing
import Workspace

@testable import Sync

/// "Writing" and "Stale buffers" of files.md, and saves under a former place: what programs do beside otask.
struct StaleBufferScenarioTests {
    @Test func `a save without the id line is merged with the text from before that line`() async throws {
        let pair = try await Pair()
        let buffer = "# One\n\nfirst\n\nmiddle\n\nlast\n"
        pair.a.write("one", buffer)
        try await pair.a.sync()
        let id = try pair.a.id("one")
        try await pair.b.sync()
        pair.b.replace("one", "last", "LAST")
        try await pair.b.sync()
        try await pair.a.sync()
        #expect(try pair.a.notes("one") == "first\n\nmiddle\n\nLAST")
        // The editor had the file open since before the first sync.
        pair.a.write("one", buffer.replacing("first", with: "FIRST"))
        let report = try await pair.a.sync()
        #expect(report.conflicts.isEmpty)
        try await pair.settle()
        #expect(try pair.b.id("one") == id)
        #expect(try pair.b.notes("one") == "FIRST\n\nmiddle\n\nLAST")
        #expect(pair.a.read("one")?.contains(id.description) == true)
    }

    @Test func `such a save of the same line is a conflict, not a choice`() async throws {
        let pair = try await Pair()
        pair.a.write("one", "# One\n\nline\n")
        try await pair.a.sync()
        try await pair.b.sync()
        pair.b.replace("one", "line", "from b")
        try await pair.b.sync()
        try await pair.a.sync()
        pair.a.write("one", "# One\n\nfrom the buffer\n")
        let report = try await pair.a.sync()
        #expect(report.conflicts.map(\.fields) == [[.notes]])
        #expect(try pair.a.notes("one") == "from the buffer")
        #expect(try pair.b.notes("one") == "from b")
        try pair.a.engine().resolve(try pair.a.id("one"), .theirs)
        try await pair.settle()
        #expect(try pair.a.notes("one") == "from b")
    }

    @Test func `a buffer saved unchanged after a pull takes nothing away`() async throws {
        let pair = try await Pair()
        let buffer = "# One\n\nfirst\n\nlast\n"
        pair.a.write("one", buffer)
        try await pair.a.sync()
        try await pair.b.sync()
        pair.b.replace("one", "last", "LAST")
        try await pair.b.sync()
        try await pair.a.sync()
        pair.a.write("one", buffer)
        try await pair.settle()
        #expect(try pair.b.notes("one") == "first\n\nLAST")
    }

    @Test func `saved without the id line twice, both saves count`() async throws {
        let pair = try await Pair()
        pair.a.write("one", "# One\n\nfirst\n\nlast\n")
        try await pair.a.sync()
        pair.a.write("one", "# One\n\nFIRST\n\nlast\n")
        try await pair.a.sync()
        pair.a.write("one", "# One\n\nFIRST\n\nLAST\n")
        try await pair.settle()
        #expect(try pair.b.notes("one") == "FIRST\n\nLAST")
    }

    @Test func `a buffer with the id line saved after a pull is sent like any edit`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n\nlast\n"])
        try await pair.a.sync()
        let buffer = pair.a.read("one")!
        pair.b.replace("one", "last", "LAST")
        try await pair.b.sync()
        try await pair.a.sync()
        #expect(try pair.a.notes("one") == "first\n\nLAST")
        pair.a.write("one", buffer)
        try await pair.settle()
        #expect(try pair.b.notes("one") == "first\n\nlast")
    }

    /// Device a, on which the last pull wrote into `one`, and the file as an editor had it before.
    private func pulled() async throws -> (pair: Pair, buffer: String) {
        let pair = try await Pair(["one": "# One\n\nfirst\n\nmiddle\n\nlast\n"])
        try await pair.a.sync()
        let buffer = pair.a.read("one")!
        pair.b.replace("one", "last", "LAST")
        try await pair.b.sync()
        try await pair.a.sync()
        return (pair, buffer)
    }

    @Test func `a save with the id line that undoes just the hunks of the last pull: a notice names the undo, once`()
        async throws
    {
        let (pair, buffer) = try await pulled()
        // Something else was edited in that buffer as well.
        pair.a.write("one", buffer.replacing("first", with: "FIRST"))
        let report = try await pair.a.sync()
        #expect(report.sent.tasks == 1)
        let undo = try #require(report.notices.first { $0.path == "tasks/one.md" }?.undo)
        try await pair.b.sync()
        #expect(try pair.b.notes("one") == "FIRST\n\nmiddle\n\nlast")

        let words = undo.string.split(separator: " ").map(String.init)
        #expect(words.first == "cp" && words.last == "tasks/one.md")
        Shell.write(pair.a.path("one"), try #require(Shell.read(pair.a.root + "/" + words[1])))
        try await pair.settle()
        #expect(try pair.b.notes("one") == "FIRST\n\nmiddle\n\nLAST")
        pair.a.write("one", buffer)
        try pair.a.engine().markShown(report.notices)
        #expect(try await pair.a.sync().notices.isEmpty)
    }

    @Test(arguments: ["FIRST\n\nmiddle\n\nLAST", "first\n\nmiddle\n\nLast", "first\n\nLAST"])
    func `a save that undoes no hunk of the last pull is no matter for a notice`(_ notes: String) async throws {
        let (pair, buffer) = try await pulled()
        pair.a.write("one", buffer.replacing("first\n\nmiddle\n\nlast", with: notes))
        let report = try await pair.a.sync()
        #expect(report.sent.tasks == 1)
        #expect(report.notices.isEmpty)
    }

    @Test func `a title that the last pull brought and a save takes back is such a save too`() async throws {
        let (pair, _) = try await pulled()
        pair.b.replace("one", "# One", "# Two")
        try await pair.b.sync()
        try await pair.a.sync()
        pair.a.replace("one", "# Two", "# One")
        #expect(try await pair.a.sync().notices.map(\.path) == ["tasks/one.md"])
        #expect(pair.a.displaced.contains { $0.contains("# Two") })
    }

    @Test func `a save between staging and exchange is put back, and the change waits for the next run`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n\nlast\n"])
        try await pair.a.sync()
        pair.b.replace("one", "last", "LAST")
        try await pair.b.sync()
        let text = pair.a.read("one")!.replacing("first", with: "FIRST")
        let path = pair.a.path("one")
        let once = Once()
        pair.a.meanwhile { effect in
            if effect == .exchange("tasks/one.md"), once.isFirst() { Shell.write(path, Array(text.utf8)) }
        }
        try await pair.a.sync()
        pair.a.meanwhile(nil)
        try await pair.settle()
        #expect(try pair.b.notes("one") == "FIRST\n\nLAST")
    }

    @Test func `a save by renaming between staging and exchange is put back too`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n\nlast\n"])
        try await pair.a.sync()
        pair.b.replace("one", "last", "LAST")
        try await pair.b.sync()
        let (text, device, once) = (pair.a.read("one")!.replacing("first", with: "FIRST"), pair.a, Once())
        pair.a.meanwhile { effect in
            if effect == .exchange("tasks/one.md"), once.isFirst() { device.saveByRename("one", text) }
        }
        try await pair.a.sync()
        pair.a.meanwhile(nil)
        try await pair.settle()
        #expect(try pair.b.notes("one") == "FIRST\n\nLAST")
    }

    @Test func `a save in the moment of a removal: the edit wins`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        try await pair.a.sync()
        let id = try pair.a.id("one")
        pair.b.remove("one")
        try await pair.b.sync()
        let (text, path, once) = (pair.a.read("one")!.replacing("first", with: "edited"), pair.a.path("one"), Once())
        pair.a.meanwhile { effect in
            if effect == .remove("tasks/one.md"), once.isFirst() { Shell.write(path, Array(text.utf8)) }
        }
        try await pair.a.sync()
        pair.a.meanwhile(nil)
        #expect(pair.a.read("one") == text)
        try await pair.settle()
        #expect(try pair.b.id("one") == id)
        #expect(try pair.b.notes("one") == "edited")
    }

    @Test func `a file that appears where a new one is being laid down is not overwritten`() async throws {
        let pair = try await Pair()
        pair.b.write("one", "# From b\n")
        try await pair.b.sync()
        let (device, once) = (pair.a, Once())
        pair.a.meanwhile { effect in
            if effect == .place("tasks/one.md"), once.isFirst() { device.write("one", "# From a\n") }
        }
        try await pair.a.sync()
        pair.a.meanwhile(nil)
        try await pair.settle()
        #expect(Set(try pair.b.readable().values.map(\.title)).isSuperset(of: ["From a", "From b"]))
    }

    @Test func `bytes from a program that still had the displaced file open are merged as an edit`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n\nmiddle\n\nlast\n"])
        try await pair.a.sync()
        let file = Shell.openToAppend(pair.a.path("one"))
        pair.b.replace("one", "first", "FIRST")
        try await pair.b.sync()
        try await pair.a.sync()
        #expect(try pair.a.notes("one") == "FIRST\n\nmiddle\n\nlast")
        Shell.append(file, "\nappended\n")
        Shell.closeFile(file)
        pair.world.clock.advance(61)
        let report = try await pair.a.sync()
        #expect(report.conflicts.isEmpty)
        try await pair.settle()
        #expect(try pair.b.notes("one") == "FIRST\n\nmiddle\n\nlast\n\nappended")
    }

    @Test func `bytes appended to a removed file's inode bring its task back as an edit`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        try await pair.a.sync()
        let file = Shell.openToAppend(pair.a.path("one"))
        pair.b.remove("one")
        try await pair.b.sync()
        try await pair.a.sync()
        #expect(pair.a.own == [])
        Shell.append(file, "\nappended\n")
        Shell.closeFile(file)
        pair.world.clock.advance(61)
        try await pair.settle()
        #expect(pair.a.keeps("appended"))
        #expect(try pair.b.readable().values.contains { $0.notes == "first\n\nappended" })
    }

    @Test func `an append to the displaced file and an edit of the new one both stay`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n\nmiddle\n\nlast\n"])
        try await pair.a.sync()
        let file = Shell.openToAppend(pair.a.path("one"))
        pair.b.replace("one", "first", "FIRST")
        try await pair.b.sync()
        try await pair.a.sync()
        Shell.append(file, "\nappended\n")
        Shell.closeFile(file)
        pair.a.replace("one", "middle", "MIDDLE")
        pair.world.clock.advance(61)
        try await pair.settle()
        #expect(try pair.b.notes("one") == "FIRST\n\nMIDDLE\n\nlast\n\nappended")
    }

    // MARK: Former places

    @Test func `a save under the old name by an editor, with the id, is merged into the task's file`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n\nlast\n"])
        try await pair.a.sync()
        let id = try pair.a.id("one")
        let buffer = pair.a.read("one")!
        pair.b.move("one", "moved/two")
        pair.b.replace("moved/two", "last", "LAST")
        try await pair.b.sync()
        try await pair.a.sync()
        #expect(pair.a.own == ["moved/two"])
        pair.a.write("one", buffer.replacing("first", with: "FIRST"))
        try await pair.settle()
        #expect(pair.a.own == ["moved/two"])
        #expect(try pair.b.id("moved/two") == id)
        #expect(try pair.b.notes("moved/two") == "FIRST\n\nLAST")
    }

    @Test func `saved under the old name without a change, it goes again`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        try await pair.a.sync()
        let buffer = pair.a.read("one")!
        pair.b.move("one", "two")
        try await pair.b.sync()
        try await pair.a.sync()
        pair.a.write("one", buffer)
        try await pair.settle()
        #expect(pair.a.own == ["two"])
    }

    @Test func `saved under the old name while the sides conflict, nothing is lost`() async throws {
        let pair = try await Pair(["one": "# One\n\nline\n"])
        try await pair.a.sync()
        let buffer = pair.a.read("one")!
        pair.b.move("one", "two")
        pair.b.replace("two", "line", "from b")
        try await pair.b.sync()
        try await pair.a.sync()
        pair.a.write("one", buffer.replacing("line", with: "from the buffer"))
        let report = try await pair.a.sync()
        #expect(report.conflicts.map(\.path) == ["tasks/two.md"])
        #expect(pair.a.keeps("from the buffer"))
        #expect(try pair.a.notes("two") == "from the buffer")
        try pair.a.engine().resolve(try pair.a.id("two"), .mine)
        try await pair.settle()
        #expect(pair.a.own == ["two"])
        #expect(try pair.b.notes("two") == "from the buffer")
    }

    @Test
    func `a task whose file was overwritten under another's old name is laid down again, neither deleted nor edited`()
        async throws
    {
        let pair = try await Pair(["one": "# One\n\nfirst\n", "two": "# Two\n\nsecond\n"])
        try await pair.a.sync()
        let ids = try pair.a.tasks()
        let buffer = pair.a.read("one")!
        // The hour in which the old name stays free is over: another task gets it.
        pair.b.move("one", "away")
        try await pair.b.sync()
        try await pair.a.sync()
        pair.world.clock.advance(3_700)
        pair.b.move("two", "one")
        try await pair.b.sync()
        try await pair.a.sync()
        #expect(try pair.a.id("one") == ids["two"])
        pair.a.write("one", buffer.replacing("first", with: "edited"))
        try await pair.settle()
        #expect(pair.b.own == ["away", "one"])
        #expect(try pair.b.id("one") == ids["two"])
        #expect(try pair.b.notes("one") == "second")
        #expect(try pair.b.id("away") == ids["one"])
        #expect(try pair.b.notes("away") == "edited")
    }

    @Test func `a path that otask moved a lately edited task away from isn't given to another for an hour`()
        async throws
    {
        let pair = try await Pair(["one": "# One\n\nfirst\n", "two": "# Two\n\nsecond\n"])
        let ids = try pair.a.tasks()
        pair.b.move("one", "away")
        try await pair.b.sync()
        try await pair.a.sync()
        pair.b.move("two", "one")
        try await pair.b.sync()
        try await pair.a.sync()
        #expect(pair.a.own == ["away", "two"])
        #expect(try pair.a.id("two") == ids["two"])
        try await pair.a.expectQuiet()
        pair.world.clock.advance(3_700)
        try await pair.settle()
        #expect(pair.a.own == ["away", "one"])
        #expect(try pair.a.id("one") == ids["two"])
    }

    @Test func `the old name saved without its id line is a task of its own, and nothing is lost`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        try await pair.a.sync()
        let buffer = pair.a.withoutID("one")
        pair.b.move("one", "two")
        try await pair.b.sync()
        try await pair.a.sync()
        pair.a.write("one", buffer.replacing("first", with: "edited"))
        try await pair.settle()
        #expect(Set(try pair.b.readable().values.map(\.notes)).isSuperset(of: ["edited"]))
        #expect(pair.a.own.contains("two"))
    }

    // MARK: Files that wait

    @Test func `an empty new file is a task in the making: reported, not sent`() async throws {
        let pair = try await Pair()
        pair.a.write("one", "")
        let report = try await pair.a.sync()
        #expect(report.problems.map(\.path) == ["tasks/one.md"])
        #expect(report.sent == Tally())
        pair.a.write("one", "# One\n")
        try await pair.settle()
        #expect(pair.b.own == ["one"])
    }

    @Test func `a known task's file that became empty is a problem, not an edit`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        let text = pair.a.read("one")!
        pair.a.write("one", "")
        pair.b.replace("one", "first", "from b")
        try await pair.b.sync()
        let report = try await pair.a.sync()
        #expect(report.problems.map(\.path) == ["tasks/one.md"])
        #expect(report.sent == Tally())
        #expect(pair.a.read("one") == "")
        #expect(try pair.b.notes("one") == "from b")
        try await pair.a.expectQuiet()
        pair.a.write("one", text)
        try await pair.settle()
        #expect(try pair.a.notes("one") == "from b")
    }

    @Test(arguments: [
        "---\nx: [\n---\n# One\n", "---\nx: &a 1\ny: *a\n---\n# One\n", "---\ndone: maybe\n---\n# One\n", "a\u{0}b",
    ])
    func `a broken file waits, known or new, and nothing else is held up`(_ text: String) async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n", "two": "# Two\n"])
        let good = pair.a.read("one")!
        pair.a.write("one", text)
        pair.a.write("new", text)
        pair.a.replace("two", "# Two", "# Edited")
        pair.b.write("from-b", "# From b\n")
        try await pair.b.sync()
        let report = try await pair.a.sync()
        #expect(report.problems.map(\.path) == ["tasks/new.md", "tasks/one.md"])
        #expect(report.sent.tasks == 1)
        #expect(report.sent.deleted == 0)
        try await pair.b.sync()
        #expect(try pair.b.title("two") == "Edited")
        #expect(pair.b.own == ["from-b", "one", "two"])
        #expect(pair.a.read("one") == text)
        try await pair.a.expectQuiet()
        pair.a.write("one", good.replacing("first", with: "mended"))
        pair.a.write("new", "# New\n")
        try await pair.settle()
        #expect(pair.b.own == ["from-b", "new", "one", "two"])
        #expect(try pair.b.notes("one") == "mended")
    }

    @Test func `a broken file that was moved waits, and its task is neither deleted nor doubled`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        let id = try pair.a.id("one")
        pair.a.move("one", "two")
        pair.a.write("two", "---\nid: \(id)\nx: [\n---\n# One\n\nfirst\n")
        let report = try await pair.a.sync()
        #expect(report.sent == Tally())
        #expect(report.problems.map(\.path) == ["tasks/two.md"])
        pair.a.write("two", "---\nid: \(id)\n---\n# One\n\nfirst\n")
        try await pair.settle()
        #expect(pair.b.own == ["two"])
        #expect(try pair.b.id("two") == id)
    }
}

/// True the first time it is asked.
final class Once: Sendable {
    private let asked = Mutex(false)

    func isFirst() -> Bool {
        asked.withLock { asked in
            defer { asked = true }
            return !asked
        }
    }
}
