import Libraries
import Model
import Testing

@testable import Workspace

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

private struct Crash: Error {}

/// Does something at the first effect that `matches`, as a person's program might in that moment.
private final class Moment: @unchecked Sendable {
    private var isOver = false
    private let matches: (Effect) -> Bool
    private let body: () throws -> Void

    init(_ matches: @escaping (Effect) -> Bool, _ body: @escaping () throws -> Void) {
        self.matches = matches
        self.body = body
    }

    var effects: Effects {
        Effects { [self] effect in
            if isOver || !matches(effect) { return }
            isOver = true
            try body()
        }
    }
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Suite struct StagingTests {
    let scratch: Scratch
    let writer: FileWriter

    init() throws {
        scratch = try Scratch()
        writer = FileWriter(root: scratch.root)
    }

    @Test func `a new file is placed where nothing is, with the folders above it`() throws {
        let staged = try writer.stage(bytes("new"), at: "tasks/home/deep/a.md")
        #expect(staged.temporary.hasPrefix("tasks/home/deep/.otask-tmp-"))
        #expect(staged.digest == digest("new"))
        try writer.flush([staged])
        let result = try writer.place(staged)
        try writer.flushFolders(of: [staged.target])
        #expect(result == .written(try #require(try scratch.status("tasks/home/deep/a.md")).stamp))
        #expect(try scratch.names("tasks/home/deep") == ["a.md"])
    }

    @Test(arguments: [RenameSupport.full, .links, .plain])
    func `a file that is there already is never overwritten by a new one`(_ support: RenameSupport) throws {
        let writer = FileWriter(root: scratch.root, support: support)
        let staged = try writer.stage(bytes("new"), at: "tasks/a.md")
        try scratch.write("tasks/a.md", "theirs")
        #expect(try writer.place(staged) == .occupied)
        #expect(scratch.read("tasks/a.md") == "theirs")
        #expect(try scratch.names("tasks") == ["a.md"])
        let other = try writer.stage(bytes("new"), at: "tasks/b.md")
        _ = try writer.place(other)
        #expect(scratch.read("tasks/b.md") == "new")
        #expect(try scratch.names("tasks") == ["a.md", "b.md"])
    }

    @Test func `more than 16 files are made durable by one flush`() throws {
        let staged = try (0..<20).map { try writer.stage(bytes("\($0)"), at: "tasks/\($0)/a.md") }
        try writer.flush(staged)
        for staged in staged { _ = try writer.place(staged) }
        try writer.flushFolders(of: staged.map(\.target))
        #expect(scratch.read("tasks/19/a.md") == "19")
    }

    @Test func `no symlink is followed on the way`() throws {
        try scratch.write("elsewhere/a.md", "one")
        let (folder, _) = try scratch.spot("tasks/x")
        try folder.makeSymlink("home", to: "../elsewhere")
        try folder.makeSymlink("link.md", to: "../elsewhere/a.md")
        for path: Text in ["tasks/home/b.md", "tasks/link.md", "tasks/../elsewhere/b.md", "/tmp/b.md", "tasks//b.md"] {
            #expect(throws: PathProblem.self, "\(path)") { try writer.stage(bytes("new"), at: path) }
        }
        #expect(try scratch.names("elsewhere") == ["a.md"])
        #expect(scratch.read("elsewhere/a.md") == "one")
    }

    @Test func `a read-only file is a problem and stays`() throws {
        try scratch.write("tasks/a.md", "one")
        try scratch.root.folder("tasks").setMode("a.md", 0o444)
        let problem = #expect(throws: PathProblem.self) { try writer.stage(bytes("new"), at: "tasks/a.md") }
        #expect(problem?.kind == .readOnly)
        let removal = writer.removal(of: "tasks/a.md", expecting: digest("one"), item: nil)
        #expect(throws: PathProblem.self) { try writer.remove(removal) }
        #expect(try scratch.names("tasks") == ["a.md"])
    }

    @Test func `a read-only folder is a problem of what would be written in it`() throws {
        try scratch.root.setMode("tasks", 0o555)
        let problem = #expect(throws: PathProblem.self) {
            try withoutPrivileges { try writer.stage(bytes("new"), at: "tasks/a.md") }
        }
        #expect(problem?.kind == .readOnly)
        #expect(problem?.path == "tasks/a.md")
    }

    @Test func `a name too long is a problem and leaves nothing behind`() throws {
        let long = Text("tasks/" + String(repeating: "n", count: 253) + ".md")
        let problem = #expect(throws: PathProblem.self) {
            _ = try writer.place(writer.stage(bytes("new"), at: long))
        }
        #expect(problem?.kind == .nameTooLong)
        #expect(try scratch.names("tasks").isEmpty)
    }

    @Test(
        arguments: zip(
            [ENOSPC, EDQUOT, EROFS, EACCES, ENAMETOOLONG, EXDEV, ELOOP, EIO],
            [PathProblem.Kind.full, .full, .readOnly, .readOnly, .nameTooLong, .otherDevice, .symlink, .failed]))
    func `what the system refuses has its kind`(_ code: Int32, _ kind: PathProblem.Kind) {
        #expect(PathProblem.writing("a.md", SystemError(code: code, path: "a.md", call: "write")).kind == kind)
    }

    @Test func `empty folders are removed up to the task folder, others stay`() throws {
        try scratch.write("tasks/home/deep/er/a.md", "one")
        try scratch.write("tasks/home/b.md", "two")
        try scratch.remove("tasks/home/deep/er/a.md")
        try writer.removeEmptyFolders(above: "tasks/home/deep/er/a.md", within: "tasks")
        #expect(try scratch.names("tasks/home") == ["b.md"])
        try scratch.remove("tasks/home/b.md")
        try writer.removeEmptyFolders(above: "tasks/home/b.md", within: "tasks")
        #expect(try scratch.names("tasks").isEmpty)
        try writer.removeEmptyFolders(above: "tasks/b.md", within: "tasks")
        #expect(try scratch.root.status("tasks") != nil)
    }

    @Test func `temporary files that no record names are swept, others never`() throws {
        for path: Text in ["tasks/.otask-tmp-12", "tasks/a.md", "tasks/.otask-tmp-displaced-x"] {
            try scratch.write(path, "x")
        }
        try writer.sweep(
            ["tasks/.otask-tmp-12", "tasks/a.md", "tasks/.otask-tmp-displaced-x"], before: Instant(nanoseconds: .max))
        #expect(try scratch.names("tasks") == [".otask-tmp-displaced-x", "a.md"])
    }
}

@Suite struct ExchangeTests {
    let scratch: Scratch
    let writer: FileWriter

    init() throws {
        scratch = try Scratch()
        writer = FileWriter(root: scratch.root)
        try scratch.write("tasks/a.md", "old")
    }

    private func exchange(_ writer: FileWriter, _ text: String = "new") throws -> FileWriter.ExchangeResult {
        let staged = try writer.stage(bytes(text), at: "tasks/a.md")
        return try writer.exchange(staged, expecting: digest("old"))
    }

    @Test(arguments: [RenameSupport.full, .links, .plain])
    func `the new content stands in place, the old one is kept under its hash`(_ support: RenameSupport) throws {
        let result = try exchange(FileWriter(root: scratch.root, support: support))
        guard case .written(let stamp, let displaced, let parted) = result else { throw Crash() }
        #expect(scratch.read("tasks/a.md") == "new")
        #expect(try scratch.status("tasks/a.md")?.stamp == stamp)
        #expect(displaced.path.hasPrefix(".otask/displaced/\(digest("old"))."))
        #expect(scratch.read(displaced.path) == "old")
        #expect(try writer.displaced(with: digest("old")) == displaced.path)
        #expect(!parted)
        #expect(try scratch.names("tasks") == ["a.md"])
    }

    @Test(arguments: [RenameSupport.full, .links, .plain])
    func `a save between staging and exchange stays, and nothing of ours is left`(_ support: RenameSupport) throws {
        for save in [scratch.write, scratch.replace] as [(Text, String) throws -> Void] {
            try scratch.write("tasks/a.md", "old")
            let moment = Moment({ $0 == .stage("tasks/a.md") }) { try save("tasks/a.md", "theirs") }
            let writer = FileWriter(root: scratch.root, effects: moment.effects, support: support)
            #expect(try exchange(writer) == .changedMeanwhile(displaced: nil))
            #expect(scratch.read("tasks/a.md") == "theirs")
            #expect(try scratch.names("tasks") == ["a.md"])
        }
    }

    @Test func `a save in the moment of the exchange is put back`() throws {
        let moment = Moment({ $0 == .exchange("tasks/a.md") }) { [scratch] in
            try scratch.replace("tasks/a.md", "theirs")
        }
        #expect(
            try exchange(FileWriter(root: scratch.root, effects: moment.effects)) == .changedMeanwhile(displaced: nil))
        #expect(scratch.read("tasks/a.md") == "theirs")
        #expect(try scratch.names("tasks") == ["a.md"])
    }

    @Test(arguments: [true, false])
    func `a second save while the first is put back: the newest stands or is kept`(_ byRename: Bool) throws {
        let first = Moment({ $0 == .exchange("tasks/a.md") }) { [scratch] in try scratch.replace("tasks/a.md", "first")
        }
        let second = Moment({ $0 == .putBack("tasks/a.md") }) { [scratch] in
            try byRename ? scratch.replace("tasks/a.md", "second") : scratch.write("tasks/a.md", "second")
        }
        let effects = Effects { effect in
            try first.effects.check(effect)
            try second.effects.check(effect)
        }
        let result = try exchange(FileWriter(root: scratch.root, effects: effects))
        guard case .changedMeanwhile(.some(let displaced)) = result else { throw Crash() }
        #expect(scratch.read("tasks/a.md") == (byRename ? "second" : "first"))
        #expect(scratch.read(displaced.path) == (byRename ? "first" : "second"))
        #expect(displaced.digest == digest(byRename ? "first" : "second"))
        #expect(try scratch.names("tasks") == ["a.md"])
    }

    @Test(arguments: [true, false])
    func `a file that a person removed meanwhile isn't brought back`(_ beforeExchange: Bool) throws {
        let effect: Effect = beforeExchange ? .exchange("tasks/a.md") : .stage("tasks/a.md")
        let moment = Moment({ $0 == effect }) { [scratch] in try scratch.remove("tasks/a.md") }
        let writer = FileWriter(root: scratch.root, effects: moment.effects)
        if beforeExchange {
            #expect(try exchange(writer) == .changedMeanwhile(displaced: nil))
        } else {
            #expect(throws: PathProblem.self) { try exchange(writer) }
        }
        #expect(try scratch.names("tasks").isEmpty)
    }

    @Test func `a symlink that took the file's place meanwhile is put back`() throws {
        let moment = Moment({ $0 == .exchange("tasks/a.md") }) { [scratch] in
            try scratch.remove("tasks/a.md")
            try scratch.root.folder("tasks").makeSymlink("a.md", to: "../secret")
        }
        #expect(
            try exchange(FileWriter(root: scratch.root, effects: moment.effects)) == .changedMeanwhile(displaced: nil))
        #expect(try scratch.status("tasks/a.md")?.kind == .symlink)
        #expect(try scratch.names("tasks") == ["a.md"])
    }

    @Test func `a write parts hard links, and says so`() throws {
        let (folder, name) = try scratch.spot("tasks/a.md")
        try folder.link(name, to: scratch.root, "other")
        guard case .written(_, _, let parted) = try exchange(writer) else { throw Crash() }
        #expect(parted)
        #expect(scratch.read("other") == "old")
        #expect(scratch.read("tasks/a.md") == "new")
    }

    @Test func `bytes that come later from a program that had the file open are seen`() throws {
        guard case .written(_, let displaced, _) = try exchange(writer) else { throw Crash() }
        #expect(try writer.revisit(displaced) == nil)
        try scratch.write(displaced.path, "old and late")
        #expect(try writer.revisit(displaced) == bytes("old and late"))
        try writer.discard(displaced)
        #expect(try writer.revisit(displaced) == nil)
    }

    @Test func `displaced files are deleted once they are old`() throws {
        guard case .written(_, let displaced, _) = try exchange(writer) else { throw Crash() }
        try writer.prune(before: displaced.at)
        #expect(scratch.read(displaced.path) == "old")
        try writer.prune(before: displaced.at + 1)
        #expect(try scratch.names(".otask/displaced").isEmpty)
    }

    @Test func `what was expected is removed into the displaced files`() throws {
        let removal = writer.removal(of: "tasks/a.md", expecting: digest("old"), item: nil)
        guard case .removed(let displaced) = try writer.remove(removal) else { throw Crash() }
        #expect(displaced.path == removal.temporary)
        #expect(scratch.read(displaced.path) == "old")
        #expect(try scratch.names("tasks").isEmpty)
        #expect(try writer.remove(removal) == .absent)
    }

    @Test(arguments: [RenameSupport.full, .links, .plain])
    func `a removal puts back what isn't what was expected`(_ support: RenameSupport) throws {
        let moment = Moment({ $0 == .remove("tasks/a.md") }) { [scratch] in try scratch.replace("tasks/a.md", "theirs")
        }
        let writer = FileWriter(root: scratch.root, effects: moment.effects, support: support)
        let removal = writer.removal(of: "tasks/a.md", expecting: digest("old"), item: nil)
        #expect(try writer.remove(removal) == .changedMeanwhile(displaced: nil))
        #expect(scratch.read("tasks/a.md") == "theirs")
        #expect(try scratch.names(".otask/displaced").isEmpty)
    }

    @Test func `a removal that finds a newer file in the place keeps the one it took`() throws {
        let first = Moment({ $0 == .remove("tasks/a.md") }) { [scratch] in try scratch.replace("tasks/a.md", "first") }
        let second = Moment({ $0 == .putBack("tasks/a.md") }) { [scratch] in try scratch.write("tasks/a.md", "second") }
        let effects = Effects { effect in
            try first.effects.check(effect)
            try second.effects.check(effect)
        }
        let writer = FileWriter(root: scratch.root, effects: effects)
        let removal = writer.removal(of: "tasks/a.md", expecting: digest("old"), item: nil)
        guard case .changedMeanwhile(.some(let displaced)) = try writer.remove(removal) else { throw Crash() }
        #expect(scratch.read("tasks/a.md") == "second")
        #expect(scratch.read(displaced.path) == "first")
    }
}

@Suite struct RecoveryTests {
    let scratch: Scratch
    let writer: FileWriter

    init() throws {
        scratch = try Scratch()
        writer = FileWriter(root: scratch.root)
        try scratch.write("tasks/a.md", "old")
    }

    /// Ends before the effect of that number; true where there was none of that number.
    private func crashing(at number: Int, _ body: (FileWriter) throws -> Void) throws -> Bool {
        let counter = Counter()
        let effects = Effects { _ in if counter.next() == number { throw Crash() } }
        do { try body(FileWriter(root: scratch.root, effects: effects)) } catch is Crash { return false }
        return true
    }

    private final class Counter: @unchecked Sendable {
        private var count = -1
        func next() -> Int {
            count += 1
            return count
        }
    }

    /// Every text of a file in the workspace that is not otask's temporary one.
    private func texts() throws -> [String] {
        let displaced = (try? scratch.names(".otask/displaced")) ?? []
        return try scratch.names("tasks").map { scratch.read("tasks/" + Text($0)) ?? "" }
            + displaced.map { scratch.read(".otask/displaced/" + Text($0)) ?? "" }
    }

    @Test func `a write that was cut short at any step is found out, and no text is lost`() throws {
        var outcomes: [String] = []
        for number in 0... {
            try scratch.write("tasks/a.md", "old")
            let staged = try writer.stage(bytes("new"), at: "tasks/a.md")
            let pending = staged.replacing(digest("old"), item: nil)
            let isOver = try crashing(at: number) { _ = try $0.exchange(staged, expecting: digest("old")) }
            let recovery = try writer.recover(pending) { _ in Issue.record("nobody saved anything") }
            if case .done(.some(let displaced)) = recovery {
                outcomes.append("done")
                #expect(scratch.read("tasks/a.md") == "new")
                #expect(scratch.read(displaced.path) == "old")
            } else {
                outcomes.append("not done")
                #expect(recovery == .notDone)
                #expect(scratch.read("tasks/a.md") == "old")
            }
            #expect(try scratch.names("tasks") == ["a.md"])
            try writer.prune(before: Instant(nanoseconds: .max))
            if isOver { break }
        }
        #expect(outcomes == ["not done", "done", "done"])
    }

    @Test func `a removal that was cut short at any step is found out`() throws {
        for number in 0... {
            try scratch.write("tasks/a.md", "old")
            let pending = writer.removal(of: "tasks/a.md", expecting: digest("old"), item: nil)
            let isOver = try crashing(at: number) { _ = try $0.remove(pending) }
            let recovery = try writer.recover(pending) { _ in Issue.record("nobody saved anything") }
            if isOver {
                guard case .done(.some(let displaced)) = recovery else { throw Crash() }
                #expect(scratch.read(displaced.path) == "old")
                break
            }
            #expect(recovery == .notDone)
            #expect(scratch.read("tasks/a.md") == "old")
        }
    }

    @Test func `a new file that was cut short at any step is placed or gone`() throws {
        for number in 0... {
            let staged = try writer.stage(bytes("new"), at: "tasks/b.md")
            let isOver = try crashing(at: number) { _ = try $0.place(staged) }
            let recovery = try writer.recover(staged.placing(item: nil)) { _ in Issue.record("nobody saved anything") }
            #expect(recovery == (isOver ? .done(nil) : .notDone))
            #expect(try scratch.names("tasks") == (isOver ? ["a.md", "b.md"] : ["a.md"]))
            if isOver { break }
        }
    }

    /// A run that displaced a person's save and then died.
    private func displaceASave() throws -> PendingWrite {
        let staged = try writer.stage(bytes("new"), at: "tasks/a.md")
        let moment = Moment({ $0 == .exchange("tasks/a.md") }) { [scratch] in
            try scratch.replace("tasks/a.md", "theirs")
        }
        let effects = Effects { effect in
            if effect == .putBack("tasks/a.md") { throw Crash() }
            try moment.effects.check(effect)
        }
        #expect(throws: Crash.self) {
            try FileWriter(root: scratch.root, effects: effects).exchange(staged, expecting: digest("old"))
        }
        #expect(scratch.read("tasks/a.md") == "new")
        return staged.replacing(digest("old"), item: nil)
    }

    @Test func `a displaced save goes into the history and back to its place`() throws {
        let pending = try displaceASave()
        var saved: [[UInt8]] = []
        let recovery = try writer.recover(pending) {
            saved.append($0)
            #expect(scratch.read("tasks/a.md") == "new", "history first")
        }
        guard case .putBack(.some(let displaced)) = recovery else { throw Crash() }
        #expect(saved == [bytes("theirs")])
        #expect(scratch.read("tasks/a.md") == "theirs")
        #expect(scratch.read(displaced.path) == "new")
        #expect(try scratch.names("tasks") == ["a.md"])
    }

    @Test func `a displaced save whose file has been edited since is kept to be merged`() throws {
        let pending = try displaceASave()
        try scratch.write("tasks/a.md", "new and edited")
        guard case .displacedSave(let displaced) = try writer.recover(pending, save: { _ in }) else { throw Crash() }
        #expect(scratch.read("tasks/a.md") == "new and edited")
        #expect(scratch.read(displaced.path) == "theirs")
        #expect(try scratch.names("tasks") == ["a.md"])
    }

    @Test func `a displaced save whose file is gone since comes back`() throws {
        let pending = try displaceASave()
        try scratch.remove("tasks/a.md")
        #expect(try writer.recover(pending, save: { _ in }) == .putBack(displaced: nil))
        #expect(scratch.read("tasks/a.md") == "theirs")
    }

    @Test func `a removal that took a save along gives it back`() throws {
        let pending = writer.removal(of: "tasks/a.md", expecting: digest("old"), item: nil)
        let effects = Effects { [scratch] effect in
            if effect == .remove("tasks/a.md") { try scratch.replace("tasks/a.md", "theirs") }
            if effect == .putBack("tasks/a.md") { throw Crash() }
        }
        #expect(throws: Crash.self) { try FileWriter(root: scratch.root, effects: effects).remove(pending) }
        #expect(try scratch.names("tasks").isEmpty)
        var saved: [[UInt8]] = []
        #expect(try writer.recover(pending) { saved.append($0) } == .putBack(displaced: nil))
        #expect(saved == [bytes("theirs")])
        #expect(scratch.read("tasks/a.md") == "theirs")
    }

    @Test func `a file of ours is recovered where history can't be written: nothing is moved`() throws {
        let pending = try displaceASave()
        #expect(throws: Crash.self) { try writer.recover(pending) { _ in throw Crash() } }
        #expect(scratch.read("tasks/a.md") == "new")
        #expect(scratch.read(pending.temporary) == "theirs")
    }
}
