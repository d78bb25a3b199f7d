import Libraries
import Model

extension ColumnType {
    /// Whether two kept values are one value to PostgreSQL: texts by their bytes, JSON by meaning.
    func same(_ a: SQLValue, _ b: SQLValue) -> Bool {
        guard let first = a.text, let second = b.text else { return a == b }
        if first.utf8.elementsEqual(second.utf8) { return true }
        guard self == .jsonb else { return false }
        return JSON(kept: first) == JSON(kept: second)
    }

    /// A kept value as PostgREST writes it.
    func write(_ value: SQLValue, into out: inout [UInt8]) {
        switch (self, value) {
        case (.boolean, .integer(let flag)): out.append(contentsOf: (flag != 0 ? "true" : "false").utf8)
        case (.time, .integer(let moment)): out.append(contentsOf: "\"\(Timestamp.rest(moment))\"".utf8)
        case (_, .integer(let number)): out.append(contentsOf: String(number).utf8)
        case (.jsonb, .text(let text)): out.append(contentsOf: text.utf8)
        case (_, .text(let text)): out.append(contentsOf: JSON.string(Text(text)).serialized)
        default: out.append(contentsOf: "null".utf8)
        }
    }

    /// The value of this type that a member of a JSON body says. Throws as PostgreSQL's input functions do.
    func value(of json: JSON) throws(RestError) -> SQLValue {
        switch (self, json) {
        case (_, .null): return .null
        case (.jsonb, _): return .text(try json.normalized().serializedText.string)
        case (.boolean, .bool(let flag)): return SQLValue(flag)
        case (_, .bool(let flag)): return try value(ofText: flag ? "true" : "false")
        case (_, .string(let text)), (_, .number(let text)): return try value(ofText: text.string)
        default: return try value(ofText: json.serializedText.string)
        }
    }

    /// The value of this type that a text says, as in a filter.
    func value(ofText text: String) throws(RestError) -> SQLValue {
        let value: SQLValue?
        switch self {
        case .text: value = .text(text)
        case .uuid: value = ItemID(text).map { .text($0.description) }
        case .boolean: value = ColumnType.boolean(text).map { SQLValue($0) }
        case .time:
            guard let moment = Timestamp.parse(text) else {
                throw RestError("22007", "invalid input syntax for type \(rawValue): \"\(text)\"")
            }
            value = .integer(moment)
        case .bigint:
            value = Int64(text).map { .integer($0) }
            if value == nil, !text.isEmpty, text.drop(while: { $0 == "-" }).allSatisfy({ ("0"..."9").contains($0) }) {
                throw RestError("22003", "value \"\(text)\" is out of range for type bigint")
            }
        case .jsonb:
            guard let json = try? JSON(parsing: Text(text)) else {
                throw RestError("22P02", "invalid input syntax for type json")
            }
            value = .text(try json.normalized().serializedText.string)
        }
        guard let value else { throw RestError("22P02", "invalid input syntax for type \(rawValue): \"\(text)\"") }
        return value
    }

    private static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "t", "true", "y", "yes", "on", "1": true
        case "f", "false", "n", "no", "off", "0": false
        default: nil
        }
    }
}

extension JSON {
    /// The value of a `jsonb` column, which holds nothing but JSON.
    init(kept text: String) { self = (try? JSON(parsing: Text(text))) ?? .null }

    /// As `jsonb` keeps it: numbers without exponent or negative zero, all their digits kept.
    func normalized() throws(RestError) -> JSON {
        switch self {
        case .number(let text): return .number(try JSON.normalized(number: text))
        case .array(let values):
            var out: [JSON] = []
            for value in values { out.append(try value.normalized()) }
            return .array(out)
        case .object(let members):
            var out = members
            for (key, value) in members { out[key] = try value.normalized() }
            return .object(out)
        default: return self
        }
    }

    private static func normalized(number text: Text) throws(RestError) -> Text {
        let decimal = DecimalText(text)
        if decimal.digits.count + decimal.exponent > 131_072 || decimal.exponent < -16_383 {
            throw RestError("22003", "value overflows numeric format")
        }
        let hasExponent = text.utf8.contains { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
        guard hasExponent || decimal.digits.isEmpty else { return text }
        guard !decimal.digits.isEmpty else {
            return hasExponent ? "0" : Text(text.string.filter { $0 != "-" })
        }
        let digits = decimal.digits.map(String.init).joined()
        let sign = decimal.negative ? "-" : ""
        if decimal.exponent >= 0 { return Text(sign + digits + String(repeating: "0", count: decimal.exponent)) }
        let padded = String(repeating: "0", count: max(0, 1 - decimal.exponent - digits.utf8.count)) + digits
        return Text(sign + padded.dropLast(-decimal.exponent) + "." + padded.suffix(-decimal.exponent))
    }

    /// Whether U+0000 stands in any key or text: PostgreSQL's texts can't hold it.
    var holdsNUL: Bool {
        switch self {
        case .string(let text): text.utf8.contains(0)
        case .array(let values): values.contains { $0.holdsNUL }
        case .object(let members): members.contains { $0.key.utf8.contains(0) || $0.value.holdsNUL }
        default: false
        }
    }

    /// How many levels of objects and arrays stand in each other; a plain value has none.
    var depth: Int {
        switch self {
        case .array(let values): 1 + (values.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(\.depth).max() ?? 0)
        default: 0
        }
    }
}
