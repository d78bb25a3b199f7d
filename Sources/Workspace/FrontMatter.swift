import Libraries
import Model

/// The YAML mapping at the start of a file, between a line `---` and a line `---` or `...`. Ranges are of the file.
struct FrontMatter: Sendable {
    struct Entry: Sendable {
        let key: Text
        let keyRange: Range<Int>
        let value: YAMLNode
    }

    /// With both its lines of dashes.
    let range: Range<Int>
    /// What stands between them.
    let inner: Range<Int>
    /// Nil where there is nothing but comments.
    let root: YAMLNode?
    /// In their order; no key is there twice.
    let entries: [Entry]

    subscript(key: Text) -> YAMLNode? { entry(key)?.value }

    func entry(_ key: Text) -> Entry? { entries.first { $0.key == key } }

    /// The front matter that begins at `start`; nil where the first line isn't `---` or no line closes it.
    init?(in bytes: [UInt8], from start: Int) throws(FrontMatterFault) {
        guard let (range, inner) = FrontMatter.fences(in: bytes, from: start) else { return nil }
        self.range = range
        self.inner = inner
        do {
            root = try YAMLNode.parse(bytes[inner])
        } catch {
            throw FrontMatterFault(
                message: "the front matter is no YAML (\(error.message)): correct it, or put the text in quotes",
                offset: error.offset)
        }
        entries = try FrontMatter.entries(of: root)
    }

    /// Whether a text with this first line may be taken for front matter.
    static func isFence(_ line: ArraySlice<UInt8>) -> Bool {
        line.starts(with: "---".utf8) && line.dropFirst(3).allSatisfy(isBlankByte)
    }

    private static func fences(in bytes: [UInt8], from start: Int) -> (range: Range<Int>, inner: Range<Int>)? {
        let first = bytes.line(at: start)
        guard isFence(bytes[first.text]) else { return nil }
        var line = first
        while line.range.upperBound < bytes.count {
            line = bytes.line(at: line.range.upperBound)
            let text = bytes[line.text]
            if isFence(text) || text.starts(with: "...".utf8) && text.dropFirst(3).allSatisfy(isBlankByte) {
                return (start..<line.range.upperBound, first.range.upperBound..<line.range.lowerBound)
            }
        }
        return nil
    }

    private static func entries(of root: YAMLNode?) throws(FrontMatterFault) -> [Entry] {
        guard let root else { return [] }
        guard case .mapping(let pairs, _) = root.kind, root.tag == nil, !root.hasAnchor else {
            throw FrontMatterFault(
                message: "the front matter isn't a mapping of keys to values: write `key: value` lines, "
                    + "or put an empty line above the first `---`",
                offset: root.range.lowerBound)
        }
        var entries: [Entry] = []
        var keys: Set<Text> = []
        for pair in pairs {
            let key = try Text(readingKey: pair.key)
            if !keys.insert(key).inserted { throw FrontMatterFault(repeated: key, pair.key) }
            entries.append(Entry(key: key, keyRange: pair.key.range, value: pair.value))
        }
        return entries
    }
}

/// The keys that mean something.
extension FrontMatter {
    static let reservedKeys: Set<Text> = ["id", "title", "done"]

    /// The person's own keys.
    func properties() throws(FrontMatterFault) -> [Text: JSON] {
        var properties: [Text: JSON] = [:]
        for entry in entries where !FrontMatter.reservedKeys.contains(entry.key) {
            properties[entry.key] = try JSON(reading: entry.value)
        }
        return properties
    }

    /// What `id` says; an empty or null one is none.
    func idLine(in bytes: [UInt8], idsInFiles: Bool) throws(FrontMatterFault) -> TaskFile.IDLine {
        guard let node = self["id"] else { return .none }
        let text = node.text
        if let text, text.isEmpty || (try? JSON(reading: node)) == .null { return .none }
        if let text, let id = ItemID(text) { return .id(id) }
        if idsInFiles {
            throw FrontMatterFault(
                message: "`id` is not a UUID: take the line away, or set `ids: journal` to keep ids of your own",
                offset: node.range.lowerBound)
        }
        return .other(text ?? Text(String(decoding: bytes[node.range], as: UTF8.self)))
    }

    /// The `title:` key, trimmed; nil where it is absent, empty or null.
    func title() throws(FrontMatterFault) -> Text? {
        guard let node = self["title"] else { return nil }
        if case .null = try JSON(reading: node) { return nil }
        guard let title = node.text?.trimmedTitle, title.isOneLine else {
            throw FrontMatterFault(
                message: "`title` has to be a text of one line: write it in quotes", offset: node.range.lowerBound)
        }
        return title.isEmpty ? nil : title
    }

    func done() throws(FrontMatterFault) -> Bool {
        guard let node = self["done"] else { return false }
        guard let text = node.text, let done = DoneSpelling.meaning(of: text) else {
            throw FrontMatterFault(
                message: "`done` has to be true or false (or yes, no, on, off, 1, 0, x)", offset: node.range.lowerBound)
        }
        return done
    }
}

extension YAMLNode {
    /// The value of a scalar as it is, whatever it would mean; nil for anything else and for U+0000.
    fileprivate var text: Text? {
        guard case .scalar(let bytes, _) = kind, !bytes.contains(0), !hasAnchor else { return nil }
        return Text(utf8: bytes)
    }
}

extension Text {
    /// Without blanks, tabs and line ends around it, as the server wants titles.
    var trimmedTitle: Text {
        func isWhite(_ byte: UInt8) -> Bool { isBlankByte(byte) || byte == 0x0A || byte == 0x0D }
        let start = utf8.drop(while: isWhite)
        let end = start.lastIndex { !isWhite($0) }.map { start.index(after: $0) } ?? start.startIndex
        return Text(string[start.startIndex..<end])
    }

    var isOneLine: Bool { !utf8.contains { $0 == 0x0A || $0 == 0x0D } }
}

/// How people write that a task is done, in any case.
enum DoneSpelling {
    private static let pairs = [("true", "false"), ("yes", "no"), ("on", "off"), ("1", "0"), ("x", "false")]

    static func meaning(of text: Text) -> Bool? {
        let word = text.string.lowercased()
        if pairs.contains(where: { $0.0 == word }) { return true }
        return pairs.contains { $0.1 == word } ? false : nil
    }

    /// The word for `done` in the spelling and case of `old`. A cross alone has no counterpart but `false`.
    static func spell(_ done: Bool, as old: Text) -> String {
        let word = old.string.lowercased()
        let (yes, no) = pairs.first { $0.0 == word || $0.1 == word } ?? pairs[0]
        let new = done ? yes : no
        if word.utf8.count > 1, old.string == old.string.uppercased() { return new.uppercased() }
        return old.string.first?.isUppercase == true && word.utf8.count > 1
            ? new.prefix(1).uppercased() + new.dropFirst() : new
    }
}
