import Libraries
import Model
import Testing

@testable import Workspace

/// What a scan does that passes over the files of settled tasks.
@Suite struct PassingOverTests {
    private let scratch: Scratch
    private let tasks = ScannedFolder(path: "tasks", suffix: ".md", keptBytes: 1 << 20)
    private let paths: [Text] = ["a.md", "b.md", "home/c.md", "home/deep/d.md"]

    init() throws {
        scratch = try Scratch()
        for path in paths { try scratch.write("tasks/" + path, path.string) }
    }

    /// Five seconds on, so that the stamps can be trusted.
    private func scanner() -> Scanner {
        Scanner(
            root: scratch.root, rules: IgnoreRules(root: scratch.root),
            names: NameRules(foldedKey: { Text($0.string.lowercased()) }, problem: { _ in nil })
        ) {
            Instant(nanoseconds: System.now()) + 5
        }
    }

    private func id(_ index: Int) -> ItemID { ItemID("00000000-0000-4000-8000-00000000000\(index)")! }

    /// All files in the cache, and those with these indexes settled; those with an odd one are done.
    private func settled(_ indexes: [Int]) throws -> SettledFiles {
        let cache = try scanner().scan(tasks, cache: [:]).cache
        var settled = SettledFiles()
        for path in paths {
            let file = try #require(cache[path])
            settled.add(
                path: path.bytes, stamp: file.stamp, recorded: file.recorded, digest: file.digest.bytes)
        }
        for index in indexes {
            let file = try #require(cache[paths[index]])
            #expect(
                settled.settle(
                    place: Array(paths[index].bytes.dropLast(3)), id: id(index).text.bytes, digest: file.digest.bytes,
                    identity: try #require(file.stamp.identity), modified: file.stamp.modified,
                    isDone: index % 2 == 1))
        }
        return settled
    }

    private func scan(_ settled: inout SettledFiles, ahead: Bool) throws -> Snapshot {
        let tree = ahead ? ReadAhead(scanner(), tasks).wait(passingOver: settled) : FolderTree()
        return try scanner().scan(tasks, passingOver: &settled, tree)
    }

    @Test(arguments: [true, false])
    func `settled files are counted and in no list, others are scanned`(ahead: Bool) throws {
        var settled = try settled([0, 1, 3])
        let snapshot = try scan(&settled, ahead: ahead)
        #expect(snapshot.files.map(\.path) == ["home/c.md"])
        #expect(snapshot.files[0].bytes == nil, "the cache vouches for it")
        #expect(Array(snapshot.cache.keys) == ["home/c.md"])
        #expect(settled.counts == (3, 2))
        #expect(settled.missed().isEmpty)
        #expect(Array(settled.rest().keys) == ["home/c.md"])
        var seen: [ItemID: Text] = [:]
        settled.forEach { id, path, _ in seen[id] = path }
        #expect(seen == [id(0): "a.md", id(1): "b.md", id(3): "home/deep/d.md"])
    }

    @Test(arguments: [true, false])
    func `a settled file that changed or went is told`(ahead: Bool) throws {
        var settled = try settled([0, 1, 2, 3])
        try scratch.replace("tasks/b.md", "changed")
        try scratch.remove("tasks/home/deep/d.md")
        let snapshot = try scan(&settled, ahead: ahead)
        #expect(snapshot.files.map(\.path) == ["b.md"])
        #expect(snapshot.files[0].bytes == Array("changed".utf8))
        #expect(settled.missed() == [id(1), id(3)])
        #expect(settled.rest().keys.sorted() == ["b.md", "home/deep/d.md"])
        #expect(settled.counts.files == 2)
    }

    @Test func `a settled file too young to be trusted is passed over once its bytes were compared`() throws {
        var settled = SettledFiles()
        let cache = try scanner().scan(tasks, cache: [:]).cache
        for (index, path) in paths.enumerated() {
            let file = try #require(cache[path])
            let place = Array(path.bytes.dropLast(3))
            // As if b.md had been written once more in the same tick of the clock.
            let digest = index == 1 ? digest("before") : file.digest
            settled.add(
                path: path.bytes, stamp: file.stamp, recorded: Instant(nanoseconds: file.stamp.changed),
                digest: digest.bytes)
            #expect(
                settled.settle(
                    place: place, id: id(index).text.bytes, digest: digest.bytes,
                    identity: try #require(file.stamp.identity), modified: file.stamp.modified, isDone: false))
        }
        let snapshot = try scan(&settled, ahead: true)
        #expect(snapshot.files.map(\.path) == ["b.md"])
        #expect(settled.counts.files == 3)
        #expect(snapshot.cache.keys.sorted() == paths, "what was compared needs that no more")
    }

    @Test func `a settled file that is woken is as it was seen, and no longer passed over`() throws {
        var settled = try settled([0, 1])
        _ = try scan(&settled, ahead: false)
        let file = settled.wake(place: "a")
        #expect(file?.path == "a.md" && file?.digest == digest("a.md") && file?.bytes == nil)
        #expect(settled.wake(place: "a") == nil)
        #expect(settled.wake(place: "home/c") == nil, "it is in the snapshot")
        #expect(settled.counts.files == 1)
        #expect(settled.rest()["a.md"] == nil, "it keeps its entry in the cache")
    }

    @Test func `a new file that differs from a settled one only by case asks for a scan of all`() throws {
        var settled = try settled([0, 1, 2, 3])
        let before = settled
        try scratch.write("tasks/new.md", "new")
        #expect(try !scan(&settled, ahead: false).mayHaveTwins)
        try scratch.write("tasks/HOME/c.md", "twin")
        settled = before
        #expect(try scan(&settled, ahead: false).mayHaveTwins)
    }

    @Test func `files of one identity are found among those that were passed over`() throws {
        var settled = try settled([0])
        _ = try scan(&settled, ahead: false)
        let cache = try scanner().scan(tasks, cache: [:]).cache
        let (a, b) = (cache["a.md"]?.stamp.identity, cache["b.md"]?.stamp.identity)
        #expect(settled.seen(Set([a, b].compactMap { $0 })) == Set([a].compactMap { $0 }))
    }

    @Test func `a thousand files are each found by their own path`() {
        var settled = SettledFiles()
        let stamp = FileStamp(size: 1, modified: 2, changed: 3, inode: 4, birth: 5)
        for number in 0..<1_000 {
            settled.add(
                path: Array("folder-\(number % 7)/task-\(number).md".utf8), stamp: stamp,
                recorded: Instant(seconds: Int64(number)), digest: [])
        }
        for number in 0..<1_000 {
            let folder = FolderPath(Text("folder-\(number % 7)"))
            let index = settled.index(of: Array("task-\(number).md".utf8)[...], in: folder)
            #expect(index.map { settled.cached($0).recorded } == Instant(seconds: Int64(number)))
            #expect(settled.index(of: Array("task-\(number)".utf8)[...], in: folder) == nil)
        }
    }

    @Test func `packed and taken in again, the files are what they were`() throws {
        var settled = try settled([0, 1, 3])
        settled.contest(place: Array("b".utf8))
        var again = try #require(SettledFiles(packed: settled.packed()))
        #expect(again.packed() == settled.packed())
        let snapshots = try (scan(&settled, ahead: false), scan(&again, ahead: true))
        #expect(snapshots.0.files == snapshots.1.files)
        #expect(again.counts == settled.counts)
        #expect(again.missed() == settled.missed())
        #expect(again.rest() == settled.rest())
    }

    @Test func `what is cut off or was packed otherwise is not taken in`() throws {
        let packed = try settled([0]).packed()
        for count in packed.indices { #expect(SettledFiles(packed: Array(packed[..<count])) == nil) }
        for offset in [0, 8] {
            var other = packed
            other[offset] += 1
            #expect(SettledFiles(packed: other) == nil)
        }
    }
}
