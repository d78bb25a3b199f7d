import Sync
import Testing

@testable import otask

@Suite struct `The command line` {
    struct Understood: Sendable {
        var words: [String]
        var name: String
        var operands: [String] = []
        var options: [String: [String]] = [:]
    }

    @Test(arguments: [
        Understood(words: ["status"], name: "otask status"),
        Understood(words: ["changes"], name: "otask changes list"),
        Understood(words: ["changes", "--json"], name: "otask changes list", options: ["json": [""]]),
        Understood(words: ["changes", "discard", "a.md"], name: "otask changes discard", operands: ["a.md"]),
        Understood(words: ["push", "-nv"], name: "otask push", options: ["dry-run": [""], "verbose": [""]]),
        Understood(
            words: ["-C", "dir", "push", "--allow-deletions=12", "x"], name: "otask push", operands: ["x"],
            options: ["C": ["dir"], "allow-deletions": ["12"]]),
        Understood(words: ["push", "-qCdir"], name: "otask push", options: ["quiet": [""], "C": ["dir"]]),
        Understood(
            words: ["new", "--notes", "-", "--", "--json"], name: "otask new", operands: ["--json"],
            options: ["notes": ["-"]]),
        Understood(words: ["new", "--notes=", "a"], name: "otask new", operands: ["a"], options: ["notes": [""]]),
        Understood(
            words: ["list", "--search", "a", "--search", "b"], name: "otask list", options: ["search": ["a", "b"]]),
        Understood(words: ["show", "-"], name: "otask show", operands: ["-"]),
    ])
    func `is understood by the command's declaration`(_ expected: Understood) throws {
        let line = try Command.root.parse(expected.words)
        #expect(line.name == expected.name)
        #expect(line.arguments.operands == expected.operands)
        #expect(line.arguments.values == expected.options)
    }

    struct Mistake: Sendable {
        var words: [String]
        var message: String
        var hints: [String]
    }

    @Test(arguments: [
        Mistake(
            words: ["stauts"], message: "\"stauts\" is no command of otask", hints: ["did you mean \"otask status\"?"]),
        Mistake(
            words: ["frobnicate"], message: "\"frobnicate\" is no command of otask",
            hints: ["\"otask help\" lists them"]),
        Mistake(
            words: ["changes", "discrad"], message: "\"discrad\" is no command of otask changes",
            hints: ["did you mean \"otask changes discard\"?"]),
        Mistake(
            words: ["push", "--dryrun"], message: "push has no option --dryrun", hints: ["did you mean --dry-run?"]),
        Mistake(
            words: ["push", "-x"], message: "push has no option -x", hints: ["\"otask push --help\" lists its options"]),
        Mistake(words: ["push", "--dry-run=yes"], message: "--dry-run takes no value", hints: []),
        Mistake(words: ["push", "--wait"], message: "--wait needs a value: --wait SECONDS", hints: []),
        Mistake(
            words: ["push", "--wait", "soon"], message: "--wait needs a number from 0 on, not \"soon\"", hints: []),
        Mistake(
            words: ["--color", "alway", "list"], message: "--color takes auto, always, never, not \"alway\"",
            hints: ["did you mean always?"]),
        Mistake(
            words: ["completion", "tcsh"], message: "completion takes bash, zsh, fish, not \"tcsh\"",
            hints: []),
        Mistake(
            words: ["show"], message: "show needs TASK: a path, a unique part of a title, or the start of an id",
            hints: ["usage: otask show [OPTION...] TASK"]),
        Mistake(
            words: ["new", "Buy", "milk"], message: "new: one argument too many, \"milk\"",
            hints: ["a text with blanks needs quotes", "usage: otask new [OPTION...] TITLE"]),
        Mistake(
            words: ["status", "now"], message: "status: one argument too many, \"now\"",
            hints: ["it takes options only", "usage: otask status [OPTION...]"]),
    ])
    func `says what is wrong with it, and what was near`(_ expected: Mistake) {
        #expect(throws: Failure.usage(expected.message, hints: expected.hints)) {
            try Command.root.parse(expected.words)
        }
    }

    @Test func `asks for help before anything else is checked`() throws {
        #expect(try Command.root.parse(["show", "--help"]).arguments.has(.help))
        #expect(try Command.root.parse(["changes", "-h"]).command.name == "changes")
    }

    @Test(
        arguments: [
            ("status", "status", 0), ("stauts", "status", 1), ("statu", "status", 1), ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
        ] as [(String, String, Int)])
    func `measures how far two words are apart`(_ a: String, _ b: String, _ distance: Int) {
        #expect(editDistance(a, b) == distance)
        #expect(editDistance(b, a) == distance)
    }
}
