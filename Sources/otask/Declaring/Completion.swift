/// The completion script of a shell, printed from the declarations.
enum Completion: String, CaseIterable {
    case bash, zsh, fish

    func script(for root: Command) -> String {
        switch self {
        case .bash: BashCompletion(root: root).script
        case .zsh: ZshCompletion(root: root).script
        case .fish: FishCompletion(root: root).script
        }
    }
}

extension Command {
    /// Every command that runs, with the words that lead to it.
    fileprivate var leaves: [(words: [String], command: Command)] {
        subcommands.flatMap { child in
            child.subcommands.isEmpty
                ? [([child.name], child)] : child.leaves.map { ([child.name] + $0.words, $0.command) }
        }
    }

    /// Commands that only lead to others.
    fileprivate var branches: [Command] { subcommands.filter { !$0.subcommands.isEmpty } }

    /// The words that complete an operand of this command; nil: files.
    fileprivate func operandWords(of root: Command) -> [String]? {
        guard let operand = operands.first else { return [] }
        switch operand.kind {
        case .choice(let choices): return choices
        case .setting: return Command.settingKeys
        case .command: return root.subcommands.map(\.name)
        case .task, .directory: return nil
        case .text: return []
        }
    }

    fileprivate var optionWords: [String] { allOptions.flatMap(\.spellings) }
}

extension Option {
    /// The ways to write it, without a value.
    fileprivate var spellings: [String] {
        [name.count > 1 ? "--" + name : nil, short.map { "-\($0)" }].compactMap(\.self)
    }
}

private func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}

private struct BashCompletion {
    let root: Command

    var script: String {
        var lines = [
            "# otask's completion for bash: source it, or put it into ~/.local/share/bash-completion/completions/otask",
            "_otask() {",
            "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' index",
            "    local words='' files=''",
            "    for ((index = 1; index < COMP_CWORD; index++)); do",
            "        case ${COMP_WORDS[index]} in",
            "            \(valued.joined(separator: "|"))) ((index++)) ;;",
            "            -*) ;;",
            "            *)",
            "                case \"$command\" in",
            "                    '') command=${COMP_WORDS[index]} ;;",
            "                    \(root.branches.map(\.name).joined(separator: "|"))) command+=\" ${COMP_WORDS[index]}\" ;;",
            "                esac",
            "                ;;",
            "        esac",
            "    done",
            "    case \"$previous\" in",
        ]
        for (spelling, words) in valueWords {
            lines.append("        \(spelling)) COMPREPLY=(\(reply(words))); return ;;")
        }
        lines += ["    esac", "    case \"$command\" in"]
        lines.append(branch("", root.subcommands.map(\.name) + Command.globalOptions.flatMap(\.spellings)))
        for branch in root.branches { lines.append(self.branch(branch.name, branch.subcommands.map(\.name))) }
        for (words, command) in root.leaves {
            let operands = command.operandWords(of: root)
            let files = operands == nil ? " files=1" : ""
            lines.append(branch(words.joined(separator: " "), (operands ?? []) + command.optionWords, then: files))
        }
        lines += [
            "    esac",
            "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))",
            "    [[ -n $files ]] && COMPREPLY+=($(compgen -f -- \"$current\"))",
            "}",
            "complete -o filenames -F _otask otask",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private func branch(_ name: String, _ words: [String], then: String = "") -> String {
        "        \(quoted(name))) words=\(quoted(words.joined(separator: " ")))\(then) ;;"
    }

    private var allOptions: [Option] { Command.globalOptions + root.leaves.flatMap(\.command.options) }

    private var valued: [String] { unique(allOptions.filter(\.takesValue).flatMap(\.spellings)) }

    /// What may stand behind an option that takes a value; nil: a directory.
    private var valueWords: [(String, [String]?)] {
        unique(allOptions.filter(\.takesValue).flatMap(\.spellings)).map { spelling in
            switch allOptions.first(where: { $0.spellings.contains(spelling) })?.value {
            case .choice(let choices): (spelling, choices)
            case .directory: (spelling, nil)
            default: (spelling, [])
            }
        }
    }

    private func reply(_ words: [String]?) -> String {
        guard let words else { return "$(compgen -d -- \"$current\")" }
        return words.isEmpty ? "" : "$(compgen -W \(quoted(words.joined(separator: " "))) -- \"$current\")"
    }
}

private struct ZshCompletion {
    let root: Command

    var script: String {
        var lines = [
            "#compdef otask", "# otask's completion for zsh: put it into a folder of $fpath, as _otask", "_otask() {",
            "    local -a commands", "    local context state state_descr line", "    typeset -A opt_args",
            "    _arguments -C \(options(Command.globalOptions)) '1: :->command' '*:: :->arguments'",
            "    case $state in", "        command)", "            commands=(\(describe(root.subcommands)))",
            "            _describe command commands ;;", "        arguments)", "            case $words[1] in",
        ]
        for command in root.subcommands {
            lines.append("                \(command.name)) \(arguments(of: command)) ;;")
        }
        lines += ["            esac ;;", "    esac", "}", "compdef _otask otask"]
        return lines.joined(separator: "\n") + "\n"
    }

    private func arguments(of command: Command) -> String {
        if !command.subcommands.isEmpty {
            let rest = unique(command.subcommands.flatMap(\.options).map(\.name)).compactMap { name in
                command.subcommands.flatMap(\.options).first { $0.name == name }
            }
            let names = command.subcommands.map(\.name).joined(separator: " ")
            return "_arguments \(options(rest + Command.globalOptions)) '1:command:(\(names))' '*:task:_files'"
        }
        let operand: String
        switch command.operandWords(of: root) {
        case nil: operand = " '*:file:_files'"
        case let words? where words.isEmpty: operand = ""
        case let words?: operand = " '*: :(\(words.joined(separator: " ")))'"
        }
        return "_arguments \(options(command.allOptions))\(operand)"
    }

    private func options(_ options: [Option]) -> String {
        options.flatMap { option in
            option.spellings.map { spelling in
                let help = option.help.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
                let value: String
                switch option.value {
                case .none: value = ""
                case .choice(let choices): value = ":value:(\(choices.joined(separator: " ")))"
                case .directory: value = ":directory:_files -/"
                case .text(let name), .number(let name, _): value = ":\(name): "
                }
                return quoted("\(spelling)[\(help)]\(value)")
            }
        }.joined(separator: " ")
    }

    private func describe(_ commands: [Command]) -> String {
        commands.map { quoted("\($0.name):\($0.summary)") }.joined(separator: " ")
    }
}

private struct FishCompletion {
    let root: Command

    var script: String {
        var lines = [
            "# otask's completion for fish: put it into ~/.config/fish/completions/otask.fish", "complete -c otask -f",
        ]
        for command in root.subcommands {
            lines.append(line("__fish_use_subcommand", ["-a", command.name, "-d", quoted(command.summary)]))
            let seen = "__fish_seen_subcommand_from \(command.name)"
            for child in command.subcommands {
                lines.append(line(seen, ["-a", child.name, "-d", quoted(child.summary)]))
                for option in child.options { lines.append(self.option(option, seen)) }
            }
            for option in command.options { lines.append(self.option(option, seen)) }
            switch command.operandWords(of: root) {
            case nil: lines.append(line(seen, ["-F"]))
            case let words? where !words.isEmpty:
                lines.append(line(seen, ["-a", quoted(words.joined(separator: " "))]))
            default: break
            }
        }
        for option in Command.globalOptions { lines.append(self.option(option, nil)) }
        return unique(lines).joined(separator: "\n") + "\n"
    }

    private func option(_ option: Option, _ condition: String?) -> String {
        var words: [String] = []
        if option.name.count > 1 { words += ["-l", option.name] }
        if let short = option.short { words += ["-s", String(short)] }
        switch option.value {
        case .none: break
        case .choice(let choices): words += ["-x", "-a", quoted(choices.joined(separator: " "))]
        case .directory: words += ["-x", "-a", quoted("(__fish_complete_directories)")]
        case .text, .number: words.append("-x")
        }
        return line(condition, words + ["-d", quoted(option.help)])
    }

    private func line(_ condition: String?, _ words: [String]) -> String {
        (["complete", "-c", "otask"] + (condition.map { ["-n", quoted($0)] } ?? []) + words).joined(separator: " ")
    }
}

/// The words without repeats, in their order.
private func unique(_ words: [String]) -> [String] {
    var seen: Set<String> = []
    return words.filter { seen.insert($0).inserted }
}
