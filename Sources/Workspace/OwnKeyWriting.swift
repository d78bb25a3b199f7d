import Libraries
import Model

/// Values as YAML on one line, so that `JSON(reading:)` gives the same value back.
extension JSON {
    /// In a flow collection (`[…]`, `{…}`) fewer texts can stand plain. A text takes the quotes of `style`, that of the
    /// text it replaces, where they can hold it.
    func yaml(flow: Bool, style: YAMLNode.ScalarStyle = .plain) -> String {
        switch self {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .number(let text):
            let plain = DecimalText(text).plain
            if JSON.isPlainNumber(plain) { return plain.string }
            let isInteger = plain.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
            }
            return (isInteger ? "!!int " : "!!float ") + plain.string
        case .string(let text): return text.yaml(flow: flow, style: style)
        case .array(let values): return "[" + values.map { $0.yaml(flow: true) }.joined(separator: ", ") + "]"
        case .object(let members):
            let pairs = members.sorted { $0.key < $1.key }.map { yamlPair($0, $1.yaml(flow: true), flow: true) }
            return "{" + pairs.joined(separator: ", ") + "}"
        }
    }
}

/// A key and its value. A value of nothing is null. Such a key that libyaml wouldn't look ahead for (1,024 characters)
/// gets a `?`, and in a block its value a line of its own behind `lineStart`.
func yamlPair(_ key: Text, _ value: String, flow: Bool, lineStart: String = "\n") -> String {
    let name = key == "<<" ? "\"<<\"" : key.yaml(flow: true, style: .plain)
    let value = value.isEmpty ? "" : " " + value
    if name.unicodeScalars.count <= 1_000 { return name + ":" + value }
    return "? " + name + (flow ? " :" : lineStart + ":") + value
}

extension Text {
    fileprivate func yaml(flow: Bool, style: YAMLNode.ScalarStyle) -> String {
        switch style {
        case .singleQuoted where string.unicodeScalars.allSatisfy(\.isPlain): singleQuoted
        case .doubleQuoted: doubleQuoted
        default: canStandPlain(flow: flow) ? string : doubleQuoted
        }
    }

    private var singleQuoted: String {
        var out = "'"
        for scalar in string.unicodeScalars {
            if scalar == "'" { out.unicodeScalars.append("'") }
            out.unicodeScalars.append(scalar)
        }
        out.unicodeScalars.append("'")
        return out
    }

    private var doubleQuoted: String {
        var out = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                out.unicodeScalars.append("\\")
                out.unicodeScalars.append(scalar)
            case "\n": out.append("\\n")
            case "\r": out.append("\\r")
            case "\t": out.append("\\t")
            case _ where scalar.isPlain: out.unicodeScalars.append(scalar)
            default:
                let hex = String(scalar.value, radix: 16, uppercase: true)
                out.append(scalar.value < 0x100 ? "\\x" : "\\u")
                out.append(String(repeating: "0", count: (scalar.value < 0x100 ? 2 : 4) - hex.count) + hex)
            }
        }
        out.unicodeScalars.append("\"")
        return out
    }

    /// Whether the text reads back the same without quotes (YAML 1.1, 9.1.3), in the middle of a line.
    private func canStandPlain(flow: Bool) -> Bool {
        guard let first = utf8.first, let last = utf8.last, case .string = JSON(plain: self),
            first != UInt8(ascii: " "), last != UInt8(ascii: " "), last != UInt8(ascii: ":"),
            !hasPrefix("---"), !hasPrefix("..."), string.unicodeScalars.allSatisfy(\.isPlain)
        else { return false }
        let second = utf8.dropFirst().first ?? UInt8(ascii: " ")
        switch first {
        case UInt8(ascii: "-"): if second == UInt8(ascii: " ") { return false }
        case UInt8(ascii: "?"), UInt8(ascii: ":"): if flow || second == UInt8(ascii: " ") { return false }
        default: if ",[]{}#&*!|>'\"%@`".utf8.contains(first) { return false }
        }
        var before: UInt8 = 0
        for byte in utf8 {
            switch (before, byte) {
            case (UInt8(ascii: ":"), UInt8(ascii: " ")), (UInt8(ascii: " "), UInt8(ascii: "#")): return false
            case (UInt8(ascii: ":"), UInt8(ascii: "?")): if flow { return false }
            case (_, let byte): if flow, ",[]{}".utf8.contains(byte) { return false }
            }
            before = byte
        }
        return true
    }
}

extension Unicode.Scalar {
    /// What may stand in YAML unescaped, and is no line break there: a line break, a control character or a BOM isn't.
    fileprivate var isPlain: Bool {
        switch value {
        case 0x20...0x7E, 0xA0...0x2027, 0x202A...0xFEFE, 0xFF00...0xFFFD, 0x10000...: true
        default: false
        }
    }
}
