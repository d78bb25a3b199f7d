import Libraries
import Model

/// What is wrong in a front matter, and at which byte of the file.
struct FrontMatterFault: Error, Equatable {
    let message: String
    let offset: Int
}

/// Values of front matter, read by otask's rules and not by YAML's: `yes`, dates, `007` and `1.10` are texts.
extension JSON {
    /// At most this many digits make a plain number: more would not survive a program that has only doubles.
    static let plainDigits = 15
    /// Levels of nesting in all own keys, which are one level themselves.
    static let propertiesDepth = 32

    /// The value of a node at this level of nesting (1 for the value of a key). Throws for what isn't kept: an alias, an
    /// anchor, a tag other than `!!int`, `!!float` and `!!str`, a repeated or non-text key, U+0000, a number past 1e1000.
    init(reading node: YAMLNode, depth: Int = 1) throws(FrontMatterFault) {
        func fault(_ message: String) -> FrontMatterFault {
            FrontMatterFault(message: message, offset: node.range.lowerBound)
        }
        if node.hasAnchor { throw fault("an anchor (`&`) isn't kept: take it away and write the value out") }
        switch node.kind {
        case .alias: throw fault("an alias (`*`) isn't kept: write the value out")
        case .scalar(let bytes, let style):
            guard let text = Text(utf8: bytes), !bytes.contains(0) else {
                throw fault("a text holds U+0000, which can't be kept: take it out")
            }
            self = try JSON.scalar(text, style, tag: node.tag, fault)
        case .sequence(let items, _):
            try JSON.checkCollection(node.tag, depth, fault)
            var values: [JSON] = []
            for item in items { values.append(try JSON(reading: item, depth: depth + 1)) }
            self = .array(values)
        case .mapping(let pairs, _):
            try JSON.checkCollection(node.tag, depth, fault)
            var members: [Text: JSON] = [:]
            for pair in pairs {
                let key = try Text(readingKey: pair.key)
                if members[key] != nil { throw FrontMatterFault(repeated: key, pair.key) }
                members[key] = try JSON(reading: pair.value, depth: depth + 1)
            }
            self = .object(members)
        }
    }

    private static func checkCollection(
        _ tag: String?, _ depth: Int, _ fault: (String) -> FrontMatterFault
    ) throws(FrontMatterFault) {
        if let tag { throw fault("the tag `\(tag)` isn't kept: take it away") }
        if depth >= propertiesDepth { throw fault("lists and mappings are nested more than \(propertiesDepth) deep") }
    }

    private static func scalar(
        _ text: Text, _ style: YAMLNode.ScalarStyle, tag: String?, _ fault: (String) -> FrontMatterFault
    ) throws(FrontMatterFault) -> JSON {
        switch tag {
        case nil: return style == .plain ? JSON(plain: text) : .string(text)
        case "!", "tag:yaml.org,2002:str": return .string(text)
        case "tag:yaml.org,2002:int", "tag:yaml.org,2002:float":
            guard isNumber(text) else { throw fault("`\(text)` is no number: correct it or take the tag away") }
            guard isWithinRange(text) else { throw fault("the number goes beyond 1e1000: put it in quotes") }
            return .number(text)
        case let tag?: throw fault("the tag `\(tag)` isn't kept: take it away")
        }
    }

    /// A plain scalar: null, true or false, a number of at most 15 digits in its shortest form, else a text.
    init(plain text: Text) {
        switch text {
        case "", "~", "null": self = .null
        case "true": self = .bool(true)
        case "false": self = .bool(false)
        default: self = JSON.isPlainNumber(text) ? .number(text) : .string(text)
        }
    }

    /// `-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?` with at most 15 digits.
    static func isPlainNumber(_ text: Text) -> Bool {
        guard text.utf8.count <= plainDigits + 2, isNumber(text) else { return false }
        let digits = text.utf8.count { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        let fraction = text.utf8.contains(UInt8(ascii: "."))
        let exponent = text.utf8.contains { $0 | 0x20 == UInt8(ascii: "e") }
        return digits <= plainDigits && !exponent && !(fraction && text.utf8.last == UInt8(ascii: "0"))
    }

    /// A number of JSON (RFC 8259, 6).
    static func isNumber(_ text: Text) -> Bool {
        var rest = text.utf8[...]
        func digits() -> Int {
            let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            rest = rest[digits.endIndex...]
            return digits.count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let zero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        if whole == 0 || zero && whole > 1 { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            if digits() == 0 { return false }
        }
        if let e = rest.first, e | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest = rest.dropFirst() }
            if digits() == 0 { return false }
        }
        return rest.isEmpty
    }

    /// Whether a number is at most 1e1000 and has at most 1,000 places behind the point: PostgreSQL refuses far greater
    /// ones with an error of the whole call, and writes each of these out in full.
    static func isWithinRange(_ number: Text) -> Bool {
        let exponent = number.utf8.drop { $0 | 0x20 != UInt8(ascii: "e") }
        guard number.utf8.count <= 2_010, exponent.count <= 8 else { return false }
        let value = DecimalText(number)
        let magnitude = value.digits.count + value.exponent - 1
        return value.exponent >= -1000 && (magnitude < 1000 || magnitude == 1000 && value.digits == [1])
    }
}

extension Text {
    /// The key of a mapping. Throws for one that isn't a text (a number, `true`, a list) and for a merge key.
    init(readingKey node: YAMLNode) throws(FrontMatterFault) {
        guard case .string(let key) = try JSON(reading: node) else {
            throw FrontMatterFault(
                message: "a key that isn't a text can't be kept: put it in quotes", offset: node.range.lowerBound)
        }
        if key == "<<", case .scalar(_, .plain) = node.kind {
            throw FrontMatterFault(
                message: "a merge key (`<<`) isn't kept: write the values out", offset: node.range.lowerBound)
        }
        self = key
    }
}

extension FrontMatterFault {
    init(repeated key: Text, _ node: YAMLNode) {
        self.init(message: "the key `\(key)` is there twice: take one away", offset: node.range.lowerBound)
    }
}
