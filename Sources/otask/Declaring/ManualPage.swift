extension Command {
    /// The manual page of the whole program, in man(7) macros.
    var manualPage: String {
        var page = [
            ".TH OTASK 1", ".SH NAME", "otask \\- \(troff(summary))", ".SH SYNOPSIS", ".B otask",
            "[\\-C DIR] COMMAND [ARGUMENT...]", ".SH DESCRIPTION",
        ]
        page += details.flatMap { [".PP", troff($0)] }
        for group in Group.allCases {
            let members = subcommands.filter { $0.group == group }
            guard !members.isEmpty else { continue }
            page.append(".SH " + troff(group.rawValue.uppercased()))
            for member in members { page += member.manualEntries(path: [self]) }
        }
        page.append(".SH OPTIONS OF EVERY COMMAND")
        page += Self.globalOptions.flatMap { [".TP", ".B " + troff($0.spelling), troff($0.help)] }
        page.append(".SH EXIT STATUS")
        page += ExitCode.all.flatMap { [".TP", ".B \($0.number)", troff($0.meaning)] }
        return page.joined(separator: "\n") + "\n"
    }

    private func manualEntries(path: [Command]) -> [String] {
        let line = ParsedLine(path: path + [self], arguments: Arguments())
        if !subcommands.isEmpty { return subcommands.flatMap { $0.manualEntries(path: line.path) } }
        var entry = [".SS " + troff(line.usage), troff(summary) + "."]
        entry += details.flatMap { [".PP", troff($0)] }
        entry += operands.flatMap { [".TP", ".I " + troff($0.name), troff($0.help)] }
        entry += options.flatMap { [".TP", ".B " + troff($0.spelling), troff($0.help)] }
        for example in examples { entry += [".PP", ".EX", troff(example.line), ".EE", troff(example.meaning)] }
        return entry
    }
}

/// Text as troff takes it: no backslash, no hyphen that becomes another character, no line that looks like a request.
private func troff(_ text: String) -> String {
    var out = ""
    for character in text {
        switch character {
        case "\\": out += "\\e"
        case "-": out += "\\-"
        default: out.append(character)
        }
    }
    return out.hasPrefix(".") || out.hasPrefix("'") ? "\\&" + out : out
}
