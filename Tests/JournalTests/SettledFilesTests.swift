import Libraries
import Model
import Testing
import Workspace

@testable import Journal

/// Which files a look may pass over: those of settled tasks, where the stat cache has what the task had.
struct SettledFilesTests {
    private let stamp = FileStamp(size: 9, modified: 5, changed: 6, inode: 7, birth: 8)

    private func task(_ number: Int, _ change: (inout KnownTask) -> Void = { _ in }) throws -> KnownTask {
        var task = KnownTask(
            id: id(number), place: "fence", identity: stamp.identity, cleanDigest: digest("a"),
            modified: stamp.modified, base: Base(values: try TaskRow(json: row(number).json).fields), hasIDLine: true)
        change(&task)
        return task
    }

    /// The tasks of whose files none may be passed over.
    private func others(
        _ tasks: [KnownTask], idsInFiles: Bool = true, cached: Text? = "fence.md", content: Text = "a"
    ) throws -> [ItemID] {
        var others: [ItemID] = []
        try withJournal { journal in
            try journal.commit { writer in
                for (number, task) in tasks.enumerated() {
                    _ = try writer.store([row(number + 1)])
                    try writer.put(task)
                }
                guard let cached else { return }
                let file = CachedFile(stamp: stamp, recorded: now, digest: digest(content))
                try writer.replaceCachedFiles(changed: [cached: file], removed: [Text]())
            }
            let (files, found) = try journal.settledFiles(idsInFiles: idsInFiles)
            #expect(files.counts == (0, 0), "nothing was seen yet")
            #expect(files.rest().keys.sorted() == [cached].compactMap { $0 })
            let passedOver = tasks.count == 1 && found.isEmpty
            others = passedOver ? [] : (found + files.missed()).sorted()
            if passedOver { #expect(files.missed() == [tasks[0].id], "until a scan has seen it") }
        }
        return others
    }

    @Test func `a settled task's file may be passed over where the cache has what the task had`() throws {
        #expect(try others([task(1)]) == [])
        #expect(try others([task(1)], cached: nil) == [id(1)])
        #expect(try others([task(1)], cached: "gate.md") == [id(1)])
        #expect(try others([task(1)], content: "b") == [id(1)])
        let changes: [(inout KnownTask) -> Void] = [
            { $0.identity = FileIdentity(inode: 7, birth: 9) }, { $0.identity = nil }, { $0.modified = 4 },
            { $0.cleanDigest = nil }, { $0.base = nil }, { $0.place = nil },
        ]
        for change in changes { #expect(try others([task(1, change)]) == [id(1)]) }
    }

    @Test func `a file that lacks its id line is looked at, unless ids are kept in the journal`() throws {
        let task = try task(1) { $0.hasIDLine = false }
        #expect(try others([task]) == [id(1)])
        #expect(try others([task], idsInFiles: false) == [])
    }

    @Test func `neither of two tasks of one place is passed over`() throws {
        #expect(try others([task(1), task(2)]) == [id(1), id(2)])
        #expect(try others([task(1), task(2) { $0.base = nil }]) == [id(1), id(2)])
    }
}
