import Sync

/// What a command line said, checked against the command's declaration.
struct Arguments: Sendable {
    private(set) var values: [String: [String]] = [:]
    private(set) var operands: [String] = []

    func has(_ option: Option) -> Bool { values[option.name] != nil }

    /// The value of an option; the last one counts where it was given twice.
    func value(_ option: Option) -> String? { values[option.name]?.last }

    func number(_ option: Option) -> Int? { value(option).flatMap { Int($0) } }

    mutating func add(_ option: Option, _ value: String = "") { values[option.name, default: []].append(value) }

    mutating func add(operand: String) { operands.append(operand) }
}

/// A command line, understood.
struct ParsedLine: Sendable {
    /// From the root to the command that runs.
    var path: [Command]
    var arguments: Arguments

    var command: Command { path[path.count - 1] }

    /// `otask changes list`
    var name: String { path.map(\.name).joined(separator: " ") }

    /// How a message names it, behind `otask:`.
    fileprivate var label: String { path.count == 1 ? name : path.dropFirst().map(\.name).joined(separator: " ") }
}

extension Command {
    /// Understands the arguments behind the program's name. A request for help is understood before anything else is
    /// checked.
    func parse(_ words: [String]) throws(Failure) -> ParsedLine {
        var line = ParsedLine(path: [self], arguments: Arguments())
        var rest = words[...]
        var optionsEnded = false
        while let word = rest.popFirst() {
            if !optionsEnded, word == "--" {
                optionsEnded = true
            } else if !optionsEnded, word.hasPrefix("--") {
                try line.readLong(word, &rest)
            } else if !optionsEnded, word.hasPrefix("-"), word != "-" {
                try line.readShort(word, &rest)
            } else if line.arguments.operands.isEmpty, !line.command.subcommands.isEmpty {
                try line.descend(to: word)
            } else {
                line.arguments.add(operand: word)
            }
        }
        if line.arguments.has(.help) { return line }
        if line.path.count > 1, let first = line.command.subcommands.first { line.path.append(first) }
        try line.checkOperands()
        return line
    }
}

extension ParsedLine {
    fileprivate mutating func descend(to word: String) throws(Failure) {
        if let next = command.subcommand(word) {
            path.append(next)
            return
        }
        let near = suggestions(for: word, among: command.subcommands.map(\.name)).map {
            "did you mean \"\(name) \($0)\"?"
        }
        let help = path.count > 1 ? "otask help \(command.name)" : "otask help"
        throw .usage(
            "\"\(printable(word))\" is no command of \(name)", hints: near.isEmpty ? ["\"\(help)\" lists them"] : near)
    }

    fileprivate mutating func readLong(_ word: String, _ rest: inout ArraySlice<String>) throws(Failure) {
        let body = word.dropFirst(2)
        let parts = body.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard name.count > 1, let option = option(where: { $0.name == name }) else {
            throw unknown("--" + name)
        }
        if !option.takesValue {
            guard parts.count == 1 else { throw .usage("--\(name) takes no value") }
            arguments.add(option)
        } else if parts.count == 2 {
            try take(String(parts[1]), for: option)
        } else {
            try takeNext(for: option, &rest)
        }
    }

    /// `-q`, several flags in one (`-qh`), or one with its value (`-C DIR`, `-CDIR`).
    fileprivate mutating func readShort(_ word: String, _ rest: inout ArraySlice<String>) throws(Failure) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = option(where: { $0.short == letter }) else {
                throw unknown("-\(letter)")
            }
            if !option.takesValue {
                arguments.add(option)
            } else if letters.isEmpty {
                try takeNext(for: option, &rest)
            } else {
                try take(String(letters), for: option)
                return
            }
        }
    }

    /// The option of the command so far; one that only its first subcommand has means that subcommand.
    private mutating func option(where matches: (Option) -> Bool) -> Option? {
        if let option = command.allOptions.first(where: matches) { return option }
        guard path.count > 1, let first = command.subcommands.first, let option = first.options.first(where: matches)
        else { return nil }
        path.append(first)
        return option
    }

    private mutating func takeNext(for option: Option, _ rest: inout ArraySlice<String>) throws(Failure) {
        guard let value = rest.popFirst() else {
            throw .usage("\(option.flag) needs a value: \(option.spelling)")
        }
        try take(value, for: option)
    }

    private mutating func take(_ value: String, for option: Option) throws(Failure) {
        switch option.value {
        case .number(_, let range):
            guard let number = Int(value), range.contains(number) else {
                throw .usage("\(option.flag) needs a number from \(range.lowerBound) on, not \"\(printable(value))\"")
            }
        case .choice(let choices):
            guard choices.contains(value) else { throw .badChoice(value, for: option.flag, choices) }
        case .none, .text, .directory: break
        }
        arguments.add(option, value)
    }

    private func unknown(_ flag: String) -> Failure {
        let flags = command.allOptions.flatMap { option in
            [option.name.count > 1 ? "--" + option.name : nil, option.short.map { "-\($0)" }].compactMap(\.self)
        }
        let near = flag.hasPrefix("--") ? suggestions(for: flag, among: flags).map { "did you mean \($0)?" } : []
        let help =
            path.count == 1
            ? "\"otask help\" lists the commands and what every command takes" : "\"\(name) --help\" lists its options"
        return .usage("\(label) has no option \(printable(flag))", hints: near.isEmpty ? [help] : near)
    }

    fileprivate func checkOperands() throws(Failure) {
        var rest = arguments.operands[...]
        for operand in command.operands {
            switch operand.count {
            case .one, .some:
                guard rest.popFirst() != nil else {
                    throw .usage("\(label) needs \(operand.name): \(operand.help)", hints: ["usage: \(usage)"])
                }
                if case .some = operand.count { rest = [] }
            case .optional: _ = rest.popFirst()
            case .any: rest = []
            }
        }
        for (operand, given) in zip(command.operands, arguments.operands) {
            if case .choice(let choices) = operand.kind, !choices.contains(given) {
                throw .badChoice(given, for: label, choices)
            }
        }
        if let extra = rest.first {
            let hint = command.operands.isEmpty ? "it takes options only" : "a text with blanks needs quotes"
            throw .usage("\(label): one argument too many, \"\(printable(extra))\"", hints: [hint, "usage: \(usage)"])
        }
    }
}

extension Failure {
    fileprivate static func badChoice(_ value: String, for owner: String, _ choices: [String]) -> Failure {
        let near = suggestions(for: value, among: choices).map { "did you mean \($0)?" }
        return .usage(
            "\(owner) takes \(choices.joined(separator: ", ")), not \"\(printable(value))\"", hints: near)
    }
}
