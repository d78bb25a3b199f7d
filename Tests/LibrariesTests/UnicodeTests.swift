import Testing

@testable import Libraries

@Suite struct UnicodeTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func `a decomposed text is composed`() {
        #expect(bytes(UnicodeText.composed("cafe\u{301}")) == bytes("caf\u{E9}"))
        #expect(bytes(UnicodeText.composed("\u{1112}\u{1161}\u{11AB}")) == bytes("\u{D55C}"))
        #expect(bytes(UnicodeText.composed("caf\u{E9}\0 x")) == bytes("caf\u{E9}\0 x"))
        #expect(UnicodeText.composed("").isEmpty)
    }

    @Test(arguments: [
        ("Milk", "mILK"), ("Caf\u{E9}", "CAFE\u{301}"), ("Stra\u{DF}e", "STRASSE"),
        ("\u{3A3}\u{3BF}\u{3C2}", "\u{3C3}\u{3BF}\u{3C3}"),
        ("\u{212B}", "\u{E5}"), ("\u{1FC3}", "\u{1FCC}"),
    ])
    func `case and form fold away`(a: String, b: String) {
        #expect(bytes(UnicodeText.folded(a)) == bytes(UnicodeText.folded(b)))
    }

    @Test(arguments: [("i", "\u{131}"), ("a", "\u{E4}"), ("\u{BD}", "1/2"), ("\u{FB01}x", "fx")])
    func `different letters stay different`(a: String, b: String) {
        #expect(bytes(UnicodeText.folded(a)) != bytes(UnicodeText.folded(b)))
    }

    @Test func `folding what is folded changes nothing`() {
        for value in UInt32(0)...0x1FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let once = UnicodeText.folded(String(scalar) + "\u{301}")
            #expect(bytes(UnicodeText.folded(once)) == bytes(once), "U+\(String(value, radix: 16))")
        }
    }

    @Test(arguments: [
        ("", 0), ("milk", 4), ("cafe\u{301}", 4), ("\u{725B}\u{5976}", 4), ("\u{FF76}", 1), ("\u{1F95B}", 2),
        ("\u{2764}\u{FE0F}", 2),
        ("\u{1F1E8}\u{1F1ED}", 2), ("\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", 2), ("\u{D55C}", 2),
        ("a\u{7}\u{1B}b", 2), ("a\r\nb", 2),
    ])
    func `a text takes so many columns`(text: String, columns: Int) {
        #expect(UnicodeText.displayWidth(text) == columns)
    }
}
