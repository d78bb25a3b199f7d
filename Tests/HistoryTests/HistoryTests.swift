import Libraries
import Model
import Testing

@testable import History

/// Records, and what comes back.
struct HistoryTests {
    @Test func `what was recorded is read back, state by state`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        let first = try #require(
            try history.record([.init("tasks/a.md", "one"), .init("tasks/b.md", "b")], scratch.entry()))
        let second = try #require(try history.record([.init("tasks/a.md", "two")], scratch.entry(.server)))
        #expect(try history.text("tasks/a.md", first) == "one")
        #expect(try history.text("tasks/a.md", second) == "two")
        #expect(try history.text("tasks/b.md", second) == "b")
        #expect(try history.files(at: second).map(\.path) == ["tasks/a.md", "tasks/b.md"])
        #expect(history.head == second)
    }

    @Test func `what is as it was makes no state`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        _ = try history.record([.init("a.md", "one")], scratch.entry())
        #expect(try history.record([.init("a.md", "one")], scratch.entry()) == nil)
        #expect(try history.record([.init(gone: "b.md")], scratch.entry()) == nil)
    }

    @Test func `a whole state drops what it doesn't name`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        _ = try history.record([.init("x/a.md", "a"), .init("y/b.md", "b")], scratch.entry())
        let whole = try #require(try history.recordWhole([RecordedFile("y/b.md", "b")], scratch.entry()))
        #expect(try history.files(at: whole).map(\.path) == ["y/b.md"])
        #expect(try history.changes(of: whole).map(\.kind) == [.deleted])
    }

    @Test func `a folder takes the place of a file, and the other way round`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        _ = try history.record([.init("a", "file"), .init("b/c", "below")], scratch.entry())
        let turned = try #require(
            try history.record(
                [.init(gone: "a"), .init("a/x", "1"), .init(gone: "b/c"), .init("b", "2")], scratch.entry()))
        #expect(try history.files(at: turned).map(\.path) == ["a/x", "b"])
        let back = try #require(
            try history.record(
                [.init("b/c", "below"), .init(gone: "b"), .init("a", "file"), .init(gone: "a/x")], scratch.entry()))
        #expect(try history.files(at: back).map(\.path) == ["a", "b/c"])
        try scratch.expectSound()
    }

    @Test(arguments: ["git~1/a.md", "GIT~1%/a.md", "a\nb.md", "caf\u{E9}.md", "cafe\u{301}.md", "100%.md", "%0a.md"])
    func `any name that a file may have is kept to the byte`(_ path: String) throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        let id = ItemID.random()
        let state = try #require(try history.record([RecordedFile(Text(path), "x", id: id)], scratch.entry()))
        #expect(try history.files(at: state).map(\.path) == [Text(path)])
        #expect(try history.text(Text(path), state) == "x")
        #expect(try history.changes(of: state).map(\.id) == [id])
        try scratch.expectSound()
    }

    @Test func `names that differ only by form are two`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        let state = try #require(
            try history.record([.init("caf\u{E9}", "1"), .init("cafe\u{301}", "2")], scratch.entry()))
        #expect(try history.files(at: state).count == 2)
        #expect(try history.text("cafe\u{301}", state) == "2")
    }

    @Test func `an entry comes back as it was given`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        let first = try #require(try history.record([.init("a", "1")], scratch.entry()))
        var entry = scratch.entry(.command)
        entry.command = "done --all"
        entry.background = true
        entry.device = "Nina's <old>\nlaptop"
        entry.undoes = first
        let second = try #require(try history.record([.init("a", "2")], entry))
        let operation = try history.operation(second)
        #expect(operation.entry == entry)
        #expect(operation.parent == first)
        #expect(operation.summary == "edited a")
    }

    // MARK: Which task a file is

    @Test func `a task that moved is told by its id, whether the file or the message says it`() throws {
        for bears in [true, false] {
            let scratch = try Scratch()
            let history = try scratch.open()
            let id = ItemID.random()
            func text(_ words: String) -> String { bears ? "---\nid: \(id)\n---\n\(words)" : words }
            _ = try history.record([RecordedFile("a.md", text("one"), id: id)], scratch.entry())
            let moved = try #require(
                try history.record(
                    [
                        RecordedFile(gone: "a.md", oldID: id), RecordedFile("x/b.md", text("two"), id: id),
                        RecordedFile("c.md", "new"),
                    ], scratch.entry()))
            let changes = try history.changes(of: moved)
            #expect(changes.map(\.path) == ["c.md", "x/b.md"])
            #expect(changes.map(\.kind) == [.added, .moved])
            #expect(changes[1].oldPath == "a.md")
            #expect(changes[1].id == id)
        }
    }

    @Test func `two tasks that changed places are two moves`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        let (a, b) = (ItemID.random(), ItemID.random())
        _ = try history.record([.init("a.md", "A", id: a), .init("b.md", "B", id: b)], scratch.entry())
        let swapped = try #require(
            try history.record(
                [.init("a.md", "B", id: b, oldID: a), .init("b.md", "A", id: a, oldID: b)], scratch.entry()))
        let changes = try history.changes(of: swapped)
        #expect(changes.map(\.kind) == [.moved, .moved])
        #expect(changes.map(\.oldPath) == ["b.md", "a.md"])
    }

    // MARK: Many quarters

    @Test func `each quarter has a repository that begins with everything, and the log reads across them`() throws {
        let scratch = try Scratch()
        var history = try scratch.open()
        let id = ItemID.random()
        let first = try #require(try history.record([.init("a.md", "1", id: id), .init("b.md", "b")], scratch.entry()))
        scratch.now = scratch.now + 100 * 86_400
        let second = try #require(try history.record([.init("b.md", "c")], scratch.entry()))
        history = try scratch.open()
        #expect(try scratch.repositories() == ["2026-q4.git", "2027-q1.git"])
        #expect(try history.text("a.md", second) == "1")
        var seen: [Revision] = []
        try history.forEachOperation {
            seen.append($0.revision)
            return true
        }
        #expect(seen == [second, first])
        #expect(try history.changes(from: first, to: second).map(\.path) == ["b.md"])
        #expect(try history.owners(at: second.id)["a.md"] == id)
        try scratch.expectSound()
    }

    @Test func `an old repository goes whole, unless something in it is nowhere else`() throws {
        let scratch = try Scratch()
        var history = try scratch.open()
        _ = try history.record([.init("a.md", "only here"), .init("b.md", "b")], scratch.entry())
        let last = try #require(try history.record([.init(gone: "a.md")], scratch.entry()))
        scratch.now = scratch.now + 100 * 86_400
        let next = try #require(try history.record([.init("b.md", "c")], scratch.entry()))
        // Its last state was that of the files until the next one began.
        #expect(try history.tidy(before: scratch.now) { _, _ in true } == [])
        scratch.now = scratch.now + 60
        #expect(try history.tidy(before: scratch.now + -1) { _, _ in true } == ["2026-q4.git"])
        history = try scratch.open()
        #expect(throws: HistoryError.self) { try history.operation(last) }
        #expect(try history.operation(next).summary == "edited b.md")
        #expect(try history.text("b.md", next) == "c")
    }

    @Test func `what may not be dropped is kept with its repository`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        _ = try history.record([.init("a.md", "only here"), .init("b.md", "b")], scratch.entry())
        _ = try history.record([.init(gone: "a.md")], scratch.entry())
        scratch.now = scratch.now + 100 * 86_400
        _ = try history.record([.init("b.md", "c")], scratch.entry())
        scratch.now = scratch.now + 60
        var asked: Set<Text> = []
        #expect(
            try history.tidy(before: scratch.now + -1) { path, _ in
                asked.insert(path)
                return path != "a.md"
            } == [])
        #expect(asked.contains("a.md"))
        #expect(!asked.contains("b.md"))
        #expect(try history.tidy(before: scratch.now + -200 * 86_400) { _, _ in true } == [])
    }

    @Test func `a clock that went back holds nothing up`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        _ = try history.record([.init("a", "1")], scratch.entry())
        scratch.now = scratch.now + -400 * 86_400
        let state = try #require(try history.record([.init("a", "2")], scratch.entry()))
        #expect(try history.text("a", state) == "2")
        #expect(try scratch.repositories() == ["2026-q4.git"])
    }

    // MARK: Finding states

    @Test func `a state is found by its first digits and by its time`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        let first = try #require(try history.record([.init("a", "1")], scratch.entry()))
        let before = scratch.now
        scratch.now = scratch.now + 60
        let second = try #require(try history.record([.init("a", "2")], scratch.entry()))
        #expect(try history.revision(first.short) == first)
        #expect(try history.revision(second.text) == second)
        #expect(try history.revision(at: before + 30) == first)
        #expect(try history.revision(at: scratch.now) == second)
        #expect(try history.revision(at: before + -1) == nil)
        #expect(throws: HistoryError.unknownRevision("0000000")) { try history.revision("0000000") }
        #expect(throws: HistoryError.unknownRevision("abc")) { try history.revision("abc") }
    }

    // MARK: Trouble

    @Test(arguments: [
        "HEAD", "objects", "objects cut short", "refs/heads/main", "everything", "a file in its place",
    ])
    func `a damaged history is kept aside, and a new one begins`(_ what: String) throws {
        let scratch = try Scratch()
        var history: History? = try scratch.open()
        _ = try history?.record([.init("x/a", "1")], scratch.entry())
        history = nil
        try scratch.damage(what)
        let (again, opening) = try History.open(at: scratch.path, now: scratch.now)
        if what != "a file in its place" {
            guard case .rebuilt = opening else {
                Issue.record("\(opening)")
                return
            }
        }
        let state = try #require(try again.record([.init("x/a", "1")], scratch.entry()))
        #expect(try again.text("x/a", state) == "1")
        #expect(try scratch.keptAside())
    }

    @Test func `a damaged file deep in it is met where it is needed, and doesn't hang`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        let state = try #require(try history.record([.init("x/y/a.md", "one"), .init("b.md", "b")], scratch.entry()))
        let content = try #require(try history.content(of: "x/y/a.md", at: state))
        let name = content.id.description
        let file = scratch.path + "/2026-q4.git/objects/\(name.prefix(2))/\(name.dropFirst(2))"
        _ = try ChildProcess(["sh", "-c", "chmod +w \(file); head -c -4 \(file) > \(file).cut; mv \(file).cut \(file)"])
            .wait()
        #expect(throws: HistoryError.self) { try history.bytes(content) }
        #expect(try history.text("b.md", state) == "b")
        #expect(try history.record([.init("b.md", "c")], scratch.entry()) != nil)
        // The same text recorded again mends it.
        _ = try history.record([.init("c.md", "one")], scratch.entry())
        #expect(try history.text("x/y/a.md", state) == "one")
    }

    @Test func `what a stopped process left is in nobody's way`() throws {
        let scratch = try Scratch()
        var history: History? = try scratch.open()
        _ = try history?.record([.init("a", "1")], scratch.entry())
        history = nil
        let repository = try OpenFolder(path: scratch.path + "/2026-q4.git")
        _ = try repository.folder(at: "refs/heads").create("main.lock")
        _ = try repository.folder(at: "objects/pack").create("tmp_pack_x")
        let folder = try OpenFolder(path: scratch.path)
        try folder.makeFolder(".new-2027-q1.git")
        let again = try scratch.open()
        #expect(try again.record([.init("a", "2")], scratch.entry()) != nil)
        scratch.now = scratch.now + 100 * 86_400
        #expect(try again.record([.init("a", "3")], scratch.entry()) != nil)
        try scratch.expectSound()
    }

    @Test func `a history whose first state could not be written has not begun`() throws {
        let scratch = try Scratch()
        // A name that git refuses ends the writing in its middle.
        #expect(throws: HistoryError.self) {
            try scratch.open().record([.init("a.md", "1"), .init("x/../b.md", "2")], scratch.entry())
        }
        #expect(try scratch.repositories() == [])
        let (history, opening) = try History.open(at: scratch.path, now: scratch.now)
        #expect(opening == .begun)
        #expect(try history.record([.init("a.md", "1")], scratch.entry()) != nil)
        try scratch.expectSound()
    }

    @Test func `many loose objects become a pack, and everything is still there`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        let files = (0..<4_000).map { RecordedFile(Text("tasks/\($0 / 100)/\($0).md"), "text \($0)") }
        let state = try #require(try history.record(files, scratch.entry()))
        try history.tidy(before: scratch.now) { _, _ in true }
        #expect(try scratch.looseObjects() == 0)
        let again = try scratch.open()
        #expect(try again.text("tasks/7/777.md", state) == "text 777")
        #expect(try again.record([.init("tasks/7/777.md", "other")], scratch.entry()) != nil)
        #expect(try scratch.looseObjects() == 5)
        try scratch.expectSound()
    }

    @Test func `one edit among many files writes only the folders on its way`() throws {
        let scratch = try Scratch()
        let history = try scratch.open()
        let files = (0..<3_000).map { RecordedFile(Text("tasks/\($0 / 30)/\($0).md"), "text \($0)") }
        _ = try history.record(files, scratch.entry())
        let before = try scratch.looseObjects()
        _ = try history.record([.init("tasks/7/215.md", "other")], scratch.entry())
        // The file, three folders, the commit.
        #expect(try scratch.looseObjects() == before + 5)
    }

    @Test func `whatever is done in any order, every state reads back as it was`() throws {
        for seed in 0..<8 { try Self.play(seed: UInt64(seed)) }
    }

    private static func play(seed: UInt64) throws {
        var random = Seeded(state: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        let scratch = try Scratch()
        var history = try scratch.open()
        var model: [Text: (text: String, id: ItemID)] = [:]
        var states: [(Revision, [Text: (text: String, id: ItemID)])] = []
        let places: [Text] = [
            "a.md", "b.md", "x/a.md", "x/y/c.md", "x.md", "z/1.md", "z/2.md", "caf\u{E9}.md", "cafe\u{301}.md",
        ]
        for step in 0..<40 {
            var files: [RecordedFile] = []
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let place = places.randomElement(using: &random)!
                if files.contains(where: { $0.path == place }) { continue }
                let old = model[place]
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    model[place] = nil
                    files.append(RecordedFile(gone: place, oldID: old?.id))
                case 1:
                    let target = places.randomElement(using: &random)!
                    guard let old, model[target] == nil, !files.contains(where: { $0.path == target }) else { continue }
                    model[place] = nil
                    model[target] = old
                    files += [RecordedFile(gone: place, oldID: old.id), RecordedFile(target, old.text, id: old.id)]
                default:
                    let new = (text: "step \(step) of \(seed)", id: old?.id ?? ItemID.random())
                    model[place] = new
                    files.append(RecordedFile(place, new.text, id: new.id, oldID: old?.id))
                }
            }
            if step % 13 == 12 { scratch.now = scratch.now + 50 * 86_400 }
            if let state = try history.record(files, scratch.entry()) { states.append((state, model)) }
            if step % 10 == 9 { history = try scratch.open() }
        }
        for (state, model) in states {
            let files = try history.files(at: state)
            #expect(files.map(\.path) == model.keys.sorted(), "seed \(seed)")
            for (path, content) in files {
                #expect(try history.bytes(content) == Array((model[path]?.text ?? "").utf8), "seed \(seed)")
            }
            let owners = try history.owners(at: state.id)
            for (path, file) in model { #expect(owners[path] == file.id, "seed \(seed), \(path)") }
        }
        try scratch.expectSound()
    }
}

private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}

extension RecordedFile {
    init(_ path: Text, _ text: String, id: ItemID? = nil, oldID: ItemID? = nil) {
        self.init(path: path, content: .bytes(Array(text.utf8)), id: id, oldID: oldID)
    }

    init(gone path: Text, oldID: ItemID? = nil) { self.init(path: path, content: .gone, oldID: oldID) }
}

extension History {
    func text(_ path: Text, _ state: Revision) throws -> String? {
        try content(of: path, at: state).map { String(decoding: try bytes($0), as: UTF8.self) }
    }
}

/// A folder for one history, with a clock.
private final class Scratch {
    let folder: String
    var now = Instant(seconds: 1_796_000_000)
    var path: String { folder + "/history" }

    init() throws { folder = try System.makeTemporaryFolder() }

    deinit { _ = try? ChildProcess(["rm", "-rf", folder]).wait() }

    func open() throws -> History { try History.open(at: path, now: now).0 }

    func entry(_ kind: HistoryEntry.Kind = .found) -> HistoryEntry {
        HistoryEntry(
            kind: kind, command: "sync", device: "laptop", time: Instant(seconds: now.nanoseconds / 1_000_000_000))
    }

    func repositories() throws -> [String] {
        try OpenFolder(path: path).entries().compactMap(\.name.string).filter { $0.hasPrefix("2") }.sorted()
    }

    func keptAside() throws -> Bool {
        try (OpenFolder(path: path).entries() + OpenFolder(path: folder).entries()).contains {
            ($0.name.string ?? "").contains("damaged-")
        }
    }

    /// `git fsck` of every repository.
    func expectSound() throws {
        for name in try repositories() where !name.hasPrefix("damaged") {
            #expect(
                try ChildProcess(["git", "-C", path + "/" + name, "fsck", "--strict", "--no-dangling", "--no-progress"])
                    .wait() == 0)
        }
    }

    func looseObjects() throws -> Int {
        var count = 0
        for name in try repositories() {
            let objects = try OpenFolder(path: path + "/" + name + "/objects")
            for entry in try objects.entries() where entry.name.bytes.count == 2 {
                count += try objects.folder(entry.name).entries().count
            }
        }
        return count
    }

    func damage(_ what: String) throws {
        let repository = path + "/2026-q4.git"
        switch what {
        case "everything":
            _ = try ChildProcess(["rm", "-rf", repository + "/HEAD", repository + "/objects", repository + "/refs"])
                .wait()
        case "a file in its place":
            _ = try ChildProcess(["rm", "-rf", path]).wait()
            _ = try OpenFolder(path: folder).create("history")
        case "objects cut short":
            let cut = "for f in \(repository)/objects/??/*; do chmod +w $f; head -c -8 $f > $f.cut; mv $f.cut $f; done"
            _ = try ChildProcess(["sh", "-c", cut]).wait()
        case "objects":
            _ = try ChildProcess(["sh", "-c", "for f in \(repository)/objects/??/*; do chmod +w $f; : > $f; done"])
                .wait()
        default: _ = try ChildProcess(["sh", "-c", "printf garbage > \(repository)/\(what)"]).wait()
        }
    }
}
