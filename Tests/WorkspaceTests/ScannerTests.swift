import Libraries
import Model
import Testing

@testable import Workspace

private let tasks = ScannedFolder(path: "tasks", suffix: ".md", keptBytes: 1 << 20)

private let names = NameRules(
    foldedKey: { Text($0.string.lowercased()) },
    problem: { $0.utf8.contains { $0 < 0x20 } ? "has a control character; rename it" : nil })

private func scanner(_ scratch: Scratch, background: Bool = false, now: Instant? = nil) -> Scanner {
    Scanner(root: scratch.root, rules: IgnoreRules(root: scratch.root), names: names, background: background) {
        now ?? Instant(nanoseconds: System.now())
    }
}

@Suite struct ScannerTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func scan(_ cache: [Text: CachedFile] = [:]) throws -> Snapshot {
        try scanner(scratch).scan(tasks, cache: cache)
    }

    @Test func `files that end in .md are found in every folder, in the order of their bytes`() throws {
        for path in ["b.md", "a.md", "home/fence.md", "home/deep/er.md", "Z.md", "note.txt", "md"] {
            try scratch.write("tasks/" + Text(path), path)
        }
        let snapshot = try scan()
        #expect(snapshot.files.map(\.path) == ["Z.md", "a.md", "b.md", "home/deep/er.md", "home/fence.md"])
        #expect(snapshot.files[1].bytes == Array("a.md".utf8))
        #expect(snapshot.files[1].digest == digest("a.md"))
        #expect(snapshot.problems.isEmpty && snapshot.unknown.isEmpty && snapshot.busy.isEmpty)
    }

    @Test func `without a suffix every file is found, and excluded ones are not`() throws {
        for path in ["a.jpg", "home/b.png", "profile.md", "photos/c.jpg"] { try scratch.write(Text(path), path) }
        let all = ScannedFolder(path: ".", suffix: nil, excluded: ["profile.md", "photos"], keptBytes: 0)
        let snapshot = try scanner(scratch).scan(all, cache: [:])
        #expect(snapshot.files.map(\.path) == ["a.jpg", "home/b.png"])
    }

    @Test func `content over the limit is hashed and not kept`() throws {
        let text = String(repeating: "x", count: 600_000)
        try scratch.write("tasks/a.md", text)
        let folder = ScannedFolder(path: "tasks", suffix: ".md", keptBytes: 599_999)
        let file = try #require(try scanner(scratch).scan(folder, cache: [:]).files.first)
        #expect(file.bytes == nil)
        #expect(file.digest == digest(text))
    }

    @Test func `a file whose stamp is the cache's isn't read`() throws {
        try scratch.write("tasks/a.md", "one")
        let later = Instant(nanoseconds: System.now()) + 5
        let first = try scanner(scratch, now: later).scan(tasks, cache: [:])
        let second = try scan(first.cache)
        #expect(second.files.map(\.digest) == [digest("one")])
        #expect(second.files[0].bytes == nil)
        #expect(second.cache == first.cache)
    }

    @Test func `an entry recorded within two seconds of its own time is hashed again`() throws {
        try scratch.write("tasks/a.md", "one")
        try scratch.age("tasks/a.md", 60)
        var cache = try scan().cache
        // As if the content had changed in the same tick of the clock, at the same size.
        cache["a.md"]?.digest = digest("two")
        #expect(try scan(cache).files.map(\.digest) == [digest("one")])
        cache["a.md"]?.recorded = Instant(nanoseconds: System.now()) + 5
        #expect(try scan(cache).files.map(\.digest) == [digest("two")])
    }

    struct Trust: Sendable {
        var modified: Int64 = 100
        var changed: Int64 = 100
        var inode: UInt64 = 1
        var size: Int64 = 3
        var recorded: Double
        var isTrusted: Bool
    }

    @Test(arguments: [
        Trust(recorded: 110, isTrusted: true),
        Trust(recorded: 102, isTrusted: false),
        Trust(recorded: 102.001, isTrusted: true),
        Trust(recorded: 99, isTrusted: false),
        Trust(modified: 50, recorded: 101, isTrusted: false),
        Trust(changed: 50, recorded: 101, isTrusted: false),
        Trust(modified: 101, recorded: 110, isTrusted: false),
        Trust(changed: 101, recorded: 110, isTrusted: false),
        Trust(inode: 2, recorded: 110, isTrusted: false),
        Trust(size: 4, recorded: 110, isTrusted: false),
    ])
    func `a cache entry vouches for a file`(_ trust: Trust) {
        // The cached stamp has the times of the case where the rule of two seconds is asked, else those of 100 s.
        let isSame = trust.modified != 101 && trust.changed != 101
        func stamp(_ modified: Int64, _ changed: Int64, _ inode: UInt64, _ size: Int64) -> FileStamp {
            FileStamp(
                size: size, modified: modified * 1_000_000_000, changed: changed * 1_000_000_000, inode: inode, birth: 7
            )
        }
        let cached = stamp(isSame ? trust.modified : 100, isSame ? trust.changed : 100, 1, 3)
        let entry = CachedFile(stamp: cached, recorded: Instant(seconds: 0) + trust.recorded, digest: digest("x"))
        let seen = stamp(trust.modified, trust.changed, trust.inode, trust.size)
        #expect(entry.vouches(for: seen) == trust.isTrusted)
    }

    @Test func `a touched file is read again and has the same digest`() throws {
        try scratch.write("tasks/a.md", "one")
        let first = try scanner(scratch, now: Instant(nanoseconds: System.now()) + 5).scan(tasks, cache: [:])
        try scratch.age("tasks/a.md", 10)
        let second = try scan(first.cache)
        #expect(second.files[0].bytes == nil, "they are what they were")
        #expect(second.files[0].digest == first.files[0].digest)
    }

    @Test func `in a background run a file younger than two seconds is busy, and the cache keeps what it had`() throws {
        try scratch.write("tasks/a.md", "one")
        let first = try scan()
        try scratch.write("tasks/a.md", "half a sa")
        let background = try scanner(scratch, background: true).scan(tasks, cache: first.cache)
        #expect(background.busy == ["a.md"])
        #expect(background.files.isEmpty)
        #expect(background.cache == first.cache)
        #expect(background.absence(of: "a.md") == .unknown)
        let later = scanner(scratch, background: true, now: Instant(nanoseconds: System.now()) + 2.1)
        #expect(try later.scan(tasks, cache: first.cache).files.map(\.digest) == [digest("half a sa")])
        #expect(try scan(first.cache).busy.isEmpty)
    }

    @Test func `a file whose size or time moved while it was read is busy`() throws {
        try scratch.write("tasks/a.md", "one")
        var scanner = scanner(scratch)
        scanner.reading = { [scratch] in try? scratch.write("tasks/a.md", "one and more") }
        #expect(try scanner.scan(tasks, cache: [:]).busy == ["a.md"])
        #expect(scanner.read("a.md", in: tasks) == .busy)
    }

    @Test func `symlinks and pipes are reported and not followed`() throws {
        try scratch.write("elsewhere/a.md", "secret")
        let (folder, _) = try scratch.spot("tasks/x")
        try folder.makeSymlink("link.md", to: "../elsewhere/a.md")
        try folder.makeSymlink("home", to: "../elsewhere")
        try folder.makePipe("pipe.md")
        let snapshot = try scan()
        #expect(snapshot.files.isEmpty)
        #expect(snapshot.problems.map(\.path) == ["home", "link.md", "pipe.md"])
        #expect(snapshot.problems.map(\.kind) == [.symlink, .symlink, .special])
        #expect(snapshot.absence(of: "home/a.md") == .unknown, "a folder that a symlink took the place of")
        #expect(snapshot.absence(of: "link.md") == .unknown)
        #expect(snapshot.absence(of: "homely.md") == .gone)
    }

    @Test func `a folder that can't be read is unknown with everything in it, and the rest goes on`() throws {
        try scratch.write("tasks/locked/a.md", "one")
        try scratch.write("tasks/open/b.md", "two")
        try scratch.root.folder("tasks").setMode("locked", 0)
        let snapshot = try withoutPrivileges { try scan() }
        #expect(snapshot.files.map(\.path) == ["open/b.md"])
        #expect(snapshot.unknown == ["locked"])
        #expect(snapshot.problems.map(\.kind) == [.unreadable])
        #expect(snapshot.absence(of: "locked/a.md") == .unknown)
        #expect(snapshot.absence(of: "open/a.md") == .gone)
    }

    @Test func `a file that can't be read is a problem and not gone`() throws {
        try scratch.write("tasks/a.md", "one")
        try scratch.root.folder("tasks").setMode("a.md", 0)
        let snapshot = try withoutPrivileges { try scan() }
        #expect(snapshot.problems.map(\.path) == ["a.md"])
        #expect(snapshot.absence(of: "a.md") == .unknown)
    }

    @Test func `what lies on another device is unknown`() throws {
        try scratch.write("tasks/mounted/a.md", "one")
        try scratch.write("tasks/b.md", "two")
        let folder = try scratch.root.folder("tasks")
        let device = try folder.status().device &+ 1
        var walk = ScanWalk(scanner: scanner(scratch), folder: tasks, device: device, cache: [:])
        walk.visit(folder, path: "", depth: 0)
        let snapshot = walk.finish()
        #expect(snapshot.files.isEmpty)
        #expect(snapshot.unknown == ["mounted"])
        #expect(snapshot.problems.map(\.kind) == [.otherDevice, .otherDevice])
        #expect(snapshot.absence(of: "mounted/a.md") == .unknown)
    }

    @Test func `names that are not UTF-8 or that the rules refuse are problems`() throws {
        let (folder, _) = try scratch.spot("tasks/x")
        _ = try folder.create(FileName(bytes: [0x61, 0xFF] + Array(".md".utf8)))
        _ = try folder.create("two\nlines.md")
        try scratch.write("tasks/bad\nfolder/c.md", "three")
        let snapshot = try scan()
        #expect(snapshot.files.isEmpty)
        #expect(snapshot.problems.map(\.kind) == [.badName, .badName, .badName])
        #expect(snapshot.problems.map(\.path) == ["a\u{FFFD}.md", "bad\nfolder", "two\nlines.md"])
        #expect(snapshot.absence(of: "bad\nfolder/c.md") == .unknown)
    }

    @Test func `of two files that differ only by case the second is a problem, and both stay`() throws {
        try scratch.write("tasks/Milk.md", "one")
        try scratch.write("tasks/milk.md", "two")
        let snapshot = try scan()
        #expect(snapshot.files.map(\.path) == ["Milk.md"])
        #expect(snapshot.problems.map(\.path) == ["milk.md"])
        #expect(snapshot.problems.map(\.kind) == [.twin])
        #expect(snapshot.absence(of: "milk.md") == .unknown)
        #expect(scratch.read("tasks/milk.md") == "two")
    }

    @Test func `of twins the one that was known before stays`() throws {
        try scratch.write("tasks/milk.md", "two")
        let known = try scan()
        try scratch.write("tasks/Milk.md", "one")
        let snapshot = try scan(known.cache)
        #expect(snapshot.files.map(\.path) == ["milk.md"])
        #expect(snapshot.problems.map(\.path) == ["Milk.md"])
    }

    @Test func `names that differ only by form are two files`() throws {
        try scratch.write("tasks/caf\u{E9}.md", "composed")
        try scratch.write("tasks/cafe\u{301}.md", "decomposed")
        let snapshot = try scan()
        #expect(Set(snapshot.files.map(\.digest)) == [digest("composed"), digest("decomposed")])
        #expect(snapshot.cache.count == 2)
    }

    @Test func `a missing folder ends the scan and is not made`() throws {
        try scratch.root.removeFolder("tasks")
        let problem = #expect(throws: PathProblem.self) { try scan() }
        #expect(problem?.kind == .missing)
        #expect(try scratch.root.status("tasks") == nil)
    }

    @Test func `a task folder that is a symlink ends the scan`() throws {
        try scratch.root.removeFolder("tasks")
        try scratch.write("elsewhere/a.md", "one")
        try scratch.root.makeSymlink("tasks", to: "elsewhere")
        let problem = #expect(throws: PathProblem.self) { try scan() }
        #expect(problem?.kind == .symlink)
    }

    @Test func `a folder too deep is unknown`() throws {
        let deep = Text(Array(repeating: "d", count: 140).joined(separator: "/"))
        try scratch.write("tasks/" + deep + "/a.md", "one")
        try scratch.write("tasks/b.md", "two")
        let snapshot = try scan()
        #expect(snapshot.files.map(\.path) == ["b.md"])
        #expect(snapshot.unknown.count == 1)
        #expect(snapshot.absence(of: deep + "/a.md") == .unknown)
    }

    @Test func `hard-linked files are followed, and the number of links is told`() throws {
        try scratch.write("tasks/a.md", "one")
        let (folder, name) = try scratch.spot("tasks/a.md")
        try folder.link(name, to: scratch.root, "other")
        let snapshot = try scan()
        #expect(snapshot.files.map(\.linkCount) == [2])
    }

    @Test func `temporary files of a run that stopped are listed`() throws {
        try scratch.write("tasks/home/.otask-tmp-12", "half")
        let snapshot = try scan()
        #expect(snapshot.temporaries == ["home/.otask-tmp-12"])
        #expect(snapshot.files.isEmpty)
    }

    @Test func `while .otaskignore can't be read nothing counts as gone`() throws {
        try scratch.root.makeFolder(".otaskignore")
        let snapshot = try scan()
        #expect(snapshot.unknown == [""])
        #expect(snapshot.problems.map(\.path) == [".otaskignore"])
        #expect(snapshot.absence(of: "a.md") == .unknown)
    }

    @Test func `what .otaskignore says is not scanned`() throws {
        try scratch.write(".otaskignore", "drafts/\n*.private.md\n")
        for path in ["a.md", "b.private.md", "drafts/c.md", "home/drafts.md"] {
            try scratch.write("tasks/" + Text(path), "x")
        }
        #expect(try scan().files.map(\.path) == ["a.md", "home/drafts.md"])
    }
}

@Suite struct GoneFileTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func identity(_ path: Text) throws -> FileIdentity {
        try #require(try scratch.status(path)?.stamp.identity)
    }

    @Test func `a file made after another was removed has another identity, though the inode may be the same`() throws {
        try scratch.write("tasks/a.md", "one")
        let old = try identity("tasks/a.md")
        try scratch.remove("tasks/a.md")
        try scratch.write("tasks/b.md", "two")
        #expect(try identity("tasks/b.md") != old)
        #expect(scanner(scratch).findIdentities([old]).found.isEmpty)
    }

    @Test(arguments: [
        "tasks/.hidden", "tasks/a.md~", "tasks/a.txt", "archive/a.md", ".obsidian/a.md", "tasks/home/.old/a",
    ])
    func `a gone file is found under every name in the workspace`(_ place: String) throws {
        try scratch.write("tasks/a.md", "one")
        let wanted = try identity("tasks/a.md")
        let (from, to) = (try scratch.spot("tasks/a.md"), try scratch.spot(Text(place)))
        try from.folder.rename(from.name, to: to.folder, to.name)
        let search = scanner(scratch).findIdentities([wanted])
        #expect(search.found == [wanted: Text(place)])
        #expect(search.unread.isEmpty)
    }

    @Test(arguments: [".trash/a.md", ".Trash-1000/files/a.md", "tasks/.trash/a.md", ".otask/displaced/a"])
    func `what was moved to a trash folder is deleted`(_ place: String) throws {
        try scratch.write(Text(place), "one")
        let wanted = try identity(Text(place))
        #expect(scanner(scratch).findIdentities([wanted]).found.isEmpty)
    }

    @Test func `a folder that the search can't read is told`() throws {
        try scratch.write("locked/a.md", "one")
        let wanted = try identity("locked/a.md")
        try scratch.root.setMode("locked", 0)
        let search = withoutPrivileges { scanner(scratch).findIdentities([wanted]) }
        #expect(search.found.isEmpty)
        #expect(search.unread == ["locked"])
    }

    @Test func `a file whose folder has just changed is looked at once more, after 100 ms`() throws {
        try scratch.write("tasks/gone.md", "one")
        try scratch.remove("tasks/gone.md")
        var waits: [Double] = []
        let look = scanner(scratch).lookAgain(at: ["saved.md", "gone.md"], in: tasks) {
            waits.append($0)
            try? scratch.write("tasks/saved.md", "new")
        }
        #expect(waits == [0.1])
        #expect(look.appeared.map(\.path) == ["saved.md"])
        #expect(look.gone == ["gone.md"])
        #expect(look.unsettled.isEmpty)
    }

    @Test func `a background run leaves it for the next run`() throws {
        let look = scanner(scratch, background: true).lookAgain(at: ["a.md"], in: tasks) { _ in Issue.record("waited") }
        #expect(look.unsettled == ["a.md"])
    }

    @Test func `a file whose folder has been still for two seconds is gone at once`() throws {
        let later = scanner(scratch, now: Instant(nanoseconds: System.now()) + 2.5)
        let look = later.lookAgain(at: ["a.md", "no/such/folder/b.md"], in: tasks) { _ in Issue.record("waited") }
        #expect(look.gone == ["a.md", "no/such/folder/b.md"])
    }
}
