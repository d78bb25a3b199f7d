/// Reading and writing JSON (RFC 8259).
extension JSON {
    /// Deeper nesting than this is an error of the reader, not a crash of the process.
    public static let maximumDepth = 200

    /// Reads one JSON document; white space may surround it. Of equal keys of an object the last one counts, as on the
    /// server. Throws `JSONError` with the byte offset.
    public init(parsing bytes: some Collection<UInt8>) throws(JSONError) {
        var reader = JSONReader(bytes: Array(bytes))
        self = try reader.document()
    }

    public init(parsing text: Text) throws(JSONError) { try self.init(parsing: text.bytes) }

    /// The value as JSON without needless white space, keys in the order of their bytes.
    public var serialized: [UInt8] {
        var out: [UInt8] = []
        write(into: &out, indent: nil, level: 0)
        return out
    }

    public var serializedText: Text { Text(String(decoding: serialized, as: UTF8.self)) }

    /// The value for people and scripts: two blanks a level, keys in the order of their bytes.
    public var pretty: String {
        var out: [UInt8] = []
        write(into: &out, indent: 2, level: 0)
        return String(decoding: out, as: UTF8.self)
    }

    private func write(into out: inout [UInt8], indent: Int?, level: Int) {
        func newline(_ level: Int) {
            guard let indent else { return }
            out.append(UInt8(ascii: "\n"))
            out.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indent * level))
        }
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text): out.append(contentsOf: text.utf8)
        case .string(let text): JSON.write(text, into: &out)
        case .array(let values):
            out.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                newline(level + 1)
                value.write(into: &out, indent: indent, level: level + 1)
            }
            if !values.isEmpty { newline(level) }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, key) in members.keys.sorted().enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                newline(level + 1)
                JSON.write(key, into: &out)
                out.append(UInt8(ascii: ":"))
                if indent != nil { out.append(UInt8(ascii: " ")) }
                members[key]!.write(into: &out, indent: indent, level: level + 1)
            }
            if !members.isEmpty { newline(level) }
            out.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: Text, into out: inout [UInt8]) {
        let hex = Array("0123456789abcdef".utf8)
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): out.append(contentsOf: [UInt8(ascii: "\\"), byte])
            case UInt8(ascii: "\n"): out.append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\r"): out.append(contentsOf: "\\r".utf8)
            case UInt8(ascii: "\t"): out.append(contentsOf: "\\t".utf8)
            case 0..<0x20, 0x7F:
                out.append(contentsOf: "\\u00".utf8)
                out.append(contentsOf: [hex[Int(byte >> 4)], hex[Int(byte & 15)]])
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}

/// Why a text is no JSON.
public struct JSONError: Error, Equatable, CustomStringConvertible {
    public let reason: String
    /// Where reading stopped, in bytes from the start.
    public let offset: Int

    public var description: String { "not JSON: \(reason) at byte \(offset)" }
}

private struct JSONReader {
    let bytes: [UInt8]
    var position = 0

    mutating func document() throws(JSONError) -> JSON {
        let value = try value(depth: 0)
        skipBlanks()
        if position < bytes.count { throw error("text after the value") }
        return value
    }

    private func error(_ reason: String) -> JSONError { JSONError(reason: reason, offset: position) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        if depth > JSON.maximumDepth { throw error("nested too deep") }
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw error("it ends too early")
        case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte): return .number(try number())
        default: throw error("an unexpected character")
        }
    }

    private mutating func word(_ word: String, _ value: JSON) throws(JSONError) -> JSON {
        guard bytes[position...].starts(with: word.utf8) else { throw error("an unexpected word") }
        position += word.utf8.count
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSON {
        position += 1
        var members: [Text: JSON] = [:]
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw error("a key is missing") }
            let key = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw error("a colon is missing") }
            members[key] = try value(depth: depth + 1)
            skipBlanks()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw error("an object isn't closed") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSON {
        position += 1
        var values: [JSON] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(values) }
        repeat {
            values.append(try value(depth: depth + 1))
            skipBlanks()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw error("an array isn't closed") }
        return .array(values)
    }

    private mutating func number() throws(JSONError) -> Text {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        return Text(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        if position == start { throw error("a digit is missing") }
    }

    private mutating func string() throws(JSONError) -> Text {
        position += 1
        var out: [UInt8] = []
        while true {
            let start = position
            while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
                position += 1
            }
            out.append(contentsOf: bytes[start..<position])
            guard let byte = next else { throw error("a string isn't closed") }
            if byte < 0x20 { throw error("a control character in a string") }
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            try escape(into: &out)
        }
        guard let text = Text(utf8: out) else { throw error("a string isn't UTF-8") }
        return text
    }

    private mutating func escape(into out: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw error("a string isn't closed") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte)
        case UInt8(ascii: "b"): out.append(0x08)
        case UInt8(ascii: "f"): out.append(0x0C)
        case UInt8(ascii: "n"): out.append(0x0A)
        case UInt8(ascii: "r"): out.append(0x0D)
        case UInt8(ascii: "t"): out.append(0x09)
        case UInt8(ascii: "u"):
            var code = UInt32(try hex())
            if code >= 0xD800, code < 0xDC00, bytes[position...].starts(with: "\\u".utf8) {
                position += 2
                let low = UInt32(try hex())
                guard low >= 0xDC00, low < 0xE000 else { throw error("half a surrogate pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw error("half a surrogate pair") }
            out.append(contentsOf: UTF8.encode(scalar)!)
        default: throw error("an unknown escape")
        }
    }

    private mutating func hex() throws(JSONError) -> UInt16 {
        guard position + 4 <= bytes.count,
            bytes[position..<position + 4].allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
            let value = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
        else { throw error("a bad escape") }
        position += 4
        return value
    }
}
