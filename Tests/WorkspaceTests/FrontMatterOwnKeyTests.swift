import Model
import Testing

@testable import Workspace

private func properties(_ yaml: String) throws -> [Text: JSON] {
    try TaskFile.parse(Array("---\n\(yaml)\n---\n# T\n".utf8), name: "name", idsInFiles: true).content.properties
}

private func problemOf(_ yaml: String) -> TaskFileProblem? {
    #expect(throws: TaskFileProblem.self) { try properties(yaml) }
}

/// A person's own keys: how they are read, what is refused, how they are written.
@Suite struct FrontMatterOwnKeyTests {
    @Test(
        arguments: [
            ("", nil), ("null", nil), ("~", nil), ("true", true), ("false", false), ("1", 1), ("-12", -12), ("0", 0),
            ("1.5", .number("1.5")), ("0.05", .number("0.05")), ("-0.5", .number("-0.5")),
            ("123456789012345", .number("123456789012345")),
            ("12345678901234.5", .number("12345678901234.5")), ("1.10", "1.10"), ("1.0", "1.0"), ("007", "007"),
            ("+1", "+1"), (".5", ".5"),
            ("1.", "1."), ("1e5", "1e5"), ("0x1F", "0x1F"), ("1_000", "1_000"), ("12:30", "12:30"),
            ("2024-01-01", "2024-01-01"),
            ("2024-01-01T10:00:00Z", "2024-01-01T10:00:00Z"), ("yes", "yes"), ("No", "No"), ("on", "on"),
            ("True", "True"), ("TRUE", "TRUE"),
            ("Null", "Null"), (".inf", ".inf"), (".nan", ".nan"), ("1234567890123456", "1234567890123456"),
            ("0.123456789012345", "0.123456789012345"), ("'1'", "1"), ("\"true\"", "true"), ("''", ""),
            ("!!str 1", "1"), ("! 1", "1"),
            ("!!float 1e300", .number("1e300")), ("!!int 12345678901234567890", .number("12345678901234567890")),
            ("!!float 1.50", .number("1.5")),
            ("!!float 1e1000", .number("1e1000")), ("a b # c", "a b"), ("a\n  b", "a b"), ("|\n  a\n  b", "a\nb\n"),
            ("[a, 1, ~]", ["a", 1, nil]),
            ("\n- a\n- [b]", ["a", ["b"]]), ("{a: 1, b: {}}", ["a": 1, "b": [:]]),
            ("\n  a:\n    b: [c]", ["a": ["b": ["c"]]]), ("[a: b]", [["a": "b"]]),
            ("\"\\u00e9\\x01\"", "é\u{1}"),
        ] as [(String, JSON)])
    func `a plain scalar is null, true, false or a short number, else a text`(written: String, value: JSON) throws {
        #expect(try properties("k: \(written)") == ["k": value])
    }

    @Test(arguments: [
        ("a: &x 1", 1, 4), ("a: 1\nb: *x", 2, 4), ("a: &x [1]", 1, 4), ("a: !mine 1", 1, 4),
        ("a: !!timestamp 2024-01-01", 1, 4), ("a: !!bool yes", 1, 4),
        ("a: !!set {x}", 1, 4), ("a: !!seq [x]", 1, 4), ("a: 1\na: 2", 2, 1), ("a: 1\n'a': 2", 2, 1),
        ("a: {é: 1, é: 2}", 1, 11), ("1: a", 1, 1),
        ("true: a", 1, 1), ("~: a", 1, 1), (": a", 1, 1), ("? [a]\n: b", 1, 3), ("a: {1: b}", 1, 5),
        ("<<: {a: 1}", 1, 1), ("a: {<<: {b: 1}}", 1, 5),
        ("a: \"\\0\"", 1, 4), ("a: [\"x\\x00\"]", 1, 5), ("\"a\\u0000\": 1", 1, 1), ("a: !!int x", 1, 4),
        ("a: !!float .5", 1, 4), ("a: !!int 007", 1, 4),
        ("a: !!float 1.1e1000", 1, 4), ("a: !!float 2e1000", 1, 4), ("a: !!float -1e1001", 1, 4),
        ("a: !!float 1e-1001", 1, 4),
        ("a: !!float 1e99999999999999999999", 1, 4), ("a: !!float 0e9223372036854775807", 1, 4),
    ])
    func `what can't be kept is a problem of that file, with line and column`(yaml: String, line: Int, column: Int)
        throws
    {
        let problem = try #require(problemOf(yaml))
        #expect(problem.line == line + 1)
        #expect(problem.column == column, "\(problem)")
    }

    @Test func `own keys may be nested 32 deep and have 64 KiB`() throws {
        func nested(_ depth: Int) -> String {
            "a: " + String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try properties(nested(31)) }
        #expect(problemOf(nested(32))?.message.contains("32 deep") == true)
        #expect(problemOf(nested(5_000)) != nil)
        // With its key, quotes and braces the JSON has eight bytes more than the text.
        #expect(throws: Never.self) {
            try properties("a: " + String(repeating: "x", count: TaskFile.maximumProperties - 8))
        }
        #expect(problemOf("a: " + String(repeating: "x", count: TaskFile.maximumProperties - 7)) != nil)
    }

    @Test(
        arguments: [
            (nil, ""), (true, " true"), (1, " 1"), (.number("1.50"), " 1.5"), (.number("1e2"), " 100"),
            (.number("-0.0"), " 0"), (.number("100.0"), " 100"),
            (.number("1234567890123456"), " !!int 1234567890123456"),
            (.number("0.1234567890123456"), " !!float 0.1234567890123456"),
            (.number("1e300"), " !!float 1e300"), ("a", " a"), ("", " \"\""), ("true", " \"true\""),
            ("null", " \"null\""), ("~", " \"~\""), ("1", " \"1\""),
            ("1.10", " 1.10"), ("007", " 007"), ("yes", " yes"), ("2024-01-01", " 2024-01-01"), ("12:30", " 12:30"),
            ("a, [b]", " a, [b]"), ("-a", " -a"),
            (":)", " :)"), ("?a", " ?a"), ("a#b", " a#b"), ("é", " é"), ("- a", " \"- a\""), ("-", " \"-\""),
            ("a: b", " \"a: b\""), ("a:", " \"a:\""),
            ("a #b", " \"a #b\""), (" a", " \" a\""), ("a ", " \"a \""), ("#a", " \"#a\""), ("[a", " \"[a\""),
            ("*a", " \"*a\""), ("'a'", " \"'a'\""),
            ("\"a\"\\", " \"\\\"a\\\"\\\\\""), ("a\nb\r\tc", " \"a\\nb\\r\\tc\""),
            ("\u{1}\u{85}\u{2028}\u{FEFF}", " \"\\x01\\x85\\u2028\\uFEFF\""),
            ("---", " \"---\""), ("%a", " \"%a\""), (["a", "b, c", "yes", nil, 1], " [a, \"b, c\", yes, null, 1]"),
            (["b": ["x": []], "a": "12:30"], " {a: 12:30, b: {x: []}}"),
        ] as [(JSON, String)])
    func `a value is written plain where it reads back the same, else quoted`(value: JSON, written: String) throws {
        let bytes = try TaskFile.render(TaskContent(title: "T", properties: ["k": value]), id: nil, name: "t")
        #expect(String(decoding: bytes, as: UTF8.self) == "---\nk:\(written)\n---\n# T\n")
    }

    @Test(
        arguments: [
            ("tags", "tags: 1"), ("Tags und é", "Tags und é: 1"), ("<<", "\"<<\": 1"), ("1", "\"1\": 1"),
            ("true", "\"true\": 1"), ("", "\"\": 1"),
            ("a: b", "\"a: b\": 1"), ("? a", "\"? a\": 1"), ("%", "\"%\": 1"), ("a\nb", "\"a\\nb\": 1"),
            ("...", "\"...\": 1"),
            (Text(String(repeating: "k", count: 1_001)), "? \(String(repeating: "k", count: 1_001))\n: 1"),
        ] as [(Text, String)])
    func `a key is a text, quoted where it would be none`(key: Text, line: String) throws {
        let bytes = try TaskFile.render(TaskContent(title: "T", properties: [key: 1]), id: nil, name: "t")
        #expect(String(decoding: bytes, as: UTF8.self) == "---\n\(line)\n---\n# T\n")
    }

    @Test func `numbers compare by value and objects without order`() throws {
        let file = try TaskFile.parse(
            Array("---\na: 1.5\nb: {x: 1, y: 2}\n---\n# T\n".utf8), name: "name", idsInFiles: true)
        let same = TaskEdit(properties: ["a": .number("1.500"), "b": ["y": 2, "x": .number("1.0")]])
        #expect(try file.editing(same, name: "name") == file.bytes)
    }

    @Test func `the keys that mean something are ignored among own keys`() throws {
        let reserved: [Text: JSON] = ["id": "x", "done": true, "title": "y"]
        let bytes = try TaskFile.render(TaskContent(title: "T", properties: reserved), id: nil, name: "t")
        #expect(String(decoding: bytes, as: UTF8.self) == "# T\n")
        let file = try TaskFile.parse(bytes, name: "t", idsInFiles: true)
        #expect(try file.editing(TaskEdit(properties: reserved), name: "t") == bytes)
    }
}
