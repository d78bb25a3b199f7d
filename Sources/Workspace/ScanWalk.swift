import Libraries
import Model

/// One scan under way.
struct ScanWalk {
    let scanner: Scanner
    let folder: ScannedFolder
    /// The device of the scanned folder: what lies on another is a mount.
    let device: UInt64
    private(set) var cache: [Text: CachedFile]
    /// Files that are passed over where they are as they were.
    var settled: SettledFiles
    /// What was read ahead.
    let tree: FolderTree
    private(set) var snapshot = Snapshot()

    /// Each level keeps a descriptor open, of which a process has about a thousand.
    static let deepest = 128

    init(
        scanner: Scanner, folder: ScannedFolder, device: UInt64, cache: [Text: CachedFile],
        settled: SettledFiles = SettledFiles(), tree: FolderTree = FolderTree()
    ) {
        self.scanner = scanner
        self.folder = folder
        self.device = device
        self.cache = cache
        self.settled = settled
        self.tree = tree
        snapshot.files.reserveCapacity(cache.count)
        snapshot.cache.reserveCapacity(cache.count)
    }

    /// Takes in what lies in `opened`, whose path is `path`. Neither it nor anything above it is ignored.
    mutating func visit(_ opened: OpenFolder, path: Text, depth: Int) {
        let listing: FolderListing
        do throws(SystemError) {
            if let read = tree.folder(at: path) {
                listing = read.listing
                for index in read.passed { settled.see(index) }
            } else {
                listing = try opened.listing(statsOf: folder.suffix?.bytes ?? [])
            }
        } catch {
            return leaveUnknown(path, .unreadable(path, error))
        }
        let folderPath = FolderPath(path)
        for entry in listing.entries {
            if let status = entry.status, status.kind == .file, status.device == device,
                let index = settled.index(of: listing.bytes(of: entry), in: folderPath)
            {
                if settled.isAsItWas(index, status.stamp) {
                    settled.see(index)
                    continue
                }
                let path = Text(String(decoding: folderPath.bytes + listing.bytes(of: entry), as: UTF8.self))
                if confirm(index, status.stamp, listing.name(of: entry), in: opened, path) { continue }
                cache[path] = settled.cached(index)
            }
            take(entry, listing.name(of: entry), in: opened, path, depth)
        }
    }

    /// Reads a settled file again whose stamp is as it was but too young to be trusted. True where it is what it was.
    private mutating func confirm(
        _ index: SettledFiles.Index, _ stamp: FileStamp, _ name: FileName, in opened: OpenFolder, _ path: Text
    ) -> Bool {
        guard settled.mayBeSame(index, stamp) else { return false }
        let moment = scanner.now()
        if scanner.background, moment.isWithinTwoSeconds(of: stamp.modified) { return false }
        guard case .file(let file) = scanner.read(name, of: opened, as: path, keptBytes: -1),
            settled.see(index, file, at: moment)
        else { return false }
        snapshot.cache[path] = settled.cached(index)
        return true
    }

    private mutating func take(
        _ entry: FolderListing.Entry, _ fileName: FileName, in opened: OpenFolder, _ parent: Text, _ depth: Int
    ) {
        // Most of what is left out goes here.
        if entry.kind == .file, !hasSuffix(fileName) { return noteTemporary(fileName, in: parent) }
        guard let string = fileName.string else { return takeUnreadable(fileName, in: parent) }
        let name = Text(string)
        let path = parent.appending(name)
        if folder.excluded.contains(path) { return }
        if IgnoreRules.isIgnoredName(name) { return noteTemporary(fileName, in: parent) }

        if entry.isMissing { return snapshot.busy.append(path) }
        guard let status = entry.status else {
            let error = SystemError(code: entry.failure, path: path.string, call: "stat")
            return leaveUnknown(path, .unreadable(path, error))
        }
        if status.kind == .file, !hasSuffix(fileName) { return }
        if scanner.rules.ignores(inWorkspace(path), name, isFolder: status.kind == .folder) { return }
        if let text = scanner.names.problem(name) {
            return snapshot.problems.append(PathProblem(.badName, path, text))
        }
        switch status.kind {
        case .file: takeFile(fileName, status, in: opened, path)
        case .folder: takeFolder(fileName, status, in: opened, path, depth)
        case .symlink, .special: snapshot.problems.append(PathProblem.ofKind(status.kind, path)!)
        }
    }

    private mutating func takeFile(_ name: FileName, _ status: FileStatus, in opened: OpenFolder, _ path: Text) {
        if status.device != device { return snapshot.problems.append(.otherDevice(path)) }
        let cached = cache[path]
        let recorded = scanner.now()
        if let cached, cached.vouches(for: status.stamp) {
            snapshot.cache[path] = cached
            snapshot.files.append(
                SeenFile(path: path, stamp: status.stamp, digest: cached.digest, linkCount: status.linkCount))
            return
        }
        if scanner.background, recorded.isWithinTwoSeconds(of: status.modified) { return leaveBusy(path) }
        switch scanner.read(name, of: opened, as: path, keptBytes: folder.keptBytes) {
        case .file(var file):
            snapshot.cache[path] = CachedFile(stamp: file.stamp, recorded: recorded, digest: file.digest)
            // What the journal knows already is seldom asked for.
            if file.digest == cached?.digest { file.bytes = nil }
            snapshot.files.append(file)
        case .busy, .missing: leaveBusy(path)
        case .problem(let problem): snapshot.problems.append(problem)
        }
    }

    private mutating func takeFolder(
        _ name: FileName, _ status: FileStatus, in opened: OpenFolder, _ path: Text, _ depth: Int
    ) {
        if status.device != device { return leaveUnknown(path, .otherDevice(path)) }
        if depth == Self.deepest {
            let text: Text = "lies more than \(Self.deepest) folders deep; move it up, or name it in .otaskignore"
            return leaveUnknown(path, PathProblem(.unreadable, path, text))
        }
        do throws(SystemError) {
            visit(try opened.folder(name), path: path, depth: depth + 1)
        } catch {
            // Gone since it was listed: the next run will see where it is.
            leaveUnknown(path, error.isMissing ? nil : .unreadable(path, error))
        }
    }

    /// A name that is not UTF-8.
    private mutating func takeUnreadable(_ name: FileName, in parent: Text) {
        let shown = Text(name.shown)
        if IgnoreRules.isIgnoredName(shown) { return }
        snapshot.problems.append(
            PathProblem(
                .badName, parent.appending(shown), "the name isn't UTF-8; rename it, for instance with `convmv`"))
    }

    private mutating func leaveUnknown(_ path: Text, _ problem: PathProblem?) {
        snapshot.unknown.append(path)
        if let problem { snapshot.problems.append(problem) }
    }

    private mutating func leaveBusy(_ path: Text) {
        snapshot.busy.append(path)
        snapshot.cache[path] = cache[path]
    }

    private mutating func noteTemporary(_ name: FileName, in parent: Text) {
        guard let first = name.bytes.first, first == UInt8(ascii: "."), let string = name.string else { return }
        if Text(string).hasPrefix(IgnoreRules.temporaryPrefix) {
            snapshot.temporaries.append(parent.appending(Text(string)))
        }
    }

    private func hasSuffix(_ name: FileName) -> Bool {
        guard let suffix = folder.suffix else { return true }
        return name.bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    private func inWorkspace(_ path: Text) -> Text { folder.inWorkspace(path) }

    /// Sorts, and tells twins apart: of files that differ only by case or form the first stays, one that was known before a new one.
    mutating func finish() -> Snapshot {
        snapshot.files.sort { $0.path < $1.path }
        var first: [Text: Int] = [:]
        first.reserveCapacity(snapshot.files.count)
        var second: [Int: Int] = [:]
        for index in snapshot.files.indices {
            let key = scanner.names.foldedKey(snapshot.files[index].path)
            guard let other = first.updateValue(index, forKey: key) else { continue }
            let isKnown = cache[snapshot.files[index].path] != nil && cache[snapshot.files[other].path] == nil
            first[key] = isKnown ? index : other
            second[isKnown ? other : index] = isKnown ? index : other
        }
        for (index, other) in second.sorted(by: { $0.key < $1.key }) {
            let path = snapshot.files[index].path
            let text: Text = "differs from \(snapshot.files[other].path) only by case or form; rename one of them"
            snapshot.problems.append(PathProblem(.twin, path, text))
            snapshot.cache[path] = nil
        }
        if !second.isEmpty {
            snapshot.files = snapshot.files.indices.filter { second[$0] == nil }.map { snapshot.files[$0] }
        }
        lookForTwinsOfSettled()
        if let problem = scanner.rules.problem { leaveUnknown("", problem) }
        snapshot.problems.sort { $0.path < $1.path }
        return snapshot
    }

    /// A file that the cache knew was told apart from the settled ones when it came: only a new one can be a twin of them.
    private mutating func lookForTwinsOfSettled() {
        let new = snapshot.files.filter { cache[$0.path] == nil }
        if new.isEmpty { return }
        let settled = settled.hashes(of: scanner.names.foldedKey)
        snapshot.mayHaveTwins = new.contains { settled.contains(scanner.names.foldedKey($0.path).hashValue) }
    }
}
