import Model

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A list of requests with the answers that they must get, read from `Tests/Requests/*.json`. Nothing in it is
/// particular to one server: the same lists hold for the embedded one and for the SQL.
///
/// In the steps `{t1}`, `{p1}`, `{c1}` are ids of tasks, photos and changes, `{ann}` and `{ben}` those of the users,
/// `{x*501}` is a text of that many `x`, and `{name}` what an answer was caught as. In an answer, objects may have
/// more members than stand there, `"*"` is anything but null, `"<absent>"` a member that is not there, `"<time>"` any
/// time, and `"=name"` catches a value.
public struct Scenario: CustomStringConvertible, Sendable {
    public let name: String
    public let steps: [JSON]

    public var description: String { name }

    /// The scenarios of `Tests/Requests/<file>.json`.
    public static func load(_ file: String) throws -> [Scenario] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(contentsOf: folder.appending(path: "Requests/\(file).json"))
        return try JSON(parsing: data).array!.map {
            Scenario(name: $0["name"]!.text!.string, steps: $0["steps"]!.array!)
        }
    }
}

/// What the placeholders of a scenario stand for.
public struct Names {
    public var values: [String: JSON] = [:]

    public init() {}

    /// `json` with its placeholders filled in. One that is a whole text may be any value.
    public func filled(_ json: JSON) -> JSON {
        switch json {
        case .string(let text):
            let whole = text.string
            if whole.hasPrefix("{"), whole.hasSuffix("}"), let value = value(String(whole.dropFirst().dropLast())) {
                return value
            }
            return .string(Text(filled(whole)))
        case .array(let items): return .array(items.map(filled))
        case .object(let members):
            return .object(
                Dictionary(uniqueKeysWithValues: members.map { (Text(filled($0.key.string)), filled($0.value)) }))
        default: return json
        }
    }

    public func filled(_ text: String) -> String {
        var out = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            out += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            if let value = value(name) {
                out += value.text?.string ?? value.serializedText.string
                rest = rest[rest.index(after: close)...]
            } else {
                out += "{"
                rest = rest[rest.index(after: open)...]
            }
        }
        return out + rest
    }

    private func value(_ name: String) -> JSON? {
        if let value = values[name] { return value }
        let repeated = name.split(separator: "*")
        if repeated.count == 2, let count = Int(repeated[1]) {
            return .string(Text(String(repeating: String(repeated[0]), count: count)))
        }
        let digits = String(name.dropFirst())
        guard let kind = name.first, let letter = ["t": "a", "p": "b", "c": "c"][kind], Int(digits) != nil else {
            return nil
        }
        let zeros = String(repeating: "0", count: 12 - digits.count)
        return .string(Text("\(letter)0000000-0000-4000-8000-\(zeros)\(digits)"))
    }

    /// Where `value` is not what `pattern` says; nil where it is.
    public mutating func mismatch(_ pattern: JSON, _ value: JSON?, at path: String = "answer") -> String? {
        if case .string(let text) = pattern {
            if text == "<absent>" { return value == nil ? nil : "\(path) is there" }
            if text == "*" { return value.map(\.isNull) == false ? nil : "\(path) is missing" }
            if text == "<time>" { return value?.text.map(isTime) == true ? nil : "\(path) is no time" }
            if text.hasPrefix("=") {
                values[String(text.string.dropFirst())] = value ?? .null
                return value == nil ? "\(path) is missing" : nil
            }
        }
        guard let value else { return "\(path) is missing" }
        switch (pattern, value) {
        case (.object(let members), .object(let found)):
            for key in members.keys.sorted() {
                if let problem = mismatch(members[key]!, found[Text(filled(key.string))], at: "\(path).\(key)") {
                    return problem
                }
            }
            return nil
        case (.array(let items), .array(let found)):
            for (index, item) in items.enumerated() {
                let here = index < found.count ? found[index] : nil
                if let problem = mismatch(item, here, at: "\(path)[\(index)]") { return problem }
            }
            if found.count > items.count { return "\(path) has \(found.count) items, not \(items.count)" }
            return nil
        default:
            let expected = filled(pattern)
            if expected == value { return nil }
            return "\(path) is \(value.serializedText), not \(expected.serializedText)"
        }
    }
}

/// `json` with every time of the embedded server's clock, which stands still, as `"<time>"`: for a server whose clock
/// can't be set.
public func withAnyTime(_ json: JSON) -> JSON {
    switch json {
    case .string(let text): isTime(text) ? "<time>" : json
    case .array(let items): .array(items.map(withAnyTime))
    case .object(let members): .object(members.mapValues(withAnyTime))
    default: json
    }
}

/// A time as PostgREST writes it: `2026-11-30T10:00:00.123456+00:00`, without a fraction where there is none.
private func isTime(_ text: Text) -> Bool {
    let bytes = text.bytes
    guard bytes.count >= 25, text.hasSuffix("+00:00") else { return false }
    let shape = Array("dddd-dd-ddTdd:dd:dd".utf8)
    return zip(bytes, shape).allSatisfy { $1 == UInt8(ascii: "d") ? (48...57).contains($0) : $0 == $1 }
}
