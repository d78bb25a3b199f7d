import Libraries
import Model

/// Whether an editor has a file open, by the swap or lock file that it leaves beside it.
public struct EditorLocks: Sendable {
    public enum Editor: String, Hashable, Sendable { case vim, emacs, libreOffice }

    private let root: OpenFolder
    private let now: @Sendable () -> Instant
    private let host: String
    private let isAlive: @Sendable (Int32) -> Bool

    /// - Parameters:
    ///   - host: this host's name.
    ///   - isAlive: whether a process runs on this host.
    public init(
        root: OpenFolder, now: @escaping @Sendable () -> Instant = { Instant(nanoseconds: System.now()) },
        host: String = System.hostName(), isAlive: @escaping @Sendable (Int32) -> Bool = System.isAlive
    ) {
        self.root = root
        self.now = now
        self.host = host
        self.isAlive = isAlive
    }

    /// The editor that has `path` (relative to the workspace) open. A lock counts while the process it names is alive on this
    /// host; one of another host, or that names none, for a day.
    public func openInEditor(_ path: Text) -> Editor? {
        guard let folder = try? root.folder(at: path.parent.string) else { return nil }
        let name = path.lastComponent.string
        // vim takes the next letter where a swap file is there already.
        for ending in ["swp", "swo", "swn"] where counts(folder, ".\(name).\(ending)", vimOwner) { return .vim }
        if counts(folder, ".#\(name)", emacsOwner) { return .emacs }
        if counts(folder, ".~lock.\(name)#", { _, _ in nil }) { return .libreOffice }
        return nil
    }

    private struct Owner {
        var host: String
        var process: Int32
    }

    private func counts(_ folder: OpenFolder, _ lock: String, _ owner: (OpenFolder, FileName) -> Owner?) -> Bool {
        let name = FileName(lock)
        guard let status = try? folder.status(name) else { return false }
        if let owner = owner(folder, name), isThisHost(owner.host) { return isAlive(owner.process) }
        return abs(now() - Instant(nanoseconds: status.modified)) < 86_400
    }

    private func isThisHost(_ name: String) -> Bool {
        func short(_ name: String) -> Substring { name.prefix { $0 != "." } }
        return !name.isEmpty && short(name) == short(host)
    }

    /// vim's `struct block0` (memline.c): id `b0`, version in 10 bytes, page size, time, inode and process in 4 each,
    /// lowest byte first, user in 40, host in 40.
    private func vimOwner(_ folder: OpenFolder, _ name: FileName) -> Owner? {
        guard let head = try? folder.open(name).read(limit: 108), head.count == 108,
            head.starts(with: "b0".utf8)
        else { return nil }
        let process = head[24..<28].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let host = String(decoding: head[68..<108].prefix { $0 != 0 }, as: UTF8.self)
        return Owner(host: host, process: Int32(truncatingIfNeeded: process))
    }

    /// Emacs: a symlink to `user@host.process`, with `:` and the time of the last boot behind it where that is known; a file
    /// with that text where there are no symlinks.
    private func emacsOwner(_ folder: OpenFolder, _ name: FileName) -> Owner? {
        guard let bytes = (try? folder.readLink(name)) ?? (try? folder.open(name).read(limit: 1024)) else { return nil }
        let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        guard let at = text.lastIndex(of: "@"), let dot = text.lastIndex(of: "."), at < dot,
            let process = Int32(text[text.index(after: dot)...])
        else { return nil }
        return Owner(host: String(text[text.index(after: at)..<dot]), process: process)
    }
}
