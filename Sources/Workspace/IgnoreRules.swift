import Libraries
import Model

/// What is not synced: the built-in list and `.otaskignore` (gitignore syntax). Paths are relative to the workspace.
public final class IgnoreRules: Sendable {
    private let git: GitIgnore?
    /// What tells these rules from others: the bytes of `.otaskignore`.
    public let source: [UInt8]?
    /// `.otaskignore` is there and can't be read: every gone path is unknown.
    public let problem: PathProblem?

    /// Reads `.otaskignore` at the root of the workspace. libgit2 is started only where it has a rule. The person's global git
    /// ignore has no say.
    public init(root: OpenFolder) {
        do throws(PathProblem) {
            let bytes = try Self.source(root)
            git = if let bytes { try Self.read(bytes) } else { nil }
            source = bytes
            problem = nil
        } catch {
            source = nil
            git = nil
            problem = error
        }
    }

    static let file: Text = ".otaskignore"

    private static func source(_ root: OpenFolder) throws(PathProblem) -> [UInt8]? {
        do throws(SystemError) {
            return try root.open(FileName(file.string)).read()
        } catch {
            if error.isMissing { return nil }
            throw PathProblem(
                .unreadable, file,
                "can't be read (\(error.reason)), so nothing that is missing counts as deleted; make it readable or remove it"
            )
        }
    }

    private static func read(_ bytes: [UInt8]) throws(PathProblem) -> GitIgnore? {
        guard let text = Text(utf8: bytes) else {
            throw PathProblem(
                .unreadable, file, "isn't UTF-8, so nothing that is missing counts as deleted; save it as UTF-8")
        }
        let hasRule = text.utf8.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.contains { line in
            line.first != UInt8(ascii: "#") && line.contains { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        }
        guard hasRule else { return nil }
        guard let git = GitIgnore(rules: String(text.string.unicodeScalars.drop { $0 == "\u{FEFF}" })) else {
            throw PathProblem(.unreadable, file, "its rules can't be taken in; check its syntax (see `man gitignore`)")
        }
        return git
    }

    /// Whether `path`, or a folder above it, is ignored.
    public func ignores(_ path: Text, isFolder: Bool = false) -> Bool {
        let components = path.components
        var above: Text = ""
        for (index, name) in components.enumerated() {
            above = above.appending(name)
            if ignores(above, name, isFolder: isFolder || index < components.count - 1) { return true }
        }
        return false
    }

    /// The same, where no folder above `path` is ignored; `name` is its last component.
    func ignores(_ path: Text, _ name: Text, isFolder: Bool) -> Bool {
        Self.isIgnoredName(name) || git?.matches(path.string, isFolder: isFolder) == true
    }

    /// Every temporary file of otask's begins so.
    public static let temporaryPrefix: Text = ".otask-tmp-"

    /// The built-in list, for one name: dot files, `*~`, `*.swp`, …, and otask's own temporary names.
    public static func isIgnoredName(_ name: Text) -> Bool {
        guard let first = name.utf8.first, let last = name.utf8.last else { return true }
        // `.otask-tmp-*`, `.#*` and `.~lock.*#` are dot files too.
        if first == UInt8(ascii: ".") || last == UInt8(ascii: "~") || name.hasPrefix("~$") { return true }
        if first == UInt8(ascii: "#"), last == UInt8(ascii: "#") { return true }
        if endings.contains(where: name.hasSuffix) { return true }
        return names.contains(name)
    }

    private static let endings: [Text] = [".swp", ".swo", ".tmp", ".part", ".crdownload"]
    private static let names: [Text] = ["4913", "Thumbs.db", "desktop.ini"]

    /// A trash folder (`.trash`, `.Trash*`): what was moved there is deleted.
    public static func isTrash(_ name: Text) -> Bool { name == ".trash" || name.hasPrefix(".Trash") }
}
