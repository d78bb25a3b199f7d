import Libraries
import Model

/// What a task, photo or folder may be called, on every system a workspace may be carried to.
public enum Names {
    /// A name made of a title: lower case, letters and digits of any script, `-` for the rest, at most 80 bytes;
    /// `task` where nothing is left. It may be a reserved name (`isReserved`).
    public static func slug(of title: Text) -> Text {
        var slug = ""
        var gap = false
        for character in UnicodeText.composed(title.string.lowercased()) {
            let kept = keptScalars(of: character)
            if kept.isEmpty {
                gap = true
                continue
            }
            let piece = (gap && !slug.isEmpty ? "-" : "") + kept
            if slug.utf8.count + piece.utf8.count > slugLimit { break }
            slug += piece
            gap = false
        }
        return slug.isEmpty ? "task" : Text(slug)
    }

    /// In bytes.
    private static let slugLimit = 80

    /// A character's letters and digits with the marks on them: vowel signs of Indic scripts are marks. The selector of a
    /// picture's form is a mark too, and isn't kept, nor is a mark that stands on something left out.
    private static func keptScalars(of character: Character) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in character.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
                .letterNumber, .otherNumber:
                kept.append(scalar)
            case .nonspacingMark, .spacingMark:
                if !kept.isEmpty, !scalar.properties.isVariationSelector { kept.append(scalar) }
            default: break
            }
        }
        return String(kept)
    }

    /// Whether a place (a path in the task folder, with `/`, without `.md`) can be a file on every system.
    public static func isSafe(_ place: Text) -> Bool { flaw(of: place) == nil }

    /// What is wrong with the place of a person's own file, and the way out; nil where it is safe.
    public static func problem(ofPath place: Text) -> Text? {
        guard let (name, flaw) = flaw(of: place) else { return nil }
        return Text(
            "the name \u{201C}\(printable(name))\u{201D} \(flaw.words), so this file stays here only: rename it")
    }

    /// Two paths with one key are one file where case and form don't count (NFC, case folded).
    public static func foldedKey(_ path: Text) -> Text { Text(UnicodeText.folded(path.string)) }

    /// Whether a name is that of a device on Windows, with any extension: `con`, `NUL.txt`.
    public static func isReserved(_ name: Text) -> Bool {
        // Most names are told by their first byte; no letter outside ASCII has one of these as its lower case.
        guard let first = name.utf8.first, initials.contains(first | 0x20) else { return false }
        let stem = name.string.prefix { $0 != "." }.lowercased()
        return devices.contains(String(stem.reversed().drop { $0 == " " }.reversed()))
    }

    /// "Naming Files, Paths, and Namespaces", learn.microsoft.com.
    private static let devices: Set<String> = {
        let ports = ["com", "lpt"].flatMap { port in "0123456789¹²³".map { "\(port)\($0)" } }
        return Set(["con", "prn", "aux", "nul", "conin$", "conout$"] + ports)
    }()

    /// With which the name of a device begins.
    private static let initials = Set("cpanl".utf8)

    private enum Flaw {
        case empty, leadingDot, control, backslash, device, trailing, tooLong, tooDeep

        /// Follows "the name …".
        var words: String {
            switch self {
            case .empty: "is empty"
            case .leadingDot: "begins with a dot"
            case .control: "holds a control character"
            case .backslash: "holds a backslash, which parts folders on Windows"
            case .device: "is that of a device on Windows"
            case .trailing: "ends in a dot or a blank, which Windows drops"
            case .tooLong: "is longer than 255 bytes"
            case .tooDeep: "lies more than \(deepest) folders deep"
            }
        }
    }

    private static func flaw(of place: Text) -> (name: Text, Flaw)? {
        let names = place.components
        if names.count > deepest + 1 { return (names[deepest], .tooDeep) }
        for (index, name) in names.enumerated() {
            let limit = index == names.count - 1 ? longestStem : longestName
            if let flaw = flaw(ofName: name, limit: limit) { return (name, flaw) }
        }
        return nil
    }

    /// So many folders may lie above a file: as many as the scanner goes down.
    public static let deepest = 128

    /// In bytes: what file systems hold in one component, and what is left of it before `.md`.
    private static let longestName = 255
    static let longestStem = longestName - ".md".utf8.count

    private static func flaw(ofName name: Text, limit: Int) -> Flaw? {
        if name.isEmpty { return .empty }
        // "." and ".." as well.
        if name.hasPrefix(".") { return .leadingDot }
        if holdsControl(name) { return .control }
        if name.utf8.contains(UInt8(ascii: "\\")) { return .backslash }
        if name.hasSuffix(".") || name.hasSuffix(" ") { return .trailing }
        if isReserved(name) { return .device }
        return name.utf8.count > limit ? .tooLong : nil
    }

    private static func holdsControl(_ name: Text) -> Bool {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.utf8.contains { $0 < 0x20 || $0 == 0x7F } }
        return name.string.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// A name that can't act on a terminal.
    private static func printable(_ name: Text) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in name.string.unicodeScalars {
            shown.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
        }
        return String(shown)
    }
}
