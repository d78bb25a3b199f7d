import Libraries
import Model
import Testing

@testable import Journal

struct OpeningTests {
    /// A closed journal of many pages at `path`.
    func fill(_ path: Text) throws {
        let (journal, opening) = try Journal.open(path: path, now: now)
        #expect(opening == .created)
        try journal.commit { writer in
            for number in 1...500 { try writer.put(KnownTask(id: id(number), place: "fence \(number)")) }
        }
    }

    @Test func `a journal is created once and opened after that`() throws {
        try withPath { path in
            try fill(path)
            let (journal, opening) = try Journal.open(path: path, now: now)
            #expect(opening == .opened)
            #expect(try journal.knownTasks().count == 500)
        }
    }

    @Test func `a journal is written ahead and flushed at every commit`() throws {
        try withJournal { journal throws in
            #expect(try journal.database.query("pragma journal_mode") == [["wal"]])
            #expect(try journal.database.query("pragma synchronous") == [[2]])
        }
    }

    struct Damage: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var check = Journal.Check.header
        let apply: @Sendable ([UInt8]) -> [UInt8]
    }

    static let damages = [
        Damage(testDescription: "no database") { _ in Array("title: not a database at all\n".utf8) },
        Damage(testDescription: "its header overwritten") { [UInt8](repeating: 0, count: 100) + $0.dropFirst(100) },
        Damage(testDescription: "its first page garbled") { $0.prefix(100) + $0.dropFirst(100).map { $0 ^ 0xA5 } },
        Damage(testDescription: "cut in the middle") { Array($0.prefix($0.count / 2)) },
        Damage(testDescription: "cut within its first page") { Array($0.prefix(1000)) },
        Damage(testDescription: "a page overwritten", check: .everything) {
            $0.prefix($0.count - 8192) + [UInt8](repeating: 0x5A, count: 8192)
        },
    ]

    @Test(arguments: damages) func `a damaged journal is set aside and an empty one takes its place`(
        _ damage: Damage
    ) throws {
        try withPath { path in
            try fill(path)
            let damaged = damage.apply(try bytes(of: path))
            try overwrite(path, with: damaged)
            try overwrite(path + "-wal", with: Array("not a log".utf8))

            let (journal, opening) = try Journal.open(path: path, check: damage.check, now: now)
            let setAside = path + ".damaged-1796000000000000000"
            #expect(opening == .rebuilt(setAside: setAside))
            #expect(try bytes(of: setAside) == damaged)
            #expect(try journal.knownTasks().isEmpty)
            try journal.commit { try $0.put(KnownTask(id: id(1), place: "fence")) }
            #expect(try journal.knownTasks().count == 1)
        }
    }

    @Test func `a page that turns out damaged is told as damage, and verify finds it`() throws {
        try withPath { path in
            try fill(path)
            let whole = try bytes(of: path)
            try overwrite(path, with: whole.prefix(whole.count - 8192) + [UInt8](repeating: 0x5A, count: 8192))
            let (journal, opening) = try Journal.open(path: path, now: now)
            #expect(opening == .opened)
            let error = #expect(throws: JournalError.self) { try journal.verify() }
            guard case .damaged = error else {
                Issue.record("not told as damage: \(String(describing: error))")
                return
            }
        }
    }

    @Test func `a whole journal passes verify`() throws {
        try withJournal { try $0.verify() }
    }

    @Test func `the database of another program is set aside`() throws {
        try withPath { path in
            try SQLite(path: path.string).execute("create table songs (name text)")
            guard case .rebuilt = try Journal.open(path: path, now: now).opening else {
                Issue.record("taken for a journal")
                return
            }
        }
    }

    static let twoSteps = [
        "create table first (a); insert into first values (1)", "alter table first add column b default 2",
    ]

    @Test func `a newer schema is a clear error and nothing is touched`() throws {
        try withPath { path in
            _ = try Journal.open(path: path, now: now, schema: Self.twoSteps + ["create table third (c)"])
            let before = try bytes(of: path)
            let error = JournalError.newerSchema(path: path, found: 3, known: 2)
            #expect(throws: error) { try Journal.open(path: path, now: now, schema: Self.twoSteps) }
            #expect(throws: error) { try Journal.openReadOnly(path: path, schema: Self.twoSteps) }
            #expect(try bytes(of: path) == before)
            #expect(try names(beside: path).allSatisfy { !$0.contains("damaged") })
            #expect(error.description.hasSuffix("update otask"))
        }
    }

    @Test func `an older schema is brought up to date step by step, keeping what is there`() throws {
        try withPath { path in
            _ = try Journal.open(path: path, now: now, schema: Array(Self.twoSteps.prefix(1)))
            #expect(throws: JournalError.olderSchema(path: path, found: 1, known: 2)) {
                try Journal.openReadOnly(path: path, schema: Self.twoSteps)
            }
            let (journal, opening) = try Journal.open(path: path, now: now, schema: Self.twoSteps)
            #expect(opening == .opened)
            #expect(try journal.database.query("select a, b from first") == [[1, 2]])
            #expect(try journal.database.query("pragma user_version") == [[2]])
        }
    }

    @Test func `a journal of the first version is brought up to date with what it knows`() throws {
        try withPath { path in
            do {
                _ = try Journal.open(path: path, now: now, schema: Array(Journal.schema.prefix(1)))
                let database = try SQLite(path: path.string)
                for (number, done) in [(1, "false"), (2, "true")] {
                    try database.execute(
                        """
                        insert into known (id, place, is_moved, has_id_line, has_base, settled, base, unagreed) values \
                        ('\(id(number))', 'task \(number)', 0, 1, 1, 1, '{"done":\(done)}', '[]')
                        """)
                }
            }
            let (journal, opening) = try Journal.open(path: path, now: now)
            #expect(opening == .opened)
            #expect(try journal.knownTasks().count == 2)
            #expect(try journal.database.query("select done from known order by id").map { $0[0] } == [0, 1])
            #expect(try journal.settledFiles(idsInFiles: true).others.sorted() == [id(1), id(2)])
        }
    }

    @Test func `a step that fails leaves the journal at the step before`() throws {
        try withPath { path in
            let failing = [Self.twoSteps[0], "create table second (a); insert into nowhere values (1)"]
            #expect(throws: JournalError.self) { try Journal.open(path: path, now: now, schema: failing) }
            let (journal, opening) = try Journal.open(path: path, now: now, schema: Self.twoSteps)
            #expect(opening == .opened)
            #expect(try journal.database.query("select a, b from first") == [[1, 2]])
            #expect(throws: SQLiteError.self) { try journal.database.query("select * from second") }
        }
    }

    @Test func `a reader makes no journal`() throws {
        try withPath { path throws in
            #expect(throws: JournalError.missing(path: path)) { try Journal.openReadOnly(path: path) }
            #expect(try names(beside: path).isEmpty)
        }
    }

    @Test func `a reader mends no journal`() throws {
        try withPath { path in
            try overwrite(path, with: Array(repeating: 7, count: 4096))
            #expect(throws: JournalError.self) { try Journal.openReadOnly(path: path) }
            #expect(try names(beside: path) == ["journal.sqlite"])
        }
    }

    @Test func `a reader without side files reads the file as it lies, unless a log belongs to it`() throws {
        try withPath { path in
            try fill(path)
            // SQLite follows no symlink here: its shared memory can't be made or opened.
            try OpenFolder(path: path.parent.string).makeSymlink("journal.sqlite-shm", to: "nowhere")
            #expect(try Journal.openReadOnly(path: path).knownTasks().count == 500)
            try overwrite(path + "-wal", with: [1, 2, 3])
            let error = #expect(throws: JournalError.self) { try Journal.openReadOnly(path: path) }
            guard case .failed = error else {
                Issue.record("read without its log: \(String(describing: error))")
                return
            }
        }
    }

    @Test func `a file is read as it lies by a name that SQLite takes apart`() throws {
        #expect(Journal.immutableURI("/a b/é?#%/j.sqlite") == "file:/a%20b/%c3%a9%3f%23%25/j.sqlite?immutable=1")
        try withPath { path in
            try fill(path)
            let database = try SQLite(path: Journal.immutableURI(path), readOnly: true)
            #expect(try database.query("select count(*) from known") == [[500]])
            #expect(try names(beside: path) == ["journal.sqlite"])
        }
    }
}
