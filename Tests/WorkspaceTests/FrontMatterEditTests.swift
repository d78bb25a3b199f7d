import Model
import Testing

@testable import Workspace

/// Edits of own keys: which bytes change.
@Suite struct FrontMatterEditTests {
    private func edit(_ yaml: String, _ properties: [Text: JSON] = [:], removed: Set<Text> = []) throws -> Text {
        let file = try TaskFile.parse(Array("---\n\(yaml)---\n# T\n".utf8), name: "name", idsInFiles: true)
        let bytes = try file.editing(TaskEdit(properties: properties, removed: removed), name: "name")
        try #require(bytes.starts(with: "---\n".utf8) && Text(utf8: bytes)!.hasSuffix("---\n# T\n"))
        return Text(utf8: bytes.dropFirst(4).dropLast(8))!
    }

    @Test(
        arguments: [
            ("a: old  # c\nb: 1\n", "new", "a: new  # c\nb: 1\n"), ("a:   old\n", "new", "a:   new\n"),
            ("a : old\n", 1, "a : 1\n"),
            ("'a': 'old'\n", "new", "'a': 'new'\n"), ("a: \"old\"\n", "1", "a: \"1\"\n"), ("a: 'old'\n", 1, "a: 1\n"),
            ("a: 1\n", "1", "a: \"1\"\n"),
            ("a:\n", "new", "a: new\n"), ("a:   # c\n", "new", "a: new   # c\n"),
            ("a:\n  old\nb: 1\n", "new", "a:\n  new\nb: 1\n"),
            ("a: old\n  goes on\nb: 1\n", "new", "a: new\nb: 1\n"),
            ("a: \"old\n  é\" # c\n", "new", "a: \"new\" # c\n"),
            ("a: |  # c\n  old\n\n  é\n\n# d\nb: 1\n", "new", "a: new # c\n\n# d\nb: 1\n"),
            ("a: >+\n  old\n\nb: 1\n", "new", "a: new\n\nb: 1\n"),
            ("é: ü\na: [x, y] # c\n", ["x", "z"], "é: ü\na: [x, z] # c\n"),
            ("a: {x: 1,\n  y: 2} # c\nb: 1\n", ["x": 2], "a: {x: 2} # c\nb: 1\n"),
            (
                "a:\n  # c\n  - x # d\n  - y # e\n\n# f\nb: 1\n", ["z", "a, b"],
                "a:\n  # c\n  - z\n  - a, b # e\n\n# f\nb: 1\n"
            ),
            ("a:\n- x\n- y\nb: 1\n", ["z", ["w"]], "a:\n- z\n- [w]\nb: 1\n"),
            ("a: # c\n  x: 1\n  y: [2] # d\nb: 1\n", ["y": 2, "x": nil], "a: # c\n  x: null\n  y: 2 # d\nb: 1\n"),
            ("a: # c\n  - x\n  - y\n# d\nb: 1\n", [], "a: [] # c\n# d\nb: 1\n"),
            ("a:\n- x\nb: 1\n", "new", "a: new\nb: 1\n"),
            ("a: [x]\n", "new", "a: new\n"), ("a: old\n", ["x"], "a: [x]\n"),
            ("a: !!float 1e300\n", .number("1e20"), "a: !!int 100000000000000000000\n"),
            ("a: old # c\n", nil, "a: # c\n"), ("a: 'old'\n", nil, "a:\n"),
            ("a:\n  old\nb: 1\n", nil, "a:\n  null\nb: 1\n"), ("a: |\n  old\nb: 1\n", nil, "a:\nb: 1\n"),
            ("a: true\r\nb: 1\r\n", false, "a: false\r\nb: 1\r\n"), ("  b: 1\n  a: old\n", "new", "  b: 1\n  a: new\n"),
        ] as [(String, JSON, String)])
    func `a new value takes the bytes of the old one, comments and quoting stay`(
        yaml: String, value: JSON, expected: String
    ) throws {
        let result = try edit(yaml, ["a": value])
        #expect(result == Text(expected), "\(result.string.debugDescription)")
    }

    @Test(arguments: [
        ("b: 1\na: old # c\n# d\nc: 2\n", "b: 1\n# d\nc: 2\n"), ("a: 1\n", ""), ("# c\na: 1\n", "# c\n"),
        ("a:\n  - x\n  - y # c\n# d\nb: 1\n", "# d\nb: 1\n"),
        ("b: 1\na: |\n  x\n\n  y\n\nc: 2\n", "b: 1\n\nc: 2\n"), ("a:\nb: 1\n", "b: 1\n"),
        ("a: \"x\n  y\"\nb: 1\n", "b: 1\n"), ("a: {x: 1,\n y: 2}\nb: 1\n", "b: 1\n"),
        ("? a\n: x\nb: 1\n", "b: 1\n"), ("{a: 1, 'b': [x,  y]} # c\n", "{'b': [x,  y]} # c\n"), ("{a: 1}\n", "{}\n"),
    ])
    func `a removed key takes its lines with it and leaves other comments`(yaml: String, expected: String) throws {
        let result = try edit(yaml, removed: ["a"])
        #expect(result == Text(expected), "\(result.string.debugDescription)")
    }

    @Test(arguments: [
        ("x: 1\n# end\n", "x: 1\n# end\na: 1\nb: [y]\nc:\n"), ("", "a: 1\nb: [y]\nc:\n"),
        ("  x: 1\n", "  x: 1\n  a: 1\n  b: [y]\n  c:\n"),
        ("x:\n- 1\n", "x:\n- 1\na: 1\nb: [y]\nc:\n"), ("x: |+\n  y\n\n", "x: |+\n  y\n\na: 1\nb: [y]\nc:\n"),
        ("{x: 1}\n", "{x: 1, a: 1, b: [y], c: null}\n"),
        ("{}\n", "{a: 1, b: [y], c: null}\n"),
        ("{x: 1, # c\n  'y': [1,  2] }\n", "{x: 1, 'y': [1,  2], a: 1, b: [y], c: null}\n"),
    ])
    func `new keys come at the end in the order of their names`(yaml: String, expected: String) throws {
        let result = try edit(yaml, ["b": ["y"], "a": 1, "c": nil])
        #expect(result == Text(expected), "\(result.string.debugDescription)")
    }

    @Test func `a mapping that can't be changed value by value is written anew`() throws {
        #expect(try edit("# c\nb: '1' # d\n? a\ne: 1\n", ["a": 2]) == "# c\nb: \"1\"\na: 2\ne: 1\n")
    }

    @Test func `a front matter that isn't there is made of what it needs`() throws {
        let file = try TaskFile.parse(Array("# T\r\n".utf8), name: "name", idsInFiles: true)
        let bytes = try file.editing(TaskEdit(done: true, properties: ["b": 1, "a": nil]), name: "name")
        #expect(Text(utf8: bytes) == "---\r\ndone: true\r\na:\r\nb: 1\r\n---\r\n# T\r\n")
    }

    @Test func `an id of the person's own stays as it is`() throws {
        let text = Array("---\nid: 202401011200 # mine\ndone: no\n---\n# T\n".utf8)
        let file = try TaskFile.parse(text, name: "name", idsInFiles: false)
        let bytes = try file.editing(TaskEdit(title: "U", done: true), name: "name")
        #expect(Text(utf8: bytes) == "---\nid: 202401011200 # mine\ndone: yes\n---\n# U\n")
    }

    @Test(
        arguments: [
            (TaskContent(title: "T"), nil, "# T\n"),
            (TaskContent(title: "C #", notes: "a\nb"), nil, "# C # #\n\na\nb\n"),
            (TaskContent(title: "T", notes: "\n\na\r\n"), nil, "# T\n\n\n\na\n"),
            (
                TaskContent(title: "T", notes: "x", done: true, properties: ["b": 1, "a": ["y"]]),
                ItemID("3F0C9D5E-0f5e-4d0e-9d5c-0f9f4f6f3a10"),
                "---\nid: 3f0c9d5e-0f5e-4d0e-9d5c-0f9f4f6f3a10\ndone: true\na: [y]\nb: 1\n---\n# T\n\nx\n"
            ),
            (
                TaskContent(title: "a\u{C}", notes: "# x", done: true), nil,
                "---\ntitle: \"a\\x0C\"\ndone: true\n---\n# x\n"
            ),
            (TaskContent(title: "T", notes: "---\na: 1\n---"), nil, "# T\n\n---\na: 1\n---\n"),
        ] as [(TaskContent, ItemID?, Text)])
    func `a file laid down has the front matter it needs, the title, a blank line, the notes, a line end`(
        content: TaskContent, id: ItemID?, expected: Text
    ) throws {
        #expect(Text(utf8: try TaskFile.render(content, id: id, name: "T")) == expected)
    }
}
