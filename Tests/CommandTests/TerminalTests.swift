import Model
import Testing

@testable import otask

@Suite struct `What a terminal sees` {
    @Test(arguments: [
        ("plain tëxt 日本", "plain tëxt 日本"), ("a\u{1B}[31mred", "a\\u{1b}[31mred"), ("two\nlines", "two\\nlines"),
        ("bell\u{07}", "bell\\u{7}"), ("\u{9B}2J", "\\u{9b}2J"), ("tab\t", "tab\\t"),
        ("file\u{202E}dm.exe", "file\\u{202e}dm.exe"),
        ("\r\n", "\\r\\n"),
    ])
    func `has no control character of a title, name or server message`(_ text: String, _ shown: String) {
        #expect(printable(text) == shown)
    }

    @Test func `keeps the lines of notes, and nothing else`() {
        #expect(printableLines("a\n\tb\u{1B}[2J\r") == "a\n\tb\\u{1b}[2J\\r")
    }

    @Test(
        arguments: [
            (0.0, "just now"), (4, "just now"), (5, "5 seconds ago"), (61, "1 minute ago"), (180, "3 minutes ago"),
            (7_200, "2 hours ago"), (86_400, "1 day ago"), (13 * 86_400, "13 days ago"), (14 * 86_400, "on 2026-11-16"),
            (-30, "in 30 seconds"),
        ] as [(Double, String)])
    func `tells time as people do`(_ age: Double, _ words: String) {
        let now = Instant(seconds: 1_796_036_400)
        #expect(phrase(now + -age, now: now) == words)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_796_036_400_000_000_000, "2026-11-30T11:00:00Z"),
            (1_709_210_096_789_000_000, "2024-02-29T12:34:56.789Z"), (-1_000_000_000, "1969-12-31T23:59:59Z"),
        ] as [(Int64, String)])
    func `and RFC 3339 in JSON`(_ nanoseconds: Int64, _ text: String) {
        #expect(Instant(nanoseconds: nanoseconds).rfc3339 == text)
    }

    @Test(arguments: [
        ("/w", "tasks/a.md", "tasks/a.md"), ("/w/tasks", "tasks/a.md", "a.md"),
        ("/w/tasks/home", "tasks/a.md", "../a.md"),
        ("/", "tasks/a.md", "w/tasks/a.md"), ("/far/away/from/it", "tasks/a.md", "/w/tasks/a.md"),
    ])
    func `shows paths from the working directory where that is shorter`(
        _ directory: String, _ path: String, _ shown: String
    ) {
        #expect(PathDisplay(root: "/w", directory: Text(directory))(Text(path)) == shown)
    }

    @Test func `is coloured on a terminal only, and never against NO_COLOR or --color`() {
        func colours(_ choice: String?, _ variables: [String: String], _ isTerminal: Bool) -> Bool {
            Style(choice: choice, variables: variables, isTerminal: isTerminal).isColoured
        }
        #expect(colours(nil, [:], true))
        #expect(!colours(nil, [:], false))
        #expect(!colours("auto", ["NO_COLOR": "1"], true))
        #expect(colours("auto", ["NO_COLOR": ""], true))
        #expect(!colours(nil, ["TERM": "dumb"], true))
        #expect(colours("always", ["NO_COLOR": "1"], false))
        #expect(!colours("never", [:], true))
    }

    @Test(
        arguments: [
            ("abc", 5, "abc  "), ("abcdef", 4, "abc…"), ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日… "),
        ] as [(String, Int, String)])
    func `has columns by display width`(_ text: String, _ width: Int, _ column: String) {
        #expect(ListText.column(text, width) == column)
    }

    @Test func `gets a path as one word of the shell`() {
        #expect(shellQuoted("tasks/a.md") == "tasks/a.md")
        #expect(shellQuoted("it's late.md") == "'it'\\''s late.md'")
    }
}
