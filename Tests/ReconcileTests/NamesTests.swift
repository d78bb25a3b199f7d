import Model
import Testing

@testable import Reconcile

@Suite struct NamesTests {
    @Test(
        arguments: [
            ("Paint the fence", "paint-the-fence"),
            ("  --Buy  milk!?  ", "buy-milk"),
            ("\u{DC}bergr\u{F6}\u{DF}e 42", "\u{FC}bergr\u{F6}\u{DF}e-42"),
            ("Cafe\u{301}", "caf\u{E9}"),
            ("\u{725B}\u{5976}\u{3092}\u{8CB7}\u{3046}", "\u{725B}\u{5976}\u{3092}\u{8CB7}\u{3046}"),
            ("\u{939}\u{93F}\u{928}\u{94D}\u{926}\u{940}", "\u{939}\u{93F}\u{928}\u{94D}\u{926}\u{940}"),
            ("\u{661}\u{662} \u{643}\u{62A}\u{627}\u{628}", "\u{661}\u{662}-\u{643}\u{62A}\u{627}\u{628}"),
            ("Love \u{2764}\u{FE0F} it", "love-it"),
            ("a/b\\c..d", "a-b-c-d"),
            ("line\r\nend", "line-end"),
            ("\u{1F95B}", "task"), ("", "task"), ("...", "task"), ("-", "task"),
            ("CON", "con"),
        ] as [(Text, Text)])
    func `a slug is lower case, letters and digits of any script, and the rest to a hyphen`(title: Text, slug: Text) {
        #expect(Names.slug(of: title) == slug)
    }

    @Test func `a slug has at most 80 bytes, cut at a character`() {
        #expect(Names.slug(of: Text(String(repeating: "a", count: 200))).utf8.count == 80)
        #expect(Names.slug(of: Text("a" + String(repeating: "\u{E9}", count: 200))).utf8.count == 79)
        #expect(
            Names.slug(of: Text(String(repeating: "a", count: 79) + " bc")) == Text(String(repeating: "a", count: 79)))
        // A letter under more marks than fit is left out whole.
        #expect(Names.slug(of: Text("z" + String(repeating: "\u{317}", count: 100))) == "task")
    }

    @Test(
        arguments: [
            "buy-milk", "home/paint the fence", "Caf\u{E9}", "a.b", "console", "com", "com10", "lpt", "nullable",
            "home/conin", "-a", "a:b",
            "x\u{301}",
        ] as [Text])
    func `a plain name is safe`(place: Text) {
        #expect(Names.isSafe(place))
        #expect(Names.problem(ofPath: place) == nil)
    }

    @Test(
        arguments: [
            ("../x", "begins with a dot"), ("a/../x", "begins with a dot"), (".", "begins with a dot"),
            ("a/.b", "begins with a dot"),
            ("/etc/passwd", "is empty"), ("", "is empty"), ("a//b", "is empty"), ("a/", "is empty"),
            ("a\u{0}b", "control character"), ("a\nb", "control character"), ("a\u{7F}", "control character"),
            ("a\u{85}b", "control character"), ("a\r\nb", "control character"),
            ("a\\b", "backslash"),
            ("con", "device"), ("NUL.txt", "device"), ("home/Com1", "device"), ("aux/x", "device"),
            ("lpt\u{B9}.a.b", "device"),
            ("conout$", "device"), ("prn .x", "device"),
            ("a.", "ends in a dot"), ("a ", "ends in a dot"), ("a /b", "ends in a dot"),
        ] as [(Text, String)])
    func `a bad name has its reason and a way out`(place: Text, reason: String) throws {
        #expect(!Names.isSafe(place))
        let problem = try #require(Names.problem(ofPath: place)).string
        #expect(problem.contains(reason))
        #expect(problem.hasSuffix("rename it"))
        #expect(!problem.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }

    @Test func `a component has at most 255 bytes, with its extension`() {
        func name(_ count: Int) -> Text { Text(String(repeating: "a", count: count)) }
        #expect(Names.isSafe(name(252)))
        #expect(!Names.isSafe(name(253)))
        #expect(Names.isSafe(name(255) + "/a"))
        #expect(!Names.isSafe(name(256) + "/a"))
        #expect(Names.problem(ofPath: name(253))?.string.contains("longer than 255 bytes") == true)
    }

    @Test func `the key for collisions is folded`() {
        #expect(Names.foldedKey("Home/Cafe\u{301}") == Names.foldedKey("home/CAF\u{C9}"))
        #expect(Names.foldedKey("home/a") != Names.foldedKey("home-a"))
    }
}
