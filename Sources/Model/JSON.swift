/// A JSON value (RFC 8259) that keeps the text of a number, so that nothing is lost between file and server.
///
/// Equality is by meaning: numbers by value (`1.50` is `1.5`), objects without order, texts by their bytes.
public enum JSON: Sendable {
    case null
    case bool(Bool)
    /// The number as it was written.
    case number(Text)
    case string(Text)
    case array([JSON])
    case object([Text: JSON])
}

extension JSON {
    public static func integer(_ value: some BinaryInteger) -> JSON { .number(Text(String(value))) }

    /// The text, or nil where the value is another kind.
    public var text: Text? { if case .string(let text) = self { text } else { nil } }
    public var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
    public var array: [JSON]? { if case .array(let array) = self { array } else { nil } }
    public var object: [Text: JSON]? { if case .object(let object) = self { object } else { nil } }
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The value of an integer that fits 64 bits, also where it is written `2.0` or `2e0`.
    public var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text.string) ?? DecimalText(text).integer
    }

    /// A member of an object; nil for another kind of value or a missing key.
    public subscript(key: Text) -> JSON? { object?[key] }
}

extension JSON: Equatable {
    public static func == (a: JSON, b: JSON) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.number(let a), .number(let b)): a == b || DecimalText(a) == DecimalText(b)
        case (.string(let a), .string(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a == b
        default: false
        }
    }
}

extension JSON: Hashable {
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let text): hasher.combine(DecimalText(text))
        case .string(let text): hasher.combine(text)
        case .array(let values): hasher.combine(values)
        case .object(let members): hasher.combine(members)
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(Text(value)) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (Text, JSON)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
    public init(nilLiteral: ()) { self = .null }
}

/// A number in decimal notation, as sign, significant digits and exponent: two texts of one value are equal.
///
/// The value is `digits × 10^exponent`; digits have no zero at either end, and zero has none at all.
public struct DecimalText: Hashable, Sendable {
    public let negative: Bool
    public let digits: [UInt8]
    public let exponent: Int

    /// `text` must be a JSON number; another text has no meaning here.
    public init(_ text: Text) {
        var negative = false
        var digits: [UInt8] = []
        var exponent = 0
        var afterPoint = false
        var bytes = text.utf8.makeIterator()
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "-"): negative = true
            case UInt8(ascii: "."): afterPoint = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits.append(byte &- UInt8(ascii: "0"))
                if afterPoint { exponent -= 1 }
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                var written = ""
                while let next = bytes.next() { written.unicodeScalars.append(Unicode.Scalar(next)) }
                // One beyond this is beyond any number that is kept; the sums below stay within an Int.
                let limit = Int(Int32.max) << 16
                let value = Int(written.hasPrefix("+") ? String(written.dropFirst()) : written)
                exponent += min(max(value ?? (written.hasPrefix("-") ? -limit : limit), -limit), limit)
            default: break
            }
        }
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        let zeros = digits.prefix { $0 == 0 }.count
        digits.removeFirst(zeros)
        self.negative = negative && !digits.isEmpty
        self.digits = digits
        self.exponent = digits.isEmpty ? 0 : exponent
    }

    /// The value as a 64-bit integer, where it is one.
    public var integer: Int64? {
        guard exponent >= 0, digits.count + exponent <= 19 else { return nil }
        let text = (negative ? "-" : "") + digits.map(String.init).joined() + String(repeating: "0", count: exponent)
        return digits.isEmpty ? 0 : Int64(text)
    }

    /// The plainest notation of the value: no needless zeros, an exponent only past 20 digits.
    public var plain: Text {
        guard !digits.isEmpty else { return "0" }
        let all = digits.map(String.init).joined()
        let sign = negative ? "-" : ""
        if exponent >= 0, digits.count + exponent <= 21 {
            return Text(sign + all + String(repeating: "0", count: exponent))
        }
        let point = digits.count + exponent
        if exponent < 0, point > 0 { return Text(sign + all.prefix(point) + "." + all.dropFirst(point)) }
        if exponent < 0, point > -7 { return Text(sign + "0." + String(repeating: "0", count: -point) + all) }
        let rest = all.dropFirst().isEmpty ? "" : "." + all.dropFirst()
        return Text(sign + all.prefix(1) + rest + "e" + String(point - 1))
    }
}
