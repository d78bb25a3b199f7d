import Libraries
import Model
import Testing

@testable import Sync

/// Workspaces that were copied, restored, carried or mounted behind otask's back: nothing missing counts as deleted, and nothing
/// older wins in silence.
struct OddWorkspaceScenarioTests {
    private static let files = ["one": "# One\n\nw1\n", "two": "# Two\n\nw2\n", "three": "# Three\n\nw3\n"]

    /// Puts the files of a folder over those of another, in place, as `rsync` and Syncthing do: each written anew and renamed.
    private func carry(_ from: String, over to: String, only prefix: String = "") {
        for file in Shell.files(below: from) where file.hasPrefix(prefix) {
            Shell.write(to + "/" + file + ".carried", Shell.read(from + "/" + file) ?? [])
            Shell.rename(to + "/" + file + ".carried", to + "/" + file)
        }
    }

    private func expectNothingDeleted(_ device: Device, _ location: SourceLocation = #_sourceLocation) async throws {
        for _ in 0..<2 {
            let report = try await device.sync()
            #expect(report.failure == nil, sourceLocation: location)
            #expect(report.sent.deleted == 0, sourceLocation: location)
            #expect(report.guarded == nil, sourceLocation: location)
        }
    }

    @Test(arguments: ["folder", "place"], [true, false])
    func `restored as a whole from an older backup, it takes what is newer, and sends nothing old`(
        _ way: String, _ wasDeletedSince: Bool
    ) async throws {
        let pair = try await Pair(Self.files)
        let a = pair.a
        let backup = pair.world.folder + "/backup"
        Shell.copyFolder(a.root, backup)
        a.replace("one", "w1", "w4")
        a.write("new", "# New\n\nw5\n")
        if wasDeletedSince { a.remove("two") }
        a.move("three", "moved")
        try await a.sync()
        try await pair.settle()
        if way == "folder" {
            Shell.remove(a.root)
            Shell.copyFolder(backup, a.root)
        } else {
            for place in a.places { a.remove(place) }
            for side in ["-wal", "-shm"] { Shell.unlink(a.root + "/.otask/journal.sqlite" + side) }
            carry(backup, over: a.root)
        }
        try await expectNothingDeleted(a)
        for conflict in try a.engine().status().conflicts { try a.engine().resolve(conflict.id, .theirs) }
        try await pair.settle()
        #expect(try pair.b.notes("one") == "w4")
        #expect(try pair.b.notes("new") == "w5")
        #expect(pair.b.own == ["moved", "new", "one"] + (wasDeletedSince ? [] : ["two"]))
    }

    @Test func `a journal that is newer than its files reverts nothing, and deletes nothing`() async throws {
        let pair = try await Pair(Self.files)
        let a = pair.a
        let old = pair.world.folder + "/old"
        Shell.copyFolder(a.root + "/tasks", old)
        pair.b.replace("one", "w1", "w4")
        pair.b.write("new", "# New\n\nw5\n")
        try await pair.b.sync()
        try await a.sync()
        // Another tool brought the journal of the newest state, and the files of the one before, one of them not yet.
        let journal = pair.world.folder + "/journal"
        Shell.copyFolder(a.root + "/.otask", journal)
        carry(journal, over: a.root + "/.otask", only: "journal.sqlite")
        for place in a.places { a.remove(place) }
        carry(old, over: a.root + "/tasks")
        a.remove("two")
        try await expectNothingDeleted(a)
        #expect(try pair.b.notes("one") == "w4")
        for conflict in try a.engine().status().conflicts { try a.engine().resolve(conflict.id, .theirs) }
        try await pair.settle()
        #expect(try pair.b.notes("one") == "w4")
        #expect(pair.b.own == ["new", "one", "three", "two"])
    }

    @Test func `a journal that is older than its files loses nothing`() async throws {
        let pair = try await Pair(Self.files)
        let a = pair.a
        let old = pair.world.folder + "/old"
        Shell.copyFolder(a.root + "/.otask", old)
        a.replace("one", "w1", "w4")
        a.write("new", "# New\n\nw5\n")
        try await a.sync()
        a.replace("three", "w3", "w6")
        a.remove("two")
        carry(old, over: a.root + "/.otask", only: "journal.sqlite")
        try await expectNothingDeleted(a)
        for conflict in try a.engine().status().conflicts { try a.engine().resolve(conflict.id, .mine) }
        try await pair.settle()
        #expect(try pair.b.notes("one") == "w4")
        #expect(try pair.b.notes("three") == "w6")
        #expect(pair.b.own == ["new", "one", "three", "two"])
    }

    @Test func `a workspace that was moved to another path goes on as if nothing had happened`() async throws {
        let pair = try await Pair(Self.files)
        Shell.rename(pair.a.root, pair.world.folder + "/c")
        let c = try await pair.world.device("c", isThere: true)
        c.remove("one")
        c.move("two", "moved")
        let report = try await c.sync()
        #expect(report.sent.deleted == 1)
        #expect(report.sent.tasks == 1)
        try await pair.b.sync()
        #expect(pair.b.own == ["moved", "three"])
    }

    @Test func `a task folder that vanished with its mount and comes back: no deletion, no silent revert`() async throws
    {
        let pair = try await Pair(Self.files)
        let a = pair.a
        let mounted = pair.world.folder + "/mounted"
        Shell.rename(a.root + "/tasks", mounted)
        // Not mounted at all: the run stops.
        #expect(throws: (any Error).self) { try a.engine().status() }
        // The place of the mount, empty.
        Shell.makeFolders(a.root + "/tasks")
        pair.b.replace("one", "w1", "w4")
        try await pair.b.sync()
        try await expectNothingDeleted(a)
        // It comes back with what it held.
        Shell.remove(a.root + "/tasks")
        Shell.rename(mounted, a.root + "/tasks")
        try await expectNothingDeleted(a)
        #expect(try pair.b.notes("one") == "w4")
        for conflict in try a.engine().status().conflicts { try a.engine().resolve(conflict.id, .theirs) }
        try await pair.settle()
        #expect(try pair.b.notes("one") == "w4")
        #expect(pair.b.own == ["one", "three", "two"])
        // From now on a missing file is deleted again.
        a.remove("one")
        try await pair.settle()
        #expect(pair.b.own == ["three", "two"])
    }

    @Test func `a task folder of two tasks that vanished with its mount deletes neither`() async throws {
        let world = try World()
        let a = try await world.device("a")
        a.write("one", "# One\n")
        try await a.sync()
        Shell.rename(a.root + "/tasks", world.folder + "/mounted")
        Shell.makeFolders(a.root + "/tasks")
        try await expectNothingDeleted(a)
        #expect(try await a.rows().count == 1)
        #expect(a.places == ["one"])
    }

    @Test func `files with second hard links are followed, a write parts them, and the other name keeps its text`()
        async throws
    {
        let pair = try await Pair(Self.files)
        let a = pair.a
        let copy = pair.world.folder + "/snapshot"
        Shell.linkFolder(a.root, copy)
        pair.b.replace("one", "w1", "w4")
        try await pair.b.sync()
        let report = try await a.sync()
        #expect(try a.notes("one") == "w4")
        #expect(Shell.read(copy + "/tasks/one.md").map { String(decoding: $0, as: UTF8.self) }?.contains("w1") == true)
        #expect(report.notices.contains { $0.text.contains("hard link") })
        // Deletions go on as before.
        a.remove("two")
        try await pair.settle()
        #expect(pair.b.own == ["one", "three"])
        // The snapshot is as it was: put back, it is an older workspace, with a journal of its own.
        Shell.remove(a.root)
        Shell.copyFolder(copy, a.root)
        try await expectNothingDeleted(a)
        #expect(try pair.b.notes("one") == "w4")
        for conflict in try a.engine().status().conflicts { try a.engine().resolve(conflict.id, .theirs) }
        try await pair.settle()
        #expect(try pair.b.notes("one") == "w4")
        #expect(pair.b.own == ["one", "three"])
    }
}
