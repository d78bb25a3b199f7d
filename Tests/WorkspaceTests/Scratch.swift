import Libraries
import Model

@testable import Workspace

/// A workspace in a temporary folder, removed when the value goes away.
final class Scratch: Sendable {
    let path: String
    let root: OpenFolder

    init() throws {
        path = try System.makeTemporaryFolder()
        root = try OpenFolder(path: path)
        // So that another user, as whom some tests read, gets this far.
        try root.setMode(0o755)
        try root.makeFolder(".otask")
        try root.makeFolder("tasks")
    }

    deinit {
        Self.empty(root)
        let parent = try? OpenFolder(path: "/tmp")
        try? parent?.removeFolder(FileName(String(path.dropFirst("/tmp/".count))))
    }

    private static func empty(_ folder: OpenFolder) {
        for entry in (try? folder.entries()) ?? [] {
            if (try? folder.status(entry.name))??.kind == .folder {
                try? folder.setMode(entry.name, 0o700)
                if let inner = try? folder.folder(entry.name) { empty(inner) }
                try? folder.removeFolder(entry.name)
            } else {
                try? folder.unlink(entry.name)
            }
        }
    }

    /// The folder of `path`, made where it is missing, and the name in it.
    func spot(_ path: Text) throws -> (folder: OpenFolder, name: FileName) {
        var folder = root
        for component in path.components.dropLast() {
            let name = FileName(component.string)
            if try folder.status(name) == nil { try folder.makeFolder(name) }
            folder = try folder.folder(name)
        }
        return (folder, FileName(path.lastComponent.string))
    }

    /// Writes as many editors do: into the file itself.
    func write(_ path: Text, _ text: String) throws {
        let (folder, name) = try spot(path)
        let file = try folder.openOrCreate(name)
        try file.truncate()
        try file.write(text.utf8)
    }

    /// Writes as other editors do: a new file, renamed over the old one.
    func replace(_ path: Text, _ text: String) throws {
        let (folder, name) = try spot(path)
        let file = try folder.create("saving")
        try file.write(text.utf8)
        try folder.rename("saving", to: folder, name)
    }

    func read(_ path: Text) -> String? {
        guard let (folder, name) = try? spot(path), let bytes = try? folder.open(name).read() else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    func remove(_ path: Text) throws {
        let (folder, name) = try spot(path)
        try folder.unlink(name)
    }

    func status(_ path: Text) throws -> FileStatus? {
        let (folder, name) = try spot(path)
        return try folder.status(name)
    }

    /// Makes the file so many seconds old.
    func age(_ path: Text, _ seconds: Int64) throws {
        let (folder, name) = try spot(path)
        try folder.open(name).setModified(System.now() - seconds * 1_000_000_000)
    }

    /// The names in a folder, in order.
    func names(_ path: Text) throws -> [String] {
        try root.folder(at: path.string).entries().map(\.name.shown).sorted()
    }
}

func digest(_ text: String) -> Digest { Digest(of: Array(text.utf8)) }

#if os(Linux)
    import Glibc

    @_silgen_name("setfsuid") private func setfsuid(_ user: UInt32) -> Int32

    /// Reads files as somebody whom permissions stop: root becomes `nobody`, for this thread only.
    func withoutPrivileges<Result>(_ body: () throws -> Result) rethrows -> Result {
        let isRoot = geteuid() == 0
        if isRoot { _ = setfsuid(65534) }
        defer { if isRoot { _ = setfsuid(0) } }
        return try body()
    }
#else
    func withoutPrivileges<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }
#endif
