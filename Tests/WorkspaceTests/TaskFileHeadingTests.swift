import Libraries
import Testing

@testable import Workspace

@Suite struct TaskFileHeadingTests {
    @Test func `a heading is one to cmark too, and what cmark takes for one of one line is the title or empty`() {
        let pieces = [
            "#", "# ", "a", " ", "\t", "=", "==", "\n", "\n", "\r\n", "\r", "-", "- ", ">", "<b>", "[a]: /b", "\\",
            "\u{B}", "\u{C}", "1. ", "`", "é",
        ]
        for seed in 0..<UInt64(10_000) {
            var random = SeededGenerator(seed: seed)
            let text = (0..<Int.random(in: 1...8, using: &random)).map { _ in random.pick(pieces) }.joined()
            let bytes = Array(text.utf8)
            let isHeading = markdownBeginsWithHeading(bytes, level: 1)
            if let heading = TitleHeading.first(in: bytes, from: 0) {
                #expect(isHeading, "seed \(seed): \(text.debugDescription)")
                #expect(!heading.text.isEmpty)
                continue
            }
            // No title: no heading, an empty one, one of several lines, or one behind a link definition.
            let first = bytes.lines(in: 0..<bytes.count).first { !bytes.isBlank($0.text) }
            let line = first.map { String(decoding: bytes[$0.text], as: UTF8.self) } ?? ""
            let isATX = line.drop { $0 == " " }.first == "#"
            let isEmpty = line.utf8.allSatisfy { [0x23, 0x20, 0x09, 0x0B, 0x0C].contains($0) }
            if isHeading, isATX, !isEmpty {
                #expect(
                    !markdownBeginsWithHeading(Array(line.utf8), level: 1), "seed \(seed): \(text.debugDescription)")
            }
        }
    }
}
