import Model

/// One `key: value` line of a configuration file: the part of YAML 1.2 that a table of dotted keys needs.
struct ConfigLine {
    var key: Text
    /// Nil where nothing stands behind the colon.
    var value: Text?
    /// Counted from 1.
    var number: Int

    /// The lines of a file that say something. Indented lines, and lists, are part of the key above them: where that is
    /// a key of ours it is an error, else they are passed over.
    static func read(_ source: Text) throws(ConfigError) -> [ConfigLine] {
        var lines: [ConfigLine] = []
        for (index, raw) in source.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            let number = index + 1
            let bytes = Array(raw.last == UInt8(ascii: "\r") ? raw.dropLast() : raw)
            let content = trim(bytes[...])
            guard let first = content.first, first != UInt8(ascii: "#") else { continue }
            if lines.isEmpty, content.elementsEqual("---".utf8) { continue }
            if bytes[0] == UInt8(ascii: " ") || bytes[0] == UInt8(ascii: "\t") || first == UInt8(ascii: "-") {
                guard let last = lines.last, Setting.named(last.key.string) == nil else {
                    throw ConfigError("a line of its own is expected: key: value", line: number)
                }
                continue
            }
            let line = try parse(content, number: number)
            guard !lines.contains(where: { $0.key == line.key }) else {
                throw ConfigError("the key \(line.key) stands here a second time", line: number)
            }
            lines.append(line)
        }
        return lines
    }

    /// `source` with the value of `key` replaced, or a line added at its end; nil takes the line out.
    static func setting(_ key: Text, to value: Text?, in source: Text) throws(ConfigError) -> Text {
        var raws = source.string.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(
            Array.init)
        let found = try read(source).first { $0.key == key }
        if let found, let value {
            let old = raws[found.number - 1]
            raws[found.number - 1] = (key + ": " + written(value)).bytes + trailer(of: old)
        } else if let found {
            raws.remove(at: found.number - 1)
        } else if let value {
            if raws.last == [] { raws.removeLast() }
            raws += [(key + ": " + written(value)).bytes, []]
        }
        return Text(String(decoding: Array(raws.joined(separator: [UInt8(ascii: "\n")])), as: UTF8.self))
    }

    /// The comment behind a value, with the blanks before it, and the line end.
    private static func trailer(of line: [UInt8]) -> [UInt8] {
        let end = line.last == UInt8(ascii: "\r") ? 1 : 0
        let body = line.dropLast(end)
        guard let colon = body.firstIndex(of: UInt8(ascii: ":")) else { return Array(line.suffix(end)) }
        var start = valueEnd(body[(colon + 1)...])
        if body[start...].contains(UInt8(ascii: "#")) == false { start = body.endIndex }
        return Array(body[start...]) + line.suffix(end)
    }

    private static func parse(_ line: ArraySlice<UInt8>, number: Int) throws(ConfigError) -> ConfigLine {
        let expected = ConfigError("not understood; write key: value", line: number)
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let key = Text(utf8: trim(line[..<colon])), !key.isEmpty,
            colon + 1 == line.endIndex || line[colon + 1] == UInt8(ascii: " ") || line[colon + 1] == UInt8(ascii: "\t")
        else { throw expected }
        let rest = line[(colon + 1)...]
        let end = valueEnd(rest)
        let after = trim(rest[end...])
        guard after.isEmpty || after.first == UInt8(ascii: "#"), let text = Text(utf8: trim(rest[..<end])) else {
            throw expected
        }
        return ConfigLine(key: key, value: try scalar(text, or: expected), number: number)
    }

    /// Where a value ends: behind the closing quote, or before the blanks of a comment.
    private static func valueEnd(_ rest: ArraySlice<UInt8>) -> Int {
        guard let start = rest.firstIndex(where: { !isBlank($0) }) else { return rest.endIndex }
        let quote = rest[start]
        if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            var index = start + 1
            while index < rest.endIndex {
                if quote == UInt8(ascii: "\""), rest[index] == UInt8(ascii: "\\") {
                    index += 1
                } else if rest[index] == quote {
                    let next = index + 1
                    guard quote == UInt8(ascii: "'"), next < rest.endIndex, rest[next] == quote else { return next }
                    index += 1
                }
                index += 1
            }
            return rest.endIndex
        }
        if quote == UInt8(ascii: "#"), start > rest.startIndex { return rest.startIndex }
        var end = rest.endIndex
        for index in rest.indices.dropFirst() where rest[index] == UInt8(ascii: "#") && isBlank(rest[index - 1]) {
            end = index
            break
        }
        while end > start, isBlank(rest[end - 1]) { end -= 1 }
        return end
    }

    private static func scalar(_ text: Text, or error: ConfigError) throws(ConfigError) -> Text? {
        guard let first = text.utf8.first else { return nil }
        switch first {
        case UInt8(ascii: "\""):
            // A double-quoted scalar of one line is JSON, but for escapes that JSON doesn't know (YAML 1.2, 7.3.1).
            guard let value = try? JSON(parsing: text).text else { throw error }
            return value
        case UInt8(ascii: "'"):
            guard text.utf8.count >= 2, text.hasSuffix("'") else { throw error }
            return unquoted(text.bytes.dropFirst().dropLast())
        case _ where "[]{}&*!|>%@`,".utf8.contains(first): throw error
        default: return text == "~" || text == "null" ? nil : text
        }
    }

    /// In single quotes, two stand for one.
    private static func unquoted(_ bytes: ArraySlice<UInt8>) -> Text {
        var out: [UInt8] = []
        var pending = false
        for byte in bytes {
            if byte == UInt8(ascii: "'"), !pending {
                pending = true
                continue
            }
            out.append(byte)
            pending = false
        }
        return Text(String(decoding: out, as: UTF8.self))
    }

    /// A value as it is written: plain where it reads back the same, else in double quotes.
    private static func written(_ value: Text) -> Text {
        let plain = value.utf8.allSatisfy { byte in
            byte >= 0x80 || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
                || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "/._-+:=".utf8.contains(byte)
        }
        let first = value.utf8.first ?? 0
        let words: [Text] = ["null", "~", "true", "false", "yes", "no", "on", "off"]
        let safe =
            plain && !value.isEmpty && first != UInt8(ascii: "-") && !value.hasSuffix(":") && !words.contains(value)
        return safe ? value : JSON.string(value).serializedText
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func trim(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let start = bytes.firstIndex(where: { !isBlank($0) }) else { return bytes[bytes.endIndex...] }
        let end = bytes.lastIndex { !isBlank($0) } ?? start
        return bytes[start...end]
    }
}
