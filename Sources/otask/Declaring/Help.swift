extension ParsedLine {
    /// `otask changes discard [OPTION...] TASK...`
    var usage: String {
        var words = [name]
        if command.subcommands.isEmpty {
            if !command.options.isEmpty { words.append("[OPTION...]") }
            words += command.operands.map(\.usage)
        } else if path.count == 1 {
            words += ["[-C DIR]", "COMMAND", "[ARGUMENT...]"]
        } else {
            words.append("[" + command.subcommands.map(\.name).joined(separator: "|") + "]")
        }
        return words.joined(separator: " ")
    }

    /// The text of `--help`, folded to `width` columns.
    func help(width: Int, style: Style) -> String {
        let columns = min(max(width, 40), 100)
        var blocks = [fold("\(name): \(command.summary)", columns), "usage: \(usage)"]
        blocks += command.details.map { fold($0, columns) }
        if path.count == 1 {
            for group in Command.Group.allCases {
                let rows = command.subcommands.filter { $0.group == group }.map { ($0.name, $0.summary) }
                if !rows.isEmpty { blocks.append(style.bold(group.rawValue) + "\n" + table(rows, columns)) }
            }
        } else if !command.subcommands.isEmpty {
            blocks.append(
                style.bold("Commands") + "\n" + table(command.subcommands.map { ($0.name, $0.summary) }, columns))
        }
        if !command.operands.isEmpty {
            blocks.append(style.bold("Arguments") + "\n" + table(command.operands.map { ($0.name, $0.help) }, columns))
        }
        blocks.append(style.bold("Options") + "\n" + table(command.allOptions.map { ($0.spelling, $0.help) }, columns))
        if !command.examples.isEmpty {
            let lines = command.examples.map { "  \($0.line)\n" + fold($0.meaning, columns, indent: 6) }
            blocks.append(style.bold("Examples") + "\n" + lines.joined(separator: "\n"))
        }
        if path.count == 1 { blocks.append("\"otask help COMMAND\" explains one command.") }
        return blocks.joined(separator: "\n\n") + "\n"
    }

    /// Two columns, the second folded.
    private func table(_ rows: [(String, String)], _ columns: Int) -> String {
        let left = min(rows.map(\.0.count).max() ?? 0, 24)
        return rows.map { name, text in
            let folded = fold(text, columns, indent: left + 4)
            if name.count > left { return "  \(name)\n\(folded)" }
            let gap = String(repeating: " ", count: left - name.count + 2)
            return "  \(name)\(gap)\(folded.drop { $0 == " " })"
        }.joined(separator: "\n")
    }
}

/// `text` in lines of at most `columns`, each behind `indent` blanks. Only words of one-column letters are measured.
func fold(_ text: String, _ columns: Int, indent: Int = 0) -> String {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
        if !line.isEmpty, indent + line.count + 1 + word.count > columns {
            lines.append(margin + line)
            line = ""
        }
        line += (line.isEmpty ? "" : " ") + word
    }
    lines.append(margin + line)
    return lines.joined(separator: "\n")
}
