import Libraries
import Model
import Testing
import Workspace

@testable import Journal

struct FileRecordTests {
    func cached(_ size: Int64) -> CachedFile {
        CachedFile(
            stamp: FileStamp(
                size: size, modified: 1_796_000_000_123_456_789, changed: -1, inode: .max, birth: size == 1 ? nil : 9),
            recorded: now, digest: digest("a"))
    }

    @Test func `the stat cache keeps what did not change`() throws {
        try withJournal { journal in
            try journal.commit {
                try $0.replaceCachedFiles(
                    changed: ["a": cached(1), "e\u{301}": cached(2), "\u{e9}": cached(3)], removed: [])
            }
            try journal.commit { try $0.replaceCachedFiles(changed: ["a": cached(4)], removed: ["\u{e9}"]) }
            #expect(try journal.cachedFiles() == ["a": cached(4), "e\u{301}": cached(2)])
            try journal.commit { try $0.dropCachedFiles() }
            #expect(try journal.cachedFiles().isEmpty)
        }
    }

    @Test func `writes under way come back in their order`() throws {
        try withJournal { journal in
            let writes = [
                PendingWrite(
                    kind: .replace, temporary: "z", target: "a.md", digest: digest("a"), expected: digest("b"),
                    item: id(1)),
                PendingWrite(
                    kind: .place, temporary: "y", target: "b.md", digest: digest("a"), expected: nil, item: nil),
                PendingWrite(
                    kind: .remove, temporary: "x", target: "c.md", digest: nil, expected: digest("c"), item: id(2)),
            ]
            try journal.commit { writer in for write in writes { try writer.put(write) } }
            #expect(try journal.pendingWrites() == writes)
            try journal.commit { try $0.removePendingWrite(temporary: "y") }
            #expect(try journal.pendingWrites() == [writes[0], writes[2]])
        }
    }

    @Test func `moves under way come back in their order`() throws {
        try withJournal { journal in
            let moves = [
                MoveRecord(id: id(1), move: Move(from: "b", to: "a", temporary: "t1", inode: .max, birth: 4)),
                MoveRecord(
                    id: id(2), move: Move(from: "a", to: "b", temporary: "t2", inode: 3, birth: nil), newID: id(3)),
            ]
            try journal.commit { writer in for move in moves { try writer.put(move) } }
            #expect(try journal.moves() == moves)
            try journal.commit { try $0.removeMove(from: "b") }
            #expect(try journal.moves() == [moves[1]])
        }
    }

    @Test func `displaced files come back with what they said`() throws {
        try withJournal { journal in
            let records = [
                DisplacedRecord(
                    displaced: Displaced(path: "d1", target: "a.md", digest: digest("a"), at: now), id: id(1),
                    values: [.title: "x"]),
                DisplacedRecord(displaced: Displaced(path: "d2", target: "a.md", digest: digest("b"), at: now + 1)),
            ]
            try journal.commit { writer in for record in records { try writer.put(record) } }
            #expect(try journal.displaced() == records)
            try journal.commit { try $0.removeDisplaced(path: "d1") }
            #expect(try journal.displaced() == [records[1]])
        }
    }
}
