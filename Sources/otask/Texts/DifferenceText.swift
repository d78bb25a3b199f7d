import Model
import Sync

/// A file in two states, as `git diff` prints it; in colour, the words that differ within a changed line stand out.
enum DifferenceText {
    /// Lines around a change that are shown with it.
    private static let context = 3

    static func render(_ file: FileDifference, style: Style) -> String {
        let old = printable(file.oldPath ?? file.path)
        let new = printable(file.path)
        var head = style.bold("\(file.kind.rawValue) \(old == new ? new : "\(old) -> \(new)")") + "\n"
        let (before, after) = (lines(file.old ?? []), lines(file.new ?? []))
        let rows = LineDiff.rows(before, after)
        let hunks = hunks(rows)
        if hunks.isEmpty { return head }
        head += style.red("--- \(file.old == nil ? "/dev/null" : old)") + "\n"
        head += style.green("+++ \(file.new == nil ? "/dev/null" : new)") + "\n"
        return head + hunks.map { render($0, rows, style) }.joined()
    }

    /// The lines of a text; a line end that isn't a plain one, or that is missing at the end, is shown.
    private static func lines(_ bytes: [UInt8]) -> [Text] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            Text(String(decoding: $0, as: UTF8.self))
        }
        if lines.last == "" {
            lines.removeLast()
        } else if !bytes.isEmpty {
            lines[lines.count - 1] = lines[lines.count - 1] + "\n"
        }
        return lines
    }

    /// Where something differs, with its surroundings, as ranges of the rows.
    private static func hunks(_ rows: [LineDiff.Row]) -> [Range<Int>] {
        var hunks: [Range<Int>] = []
        for (index, row) in rows.enumerated() where row.kind != .same {
            let range = max(0, index - context)..<min(rows.count, index + context + 1)
            if let last = hunks.last, range.lowerBound <= last.upperBound {
                hunks[hunks.count - 1] = last.lowerBound..<range.upperBound
            } else {
                hunks.append(range)
            }
        }
        return hunks
    }

    private static func render(_ hunk: Range<Int>, _ rows: [LineDiff.Row], _ style: Style) -> String {
        func count(_ range: Range<Int>, without kind: LineDiff.Kind) -> Int { rows[range].count { $0.kind != kind } }
        let before = (count(0..<hunk.lowerBound, without: .added), count(hunk, without: .added))
        let after = (count(0..<hunk.lowerBound, without: .removed), count(hunk, without: .removed))
        func numbers(_ part: (Int, Int)) -> String { "\(part.1 == 0 ? part.0 : part.0 + 1),\(part.1)" }
        var text = style.cyan("@@ -\(numbers(before)) +\(numbers(after)) @@") + "\n"
        var index = hunk.lowerBound
        while index < hunk.upperBound {
            if rows[index].kind == .same {
                text += line(" ", rows[index].line) { $0 }
                index += 1
                continue
            }
            // A block of removed and added lines: line by line where there are as many of both.
            var end = index
            while end < hunk.upperBound, rows[end].kind != .same { end += 1 }
            let removed = rows[index..<end].filter { $0.kind == .removed }.map(\.line)
            let added = rows[index..<end].filter { $0.kind == .added }.map(\.line)
            if style.isColoured, removed.count == added.count {
                let words = zip(removed, added).map { WordDiff.mark($0, $1, style) }
                text += words.map { line("-", nil, marked: $0.old, style.red) }.joined()
                text += words.map { line("+", nil, marked: $0.new, style.green) }.joined()
            } else {
                text += removed.map { line("-", $0, style.red) }.joined()
                text += added.map { line("+", $0, style.green) }.joined()
            }
            index = end
        }
        return text
    }

    private static func line(
        _ sign: String, _ line: Text?, marked: String? = nil, _ paint: (String) -> String
    ) -> String {
        if let marked { return paint(sign) + marked + "\n" }
        let line = line ?? ""
        let isUnended = line.hasSuffix("\n")
        let shown = printable(isUnended ? Text(Substring(line.utf8.dropLast())) : line)
        return paint(sign + shown) + "\n" + (isUnended ? "\\ No newline at end of file\n" : "")
    }
}

/// The words that differ between two lines.
enum WordDiff {
    /// Both lines in the colours of their sides, what differs in bold.
    static func mark(_ old: Text, _ new: Text, _ style: Style) -> (old: String, new: String) {
        let rows = LineDiff.rows(tokens(old), tokens(new))
        func side(_ kind: LineDiff.Kind, _ paint: (String) -> String) -> String {
            // Neighbours of one kind in one colour.
            var runs: [(isSame: Bool, text: String)] = []
            for row in rows where row.kind == .same || row.kind == kind {
                let isSame = row.kind == .same
                if runs.last?.isSame != isSame { runs.append((isSame, "")) }
                runs[runs.count - 1].text += printable(row.line)
            }
            return runs.map { $0.isSame ? paint($0.text) : style.bold(paint($0.text)) }.joined()
        }
        return (side(.removed, style.red), side(.added, style.green))
    }

    /// Words, runs of blanks, and every other sign by itself.
    static func tokens(_ line: Text) -> [Text] {
        var tokens: [Text] = []
        var run = ""
        var isWord = false
        for character in line.string where character != "\n" {
            let kind = character.isLetter || character.isNumber
            let joins = !run.isEmpty && (kind ? isWord : !isWord && character == " " && run.last == " ")
            if !joins, !run.isEmpty {
                tokens.append(Text(run))
                run = ""
            }
            run.append(character)
            isWord = kind
        }
        if !run.isEmpty { tokens.append(Text(run)) }
        return tokens
    }
}
