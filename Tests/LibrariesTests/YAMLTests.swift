import Testing

@testable import Libraries

@Suite struct YAMLTests {
    private func root(_ text: String) throws -> YAMLNode? { try YAMLNode.parse(Array(text.utf8)[...]) }

    /// What the text holds at each scalar, in order, as it is written.
    private func written(_ node: YAMLNode, in text: String) -> [String] {
        switch node.kind {
        case .scalar, .alias: [String(decoding: Array(text.utf8)[node.range], as: UTF8.self)]
        case .sequence(let items, _): items.flatMap { written($0, in: text) }
        case .mapping(let pairs, _): pairs.flatMap { written($0.key, in: text) + written($0.value, in: text) }
        }
    }

    @Test(arguments: [
        ("a: b", ["a", "b"]), ("é: 'ü' # c\nb: \"x\\n\"", ["é", "'ü'", "b", "\"x\\n\""]),
        ("👩‍👩‍👧: [ä, {ö: !!int 1}]\r\nb: *c", ["👩‍👩‍👧", "ä", "ö", "!!int 1", "b", "*c"]),
        ("a:\nb:   # c\n", ["a", "", "b", ""]),
        ("\u{FEFF}a: b", ["a", "b"]), ("a: |\n  é\n\n  f\n\n\n# c\nb: 1", ["a", "|\n  é\n\n  f", "b", "1"]),
        ("a: |+\n\n\nb: 1", ["a", "|+", "b", "1"]),
        ("a: b\n  c\n\n  d\n", ["a", "b\n  c\n\n  d"]), ("a:\n- b # c\n-\n\n# d\n", ["a", "b", ""]),
        ("? a\n\nb: 1", ["a", "", "b", "1"]),
        ("a: &x b", ["a", "&x b"]),
    ])
    func `ranges are bytes, without the white space and comments behind`(text: String, expected: [String]) throws {
        let node = try #require(try root(text))
        #expect(written(node, in: text) == expected)
    }

    @Test func `a block collection ends with its last value, a flow collection with its bracket`() throws {
        let text = "a:\n  - b\n  - c # d\n\n# e\nf: [g, h ] # i\n"
        var ranges: [String] = []
        if case .mapping(let pairs, flow: false)? = try root(text)?.kind {
            ranges = pairs.map { String(decoding: Array(text.utf8)[$0.value.range], as: UTF8.self) }
        }
        #expect(ranges == ["- b\n  - c", "[g, h ]"])
    }

    @Test func `tags are named in full and anchors seen`() throws {
        #expect(try root("!!float 1")?.tag == "tag:yaml.org,2002:float")
        #expect(try root("!mine [1]")?.tag == "!mine")
        #expect(try root("&x a")?.hasAnchor == true)
        #expect(try root("a")?.hasAnchor == false)
    }

    @Test func `a text without a document is nil`() throws {
        for text in ["", "\n\n", "# c\n", "  # c"] { #expect(try root(text) == nil) }
    }

    @Test(arguments: [
        ("a: b: c", 4), ("é: [\n", 6), ("é: 'x", 6), ("é\u{1}", 2), ("a: \u{7F}", 3), ("ä\u{80}", 2), ("ä\u{FFFE}", 2),
        ("--- a\n--- b", 6), ("a: \"\\q\"", 4),
    ])
    func `an error tells its byte`(text: String, offset: Int) {
        let error = #expect(throws: YAMLError.self) { try root(text) }
        #expect(error?.offset == offset)
    }

    @Test func `offsets are indices of the slice`() throws {
        let bytes = Array("---\nä: b: c".utf8)
        let error = #expect(throws: YAMLError.self) { try YAMLNode.parse(bytes[4...]) }
        #expect(error?.offset == 9)
        #expect(try YAMLNode.parse(bytes[4..<9])?.range == 4..<9)
    }

    @Test func `deep nesting is an error`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try root(nested(YAMLNode.maximumDepth)) != nil)
        #expect(throws: YAMLError.self) { try root(nested(20_000)) }
        #expect(throws: YAMLError.self) { try root(String(repeating: "- ", count: 20_000)) }
    }
}
