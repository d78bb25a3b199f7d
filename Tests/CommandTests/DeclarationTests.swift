import Libraries
import Testing

@testable import otask

/// Every command that runs, with the words that lead to it.
private func leaves(_ command: Command, _ words: [String] = []) -> [(words: [String], command: Command)] {
    command.subcommands.isEmpty
        ? [(words, command)] : command.subcommands.flatMap { leaves($0, words + [$0.name]) }
}

@Suite struct `The declarations` {
    @Test func `give every command a summary, an example and help that fits eighty columns`() throws {
        for (words, command) in leaves(.root) {
            #expect(!command.summary.isEmpty && !command.summary.hasSuffix("."), "\(words)")
            #expect(!command.examples.isEmpty, "\(words)")
            let help = try Command.root.parse(words + ["--help"]).help(width: 80, style: .plain)
            for line in help.split(separator: "\n") where line.count > 80 {
                // An example is one line, however long.
                #expect(command.examples.contains { line.contains($0.line) }, "\(words): \(line)")
            }
        }
    }

    @Test func `give examples that parse`() throws {
        for (words, command) in leaves(.root) {
            for example in command.examples {
                let line = example.line.prefix { $0 != ">" && $0 != "<" }
                let parsed = try Command.root.parse(shellWords(line).dropFirst().map { $0 })
                // `otask config` runs `otask config list`.
                #expect(parsed.path.dropFirst().map(\.name) == words, "\(example.line)")
            }
        }
    }

    @Test func `use no name of an option twice in one command`() {
        for (words, command) in leaves(.root) {
            let names = command.allOptions.map(\.name)
            #expect(Set(names).count == names.count, "\(words)")
            let letters = command.allOptions.compactMap(\.short)
            #expect(Set(letters).count == letters.count, "\(words)")
        }
    }

    @Test func `appear in every completion and in the manual page`() {
        let scripts = Completion.allCases.map { $0.script(for: .root) }
        let page = Command.root.manualPage
        for (words, command) in leaves(.root) {
            for name in words { #expect(scripts.allSatisfy { $0.contains(name) }, "\(name)") }
            for option in command.options {
                #expect(scripts.allSatisfy { $0.contains(option.name) }, "\(option.name)")
                #expect(page.contains(option.name.split(separator: "-").joined(separator: "\\-")), "\(option.name)")
            }
        }
        for code in ExitCode.all { #expect(page.contains(".B \(code.number)\n")) }
    }

    @Test func `print a bash script that bash can read`() throws {
        let shell = try Shell()
        try shell.write(Completion.bash.script(for: .root), to: "completion.bash")
        #expect(try Console.run(editor: "bash -n", path: shell.directory + "/completion.bash") == 0)
    }

    @Test func `print help as this`() async throws {
        let shell = try Shell()
        let answer = await shell("changes", "dismiss", "--help")
        #expect(
            answer.output == """
                otask changes dismiss: give up refused edits and deletions: the server's state
                returns

                usage: otask changes dismiss [OPTION...] TASK...

                A refused new file stays, kept here only, until it changes.

                Arguments
                  TASK  a path as "otask changes list" shows it, or any TASK

                Options
                  --remove                  also remove a refused new file
                  --json                    print one JSON document
                  -C DIR                    run as if otask was started in DIR
                  --color auto|always|never
                                            colour: auto (on a terminal, unless NO_COLOR is
                                            set), always or never
                  -q, --quiet               print only what was asked for, and what is wrong
                  -h, --help                show this help

                Examples
                  otask changes dismiss tasks/fence.md
                      agree with the server

                """)
        #expect(answer.code == 0)
        #expect(await shell("help", "changes", "dismiss") == answer)
    }

    /// The words of a command line with double quotes.
    private func shellWords(_ line: Substring) -> [String] {
        var words: [String] = []
        for (index, part) in line.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            if index % 2 == 1 {
                words.append(String(part))
            } else {
                words += part.split(separator: " ").map(String.init)
            }
        }
        return words
    }
}
