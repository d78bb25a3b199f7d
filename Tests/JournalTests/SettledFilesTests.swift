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

    // MARK: In one piece

    /// One settled task, and one that isn't; kept in one piece.
    private func withOutline(_ body: (Journal) throws -> Void) throws {
        try withJournal { journal in
            try journal.commit { writer in
                _ = try writer.store([row(1), row(2)])
                try writer.put(task(1))
                try writer.put(task(2) { $0.place = nil })
                let file = CachedFile(stamp: stamp, recorded: now, digest: digest("a"))
                try writer.replaceCachedFiles(changed: ["fence.md": file, "gate.md": file], removed: [Text]())
                try writer.keepOutline(idsInFiles: true)
            }
            #expect(try outlines(journal) == [1])
            try body(journal)
        }
    }

    /// For which settings of `idsInFiles` one is kept.
    private func outlines(_ journal: Journal) throws -> [Int64] {
        try journal.database.query("select ids_in_files from outline").compactMap { $0[0].integer }
    }

    private func said(_ journal: Journal) throws -> (packed: [UInt8], others: [ItemID]) {
        let (files, others) = try journal.settledFiles(idsInFiles: true)
        return (files.packed(), others)
    }

    @Test func `what was kept in one piece says what the rows say`() throws {
        try withOutline { journal in
            let kept = try said(journal)
            #expect(kept.others == [id(2)])
            try journal.commit { writer in try journal.run("delete from outline") }
            #expect(try said(journal) == kept)
        }
    }

    @Test func `any change of a task or of the stat cache takes it away, another change doesn't`() throws {
        let file = CachedFile(stamp: stamp, recorded: now, digest: digest("b"))
        let changes: [(borrowing JournalWriter) throws -> Void] = [
            { writer in try writer.put(task(1) { $0.hasIDLine = false }) },
            { writer in try writer.put(task(3)) },
            { writer in try writer.removeKnownTask(id(2)) },
            { writer in _ = try writer.store([row(1, version: 2)]) },
            { writer in try writer.forgetRemoteAndBase() },
            { writer in try writer.replaceCachedFiles(changed: ["gate.md": file], removed: [Text]()) },
            { writer in try writer.replaceCachedFiles(changed: ["new.md": file], removed: [Text]()) },
            { writer in try writer.replaceCachedFiles(changed: [:], removed: ["gate.md"]) },
            { writer in try writer.dropCachedFiles() },
        ]
        for change in changes {
            try withOutline { journal in
                try journal.commit(change)
                #expect(try outlines(journal).isEmpty)
                let after = try said(journal)
                try journal.commit { writer in try writer.keepOutline(idsInFiles: true) }
                #expect(try said(journal) == after)
            }
        }
        try withOutline { journal in
            try journal.commit { writer in try writer.updateMeta { $0.lastPull = now } }
            #expect(try outlines(journal) == [1])
        }
    }

    @Test func `a piece that can't be read is passed over for the rows`() throws {
        try withOutline { journal in
            let kept = try said(journal)
            for sql in [
                "update outline set files = x'00'", "update outline set files = substr(files, 1, length(files) - 1)",
                "update outline set files = zeroblob(length(files))", "update outline set others = x'61'",
            ] {
                try journal.commit { writer in try journal.run(sql) }
                #expect(try said(journal) == kept)
            }
        }
    }
}
