import History
import Libraries
import Model
import Testing
import Workspace

@testable import Sync

/// Undo of anything: here, and with the next sync everywhere.
struct UndoScenarioTests {
    @Test func `ten tasks deleted on one device come back by an undo on the other, with their ids`() async throws {
        let files = Dictionary(uniqueKeysWithValues: (0..<10).map { ("t\($0)", "# Task \($0)\n\nnotes \($0)\n") })
        let pair = try await Pair(files.merging((0..<32).map { ("more\($0)", "# More \($0)\n") }) { a, _ in a })
        let (a, b) = (pair.a, pair.b)
        let before = try b.tasks()
        let texts = try b.readable()
        try a.engine().delete(a.engine().tasks().filter { $0.title.hasPrefix("Task ") && $0.notes.hasPrefix("notes") })
        try await a.sync()
        try await b.sync()
        #expect(b.places.filter { $0.hasPrefix("t") }.isEmpty)

        let undone = try b.engine().undo(.last)
        #expect(undone.steps.filter { $0.action == .lay }.count == 10)
        #expect(undone.revision != nil)
        try await b.sync()
        try await a.sync()
        try await pair.settle()
        #expect(try a.tasks() == before)
        #expect(try b.readable() == texts)
    }

    @Test func `without an argument it is what the person did here, not what came by itself`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n", "two": "# Two\n\nfirst\n"])
        let (a, b) = (pair.a, pair.b)
        b.replace("one", "first", "mine")
        try await b.sync()
        a.replace("two", "first", "theirs")
        try await a.sync()
        pair.world.clock.advance(60)
        try await b.run(.pull) { $0.background = true }
        #expect(try b.notes("two") == "theirs")

        let undone = try b.engine().undo(.last)
        #expect(undone.operation.entry.kind == .found)
        #expect(try b.notes("one") == "first")
        #expect(try b.notes("two") == "theirs")
        try await pair.settle()
        #expect(try a.notes("one") == "first")
    }

    @Test func `a pull that a person gave is taken back for everybody, if it is named`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        let (a, b) = (pair.a, pair.b)
        a.replace("one", "first", "second")
        try await a.sync()
        pair.world.clock.advance(60)
        try await b.run(.pull) { $0.background = true }
        let pulled = try #require(try b.engine().openHistory().operation())
        #expect(pulled.entry.kind == .server)
        #expect(pulled.entry.background)
        _ = try b.engine().undo(.state(pulled.revision))
        #expect(try b.notes("one") == "first")
        try await pair.settle()
        #expect(try a.notes("one") == "first")
    }

    @Test func `a bulk step is taken back, and an edit after it stays`() async throws {
        let pair = try await Pair(
            Dictionary(uniqueKeysWithValues: (0..<40).map { ("t\($0)", "# Task \($0)\n\nnotes\n") }))
        let (a, b) = (pair.a, pair.b)
        try a.engine().edit(a.engine().tasks(), TaskEdit(done: true))
        try await a.sync()
        a.replace("t7", "notes", "edited since")
        let bulk = try #require(try a.engine().openHistory().operation())
        #expect(bulk.entry.kind == .command)
        try await a.sync()

        let undone = try a.engine().undo(.state(bulk.revision))
        #expect(undone.clashes.isEmpty)
        #expect(try a.readable().values.allSatisfy { !$0.done })
        #expect(try a.notes("t7") == "edited since")
        try await pair.settle()
        #expect(try b.readable().values.allSatisfy { !$0.done })
        #expect(try b.notes("t7") == "edited since")
    }

    @Test func `what was edited since and clashes stays, and is told`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        let a = pair.a
        a.replace("one", "# One", "# Uno")
        a.replace("one", "first", "second")
        try await a.sync()
        let edit = try #require(try a.engine().openHistory().operation())
        a.replace("one", "second", "third")
        try await a.sync()
        let undone = try a.engine().undo(.state(edit.revision))
        #expect(undone.clashes.map(\.fields) == [[.notes]])
        #expect(try a.title("one") == "One")
        #expect(try a.notes("one") == "third")
        try await pair.settle()
    }

    @Test func `an undo is undone by redo, and again`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        let a = pair.a
        a.replace("one", "first", "second")
        try await a.sync()
        for _ in 0..<2 {
            _ = try a.engine().undo(.last)
            #expect(try a.notes("one") == "first")
            _ = try a.engine().undo(.lastUndo)
            #expect(try a.notes("one") == "second")
        }
        #expect(throws: RunFailure.self) { try a.engine().undo(.lastUndo) }
        try await pair.settle()
        #expect(try pair.b.notes("one") == "second")
    }

    @Test func `undo goes back step by step to the first state, and says so`() async throws {
        let world = try World()
        let a = try await world.device("a")
        a.write("one", "# One\n\nversion 1\n")
        try await a.sync()
        for step in 2...4 {
            a.replace("one", "version \(step - 1)", "version \(step)")
            try await a.sync()
        }
        for step in [3, 2, 1] {
            _ = try a.engine().undo(.last)
            #expect(try a.notes("one") == "version \(step)")
        }
        #expect {
            try a.engine().undo(.last)
        } throws: {
            ($0 as? RunFailure)?.text.string.contains("there is nothing before it") ?? false
        }
        #expect(a.places == ["one"])
    }

    @Test func `a move, a new file and a removal are taken back together`() async throws {
        let pair = try await Pair(["one": "# One\n", "two": "# Two\n\nkept\n"])
        let (a, b) = (pair.a, pair.b)
        let before = try a.tasks()
        a.move("one", "home/uno")
        a.remove("two")
        a.write("new", "# New\n")
        try await a.sync()
        try await b.sync()
        let operation = try #require(
            try a.engine().openHistory().undoable().first { $0.entry.kind == .found })
        let undone = try a.engine().undo(.state(operation.revision))
        #expect(Set(undone.steps.map(\.action)) == [.move, .lay, .remove])
        #expect(undone.deletions == 1)
        try await pair.settle(3)
        #expect(try a.tasks() == before)
        #expect(try b.notes("two") == "kept")
    }

    @Test func `undo never removes an id`() async throws {
        let world = try World()
        let a = try await world.device("a")
        for place in Pair.others { a.write(place, "# Task \(place)\n") }
        try await a.sync()
        a.write("one", "# One\n\nfirst\n")
        try await a.sync()
        let id = try a.id("one")
        a.write("one", (a.read("one") ?? "") + "more\n")
        try await a.sync()
        _ = try a.engine().undo(.last)
        #expect(try a.id("one") == id)
        #expect(a.read("one")?.contains("id: \(id)") == true)
        #expect(try a.notes("one") == "first")
    }

    @Test func `what waits and is discarded, resolved or deleted comes back`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n", "two": "# Two\n"])
        let (a, b) = (pair.a, pair.b)
        a.replace("one", "first", "mine")
        _ = try a.engine().discard(["tasks/one.md"])
        #expect(try a.notes("one") == "first")
        _ = try a.engine().undo(.last)
        #expect(try a.notes("one") == "mine")

        b.replace("one", "first", "theirs")
        try await b.sync()
        try await a.sync()
        try a.engine().resolve(a.id("one"), .theirs)
        #expect(try a.notes("one") == "theirs")
        _ = try a.engine().undo(.last)
        #expect(try a.notes("one") == "mine")
        try await pair.settle()
        #expect(try b.notes("one") == "mine")
    }

    @Test func `with ids in the journal a deleted task comes back as itself`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"], settings: ["ids": "journal"])
        let (a, b) = (pair.a, pair.b)
        let before = try a.tasks()
        a.remove("one")
        try await a.sync()
        try await b.sync()
        _ = try a.engine().undo(.last)
        try await pair.settle()
        #expect(try a.tasks() == before)
    }

    @Test func `another file in its place stays, and the one that comes back bears a suffix`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        let a = pair.a
        let id = try a.id("one")
        a.remove("one")
        try await a.sync()
        let removal = try #require(try a.engine().openHistory().head)
        a.write("one", "# Another\n")
        _ = try a.engine().undo(.state(removal))
        #expect(try a.title("one") == "Another")
        #expect(try a.tasks().contains { $0.value == id })
        try await pair.settle(3)
    }

    @Test func `a dry run says what would be done, and does nothing`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        let a = pair.a
        a.replace("one", "first", "second")
        try await a.sync()
        let plan = try a.engine().undo(.last, dryRun: true)
        #expect(plan.steps.map(\.action) == [.write])
        #expect(plan.revision == nil)
        #expect(try a.notes("one") == "second")
    }
}

/// History first: what a file held is recorded before otask overwrites, moves or removes it.
struct HistoryFirstScenarioTests {
    @Test func `what a pull overwrites, moves and removes was recorded before, and what it wrote after`() async throws {
        let pair = try await Pair(["one": "# One\n\nupper\n\nlower\n", "two": "# Two\n", "three": "# Three\n\nkept\n"])
        let (a, b) = (pair.a, pair.b)
        a.replace("one", "upper", "upper line")
        a.move("two", "sub/two")
        a.remove("three")
        try await a.sync()
        b.replace("one", "lower", "lower line")
        let bytes = b.read("one")
        try await b.sync()
        let history = try b.engine().openHistory()
        let pulled = try #require(try history.operation())
        #expect(pulled.entry.kind == .server)
        let found = try #require(try history.operation(before: pulled.revision))
        #expect(found.entry.kind == .found)
        #expect(try history.text("tasks/one.md", found.revision) == bytes)
        #expect(try history.text("tasks/three.md", found.revision)?.contains("kept") == true)
        #expect(
            try history.changes(of: pulled.revision).map(\.kind.rawValue).sorted() == ["deleted", "edited", "moved"])
        #expect(try history.text("tasks/one.md", pulled.revision) == b.read("one"))
    }

    @Test func `every state of every file that a run saw is recorded, and nothing where nothing changed`() async throws
    {
        let pair = try await Pair(["one": "# One\n"])
        let a = pair.a
        let before = try #require(try a.engine().openHistory().head)
        try await a.sync()
        try await a.sync()
        #expect(try a.engine().openHistory().head == before)
        a.write("broken", "---\n: [\n---\n")
        a.write("empty", "")
        try await a.sync()
        let history = try a.engine().openHistory()
        #expect(try history.text("tasks/broken.md", #require(history.head)) == "---\n: [\n---\n")
        #expect(try history.text("tasks/empty.md", #require(history.head)) == "")
    }

    @Test func `while the history can't be written no file is, and sending goes on`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n", "two": "# Two\n"])
        let (a, b) = (pair.a, pair.b)
        b.replace("one", "first", "theirs")
        b.remove("two")
        try await b.sync()
        a.meanwhile { if $0 == .record { throw HistoryError.notWritable(reason: "no space left on device") } }
        a.write("mine", "# Mine\n")
        let report = try await a.sync()
        #expect(report.problems.contains { $0.path == ".otask/history" })
        #expect(report.sent.tasks == 1)
        #expect(a.read("one")?.contains("first") == true)
        #expect(a.places.contains("two"))
        #expect(throws: RunFailure.self) { try a.engine().edit(a.engine().tasks(), TaskEdit(done: true)) }

        a.meanwhile(nil)
        try await a.sync()
        #expect(a.read("one")?.contains("theirs") == true)
        try await pair.settle()
    }

    @Test func `a history that is gone or damaged begins anew with what is there, and that is said`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        let (a, b) = (pair.a, pair.b)
        let repository = try #require(Shell.entries(a.root + "/.otask/history").first { $0.hasSuffix(".git") })
        Shell.write(a.root + "/.otask/history/" + repository + "/refs/heads/main", Array("nonsense".utf8))
        b.replace("one", "first", "theirs")
        try await b.sync()
        let bytes = a.read("one")
        let report = try await a.sync()
        #expect(report.failure == nil)
        #expect(report.notices.contains { $0.path == ".otask/history" })
        let history = try a.engine().openHistory()
        let pulled = try #require(try history.operation())
        let found = try #require(try history.operation(before: pulled.revision))
        #expect(try history.text("tasks/one.md", found.revision) == bytes)
        #expect(try history.files(at: found.revision).count == 1 + Pair.others.count)
    }

    @Test func `a save that is kept in a history that begins anew doesn't pass for the whole state`() async throws {
        let pair = try await Pair(["one": "# One\n", "two": "# Two\n"])
        let engine = try pair.a.engine()
        Shell.remove(pair.a.root + "/.otask/history")
        let recorder = Recorder(
            journal: try engine.openJournal(), disk: engine.disk, surroundings: engine.surroundings, background: false)
        try recorder.keep(Array("# A save\n".utf8), at: "tasks/one.md", id: nil)
        #expect(try recorder.isReady(engine.view().view))
        let history = try engine.openHistory()
        #expect(try history.files(at: #require(history.head)).count == 2 + Pair.others.count)
        #expect(try pair.a.recorded().contains("# A save\n"))
    }

    @Test func `what a program wrote late into a displaced file stays, though it makes no task of it`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        let (a, b) = (pair.a, pair.b)
        b.replace("one", "first", "theirs")
        try await b.sync()
        let file = Shell.openToAppend(a.path("one"))
        try await a.sync()
        Shell.append(file, "late words\0")
        Shell.closeFile(file)
        pair.world.clock.advance(61)
        try await a.sync()
        #expect(a.keeps("late words"))
    }

    @Test func `a file too large to be a task's is no business of the history, and costs it nothing`() async throws {
        let pair = try await Pair(["one": "# One\n"])
        let a = pair.a
        a.write("large", String(repeating: "x", count: 3 << 20))
        try await a.sync()
        let head = try a.engine().newestState()
        try await a.sync()
        #expect(try a.engine().newestState() == head)
        #expect(try a.engine().openJournal().unrecorded() == [])
    }

    @Test func `a person's own repository around the workspace is left alone`() async throws {
        let pair = try await Pair(["one": "# One\n"])
        let a = pair.a
        _ = try ChildProcess(["git", "init", "--quiet", a.root]).wait()
        a.replace("one", "# One", "# Uno")
        try await a.sync()
        #expect(Shell.entries(a.root + "/.git").contains("HEAD"))
        #expect(!Shell.files(below: a.root + "/.git/objects").contains { $0.utf8.count > 40 })
    }
}

extension History {
    func text(_ path: Text, _ state: Revision) throws -> String? {
        try content(of: path, at: state).map { String(decoding: try bytes($0), as: UTF8.self) }
    }
}
