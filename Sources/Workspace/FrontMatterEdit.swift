import Libraries
import Model

/// Changes to front matter that touch the bytes of the changed values and no others.
extension FrontMatter {
    /// A new value of a key.
    enum NewValue {
        case json(JSON)
        /// A word that reads as it stands: `done` in the spelling of the file.
        case word(String)
        case removed

        func yaml(flow: Bool, style: YAMLNode.ScalarStyle = .plain) -> String {
            switch (self, style) {
            case (.json(let value), _): value.yaml(flow: flow, style: style)
            case (.word(let word), .singleQuoted): "'\(word)'"
            case (.word(let word), .doubleQuoted): "\"\(word)\""
            case (.word(let word), _): word
            case (.removed, _): ""
            }
        }

        /// The line of a new key. Null is nothing behind the colon.
        func line(_ key: Text, lineStart: String) -> String {
            if case .json(.null) = self { return yamlPair(key, "", flow: false, lineStart: lineStart) }
            return yamlPair(key, yaml(flow: false), flow: false, lineStart: lineStart)
        }
    }

    /// Keys of otask's own come first, then the person's in the order of their names.
    static func precedes(_ a: Text, _ b: Text) -> Bool {
        let order: [Text] = ["id", "title", "done"]
        return (order.firstIndex(of: a) ?? order.count, a) < (order.firstIndex(of: b) ?? order.count, b)
    }

    /// A whole front matter with these keys.
    static func laidDown(_ values: [Text: NewValue], lineEnd: String) -> String {
        let keys = values.keys.sorted(by: precedes)
        return "---" + lineEnd + keys.map { values[$0]!.line($0, lineStart: lineEnd) + lineEnd }.joined() + "---"
            + lineEnd
    }

    /// The edits value by value; nil where the mapping is written so that it has to be rewritten as a whole.
    func edits(_ changes: [Text: NewValue], in bytes: [UInt8], lineEnd: String) -> [ByteEdit]? {
        if case .mapping(_, flow: true) = root?.kind { return nil }
        let start = root?.range.lowerBound ?? inner.lowerBound
        let indent = bytes[bytes.lineStart(of: start, from: inner.lowerBound)..<start]
        guard indent.allSatisfy({ $0 == UInt8(ascii: " ") }) else { return nil }
        let prefix = String(decoding: indent, as: UTF8.self)
        // Behind the id line otask's own keys, at the end the person's.
        let behindID = entry("id").map { endOfLines($0, bytes) } ?? inner.lowerBound
        var edits: [ByteEdit] = []
        for key in changes.keys.sorted(by: FrontMatter.precedes) {
            let change = changes[key]!
            if let entry = entry(key) {
                guard let edit = edit(entry, change, bytes, lineEnd) else { return nil }
                edits += edit
            } else {
                let place =
                    !FrontMatter.reservedKeys.contains(key)
                    ? inner.upperBound : key == "id" ? inner.lowerBound : behindID
                let line = prefix + change.line(key, lineStart: lineEnd + prefix) + lineEnd
                edits.append(ByteEdit(range: place..<place, bytes: Array(line.utf8)))
            }
        }
        return edits
    }

    /// One edit that writes the mapping anew: of a flow mapping the entries that stay keep their bytes.
    func rewriting(_ changes: [Text: NewValue], in bytes: [UInt8], lineEnd: String) -> [ByteEdit]? {
        guard let root, case .mapping(_, let flow) = root.kind else { return nil }
        let column = root.range.lowerBound - bytes.lineStart(of: root.range.lowerBound, from: inner.lowerBound)
        let lineStart = lineEnd + String(repeating: " ", count: column)
        let added = changes.keys.filter { entry($0) == nil }.sorted(by: FrontMatter.precedes)
        var pairs: [String] = []
        for key in entries.map(\.key) + added {
            switch (entry(key), changes[key]) {
            case (_, .removed?): continue
            case (let entry?, nil) where flow:
                let range = entry.keyRange.lowerBound..<max(entry.keyRange.upperBound, entry.value.range.upperBound)
                pairs.append(String(decoding: bytes[range], as: UTF8.self))
            case (let entry?, nil):
                guard let value = try? JSON(reading: entry.value) else { return nil }
                pairs.append(yamlPair(key, value.yaml(flow: false), flow: false, lineStart: lineStart))
            case (let entry, let change?):
                let style = entry?.value.scalarStyle ?? .plain
                pairs.append(yamlPair(key, change.yaml(flow: flow, style: style), flow: flow, lineStart: lineStart))
            case (nil, nil): continue
            }
        }
        let text = flow ? "{" + pairs.joined(separator: ", ") + "}" : pairs.joined(separator: lineStart)
        return [ByteEdit(range: root.range, bytes: Array(text.utf8))]
    }

    private func edit(_ entry: Entry, _ change: NewValue, _ bytes: [UInt8], _ lineEnd: String) -> [ByteEdit]? {
        let value = entry.value
        func replacing(_ range: Range<Int>, _ text: String) -> [ByteEdit] {
            [ByteEdit(range: range, bytes: Array(text.utf8))]
        }
        switch (change, value.kind) {
        case (.removed, _):
            return replacing(
                bytes.lineStart(of: entry.keyRange.lowerBound, from: inner.lowerBound)..<endOfLines(entry, bytes), "")
        case (.json(.array(let items)), .sequence(_, flow: false)) where !items.isEmpty:
            return block(value, items.map { "- " + $0.yaml(flow: false) }, bytes, lineEnd)
        case (.json(.object(let members)), .mapping(_, flow: false)) where !members.isEmpty:
            return block(
                value, members.sorted { $0.key < $1.key }.map { yamlPair($0, $1.yaml(flow: false), flow: true) }, bytes,
                lineEnd)
        case (_, .sequence(_, flow: false)), (_, .mapping(_, flow: false)):
            // A block collection begins on a line of its own: the value goes behind the colon, those lines go away.
            guard let colon = endOfColon(entry, bytes) else { return nil }
            let start = bytes.lineStart(of: value.range.lowerBound, from: colon)
            guard start > colon else { return nil }
            return replacing(colon..<colon, " " + change.yaml(flow: false))
                + replacing(start..<endOfLines(entry, bytes), "")
        case (.json(.null), .scalar):
            guard let colon = endOfColon(entry, bytes), colon <= value.range.lowerBound,
                bytes.isBlank(colon..<value.range.lowerBound)
            else { return replacing(value.range, value.range.isEmpty ? " null" : "null") }
            return replacing(colon..<value.range.upperBound, headerComment(value, bytes))
        case (_, .scalar) where value.range.isEmpty:
            return replacing(value.range, " " + change.yaml(flow: false))
        default:
            return replacing(
                value.range, change.yaml(flow: false, style: value.scalarStyle) + headerComment(value, bytes))
        }
    }

    /// The items or pairs of a block collection, each on its line, in its column.
    private func block(_ value: YAMLNode, _ lines: [String], _ bytes: [UInt8], _ lineEnd: String) -> [ByteEdit]? {
        let indent = bytes[bytes.lineStart(of: value.range.lowerBound, from: inner.lowerBound)..<value.range.lowerBound]
        guard indent.allSatisfy({ $0 == UInt8(ascii: " ") }) else { return nil }
        let text = lines.joined(separator: lineEnd + String(decoding: indent, as: UTF8.self))
        return [ByteEdit(range: value.range, bytes: Array(text.utf8))]
    }

    /// A comment behind the `|` or `>` of a block scalar, which stays when the text goes.
    private func headerComment(_ value: YAMLNode, _ bytes: [UInt8]) -> String {
        guard value.scalarStyle == .block else { return "" }
        let header = bytes[bytes.line(at: value.range.lowerBound).text.clamped(to: value.range)]
        guard let hash = header.firstIndex(of: UInt8(ascii: "#")) else { return "" }
        return " " + String(decoding: header[hash...], as: UTF8.self)
    }

    /// The place behind the colon of a key on one line.
    private func endOfColon(_ entry: Entry, _ bytes: [UInt8]) -> Int? {
        let rest = bytes[entry.keyRange.upperBound..<inner.upperBound].drop(while: isBlankByte)
        return rest.first == UInt8(ascii: ":") ? rest.startIndex + 1 : nil
    }

    /// The start of the line behind the entry's last one.
    private func endOfLines(_ entry: Entry, _ bytes: [UInt8]) -> Int {
        bytes.line(at: max(entry.keyRange.upperBound, entry.value.range.upperBound)).range.upperBound
    }
}

extension YAMLNode {
    /// Plain for a collection.
    fileprivate var scalarStyle: ScalarStyle { if case .scalar(_, let style) = kind { style } else { .plain } }
}
