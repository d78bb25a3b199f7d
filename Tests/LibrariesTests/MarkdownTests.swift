import Testing

@testable import Libraries

@Suite struct MarkdownTests {
    @Test(arguments: [
        ("# T", 1, true), ("# T", 2, false), ("## T", 2, true), ("T\n===", 1, true), ("T\n---", 2, true),
        ("T", 1, false), ("", 1, false), ("\n\n# T", 1, true),
        ("- T\n===", 1, false), ("> # T", 1, false), ("<p>\n# T", 1, false), ("[T]: /u\n===\n", 1, false),
        ("    T\n===", 1, false), ("A\nB\n===", 1, true),
    ])
    func `whether a text begins with a heading is cmark's word`(text: String, level: Int, expected: Bool) {
        #expect(markdownBeginsWithHeading(Array(text.utf8), level: level) == expected)
    }
}
