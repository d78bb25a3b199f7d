import CPostgreSQL

/// A connection to a PostgreSQL server. Every call waits for the server's answer. Use it from one task at a time.
///
/// ```swift
/// let connection = try Connection(["host": "/run/postgresql", "dbname": "tasks"])
/// try connection.transaction {
///     try connection.run("set local role authenticated")
///     let answer = try connection.run("select id, title from public.tasks where done = $1", "false")
///     for row in answer.rows { print(row[1].text ?? "") }
/// }
/// ```
public final class Connection: @unchecked Sendable {
    private let handle: OpaquePointer

    /// Connects with libpq's parameters (`host`, `port`, `dbname`, `user`, `password`, …); what is missing comes from
    /// libpq's own defaults and environment. `dbname` may be a whole `postgresql://` address.
    ///
    /// Texts travel as UTF-8, and the server's notices are passed over.
    public init(_ parameters: [String: String]) throws(PostgreSQLError) {
        let all = parameters.merging(["client_encoding": "UTF8"]) { $1 }.sorted { $0.key < $1.key }
        let handle = withCStrings(all.map(\.key)) { names in
            withCStrings(all.map(\.value)) { values in PQconnectdbParams(names, values, 1) }
        }
        guard let handle else { throw PostgreSQLError(sqlstate: "", message: "out of memory") }
        guard PQstatus(handle) == CONNECTION_OK else {
            let message = trimmed(PQerrorMessage(handle))
            PQfinish(handle)
            throw PostgreSQLError(sqlstate: "", message: message)
        }
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        self.handle = handle
    }

    /// Connects to a `postgresql://` address.
    public convenience init(url: String) throws(PostgreSQLError) { try self.init(["dbname": url]) }

    deinit { PQfinish(handle) }

    /// The server's version as a number: 150020 is 15.20.
    public var serverVersion: Int { Int(PQserverVersion(handle)) }

    /// Runs one statement. `$1`, `$2`, … stand for the parameters, which are texts or null; the statement's types decide
    /// what they are read as.
    @discardableResult
    public func run(_ sql: String, _ parameters: String?...) throws(PostgreSQLError) -> Answer {
        try run(sql, parameters: parameters)
    }

    @discardableResult
    public func run(_ sql: String, parameters: [String?]) throws(PostgreSQLError) -> Answer {
        let parameters = parameters.map { $0.map { Array($0.utf8) } }
        if parameters.contains(where: { $0?.contains(0) == true }) {
            // The server would see the text only up to there.
            throw PostgreSQLError(sqlstate: "22021", message: "invalid byte sequence for encoding \"UTF8\": 0x00")
        }
        let sent = withTexts(parameters) { values in
            PQsendQueryParams(handle, sql, Int32(parameters.count), nil, values, nil, nil, 0)
        }
        var last = Answer()
        try collect(sent: sent) { last = $0 }
        return last
    }

    /// Runs statements that take no parameters, separated by `;`: as one transaction, unless they begin and end their
    /// own. `each` gets every answer as it comes, also those before a statement that fails.
    public func script(_ sql: String, each: (Answer) -> Void = { _ in }) throws(PostgreSQLError) {
        try collect(sent: PQsendQuery(handle, sql), each)
    }

    /// Runs `body` between `begin` and `commit`; rolled back when it throws.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try run("begin")
        do {
            let result = try body()
            try run("commit")
            return result
        } catch {
            _ = try? run("rollback")
            throw error
        }
    }

    /// Reads answers until there are none: libpq takes no new statement before.
    private func collect(sent: Int32, _ each: (Answer) -> Void) throws(PostgreSQLError) {
        guard sent == 1 else { throw PostgreSQLError(sqlstate: "", message: trimmed(PQerrorMessage(handle))) }
        var problem: PostgreSQLError?
        while let result = PQgetResult(handle) {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: each(Answer(result))
            case PGRES_EMPTY_QUERY: continue
            case PGRES_COPY_IN:
                // The server then answers with an error of its own.
                PQputCopyEnd(handle, "copying through this connection is not supported")
            case PGRES_COPY_OUT:
                problem = PostgreSQLError(
                    sqlstate: "0A000", message: "copying through this connection is not supported")
                var line: UnsafeMutablePointer<CChar>?
                while PQgetCopyData(handle, &line, 0) > 0 { PQfreemem(line) }
            default: problem = problem ?? PostgreSQLError(result, connection: handle)
            }
        }
        if let problem { throw problem }
    }
}

/// What the server answered to one statement.
public struct Answer: Sendable {
    /// The names of the columns; empty for a statement without rows.
    public var columns: [String] = []
    /// The rows, with a value for each column.
    public var rows: [[Value]] = []
    /// How many rows the statement read or changed.
    public var count = 0

    /// A value in the server's text format; nil bytes are null.
    public struct Value: Hashable, Sendable {
        public let bytes: [UInt8]?

        public var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
        public var isNull: Bool { bytes == nil }
    }

    init() {}

    init(_ result: OpaquePointer) {
        let width = PQnfields(result)
        columns = (0..<width).map { String(cString: PQfname(result, $0)) }
        rows = (0..<PQntuples(result)).map { row in
            (0..<width).map { column in
                if PQgetisnull(result, row, column) == 1 { return Value(bytes: nil) }
                let bytes = UnsafeRawBufferPointer(
                    start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
                return Value(bytes: Array(bytes))
            }
        }
        count = Int(String(cString: PQcmdTuples(result))) ?? 0
    }

    /// The first value of the first row; nil where there is none or it is null.
    public var first: String? { rows.first?.first?.text }
}

/// What the server refused, in its own words; `sqlstate` is empty where the connection itself failed.
public struct PostgreSQLError: Error, Equatable, CustomStringConvertible {
    /// Five letters or digits (PostgreSQL documentation, appendix A).
    public let sqlstate: String
    public let message: String
    public let detail: String?
    public let hint: String?

    public init(sqlstate: String, message: String, detail: String? = nil, hint: String? = nil) {
        self.sqlstate = sqlstate
        self.message = message
        self.detail = detail
        self.hint = hint
    }

    init(_ result: OpaquePointer, connection: OpaquePointer) {
        // The letters of PG_DIAG_…, which are characters in C.
        func field(_ letter: Character) -> String? {
            PQresultErrorField(result, Int32(letter.asciiValue!)).map { String(cString: $0) }
        }
        self.init(
            sqlstate: field("C") ?? "", message: field("M") ?? trimmed(PQerrorMessage(connection)),
            detail: field("D"), hint: field("H"))
    }

    public var description: String {
        let parts = [sqlstate.isEmpty ? message : "\(message) (\(sqlstate))", detail, hint]
        return parts.compactMap { $0 }.joined(separator: "; ")
    }
}

/// libpq ends its messages with a newline.
private func trimmed(_ message: UnsafePointer<CChar>?) -> String {
    var text = message.map { String(cString: $0) } ?? "out of memory"
    while text.last?.isNewline == true { text.removeLast() }
    return text
}

/// Calls `body` with a null-terminated array of C strings.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
) -> Result {
    withTexts(texts.map { Array($0.utf8) } + [nil], body)
}

/// Calls `body` with an array of C strings, null where a text is nil; they all live in one buffer.
private func withTexts<Result>(
    _ texts: [[UInt8]?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
) -> Result {
    var buffer: [UInt8] = []
    var starts: [Int?] = []
    for text in texts {
        starts.append(text == nil ? nil : buffer.count)
        if let text { buffer += text + [0] }
    }
    return buffer.withUnsafeBytes { bytes in
        let base = bytes.bindMemory(to: CChar.self).baseAddress
        let pointers = starts.map { start in start.flatMap { base?.advanced(by: $0) } }
        return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
