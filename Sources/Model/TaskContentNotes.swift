extension TaskContent {
    /// Notes as every side compares them: CRLF and a lone CR are LF, and line ends at the very end are cut.
    public static func normalizedNotes(_ notes: Text) -> Text {
        let carriageReturn = UInt8(ascii: "\r")
        let lineFeed = UInt8(ascii: "\n")
        guard notes.utf8.last == lineFeed || notes.utf8.contains(carriageReturn) else { return notes }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(notes.utf8.count)
        var afterReturn = false
        for byte in notes.utf8 {
            // The LF of a CRLF was written already, for its CR.
            if !(byte == lineFeed && afterReturn) { bytes.append(byte == carriageReturn ? lineFeed : byte) }
            afterReturn = byte == carriageReturn
        }
        while bytes.last == lineFeed { bytes.removeLast() }
        return Text(String(decoding: bytes, as: UTF8.self))
    }
}
