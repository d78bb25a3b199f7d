import Libraries

/// A level-1 heading on one line that is the first thing in a body, and not empty: the title.
struct TitleHeading: Sendable, Equatable {
    enum Form: Sendable, Equatable {
        /// `# Title`, perhaps with a closing sequence: the bytes from behind the title to the line end.
        case atx
        /// The title with a line of `=` under it.
        case setext
    }

    let form: Form
    /// The title's bytes, trimmed.
    let text: Range<Int>
    /// The heading's lines with their line ends.
    let lines: Range<Int>

    /// The heading at the first line from `start` that isn't blank (CommonMark 0.30, 4.2 and 4.3).
    static func first(in bytes: [UInt8], from start: Int) -> TitleHeading? {
        var line = bytes.line(at: start)
        while bytes.isBlank(line.text) {
            if line.range.upperBound >= bytes.count { return nil }
            line = bytes.line(at: line.range.upperBound)
        }
        let indented = bytes[line.text].prefix { $0 == UInt8(ascii: " ") }
        guard indented.count <= 3 else { return nil }
        if bytes[indented.endIndex] == UInt8(ascii: "#") { return atx(bytes, line, hash: indented.endIndex) }
        return setext(bytes, line, bytes.line(at: line.range.upperBound))
    }

    private static func atx(_ bytes: [UInt8], _ line: TaskFileLine, hash: Int) -> TitleHeading? {
        let end = line.text.upperBound
        guard hash + 1 < end, isBlankByte(bytes[hash + 1]) else { return nil }
        var content = trimmed(bytes, hash + 1..<end)
        // A closing sequence counts only after a blank, which may be the one behind the opening `#`.
        var closing = content.upperBound
        while closing > content.lowerBound, bytes[closing - 1] == UInt8(ascii: "#") { closing -= 1 }
        if isBlankByte(bytes[closing - 1]) { content = trimmed(bytes, content.lowerBound..<closing) }
        return content.isEmpty ? nil : TitleHeading(form: .atx, text: content, lines: line.range)
    }

    private static func setext(_ bytes: [UInt8], _ line: TaskFileLine, _ underline: TaskFileLine) -> TitleHeading? {
        let indented = bytes[underline.text].prefix { $0 == UInt8(ascii: " ") }
        let rest = bytes[indented.endIndex..<underline.text.upperBound].drop { $0 == UInt8(ascii: "=") }
        guard indented.count <= 3, rest.startIndex > indented.endIndex, rest.allSatisfy(isBlankByte),
            // The first line may be a list, a quote, HTML, a link definition, … as well.
            markdownBeginsWithHeading(bytes[line.text] + [0x0A] + bytes[underline.text] + [0x0A], level: 1)
        else { return nil }
        let text = trimmed(bytes, line.text)
        let lines = line.range.lowerBound..<underline.range.upperBound
        return text.isEmpty ? nil : TitleHeading(form: .setext, text: text, lines: lines)
    }

    /// Without the white space that cmark takes off: at the end vertical tab and form feed too.
    private static func trimmed(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
        var range = range
        while let first = range.first, isBlankByte(bytes[first]) { range = range.dropFirst() }
        while let last = range.last, isBlankByte(bytes[last]) || bytes[last] == 0x0B || bytes[last] == 0x0C {
            range = range.dropLast()
        }
        return range
    }
}
