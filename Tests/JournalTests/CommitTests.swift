import Libraries
import Model
import Testing

@testable import Journal

struct CommitTests {
    struct Fault: Error, Equatable { let number: Int }

    @Test func `what a body throws undoes its transaction and comes out unchanged`() throws {
        try withJournal { journal in
            #expect(throws: Fault(number: 1)) {
                try journal.commit { writer in
                    try writer.put(KnownTask(id: id(1), place: "fence"))
                    try writer.updateMeta { $0.device = "laptop" }
                    throw Fault(number: 1)
                }
            }
            #expect(try journal.knownTasks().isEmpty)
            #expect(try journal.meta() == Meta())
            try journal.commit { try $0.put(KnownTask(id: id(2), place: nil)) }
            #expect(try journal.knownTasks().keys.map { $0 } == [id(2)])
        }
    }

    @Test func `a fault before the commit undoes the transaction`() throws {
        try withPath { path in
            let (journal, _) = try Journal.open(path: path, now: now) { throw Fault(number: 2) }
            #expect(throws: Fault(number: 2)) {
                try journal.commit { try $0.put(KnownTask(id: id(1), place: "fence")) }
            }
            #expect(try journal.knownTasks().isEmpty)
        }
    }

    @Test func `a full disk is told as such and nothing is written`() throws {
        try withJournal { journal in
            let pages = try journal.database.query("pragma page_count")[0][0].integer ?? 0
            try journal.database.execute("pragma max_page_count = \(pages + 2)")
            #expect(throws: JournalError.diskFull(path: journal.path)) {
                try journal.commit { writer in
                    for number in 1...5_000 { try writer.put(KnownTask(id: id(number), place: "fence \(number)")) }
                }
            }
            #expect(try journal.knownTasks().isEmpty)
        }
    }

    @Test func `a reader sees the last committed state and never waits for a writer`() throws {
        try withPath { path in
            let (writing, _) = try Journal.open(path: path, now: now)
            try writing.commit { try $0.put(KnownTask(id: id(1), place: "fence")) }
            let reading = try Journal.openReadOnly(path: path)
            try writing.commit { writer in
                try writer.put(KnownTask(id: id(2), place: "gate"))
                #expect(try writing.knownTasks().count == 2)
                #expect(try reading.knownTasks().count == 1)
                #expect(try Journal.openReadOnly(path: path).knownTasks().count == 1)
            }
            #expect(try reading.knownTasks().count == 2)
        }
    }

    @Test func `a snapshot stays on one state whatever is committed meanwhile`() throws {
        try withPath { path in
            let (writing, _) = try Journal.open(path: path, now: now)
            let reading = try Journal.openReadOnly(path: path)
            try reading.snapshot {
                #expect(try reading.knownTasks().isEmpty)
                try writing.commit { try $0.put(KnownTask(id: id(1), place: "fence")) }
                #expect(try reading.knownTasks().isEmpty)
            }
            #expect(try reading.knownTasks().count == 1)
        }
    }

    @Test func `a reader can't write`() throws {
        try withPath { path in
            _ = try Journal.open(path: path, now: now)
            let reading = try Journal.openReadOnly(path: path)
            #expect(throws: JournalError.self) { try reading.commit { try $0.dropCachedFiles() } }
        }
    }
}
