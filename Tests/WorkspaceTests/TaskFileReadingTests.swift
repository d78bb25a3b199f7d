import Model
import Testing

@testable import Workspace

private let uuid = "3f0c9d5e-0f5e-4d0e-9d5c-0f9f4f6f3a10"

private func parse(_ text: String, name: Text = "name", idsInFiles: Bool = true) throws -> TaskFile {
    try TaskFile.parse(Array(text.utf8), name: name, idsInFiles: idsInFiles)
}

private func problemOf(_ text: String, idsInFiles: Bool = true) -> TaskFileProblem? {
    #expect(throws: TaskFileProblem.self) { try parse(text, idsInFiles: idsInFiles) }
}

/// What a task file says, row by row of the table in the design.
@Suite struct TaskFileReadingTests {
    @Test func `the example is read in full`() throws {
        let file = try parse(
            """
            ---
            id: \(uuid)
            done: false
            tags: [home, spring]        # any key of one's own is kept and synced
            ---
            # Paint the fence

            Two coats. Ask **Nina** for the ladder.

            """)
        #expect(file.idLine == .id(ItemID(uuid)!))
        #expect(
            file.content
                == TaskContent(
                    title: "Paint the fence", notes: "Two coats. Ask **Nina** for the ladder.",
                    properties: ["tags": ["home", "spring"]]))
        #expect(file.titleForm == .heading)
    }

    @Test(
        arguments: [
            ("---\na: 1\n---\nx", "x", ["a": 1]), ("---\na: 1\n...\nx", "x", ["a": 1]),
            ("--- \na: 1\n---\t\nx", "x", ["a": 1]),
            ("---\r\na: 1\r\n---\r\nx", "x", ["a": 1]), ("---\ra: 1\r---\rx", "x", ["a": 1]),
            ("\u{FEFF}---\na: 1\n---\nx", "x", ["a": 1]),
            ("---\na: 1\n---", "", ["a": 1]), ("---\n---\nx", "x", [:]), ("---\n# only a comment\n---\nx", "x", [:]),
            ("---\n{a: 1}\n---\nx", "x", ["a": 1]), ("---\na: 1\nx", "---\na: 1\nx", [:]),
            ("x\n---\na: 1\n---", "x\n---\na: 1\n---", [:]),
            ("\n---\na: 1\n---\n", "\n---\na: 1\n---", [:]), ("----\na: 1\n---", "----\na: 1\n---", [:]),
        ] as [(String, Text, [Text: JSON])])
    func `front matter stands between a first line of dashes and one that closes it, else all is body`(
        text: String, notes: Text, properties: [Text: JSON]
    ) throws {
        let content = try parse(text).content
        #expect(content.notes == notes)
        #expect(content.properties == properties)
    }

    @Test(arguments: [
        ("---\n- a\n---\n", 2, 1), ("---\ntext\n---\n", 2, 1), ("---\n~\n---\n", 2, 1), ("---\na: b: c\n---\n", 2, 5),
        ("---\né: 1\né: [\n---\n", 4, 1), ("---\na: 1\n  é: \"x\n---\n", 3, 4),
        ("---\r\na: 1\r\nü: ö\u{1}\r\n---\r\n", 3, 5),
        ("\u{FEFF}---\na: \u{7F}\n---\n", 2, 4), ("---\n%YAML 1.1\n---\n", 3, 1), ("---\n--- a\n---\n", 2, 5),
        ("---\n!x\na: 1\n---\n", 2, 1),
        ("---\n&x\na: 1\n---\n", 2, 1),
    ])
    func `front matter that is broken or no mapping is a problem with line and column`(
        text: String, line: Int, column: Int
    ) throws {
        let problem = try #require(problemOf(text))
        #expect(problem.line == line)
        #expect(problem.column == column, "\(problem)")
    }

    @Test(
        arguments: [
            ("id: \(uuid)", .id(ItemID(uuid)!)), ("id: \(uuid.uppercased())", .id(ItemID(uuid)!)),
            ("id: '\(uuid)'", .id(ItemID(uuid)!)),
            ("a: 1", .none), ("id:", .none), ("id: null", .none), ("id: ''", .none),
        ] as [(String, TaskFile.IDLine)])
    func `an id is a UUID of any case, absent the path identifies the file`(line: String, expected: TaskFile.IDLine)
        throws
    {
        #expect(try parse("---\n\(line)\n---\n# T").idLine == expected)
    }

    @Test(
        arguments: [
            ("202401011200", "202401011200"), ("'my note'", "my note"), ("[a]", "[a]"), ("\(uuid)0", "\(uuid)0"),
        ] as [(String, Text)])
    func `an id that is no UUID is a problem, with ids in the journal it stays unread`(written: String, id: Text) throws
    {
        let text = "---\na: 1\nid: \(written)\n---\n# T"
        let problem = try #require(problemOf(text))
        #expect(problem.line == 3 && problem.column == 5)
        let file = try parse(text, idsInFiles: false)
        #expect(file.idLine == .other(id))
        #expect(file.content.properties == ["a": 1])
    }

    @Test(arguments: [
        ("true", true), ("false", false), ("True", true), ("YES", true), ("no", false), ("On", true), ("oFF", false),
        ("1", true), ("0", false),
        ("x", true), ("X", true), ("'yes'", true), ("\"0\"", false),
    ])
    func `done is read in many spellings of any case`(word: String, done: Bool) throws {
        #expect(try parse("---\ndone: \(word)\n---\n# T").content.done == done)
    }

    @Test(arguments: ["maybe", "", "2", "[true]", "y", "~", "-", "01"])
    func `any other done is a problem, not a guess`(word: String) throws {
        #expect(try #require(problemOf("---\ndone: \(word)\n---\n# T")).line == 2)
    }

    @Test(
        arguments: [
            // The key.
            ("---\ntitle: Key\n---\n# Head\nx", "Key", .key, "# Head\nx"),
            ("---\ntitle: 'a: b'\n---\nx", "a: b", .key, "x"),
            ("---\ntitle: 007\n---\nx", "007", .key, "x"), ("---\ntitle: true\n---\nx", "true", .key, "x"),
            ("---\ntitle: \" a \"\n---\n\nx", "a", .key, "\nx"),
            ("---\ntitle: >\n  folded\n  text\n---\nx", "folded text", .key, "x"),
            ("---\ntitle:\n---\n# Head\nx", "Head", .heading, "x"),
            ("---\ntitle: ''\n---\n# Head\nx", "Head", .heading, "x"),
            ("---\ntitle: ~\n---\nx", "name", .name, "x"), ("---\ntitle: \" \"\n---\nx", "name", .name, "x"),
            // A heading of the ATX form.
            ("# T", "T", .heading, ""), ("#\tT\t\n\nx\n", "T", .heading, "x"), ("   # T\nx", "T", .heading, "x"),
            ("# T\n\n\nx", "T", .heading, "\nx"),
            ("# T\n \t\nx", "T", .heading, "x"), ("\n \n# T\n\nx", "T", .heading, "x"),
            ("---\na: 1\n---\n\n\n# T\n\nx", "T", .heading, "x"),
            ("# C #", "C", .heading, ""), ("# C # #", "C #", .heading, ""), ("# C#", "C#", .heading, ""),
            ("# C \\#", "C \\#", .heading, ""),
            ("# C ## \t", "C", .heading, ""), ("# **b** `c` [d](e)", "**b** `c` [d](e)", .heading, ""),
            ("# é\u{B}", "é", .heading, ""),
            ("# T\n---\nx", "T", .heading, "---\nx"),
            // Of the setext form.
            ("T\n=\nx", "T", .heading, "x"), ("T\n====  \n\nx", "T", .heading, "x"),
            ("  T  \n  ===\r\n\r\nx", "T", .heading, "x"),
            ("**T** #\n===", "**T** #", .heading, ""),
            // Neither.
            ("#", "name", .name, "#"), ("# \nx", "name", .name, "# \nx"), ("# #\nx", "name", .name, "# #\nx"),
            ("#T", "name", .name, "#T"),
            ("## T", "name", .name, "## T"), ("    # T", "name", .name, "    # T"), ("\t# T", "name", .name, "\t# T"),
            ("x\n# T", "name", .name, "x\n# T"),
            ("A\nB\n===", "name", .name, "A\nB\n==="), ("T\n---", "name", .name, "T\n---"),
            ("T\n= =", "name", .name, "T\n= ="),
            ("T\n    ===", "name", .name, "T\n    ==="), ("- T\n===", "name", .name, "- T\n==="),
            ("> T\n===", "name", .name, "> T\n==="),
            ("[T]: /u\n===", "name", .name, "[T]: /u\n==="),
            ("<div>\n# T\n</div>", "name", .name, "<div>\n# T\n</div>"),
            ("<!-- x\n===\n-->", "name", .name, "<!-- x\n===\n-->"), ("```\n# T\n```", "name", .name, "```\n# T\n```"),
            ("\n\nx", "name", .name, "\n\nx"),
            ("===", "name", .name, "==="), ("\n===\n===", "===", .heading, ""),
        ] as [(String, Text, TaskFile.TitleForm, Text)])
    func `the title is the key, else a first level-1 heading of one line, else the name, and the rest is notes`(
        text: String, title: Text, form: TaskFile.TitleForm, notes: Text
    ) throws {
        let file = try parse(text)
        #expect(file.content.title == title)
        #expect(file.titleForm == form)
        #expect(file.content.notes == notes)
    }

    @Test(arguments: ["[a]", "{a: b}", "\"a\\nb\"", "|\n  a\n  b", "\"a\\0b\"", "!x y"])
    func `a title that is a list, a mapping or of several lines is a problem`(value: String) throws {
        #expect(try #require(problemOf("---\ntitle: \(value)\n---\n# T")).line == 2)
    }

    @Test(
        arguments: [
            ("# T\r\n\r\na\r\nb\r\n\r\n", "a\nb"), ("# T\r\ra\rb\r", "a\nb"), ("\u{FEFF}# T\n\na\n  \n\n", "a\n  "),
            ("# T\n\na \t\nb", "a \t\nb"),
            ("# T\n\n\u{2028}\u{85}\n", "\u{2028}\u{85}"),
        ] as [(String, Text)])
    func `notes have LF and no line ends at the very end`(text: String, notes: Text) throws {
        let file = try parse(text)
        #expect(file.content == TaskContent(title: "T", notes: notes))
    }

    @Test func `a text that can't be kept is a problem`() throws {
        #expect(throws: TaskFileProblem("the file isn't UTF-8: save it as UTF-8", line: 2)) {
            try TaskFile.parse([0x23, 0x20, 0x41, 0x0A, 0xFF], name: "name", idsInFiles: true)
        }
        let nul = try #require(problemOf("# T\n\né\0"))
        #expect(nul.line == 3 && nul.column == 2)
        #expect(throws: TaskFileProblem.self) {
            try TaskFile.parse([0x23, 0x20, 0xED, 0xA0, 0x80], name: "name", idsInFiles: true)
        }
    }

    @Test func `a file may have 1.25 MiB and notes of 1,000,000 bytes`() throws {
        let longest = "# T\n\n" + String(repeating: "é", count: 500_000)
        #expect(try parse(longest).content.notes.utf8.count == TaskFile.maximumNotes)
        #expect(problemOf(longest + "x") != nil)
        let blank = "# T\n\nx" + String(repeating: "\n", count: TaskFile.maximumSize - 6)
        #expect(try parse(blank).content.notes == "x")
        #expect(problemOf(blank + "\n") != nil)
    }

    @Test(arguments: ["", "\n", " \t\r\n", "\u{FEFF}", "\u{FEFF}\n"])
    func `an empty file is told from a broken one`(text: String) {
        #expect(problemOf(text) == .empty)
    }

    @Test func `a name that can't be a title is a problem`() {
        #expect(throws: TaskFileProblem.self) { try parse("x", name: "a\nb") }
        #expect(throws: TaskFileProblem.self) { try parse("x", name: " ") }
        #expect(throws: Never.self) { try parse("# T", name: "a\nb") }
    }
}
