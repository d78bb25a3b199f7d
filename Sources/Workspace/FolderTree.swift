import Libraries
import Model

/// The names and stats of a scanned folder and of all folders below it. It decides nothing: what is not in it, the scan
/// asks the disk for itself.
public struct FolderTree: Sendable {
    struct Folder {
        /// Without what was passed over.
        let listing: FolderListing
        /// Settled files that are as they were.
        let passed: [SettledFiles.Index]
    }

    fileprivate var folders: [Text: Folder] = [:]

    public init() {}

    func folder(at path: Text) -> Folder? { folders[path] }
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

    /// The whole tree. Settled files that are as they were are passed over from now on, and need no more memory.
    public func wait(passingOver settled: SettledFiles) -> FolderTree {
        reader.passOver(settled)
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
        var settled = SettledFiles()
    }

    private let scanner: Scanner
    private let folder: ScannedFolder
    /// Of the scanned folder: what lies on another device is no settled file.
    private let device: UInt64?
    private let state = Mutex(State())

    init(_ scanner: Scanner, _ folder: ScannedFolder) {
        self.scanner = scanner
        self.folder = folder
        let opened = try? scanner.root.folder(at: folder.path.string)
        device = try? opened?.status().device
        guard let opened else { return }
        state.withLock { $0.pending.append(Pending(parent: opened, name: nil, path: "", depth: 0)) }
    }

    func passOver(_ settled: SettledFiles) { state.withLock { $0.settled = settled } }

    /// Reads folders until none is left that another isn't already reading; what that finds, it reads itself.
    func read() {
        while let next = state.withLock({ $0.pending.popLast() }) { read(next) }
    }

    /// Gives away what was read, and what it took.
    func tree() -> FolderTree {
        state.withLock { state in
            defer { state = State() }
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
        guard var listing = try? opened.listing(statsOf: folder.suffix?.bytes ?? []) else { return }
        let settled = state.withLock { $0.settled }
        let path = FolderPath(next.path)
        var passed: [SettledFiles.Index] = []
        listing.removeAll { name, entry in
            guard let status = entry.status, status.kind == .file, status.device == device,
                let index = settled.index(of: name, in: path), settled.isAsItWas(index, status.stamp)
            else { return false }
            passed.append(index)
            return true
        }
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
            $0.tree.folders[next.path] = FolderTree.Folder(listing: listing, passed: passed)
            $0.pending += found
        }
    }
}
