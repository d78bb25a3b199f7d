/// A text that came from a file or the server: compared, hashed and ordered by its UTF-8 bytes.
///
/// Swift's `String` takes NFC and NFD for equal and `\r\n` for one character; two files whose names differ only so
/// would be one key of a dictionary. `Text` has none of that. Read `string` to show or cut it.
public struct Text: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    CustomStringConvertible
{
    public var string: String

    public init(_ string: String) { self.string = string }
    public init(stringLiteral value: String) { string = value }
    public init(_ substring: Substring) { string = String(substring) }

    /// The text of these bytes, or nil where they are not UTF-8.
    public init?(utf8 bytes: some Collection<UInt8>) {
        guard let string = String(validating: bytes, as: UTF8.self) else { return nil }
        self.string = string
    }

    public var description: String { string }
    public var isEmpty: Bool { string.utf8.isEmpty }
    public var utf8: String.UTF8View { string.utf8 }
    public var bytes: [UInt8] { Array(string.utf8) }

    public static func == (a: Text, b: Text) -> Bool {
        var (a, b) = (a.string, b.string)
        if a.utf8.count != b.utf8.count { return false }
        // Contiguous bytes are compared many times faster than through the view.
        return a.withUTF8 { a in b.withUTF8 { b in a.elementsEqual(b) } }
    }

    public func hash(into hasher: inout Hasher) {
        var copy = string
        copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xFF))
    }

    public static func < (a: Text, b: Text) -> Bool {
        var (a, b) = (a.string, b.string)
        return a.withUTF8 { a in b.withUTF8 { b in a.lexicographicallyPrecedes(b) } }
    }

    public func hasPrefix(_ prefix: Text) -> Bool { utf8.starts(with: prefix.utf8) }

    public func hasSuffix(_ suffix: Text) -> Bool {
        utf8.count >= suffix.utf8.count && utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    public static func + (a: Text, b: Text) -> Text { Text(a.string + b.string) }
}

/// A path relative to a folder of the workspace, with `/` between components. A *place* is the path of a task's file
/// in the task folder, without `.md`.
extension Text {
    /// The components of a path; a text without `/` has one.
    public var components: [Text] {
        utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Text(Substring($0)) }
    }

    /// The last component of a path.
    public var lastComponent: Text {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return self }
        return Text(string[utf8.index(after: slash)...])
    }

    /// The path of the folder that holds this path; empty for a path of one component.
    public var parent: Text {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return Text(string[..<slash])
    }

    /// `name` inside the folder `self`; an empty folder is the root.
    public func appending(_ name: Text) -> Text { isEmpty ? name : Text(string + "/" + name.string) }
}
