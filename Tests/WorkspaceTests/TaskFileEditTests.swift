import Model
import Testing

@testable import Workspace

private let id = ItemID("3f0c9d5e-0f5e-4d0e-9d5c-0f9f4f6f3a10")!

private func edit(_ text: String, _ edit: TaskEdit, name: Text = "name", newName: Text? = nil) throws -> String {
    let file = try TaskFile.parse(Array(text.utf8), name: name, idsInFiles: true)
    return String(decoding: try file.editing(edit, name: newName ?? name), as: UTF8.self)
}

/// Compares by bytes: to Swift `\r\n` is one character.
private func expect(_ result: String, _ expected: String, location: SourceLocation = #_sourceLocation) {
    #expect(Text(result) == Text(expected), "\(result.debugDescription)", sourceLocation: location)
}

/// Edits of the title, the id and `done`: which bytes change.
@Suite struct TaskFileEditTests {
    @Test(
        arguments: [
            // The key.
            ("---\ntitle: Old # c\n---\nx\n", "New", "---\ntitle: New # c\n---\nx\n"),
            ("---\ntitle: 'Old'\n---\n", "It's", "---\ntitle: 'It''s'\n---\n"),
            ("---\ntitle: \"Old\"\n---\n", "a \"b\"", "---\ntitle: \"a \\\"b\\\"\"\n---\n"),
            ("---\ntitle: Old\n---\n", "a: b", "---\ntitle: \"a: b\"\n---\n"),
            ("---\ntitle: 'Old'\n---\n", "a\u{1}", "---\ntitle: \"a\\x01\"\n---\n"),
            ("---\ntitle: >-\n  Old\n  text\nb: 1\n---\n", "New", "---\ntitle: New\nb: 1\n---\n"),
            // ATX.
            ("# Old\n\nx\n", "New", "# New\n\nx\n"), ("\n #\tOld  \r\nx", "New", "\n #\tNew  \r\nx"),
            ("# Old #\n", "New", "# New #\n"),
            ("# Old ##  \n", "C #", "# C # ##  \n"), ("# Old\n", "C #", "# C # #\n"), ("# Old\n", "#", "# # #\n"),
            ("# Old", "New", "# New"),
            ("---\ntitle:\n---\n# Old\n", "New", "---\ntitle:\n---\n# New\n"),
            // Setext.
            ("Old\n===\n\nx\n", "New", "New\n===\n\nx\n"), ("  Old \r\n=\r\nx", "New #", "  New # \r\n=\r\nx"),
            ("Old\n===\n\nx\n", "- New", "# - New\n\nx\n"),
            ("\nOld\r\n===\r\n\r\nx\r\n", "> #", "\n# > # #\n\r\nx\r\n"),
            // A heading can't hold white space of other kinds at the end.
            ("# Old\n\nx\n", "a\u{C}", "---\ntitle: \"a\\x0C\"\n---\nx\n"),
            ("---\nid: \(id)\na: 1\n---\nOld\n==\n", "a\u{B}", "---\nid: \(id)\ntitle: \"a\\x0B\"\na: 1\n---\n"),
            // The name.
            ("x\n", "New", "---\ntitle: New\n---\nx\n"),
            ("---\ntitle: # none\na: 1\n---\nx\n", "New", "---\ntitle: New # none\na: 1\n---\nx\n"),
        ] as [(String, Text, String)])
    func `a new title is written in the form the file uses, where that can hold it`(
        text: String, title: Text, expected: String
    ) throws {
        expect(try edit(text, TaskEdit(title: title)), expected)
    }

    @Test func `a file titled by its name gets a title when otask moves it`() throws {
        expect(try edit("x\r\n", TaskEdit(), newName: "name-3f0c"), "---\r\ntitle: name\r\n---\r\nx\r\n")
        expect(try edit("# name\n", TaskEdit(), newName: "name-3f0c"), "# name\n")
        expect(try edit("x\n", TaskEdit(title: "other"), newName: "other"), "---\ntitle: other\n---\nx\n")
    }

    @Test func `where the body would begin with a heading that isn't the title, the title goes above it`() throws {
        expect(try edit("x\n", TaskEdit(notes: "# Head\n\ny")), "# name\n\n# Head\n\ny\n")
        expect(
            try edit("\u{FEFF}x\r\n", TaskEdit(title: "C #", notes: "Head\n==")),
            "\u{FEFF}# C # #\r\n\r\nHead\r\n==\r\n")
        expect(try edit("---\ntitle: T\n---\nx\n", TaskEdit(notes: "# Head")), "---\ntitle: T\n---\n# Head\n")
    }

    @Test func `where the body would begin with dashes, an empty front matter stands above it`() throws {
        expect(try edit("x\n", TaskEdit(notes: "---\na: 1\n---")), "---\n---\n---\na: 1\n---\n")
        expect(try edit("---\nx\n", TaskEdit(done: true)), "---\ndone: true\n---\n---\nx\n")
        expect(try edit("# T\n", TaskEdit(notes: "---\na: 1\n---")), "# T\n\n---\na: 1\n---\n")
    }

    @Test func `where the file would be empty, a title is written`() throws {
        expect(try edit("x\n", TaskEdit(notes: "")), "---\ntitle: name\n---\n")
        expect(try edit("x\n", TaskEdit(notes: "  ")), "---\ntitle: name\n---\n  \n")
        expect(try edit("---\na: 1\n---\nx\n", TaskEdit(notes: "")), "---\na: 1\n---\n")
    }

    @Test(arguments: [
        ("# T\n", "---\nid: \(id)\n---\n# T\n"), ("\u{FEFF}# T\r\n", "\u{FEFF}---\r\nid: \(id)\r\n---\r\n# T\r\n"),
        ("# T", "---\nid: \(id)\n---\n# T"),
        ("---\n# c\na: 1\n---\n# T\n", "---\nid: \(id)\n# c\na: 1\n---\n# T\n"),
        ("---\n  a: 1\n---\n# T\n", "---\n  id: \(id)\n  a: 1\n---\n# T\n"),
        ("---\n---\n# T\n", "---\nid: \(id)\n---\n# T\n"),
        ("---\na: 1\nid:  # mine\n---\n# T\n", "---\na: 1\nid: \(id)  # mine\n---\n# T\n"),
        (
            "---\nid: 3F0C9D5E-0F5E-4D0E-9D5C-0F9F4F6F3A10\n---\n# T\n",
            "---\nid: 3F0C9D5E-0F5E-4D0E-9D5C-0F9F4F6F3A10\n---\n# T\n"
        ),
        ("---\nid: '3f0c9d5e-0f5e-4d0e-9d5c-0f9f4f6f3a11'\n---\n# T\n", "---\nid: '\(id)'\n---\n# T\n"),
        ("---\n{a: 1} # c\n---\n# T\n", "---\n{a: 1, id: \(id)} # c\n---\n# T\n"),
    ])
    func `an id line is set, or put back, above the others`(text: String, expected: String) throws {
        expect(try edit(text, TaskEdit(id: id)), expected)
    }

    @Test(arguments: [
        ("false", "true"), ("False", "True"), ("FALSE", "TRUE"), ("no", "yes"), ("No", "Yes"), ("NO", "YES"),
        ("off", "on"), ("OFF", "ON"), ("0", "1"),
        ("'no'", "'yes'"), ("\"False\"", "\"True\""), ("no  # c", "yes  # c"),
    ])
    func `done is written back in the spelling the file uses`(no: String, yes: String) throws {
        expect(try edit("---\ndone: \(no)\n---\n# T\n", TaskEdit(done: true)), "---\ndone: \(yes)\n---\n# T\n")
        expect(try edit("---\ndone: \(yes)\n---\n# T\n", TaskEdit(done: false)), "---\ndone: \(no)\n---\n# T\n")
        expect(try edit("---\ndone: \(no)\n---\n# T\n", TaskEdit(done: false)), "---\ndone: \(no)\n---\n# T\n")
    }

    @Test func `done is a new line behind the id, and only when it changes`() throws {
        expect(
            try edit("---\nid: \(id) # c\na: 1\n---\n# T\n", TaskEdit(done: true)),
            "---\nid: \(id) # c\ndone: true\na: 1\n---\n# T\n")
        expect(try edit("# T\n", TaskEdit(done: true)), "---\ndone: true\n---\n# T\n")
        expect(try edit("# T\n", TaskEdit(done: false)), "# T\n")
        expect(try edit("---\ndone: X\n---\n# T\n", TaskEdit(done: false)), "---\ndone: false\n---\n# T\n")
    }

    @Test func `what a file can't hold is refused`() throws {
        for title in ["", " a", "a ", "a\nb", "a\r"] as [Text] {
            #expect(throws: TaskFileProblem.self) { try edit("# T\n", TaskEdit(title: title)) }
            #expect(throws: TaskFileProblem.self) { try TaskFile.render(TaskContent(title: title), id: nil, name: "t") }
        }
        let long = Text(String(repeating: "x", count: TaskFile.maximumNotes + 1))
        #expect(throws: TaskFileProblem.self) { try edit("# T\n", TaskEdit(notes: long)) }
        #expect(throws: TaskFileProblem.self) {
            try TaskFile.render(TaskContent(title: "T", notes: long), id: nil, name: "t")
        }
        #expect(throws: TaskFileProblem.self) { try edit("# T\n", TaskEdit(notes: "a\0")) }
        #expect(throws: TaskFileProblem.self) { try edit("# T\n", TaskEdit(properties: ["a": "\0"])) }
        #expect(throws: TaskFileProblem.self) { try edit("# T\n", TaskEdit(properties: ["a": .number("1e1001")])) }
    }
}

/// Edits of the notes, by lines.
@Suite struct TaskFileNotesEditTests {
    @Test(
        arguments: [
            // A line that stays keeps its bytes, a new one takes the line end of the line before it.
            ("# T\r\n\r\na\nb\r\nc\n", "a\nb\nB\nc", "# T\r\n\r\na\nb\r\nB\r\nc\n"),
            ("# T\n\na\r\nb\nc\r", "a\nX\nc", "# T\n\na\r\nX\r\nc\r"),
            ("# T\n\na\r\nb\n", "a", "# T\n\na\r\n"), ("# T\n\nb\r\n", "a\nb", "# T\n\na\nb\r\n"),
            ("# T\r\n\na", "X\na", "# T\r\n\nX\na"),
            ("# T\r\r\na\r\nb\r\n", "a\n\nb", "# T\r\r\na\r\n\r\nb\r\n"),
            ("# T\n\na\rb\n\nc", "a\n\nc", "# T\n\na\r\rc"),
            // The file ends as it did.
            ("# T\n\na", "a\nb", "# T\n\na\nb"), ("# T\n\na\n\n\n", "a\nb", "# T\n\na\nb\n\n\n"),
            ("# T\n\na\r\n\n", "b", "# T\n\nb\n\n"),
            ("# T\r\n\r\na\r\n", "b", "# T\r\n\r\nb\r\n"), ("# T", "a", "# T\n\na"), ("# T\n", "a", "# T\n\na\n"),
            ("# T\n\n", "a", "# T\n\na\n"),
            ("# T\n\n\n\n", "a", "# T\n\na\n\n"), ("---\na: 1\n---", "a", "---\na: 1\n---\na"),
            // One blank line below the heading, none where there was none.
            ("# T\na\n", "b", "# T\nb\n"), ("# T\na\n", "\nb", "# T\n\n\nb\n"), ("# T\n \t\na\n", "b", "# T\n \t\nb\n"),
            ("T\n==\na\n", "b", "T\n==\nb\n"),
            ("# T\n\na\n", "", "# T\n"), ("# T\na", "", "# T\n"), ("x\n\n", "", "---\ntitle: name\n---\n"),
            // All of the body is notes where the title is no heading.
            ("---\ntitle: T\n---\n\na\n", "\nb", "---\ntitle: T\n---\n\nb\n"), ("a\n", "\n\na\n ", "\n\na\n \n"),
        ] as [(String, Text, String)])
    func `a pulled edit goes in by lines`(text: String, notes: Text, expected: String) throws {
        expect(try edit(text, TaskEdit(notes: notes)), expected)
    }

    @Test func `notes that differ only in their line ends change nothing`() throws {
        expect(try edit("# T\r\n\r\na\rb\n\n", TaskEdit(notes: "a\r\nb\n")), "# T\r\n\r\na\rb\n\n")
        #expect(TaskContent.normalizedNotes("a\r\nb\rc\n\r\n\r") == "a\nb\nc")
        #expect(TaskContent.normalizedNotes("\r\r\n\ra") == "\n\n\na")
    }

    @Test func `in long notes too the lines that stay keep their line ends`() throws {
        var generator = SeededGenerator(seed: 1)
        let old = (0..<6_000).map { "line \($0)" + ($0 % 3 == 0 ? "\r\n" : "\n") }
        var (new, expected) = ([String](), [String]())
        for (index, line) in old.enumerated() where !generator.chance(30) {
            new.append("line \(index)")
            expected.append(line)
        }
        new.append("end")
        let result = try edit("# T\n\n" + old.joined(), TaskEdit(notes: Text(new.joined(separator: "\n"))))
        expect(
            result,
            "# T\n\n" + expected.joined() + "end"
                + (expected.last!.utf8.count > "line 5999\n".utf8.count ? "\r\n" : "\n"))
    }
}
