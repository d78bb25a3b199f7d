import CSQLite

/// A connection to an SQLite database. Use it from one task at a time.
///
/// ```swift
/// let database = try SQLite(path: "journal.sqlite")
/// try database.transaction {
///     try database.run("insert into meta values (?, ?)", "cursor", 12)
/// }
/// for row in try database.query("select value from meta where key = ?", "cursor") { print(row[0].integer) }
/// ```
public final class SQLite: @unchecked Sendable {
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    /// Opens or creates the database; `":memory:"` lives as long as the connection. A writer waits for another
    /// process's transaction up to `busyTimeout` milliseconds.
    public init(path: String, busyTimeout: Int32 = 10_000, readOnly: Bool = false) throws(SQLiteError) {
        var handle: OpaquePointer?
        let flags = readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let handle else {
            let error = SQLiteError(
                code: code, message: handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory", sql: "open")
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, busyTimeout)
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Runs statements that take no values and return no rows, separated by `;`.
    public func execute(_ script: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        if code != SQLITE_OK { throw error(code, script) }
    }

    /// Runs one statement; the number of rows that it changed.
    @discardableResult
    public func run(_ sql: String, _ values: SQLValue...) throws(SQLiteError) -> Int {
        try run(sql, values)
    }

    @discardableResult
    public func run(_ sql: String, _ values: [SQLValue]) throws(SQLiteError) -> Int {
        _ = try query(sql, values)
        return Int(sqlite3_changes64(handle))
    }

    /// Runs one statement and reads all its rows.
    public func query(_ sql: String, _ values: SQLValue...) throws(SQLiteError) -> [[SQLValue]] {
        try query(sql, values)
    }

    public func query(_ sql: String, _ values: [SQLValue]) throws(SQLiteError) -> [[SQLValue]] {
        let statement = try prepare(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        try bind(values, to: statement, sql)
        var rows: [[SQLValue]] = []
        while try step(statement, sql) { rows.append(SQLiteRow(statement: statement).values) }
        return rows
    }

    /// Runs one statement and gives `body` its rows one after the other, so that no more than one is held. What `body`
    /// throws ends it. `body` may run other statements, not the same one.
    public func forEach(
        _ sql: String, _ values: [SQLValue] = [], _ body: (borrowing SQLiteRow) throws -> Void
    ) throws {
        let statement = try prepare(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        try bind(values, to: statement, sql)
        while try step(statement, sql) { try body(SQLiteRow(statement: statement)) }
    }

    /// The bytes of one text or blob, read into an array at once: of a large one nothing is held twice. The row is there.
    public func bytes(of column: String, in table: String, row: Int64) throws(SQLiteError) -> [UInt8] {
        var blob: OpaquePointer?
        let code = sqlite3_blob_open(handle, "main", table, column, row, 0, &blob)
        defer { sqlite3_blob_close(blob) }
        let name = "\(table).\(column)"
        guard code == SQLITE_OK else { throw error(code, name) }
        let count = sqlite3_blob_bytes(blob)
        // An empty array is one for all threads: nothing is to be written into that.
        if count == 0 { return [] }
        var read = SQLITE_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            read = sqlite3_blob_read(blob, buffer.baseAddress, count, 0)
            initialized = read == SQLITE_OK ? Int(count) : 0
        }
        guard read == SQLITE_OK else { throw error(read, name) }
        return bytes
    }

    /// Goes to the next row; false: there is none.
    private func step(_ statement: OpaquePointer, _ sql: String) throws(SQLiteError) -> Bool {
        let code = sqlite3_step(statement)
        if code == SQLITE_DONE { return false }
        guard code == SQLITE_ROW else { throw error(code, sql) }
        return true
    }

    /// Runs `body` in one transaction that writes (`begin immediate`): committed at its end, rolled back when it throws.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try run("begin immediate")
        do {
            let result = try body()
            try run("commit")
            return result
        } catch {
            if sqlite3_get_autocommit(handle) == 0 { _ = try? run("rollback") }
            throw error
        }
    }

    private func prepare(_ sql: String) throws(SQLiteError) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw error(code, sql) }
        statements[sql] = statement
        return statement
    }

    private func bind(_ values: [SQLValue], to statement: OpaquePointer, _ sql: String) throws(SQLiteError) {
        // SQLite copies what it is given before the call returns.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, value) in values.enumerated() {
            let position = Int32(index + 1)
            let code: Int32
            switch value {
            case .null: code = sqlite3_bind_null(statement, position)
            case .integer(let integer): code = sqlite3_bind_int64(statement, position, integer)
            case .real(let real): code = sqlite3_bind_double(statement, position, real)
            case .text(let text):
                var text = text
                code = text.withUTF8 { bytes in
                    bytes.withMemoryRebound(to: CChar.self) {
                        sqlite3_bind_text64(
                            statement, position, $0.baseAddress, UInt64($0.count), transient, UInt8(SQLITE_UTF8))
                    }
                }
            case .blob(let blob):
                code = blob.withUnsafeBytes {
                    sqlite3_bind_blob64(
                        statement, position, $0.baseAddress ?? UnsafeRawPointer(bitPattern: 1), UInt64($0.count),
                        transient)
                }
            }
            if code != SQLITE_OK { throw error(code, sql) }
        }
    }

    private func error(_ code: Int32, _ sql: String) -> SQLiteError {
        SQLiteError(code: code, message: String(cString: sqlite3_errmsg(handle)), sql: sql)
    }
}

/// The row at which a statement stands. It can be read only inside `SQLite.forEach`.
public struct SQLiteRow: ~Copyable {
    fileprivate let statement: OpaquePointer

    /// All its columns.
    public var values: [SQLValue] { (0..<sqlite3_column_count(statement)).map { value(Int($0)) } }

    public func value(_ column: Int) -> SQLValue {
        let index = Int32(column)
        switch sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, index))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, index))
        case SQLITE_TEXT:
            let count = Int(sqlite3_column_bytes(statement, index))
            let bytes = UnsafeBufferPointer(start: sqlite3_column_text(statement, index), count: count)
            return .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let count = Int(sqlite3_column_bytes(statement, index))
            return .blob(Array(UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, index), count: count)))
        default: return .null
        }
    }

    /// An integer; nil for null, and for what has no number in it.
    public func integer(_ column: Int) -> Int64? {
        let index = Int32(column)
        let integer = sqlite3_column_int64(statement, index)
        // Only a 0 may be something else: a call saved for most.
        return integer != 0 || sqlite3_column_type(statement, index) == SQLITE_INTEGER ? integer : nil
    }

    /// Puts the bytes of a text or blob into `buffer`, whose memory is used again; false for anything else.
    public func read(_ column: Int, into buffer: inout [UInt8]) -> Bool {
        let index = Int32(column)
        buffer.removeAll(keepingCapacity: true)
        let type = sqlite3_column_type(statement, index)
        guard type == SQLITE_TEXT || type == SQLITE_BLOB else { return false }
        if let start = sqlite3_column_blob(statement, index) {
            buffer.append(
                contentsOf: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))))
        }
        return true
    }
}

/// A value of a column or parameter.
public enum SQLValue: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByNilLiteral
{
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(_ value: String?) { self = value.map(SQLValue.text) ?? .null }
    public init(_ value: Int64?) { self = value.map(SQLValue.integer) ?? .null }
    public init(_ value: [UInt8]?) { self = value.map(SQLValue.blob) ?? .null }
    public init(_ value: Bool) { self = .integer(value ? 1 : 0) }

    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    public var text: String? { if case .text(let value) = self { value } else { nil } }
    public var blob: [UInt8]? { if case .blob(let value) = self { value } else { nil } }
    public var isNull: Bool { self == .null }
}

/// What SQLite refused: its extended result code and message, and the statement.
public struct SQLiteError: Error, CustomStringConvertible {
    public let code: Int32
    public let message: String
    public let sql: String

    /// The file is no database, or a damaged one (`SQLITE_CORRUPT`, `SQLITE_NOTADB`).
    public var isDamage: Bool { code & 0xFF == SQLITE_CORRUPT || code & 0xFF == SQLITE_NOTADB }
    /// The disk has no room (`SQLITE_FULL`).
    public var isFull: Bool { code & 0xFF == SQLITE_FULL }
    /// Another process holds the database and the wait is over (`SQLITE_BUSY`).
    public var isBusy: Bool { code & 0xFF == SQLITE_BUSY }

    public var description: String { "\(message) (SQLite \(code)) in: \(sql)" }
}
