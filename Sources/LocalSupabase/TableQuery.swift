import Libraries
import Model

/// What the parameters of a table's address ask for: columns, filters, order and page.
struct TableQuery {
    /// A column of the answer and the name that it gets there.
    struct Output {
        let position: Int
        let name: String
    }

    let table: Table
    private(set) var outputs: [Output]
    private(set) var filters: [Filter] = []
    private(set) var order: [String] = []
    private(set) var limit: Int?
    private(set) var offset = 0
    /// `columns=`: the members of a body that count.
    private(set) var columns: [String]?

    init(_ table: Table, _ call: Call) throws(RestError) {
        self.table = table
        outputs = table.columns.enumerated().map { Output(position: $0, name: $1.name) }
        let parser = FilterParser(table: table)
        for (name, value) in call.query.parameters {
            switch name {
            case "select": outputs = try TableQuery.outputs(value, table)
            case "order": order = try TableQuery.order(value, table)
            case "limit": limit = Int(value) ?? limit
            case "offset": offset = max(0, Int(value) ?? 0)
            case "columns": columns = value.split(separator: ",").map { String($0).filter { $0 != "\"" } }
            case "on_conflict":
                if value != "id", !value.isEmpty {
                    throw RestError(
                        "42P10",
                        "there is no unique or exclusion constraint matching the ON CONFLICT specification")
                }
            case "apikey": break
            default: filters.append(try parser.parameter(name, value))
            }
        }
        if let limit, limit < 0 {
            throw .range("Limit should be greater than or equal to zero.")
        }
        if call.request.method == "GET" { try narrow(to: call.request.headers["range"]) }
    }

    /// The `range` header: what it and `limit` and `offset` have in common.
    private mutating func narrow(to header: String?) throws(RestError) {
        guard let sides = header?.split(separator: "-", omittingEmptySubsequences: false), sides.count == 2,
            let first = Int(sides[0])
        else { return }
        let end = limit.map { offset + $0 }
        offset = max(offset, first)
        let last = Int(sides[1])
        if let last, last < first {
            throw .range("The lower boundary must be lower than or equal to the upper boundary in the Range header.")
        }
        let ends = [end, last.map { $0 + 1 }].compactMap { $0 }
        if let end = ends.min() { limit = max(0, end - offset) }
    }

    private static func outputs(_ text: String, _ table: Table) throws(RestError) -> [Output] {
        var outputs: [Output] = []
        for item in text.split(separator: ",") {
            let item = item.filter { $0 != " " && $0 != "\"" }
            if item == "*" {
                outputs += table.columns.enumerated().map { Output(position: $0, name: $1.name) }
                continue
            }
            if ["(", "->", "::"].contains(where: { item.contains($0) }) {
                throw RestError(
                    "PGRST127", "Feature not implemented", details: "this server selects plain columns, not \(item)")
            }
            let sides = item.split(separator: ":", maxSplits: 1).map(String.init)
            guard let column = sides.last, let position = table.positions[column] else {
                throw RestError.unknownColumn(sides.last ?? item, of: table)
            }
            outputs.append(Output(position: position, name: sides[0]))
        }
        return outputs
    }

    private static func order(_ text: String, _ table: Table) throws(RestError) -> [String] {
        var terms: [String] = []
        for item in text.split(separator: ",") {
            let words = item.split(separator: ".").map(String.init)
            guard let name = words.first, table.column(name) != nil else {
                throw RestError.unknownColumn(words.first ?? "", of: table)
            }
            var direction = "asc"
            var nulls: String?
            for word in words.dropFirst() {
                switch word {
                case "asc", "desc": direction = word
                case "nullsfirst": nulls = "nulls first"
                case "nullslast": nulls = "nulls last"
                default:
                    throw RestError(
                        "PGRST100", "\"failed to parse order (\(text))\" (line 1, column 1)",
                        details: "unexpected \"\(word)\"")
                }
            }
            terms.append("\(name) \(direction) \(nulls ?? (direction == "asc" ? "nulls last" : "nulls first"))")
        }
        return terms
    }

    /// The rows that `user` sees and the filters choose: own ones, no tombstones.
    func condition(user: String) -> (text: String, values: [SQLValue]) {
        let chosen = Filter.all(filters).sql
        return ("\(table.owner) = ? and deleted_at is null and \(chosen.text)", [.text(user)] + chosen.values)
    }

    /// Rows as the members that `select` names.
    func write(_ row: Row, into out: inout [UInt8]) {
        out.append(UInt8(ascii: "{"))
        for (index, output) in outputs.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.append(contentsOf: JSON.string(Text(output.name)).serialized)
            out.append(UInt8(ascii: ":"))
            table.columns[output.position].type.write(row.values[output.position], into: &out)
        }
        out.append(UInt8(ascii: "}"))
    }
}

extension RestError {
    static func range(_ details: String) -> RestError {
        RestError("PGRST103", "Requested range not satisfiable", details: details)
    }
}
