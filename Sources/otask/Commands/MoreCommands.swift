/// The version of this program.
let programVersion = "0.1.0"

extension Command {
    static let help = Command(
        name: "help", summary: "explain otask, or one command", options: [.manual],
        operands: [Operand(name: "COMMAND", kind: .command, count: .any, help: "a command, and its subcommand")],
        examples: [
            .init(line: "otask help sync", meaning: "the same as \"otask sync --help\""),
            .init(line: "otask help --man > otask.1", meaning: "the manual page"),
        ],
        action: { invocation in
            if invocation.arguments.has(.manual) {
                invocation.print(invocation.root.manualPage)
                return .done
            }
            let line = try invocation.root.parse(invocation.arguments.operands + ["--help"])
            invocation.print(line.help(width: invocation.environment.width, style: invocation.style))
            return .done
        })

    static let completion = Command(
        name: "completion", summary: "print the completion script of a shell",
        operands: [
            Operand(name: "SHELL", kind: .choice(Completion.allCases.map(\.rawValue)), help: "bash, zsh or fish")
        ],
        examples: [
            .init(
                line: "otask completion bash > ~/.local/share/bash-completion/completions/otask",
                meaning: "for every bash from the next on")
        ],
        action: { invocation in
            if let shell = Completion(rawValue: invocation.arguments.operands[0]) {
                invocation.print(shell.script(for: invocation.root))
            }
            return .done
        })

    static let version = Command(
        name: "version", summary: "print the version", options: [.json],
        examples: [.init(line: "otask version", meaning: "otask \(programVersion)")],
        action: { invocation in
            if invocation.wantsJSON {
                invocation.print(["format": 1, "version": .string(.init(programVersion))])
            } else {
                invocation.print("otask \(programVersion)")
            }
            return .done
        })
}

extension Option {
    fileprivate static let manual = Option(name: "man", help: "print the manual page, for man(1)")
}
