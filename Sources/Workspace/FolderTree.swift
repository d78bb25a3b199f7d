import Libraries
import Model

/// The names and stats of a scanned folder and of all folders below it. It decides nothing: what is not in it, the scan
/// asks the disk for itself.
public struct FolderTree: Sendable {
    fileprivate var listings: [Text: FolderListing] = [:]

    public init() {}

    func listing(of path: Text) -> FolderListing? { listings[path] }
}

/// Reads a `FolderTree` ahead of a scan, on a thread of its own while the journal is read; whoever waits for it helps.
public struct ReadAhead: Sendable {
    private let reader: TreeReader
    private let thread: Parallel<Void>

    /// Begins at once.
    public init(_ scanner: Scanner, _ folder: ScannedFolder) {
        let reader = TreeReader(scanner, folder)
        self.reader = reader
        thread = Parallel { reader.read() }
    }

    /// The whole tree.
    public func wait() -> FolderTree {
        reader.read()
        thread.wait()
        return reader.tree()
    }
}

private final class TreeReader: Sendable {
    private struct Pending: Sendable {
        let parent: OpenFolder
        /// Nil: the parent itself.
        let name: FileName?
        let path: Text
        let depth: Int
    }

    private struct State {
        /// The last in is the first out, so that few folders are open at a time.
        var pending: [Pending] = []
        var tree = FolderTree()
    }

    private let scanner: Scanner
    private let folder: ScannedFolder
    private let state = Mutex(State())

    init(_ scanner: Scanner, _ folder: ScannedFolder) {
        self.scanner = scanner
        self.folder = folder
        guard let opened = try? scanner.root.folder(at: folder.path.string) else { return }
        state.withLock { $0.pending.append(Pending(parent: opened, name: nil, path: "", depth: 0)) }
    }

    /// Reads folders until none is left that another isn't already reading; what that finds, it reads itself.
    func read() {
        while let next = state.withLock({ $0.pending.popLast() }) { read(next) }
    }

    /// Gives away what was read.
    func tree() -> FolderTree {
        state.withLock { state in
            defer { state.tree = FolderTree() }
            return state.tree
        }
    }

    private func read(_ next: Pending) {
        let opened: OpenFolder
        if let name = next.name {
            guard let folder = try? next.parent.folder(name) else { return }
            opened = folder
        } else {
            opened = next.parent
        }
        guard let listing = try? opened.listing(statsOf: folder.suffix?.bytes ?? []) else { return }
        var found: [Pending] = []
        for entry in listing.entries where entry.status?.kind == .folder && next.depth < ScanWalk.deepest {
            let name = listing.name(of: entry)
            guard let string = name.string else { continue }
            let path = next.path.appending(Text(string))
            if folder.excluded.contains(path) { continue }
            if scanner.rules.ignores(folder.inWorkspace(path), Text(string), isFolder: true) { continue }
            found.append(Pending(parent: opened, name: name, path: path, depth: next.depth + 1))
        }
        state.withLock {
            $0.tree.listings[next.path] = listing
            $0.pending += found
        }
    }
}
