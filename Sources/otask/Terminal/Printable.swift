import Model

/// A text from a file or the server as a terminal may see it: control characters, and those that turn the direction of
/// writing, are shown as escapes, so that a title can't move the cursor, colour the screen or hide its end.
func printable(_ text: String) -> String { escaped(text) { _ in false } }

func printable(_ text: Text) -> String { printable(text.string) }

/// The same for a text of several lines.
func printableLines(_ text: Text) -> String { escaped(text.string) { $0 == "\n" || $0 == "\t" } }

private func escaped(_ text: String, except isKept: (Unicode.Scalar) -> Bool) -> String {
    guard text.unicodeScalars.contains(where: { isUnsafe($0) && !isKept($0) }) else { return text }
    var out = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        guard isUnsafe(scalar), !isKept(scalar) else {
            out.append(scalar)
            continue
        }
        switch scalar {
        case "\n": out.append(contentsOf: "\\n".unicodeScalars)
        case "\r": out.append(contentsOf: "\\r".unicodeScalars)
        case "\t": out.append(contentsOf: "\\t".unicodeScalars)
        default: out.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
        }
    }
    return String(out)
}

/// Controls (Cc), line and paragraph separators, and the bidirectional controls of UAX 9.
private func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x1F, 0x7F...0x9F, 0x200E, 0x200F, 0x061C, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
}
