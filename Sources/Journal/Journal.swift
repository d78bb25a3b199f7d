import Libraries
import Model

/// What this device knows between two runs: one SQLite database in `.otask/`.
///
/// Reading shows the last committed state and never waits for a writer (WAL). Everything is written through `commit`,
/// whole or not at all. Use one `Journal` from one task at a time; every process, and every task, may have its own.
///
/// ```swift
/// let (journal, opening) = try Journal.open(path: path, now: now)
/// try journal.commit { writer in
///     try writer.store(page)
///     try writer.updateMeta { $0.lastPull = now }
/// }
/// ```
public final class Journal: Sendable {
    public let path: Text
    let database: SQLite
    private let beforeCommit: @Sendable () throws -> Void

    init(path: Text, database: SQLite, beforeCommit: @escaping @Sendable () throws -> Void) {
        self.path = path
        self.database = database
        self.beforeCommit = beforeCommit
    }

    /// Runs `body` in one transaction: durable when this returns, undone when it, or `beforeCommit`, throws. What they
    /// throw comes out unchanged. Reading inside `body` sees what it has written. Not to be nested.
    ///
    /// Throws `JournalError`; `diskFull` where there is no room.
    public func commit<Result>(_ body: (borrowing JournalWriter) throws -> Result) throws -> Result {
        try wrapped {
            try database.transaction {
                let result = try body(JournalWriter(journal: self))
                try beforeCommit()
                return result
            }
        }
    }

    /// Runs `body`, which reads several things, on one committed state, whatever other processes commit meanwhile.
    /// Not to be nested, nor to be mixed with `commit`.
    public func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try wrapped {
            try database.run("begin")
            defer { _ = try? database.run("commit") }
            return try body()
        }
    }

    /// Reads every page (`pragma quick_check`), which takes a while; throws `JournalError.damaged`.
    public func verify() throws {
        try wrapped {
            let found = try database.query("pragma quick_check(1)").first?.first?.text
            if let found, found != "ok" { throw UnreadableRow(reason: Text(found)) }
        }
    }

    /// Runs `body` with SQLite's errors as `JournalError`.
    func wrapped<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw JournalError.wrapping(error, path: path) }
    }
}
