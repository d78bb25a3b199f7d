import CUTF8Proc

/// What Swift's standard library doesn't say about texts: normal form, case folding and width on a terminal.
public enum UnicodeText {
    /// The text in normal form C (UAX #15).
    public static func composed(_ text: String) -> String {
        isASCII(text) ? text : mapped(text, UTF8PROC_COMPOSE)
    }

    /// The text in normal form C without differences of case (full folding, not of one language): two texts with one
    /// folded form are one name on file systems that don't tell case and form apart.
    public static func folded(_ text: String) -> String {
        if isASCII(text) { return text.lowercased() }
        // Folding may leave a text that is not composed, and composing one that can be folded again: twice is stable.
        let once = mapped(text, UTF8PROC_COMPOSE.rawValue | UTF8PROC_CASEFOLD.rawValue)
        return mapped(once, UTF8PROC_COMPOSE.rawValue | UTF8PROC_CASEFOLD.rawValue)
    }

    /// The number of columns of a terminal that the text takes. Control characters take none.
    public static func displayWidth(_ text: String) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    private static func width(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        // A flag is two letters of one column each; a picture asked for by U+FE0F is as wide as any other.
        if scalars.count > 1, scalars.contains(where: { $0.value == 0xFE0F || (0x1F1E6...0x1F1FF).contains($0.value) })
        {
            return 2
        }
        return scalars.map { Int(utf8proc_charwidth(utf8proc_int32_t($0.value))) }.max() ?? 0
    }

    private static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

    private static func mapped(_ text: String, _ options: UInt32) -> String {
        var text = text
        var result: UnsafeMutablePointer<utf8proc_uint8_t>?
        defer { free(result) }
        let options = utf8proc_option_t(rawValue: options | UTF8PROC_STABLE.rawValue)
        let count = text.withUTF8 { utf8proc_map($0.baseAddress, $0.count, &result, options) }
        // A Swift text is always well-formed, so it can only be want of memory that stops this.
        guard count >= 0, let result else { preconditionFailure("out of memory") }
        return String(decoding: UnsafeBufferPointer(start: result, count: count), as: UTF8.self)
    }

    private static func mapped(_ text: String, _ option: utf8proc_option_t) -> String { mapped(text, option.rawValue) }
}
