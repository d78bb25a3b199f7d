import Libraries
import Model
import Testing

@testable import Journal

struct RemoteTests {
    @Test func `rows of every table and the cursor are stored in one transaction`() throws {
        try withJournal { journal in
            let rows = [
                try row(1, seq: 4), try row(2, table: "photos", seq: 5), try row(1, table: "profiles", seq: 6),
                try row(3, table: "tags", seq: 7),
            ]
            struct Fault: Error {}
            #expect(throws: Fault.self) {
                try journal.commit { writer in
                    _ = try writer.store(page(rows, next: 7))
                    throw Fault()
                }
            }
            #expect(try journal.meta().cursor == 0)
            #expect(try journal.remoteTotals() == (0, "0"))

            let result = try journal.commit { try $0.store(page(rows, next: 7)) }
            #expect(result.stored == 4 && result.suspects.isEmpty)
            let meta = try journal.meta()
            #expect(meta.cursor == 7 && meta.serverSchema == 3 && meta.serverTime == "2026-11-30T10:00:00+00:00")
            var task = try TaskRow(json: rows[0].json)
            task.changed = [:]
            #expect(try journal.remoteTasks() == [id(1): task])
            #expect(try journal.remote([id(1), id(2)]) == [id(1): task])
            for (index, table) in [(1, "photos"), (2, "profiles"), (3, "tags")] as [(Int, Text)] {
                #expect(try journal.remoteRows(of: table) == [rows[index]])
            }
            #expect(try journal.remoteTotals() == (4, "22"))
        }
    }

    /// What is there, what comes, and whether it goes in.
    static let rule: [(old: (version: Int64, seq: Int64, change: Int), new: (Int64, Int64, Int), stored: Bool)] = [
        ((2, 10, 1), (3, 11, 2), true),
        ((2, 10, 1), (3, 9, 2), true),
        ((2, 10, 1), (2, 10, 1), true),
        ((2, 10, 1), (1, 9, 1), false),
        ((2, 10, 1), (1, 11, 1), false),
        ((2, 10, 1), (2, 11, 1), false),
        ((2, 10, 1), (2, 10, 2), false),
    ]

    @Test(arguments: rule.indices) func `a row goes into Remote unless the row there is newer or another change`(
        _ index: Int
    ) throws {
        let (old, new, stored) = Self.rule[index]
        try withJournal { journal in
            let there = try row(1, version: old.version, seq: old.seq, title: "old", change: old.change)
            let comes = try row(1, version: new.0, seq: new.1, title: stored ? "new" : "other", change: new.2)
            _ = try journal.commit { try $0.store([there]) }
            // Asked a second time, it says the same.
            for _ in 1...2 {
                let result = try journal.commit { try $0.store([comes]) }
                #expect(result == StoredRows(stored: stored ? 1 : 0, suspects: stored ? [] : [comes]))
                let title: Text = stored ? "new" : "old"
                #expect(try journal.remoteTasks()[id(1)]?.content.title == title)
            }
        }
    }

    @Test func `the sum of the change numbers may be beyond 64 bits`() throws {
        try withJournal { journal in
            let big: Int64 = 9_000_000_000_000_000_001
            _ = try journal.commit { writer in try writer.store((1...4).map { try row($0, seq: big + Int64($0)) }) }
            #expect(try journal.remoteTotals() == (4, "36000000000000000014"))
        }
    }

    @Test func `a task is settled when the live row says what the base says`() throws {
        let fields = try TaskRow(json: row(1).json).fields
        func base(_ change: (inout FieldValues) -> Void = { _ in }, unagreed: Set<Field> = []) -> Base {
            var values = fields
            change(&values)
            return Base(values: values, unagreed: unagreed)
        }
        let cases: [(Base?, FeedRow?, Bool)] = [
            (base(), try row(1), true),
            (base { $0[.property("due")] = .number("1.0") }, try row(1), true),
            (base { $0[.title] = "other" }, try row(1), false),
            (base { $0[.path] = nil }, try row(1), false),
            (
                base {
                    $0[.property("extra")] = nil; $0[.property("b")] = "x"
                }, try row(1), false
            ),
            (base(unagreed: [.notes]), try row(1), false),
            (base(), try row(1, deleted: true), false),
            (base(), nil, false),
            (nil, try row(1), false),
        ]
        for (number, (base, row, wanted)) in cases.enumerated() {
            for baseFirst in [true, false] {
                try withJournal { journal in
                    try journal.commit { writer in
                        let task = KnownTask(id: id(1), place: "fence", base: base)
                        if baseFirst { try writer.put(task) }
                        if let row { _ = try writer.store([row]) }
                        if !baseFirst { try writer.put(task) }
                    }
                    #expect(try journal.isSettled(id(1)) == wanted, "case \(number), base first: \(baseFirst)")
                }
            }
        }
    }

    @Test func `a settled task is unsettled by a newer row and settled again by its base`() throws {
        try withJournal { journal in
            func isSettled() throws -> Bool { try journal.isSettled(id(1)) }
            let newer = try row(1, version: 2, seq: 2, title: "newer")
            try journal.commit { writer in
                _ = try writer.store([row(1)])
                try writer.put(
                    KnownTask(id: id(1), place: "fence", base: Base(values: TaskRow(json: row(1).json).fields)))
            }
            #expect(try isSettled())
            _ = try journal.commit { try $0.store([newer]) }
            #expect(try !isSettled())
            try journal.commit { writer in
                try writer.put(
                    KnownTask(id: id(1), place: "fence", base: Base(values: TaskRow(json: newer.json).fields)))
            }
            #expect(try isSettled())
        }
    }

    @Test func `a task that is to be moved, frozen or without a safe path of its own is not settled`() throws {
        let cases: [(path: Text?, place: Text?, change: (inout KnownTask) -> Void, wanted: Bool)] = [
            ("fence", "fence", { _ in }, true),
            ("fence", "fence-0000", { _ in }, false),
            ("fence", nil, { _ in }, false),
            ("fence", "fence", { $0.isMoved = true }, false),
            ("fence", "fence", { $0.frozen = "ignored" }, false),
            ("../fence", "../fence", { _ in }, false),
            (nil, "fence", { _ in }, false),
        ]
        for (number, (path, place, change, wanted)) in cases.enumerated() {
            try withJournal { journal in
                let row = try row(1, path: path)
                var task = KnownTask(id: id(1), place: place, base: Base(values: try TaskRow(json: row.json).fields))
                change(&task)
                try journal.commit { writer in
                    _ = try writer.store([row])
                    try writer.put(task)
                }
                #expect(try journal.isSettled(id(1)) == wanted, "case \(number)")
            }
        }
    }

    @Test func `a task that can't be read is counted and told, and blocks no other`() throws {
        try withJournal { journal in
            var members = try row(1, seq: 8).json.object ?? [:]
            members["title"] = 7
            let bad = try FeedRow(json: .object(members))
            let result = try journal.commit { try $0.store([bad, row(2, seq: 9)]) }
            #expect(result.stored == 2)
            #expect(Set(try journal.remoteTasks().keys) == [id(2)])
            #expect(try journal.remote([id(1)]).isEmpty)
            #expect(try journal.unreadableTasks().keys.map { $0 } == [id(1)])
            #expect(try journal.liveRows(of: "tasks") == 1)
            #expect(try journal.remoteTotals() == (2, "17"))
        }
    }

    @Test func `a server set back forgets cursor, versions and base, and keeps places and ids`() throws {
        try withJournal { journal in
            let task = KnownTask(
                id: id(1), place: "fence", identity: FileIdentity(inode: 5, birth: 6), cleanDigest: digest("a"),
                base: Base(values: try TaskRow(json: try row(1).json).fields), hasIDLine: true)
            try journal.commit { writer in
                _ = try writer.store(page([row(1, version: 9, seq: 9)], next: 9))
                try writer.put(task)
                try writer.forgetRemoteAndBase()
            }
            var wanted = task
            wanted.base = nil
            wanted.cleanDigest = nil
            #expect(try journal.knownTasks() == [id(1): wanted])
            #expect(try !journal.isSettled(id(1)))
            #expect(try journal.meta().cursor == 0)
            #expect(try journal.remoteTotals() == (0, "0"))
            let result = try journal.commit { try $0.store([row(1, version: 2, seq: 2)]) }
            #expect(result.suspects.isEmpty)
        }
    }

    @Test func `a feed that is read again from 0 forgets nothing`() throws {
        try withJournal { journal in
            try journal.commit { writer in
                _ = try writer.store(page([row(1, seq: 9)], next: 9))
                try writer.rewind()
            }
            #expect(try journal.meta().cursor == 0)
            #expect(try journal.remoteTotals() == (1, "9"))
        }
    }

    @Test func `a change of account empties everything but the workspace's own facts`() throws {
        try withJournal { journal in
            try journal.commit { writer in
                _ = try writer.store(page([row(1, seq: 9)], next: 9))
                try writer.put(KnownTask(id: id(1), place: "fence"))
                try writer.put(fact: "x", for: "y")
                try writer.updateMeta { meta in
                    meta.marker = "w-1"
                    meta.userID = id(1)
                    meta.device = "laptop"
                    meta.firstSyncDone = true
                    meta.accountChange = "mark"
                }
                try writer.empty()
            }
            var wanted = Meta()
            wanted.marker = "w-1"
            wanted.device = "laptop"
            wanted.accountChange = "mark"
            #expect(try journal.meta() == wanted)
            let tables = try journal.database.query("select name from sqlite_master where type = 'table'")
            for table in tables.compactMap({ $0[0].text }) where table != "meta" {
                #expect(try journal.database.query("select count(*) from \(table)") == [[0]], "\(table)")
                #expect(JournalWriter.contents.contains(table))
            }
        }
    }

    @Test func `ten thousand tasks are stored and read back`() throws {
        try withJournal { journal in
            let rows = try (1...10_000).map { try row($0, seq: Int64($0), title: "Task \($0)", path: "t\($0)") }
            try journal.commit { writer in
                _ = try writer.store(page(rows, next: 10_000))
                for row in rows {
                    let task = try TaskRow(json: row.json)
                    try writer.put(KnownTask(id: task.id, place: task.path, base: Base(values: task.fields)))
                }
            }
            let settled = try journal.database.query("select count(*) from known where settled = 1")
            #expect(settled == [[10_000]])
            #expect(try journal.liveRows(of: "tasks") == 10_000)
            let known = try journal.knownTasks()
            let remote = try journal.remoteTasks()
            #expect(known.count == 10_000 && remote.count == 10_000)
            #expect(known[id(77)]?.base?.values == remote[id(77)]?.fields)
            #expect(try journal.remoteTotals() == (10_000, "50005000"))
        }
    }
}

extension Journal {
    fileprivate func isSettled(_ id: ItemID) throws -> Bool {
        try database.query("select settled from known where id = ?", SQLValue(id)) == [[1]]
    }
}
