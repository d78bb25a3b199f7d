import Model
import Sync

/// Both sides of a task that differ, field by field (`otask diff TASK --server`).
enum SidesText {
    static func render(_ sides: [FieldSides], style: Style) -> String {
        sides.map { side in
            let name = style.bold(ItemText.name(side.field))
            if side.field == .notes, let mine = side.mine?.text, let theirs = side.theirs?.text {
                return name + "\n" + lines(from: theirs, to: mine, style)
            }
            return """
                \(name)
                  \(style.red("server: " + ValueText.side(side.theirs)))
                  \(style.green("here:   " + ValueText.side(side.mine)))

                """
        }.joined(separator: "\n")
    }

    /// The lines that differ, with three lines around them: `-` stands only on the server, `+` only here.
    private static func lines(from old: Text, to new: Text, _ style: Style) -> String {
        let rows = LineDiff.rows(split(old), split(new))
        var out = "  " + style.red("--- server") + "\n  " + style.green("+++ here") + "\n"
        var skipped = false
        for (index, row) in rows.enumerated() {
            let near = rows[max(0, index - 3)...min(rows.count - 1, index + 3)].contains { $0.kind != .same }
            guard near else {
                skipped = true
                continue
            }
            if skipped { out += "  " + style.cyan("...") + "\n" }
            skipped = false
            let text = printable(row.line)
            switch row.kind {
            case .same: out += "    \(text)\n"
            case .removed: out += "  " + style.red("- \(text)") + "\n"
            case .added: out += "  " + style.green("+ \(text)") + "\n"
            }
        }
        return out
    }

    private static func split(_ text: Text) -> [Text] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Text(Substring($0)) }
    }
}

/// The difference of two lists of lines, as one list.
enum LineDiff {
    enum Kind { case same, removed, added }

    struct Row: Equatable {
        var kind: Kind
        var line: Text
    }

    static func rows(_ old: [Text], _ new: [Text]) -> [Row] {
        let difference = new.difference(from: old)
        var removed: Set<Int> = []
        var added: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): added.insert(offset)
            }
        }
        var rows: [Row] = []
        var left = 0
        var right = 0
        while left < old.count || right < new.count {
            if left < old.count, removed.contains(left) {
                rows.append(Row(kind: .removed, line: old[left]))
                left += 1
            } else if right < new.count, added.contains(right) {
                rows.append(Row(kind: .added, line: new[right]))
                right += 1
            } else {
                // Neither removed nor added: the same line on both sides.
                rows.append(Row(kind: .same, line: old[left]))
                left += 1
                right += 1
            }
        }
        return rows
    }
}
