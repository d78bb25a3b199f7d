import Libraries
import Model

/// A condition on rows, as PostgREST's query grammar writes it.
indirect enum Filter {
    case compare(Column, operator: String, SQLValue)
    /// `in.(…)`, and what stands for a list in SQL: JSON text.
    case among(Column, [SQLValue])
    /// `is.null`, `is.true`, …
    case state(Column, String)
    /// `like` (glob pattern) and `ilike` (like pattern).
    case like(Column, pattern: String, ignoringCase: Bool)
    case not(Filter)
    case all([Filter])
    case any([Filter])

    /// The condition for a `where`, with its values.
    var sql: (text: String, values: [SQLValue]) {
        switch self {
        case .compare(let column, let op, let value): ("\(column.name) \(op) ?", [value])
        case .among(let column, let values):
            (
                "\(column.name) in (select value from json_each(?))",
                [.text(JSON.array(values.map(Filter.json)).serializedText.string)]
            )
        case .state(let column, let state): ("\(column.name) is \(state)", [])
        case .like(let column, let pattern, false): ("\(column.name) glob ?", [.text(pattern)])
        case .like(let column, let pattern, true): ("\(column.name) like ? escape '\\'", [.text(pattern)])
        case .not(let filter): ("not (\(filter.sql.text))", filter.sql.values)
        case .all(let filters): Filter.join(filters, " and ", empty: "true")
        case .any(let filters): Filter.join(filters, " or ", empty: "false")
        }
    }

    private static func join(_ filters: [Filter], _ word: String, empty: String) -> (String, [SQLValue]) {
        let parts = filters.map(\.sql)
        if parts.isEmpty { return (empty, []) }
        return ("(" + parts.map(\.text).joined(separator: word) + ")", parts.flatMap(\.values))
    }

    private static func json(_ value: SQLValue) -> JSON {
        value.integer.map { .integer($0) } ?? value.text.map { .string(Text($0)) } ?? .null
    }
}

/// Reads filters (PostgREST, *Operators* and *Logical operators*).
struct FilterParser {
    let table: Table

    /// The filter of a parameter `column=op.value` or `and=(…)`.
    func parameter(_ name: String, _ value: String) throws(RestError) -> Filter {
        switch name {
        case "and", "or", "not.and", "not.or":
            var reader = TreeReader(parser: self, text: name + value)
            return try reader.whole()
        default: return try condition(column: name, value, isQuoted: false)
        }
    }

    /// A condition; `text` is what follows the column. Within a tree a value may stand in quotes.
    func condition(column name: String, _ text: String, isQuoted: Bool) throws(RestError) -> Filter {
        let failure = RestError(
            "PGRST100", "\"failed to parse filter (\(text))\" (line 1, column 1)",
            details: "unexpected \"\(text.prefix(1))\" expecting \"not\" or operator (eq, gt, ...)")
        if text.hasPrefix("not.") {
            return .not(try condition(column: name, String(text.dropFirst(4)), isQuoted: isQuoted))
        }
        guard let dot = text.firstIndex(of: ".") else { throw failure }
        let word = String(text[..<dot])
        var value = String(text[text.index(after: dot)...])
        guard FilterParser.operators.contains(word) else { throw failure }
        guard let column = table.column(name) else { throw RestError.unknownColumn(name, of: table) }
        if isQuoted, word != "in" { value = FilterParser.unquoted(value) }
        switch word {
        case "in":
            guard value.hasPrefix("("), value.hasSuffix(")") else { throw failure }
            var values: [SQLValue] = []
            for item in FilterParser.list(value.dropFirst().dropLast()) {
                values.append(try column.type.value(ofText: item))
            }
            return .among(column, values)
        case "is":
            let states = ["null": "null", "not_null": "not null", "true": "true", "false": "false", "unknown": "null"]
            guard let state = states[value.lowercased()] else { throw failure }
            return .state(column, state)
        case "like", "ilike":
            guard column.type == .text else {
                throw RestError("42883", "operator does not exist: \(column.type.rawValue) ~~ unknown")
            }
            let pattern = value.replacing("*", with: "%")
            return .like(column, pattern: word == "like" ? glob(pattern) : pattern, ignoringCase: word == "ilike")
        default:
            return .compare(
                column, operator: FilterParser.comparisons[word]!, try column.type.value(ofText: value))
        }
    }

    private static let comparisons = [
        "eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "isdistinct": "is not",
    ]
    private static let operators = Set(comparisons.keys).union(["in", "is", "like", "ilike"])

    /// SQL's pattern with case as SQLite's `glob` writes it.
    private func glob(_ pattern: String) -> String {
        var out = ""
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "%" where !isEscaped: out += "*"
            case "_" where !isEscaped: out += "?"
            case "*", "?", "[": out += "[\(scalar)]"
            default: out.unicodeScalars.append(scalar)
            }
            isEscaped = false
        }
        return out
    }

    /// The elements of a list; one in quotes may hold anything.
    static func list(_ text: Substring) -> [String] {
        if text.isEmpty { return [] }
        var items: [String] = []
        var item = ""
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if isEscaped {
                item.append(character)
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                items.append(item)
                item = ""
            } else {
                item.append(character)
            }
        }
        return items + [item]
    }

    private static func unquoted(_ text: String) -> String {
        guard text.hasPrefix("\""), text.hasSuffix("\""), text.count >= 2 else { return text }
        return list(text[...]).joined(separator: ",")
    }
}

/// Reads `and(…)`, `or(…)` and their negations, nested.
private struct TreeReader {
    let parser: FilterParser
    let text: String
    var rest: Substring

    init(parser: FilterParser, text: String) {
        self.parser = parser
        self.text = text
        rest = text[...]
    }

    private var failure: RestError {
        RestError("PGRST100", "\"failed to parse logic tree (\(text))\" (line 1, column 1)")
    }

    mutating func whole() throws(RestError) -> Filter {
        let filter = try node()
        guard rest.isEmpty else { throw failure }
        return filter
    }

    private mutating func node() throws(RestError) -> Filter {
        for (word, isAnd) in [("and(", true), ("or(", false)] {
            for isNegated in [false, true] where rest.hasPrefix((isNegated ? "not." : "") + word) {
                rest = rest.dropFirst(word.count + (isNegated ? 4 : 0))
                let filters = try members()
                let tree: Filter = isAnd ? .all(filters) : .any(filters)
                return isNegated ? .not(tree) : tree
            }
        }
        let leaf = try leaf()
        guard let dot = leaf.firstIndex(of: ".") else { throw failure }
        let column = String(leaf[..<dot])
        return try parser.condition(column: column, String(leaf[leaf.index(after: dot)...]), isQuoted: true)
    }

    private mutating func members() throws(RestError) -> [Filter] {
        var filters: [Filter] = []
        repeat {
            filters.append(try node())
        } while take(",")
        guard take(")") else { throw failure }
        return filters
    }

    private mutating func take(_ character: Character) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    /// Everything up to the comma or parenthesis that ends this condition; those in quotes or a list belong to it.
    private mutating func leaf() throws(RestError) -> String {
        var depth = 0
        var isQuoted = false
        var isEscaped = false
        var end = rest.startIndex
        scan: while end < rest.endIndex {
            let character = rest[end]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if !isQuoted {
                switch character {
                case "(": depth += 1
                case ")" where depth > 0: depth -= 1
                case ")": break scan
                case "," where depth == 0: break scan
                default: break
                }
            }
            end = rest.index(after: end)
        }
        let leaf = String(rest[..<end])
        rest = rest[end...]
        if leaf.isEmpty { throw failure }
        return leaf
    }
}

extension RestError {
    static func unknownColumn(_ name: String, of table: Table) -> RestError {
        RestError("42703", "column \(table.name).\(name) does not exist")
    }
}
