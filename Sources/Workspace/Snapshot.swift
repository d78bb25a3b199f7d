import Libraries
import Model

/// What a scan found in one folder of the workspace. Paths are relative to that folder, with their extension.
public struct Snapshot: Sendable {
    /// By the bytes of their paths.
    public var files: [SeenFile] = []
    public var problems: [PathProblem] = []
    /// Folders that could not be read in full; `""` is the scanned folder itself. Nothing below them counts as gone.
    public var unknown: [Text] = []
    /// Files left for the next run: being written, or too young for a background run.
    public var busy: [Text] = []
    /// otask's own temporary files, left behind by a run that stopped (`FileWriter.sweep`).
    public var temporaries: [Text] = []
    /// The cache to keep for the next scan. A busy file keeps the entry it had.
    public var cache: [Text: CachedFile] = [:]
    /// A new file may differ only by case or form from one that was passed over: only a scan of all files tells.
    public var mayHaveTwins = false

    public init() {}

    public enum Absence: Hashable, Sendable {
        case present
        /// Not there, and everything above it was read. Ignore rules are not asked: ask `IgnoreRules`.
        case gone
        /// Busy, a problem, or below a folder that could not be read: nothing may be decided from it.
        case unknown
    }

    /// Whether `path` is gone, as far as this scan can tell.
    public func absence(of path: Text) -> Absence {
        if files.containsPath(path) { return .present }
        let covers = { (undecided: Text) in path.isAtOrBelow(undecided) }
        if busy.contains(path) || unknown.contains(where: covers) || problems.contains(where: { covers($0.path) }) {
            return .unknown
        }
        return .gone
    }
}

/// A file that the scanner saw.
public struct SeenFile: Hashable, Sendable {
    public var path: Text
    public var stamp: FileStamp
    public var digest: Digest
    /// The content, where it was read now, is another than the cache's, and not over the limit for keeping bytes.
    public var bytes: [UInt8]?
    /// More than 1: the file has other names too, which a write by otask parts from it.
    public var linkCount: Int

    public init(path: Text, stamp: FileStamp, digest: Digest, bytes: [UInt8]? = nil, linkCount: Int = 1) {
        self.path = path
        self.stamp = stamp
        self.digest = digest
        self.bytes = bytes
        self.linkCount = linkCount
    }
}

/// What the last scan knew of a file.
public struct CachedFile: Hashable, Sendable {
    public var stamp: FileStamp
    /// When the stamp was taken.
    public var recorded: Instant
    public var digest: Digest

    public init(stamp: FileStamp, recorded: Instant, digest: Digest) {
        self.stamp = stamp
        self.recorded = recorded
        self.digest = digest
    }

    /// Whether a file with `stamp` needs no look at its content. An entry recorded within two seconds of its own times isn't
    /// trusted: a rewrite of the same size in the same tick of the clock leaves the same stamp.
    func vouches(for stamp: FileStamp) -> Bool { Self.vouches(self.stamp, recorded: recorded, for: stamp) }

    static func vouches(_ known: FileStamp, recorded: Instant, for stamp: FileStamp) -> Bool {
        stamp == known && !recorded.isWithinTwoSeconds(of: stamp.modified)
            && !recorded.isWithinTwoSeconds(of: stamp.changed)
    }
}

extension Instant {
    func isWithinTwoSeconds(of nanoseconds: Int64) -> Bool {
        let (difference, overflow) = self.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return !overflow && difference.magnitude <= 2_000_000_000
    }
}

extension [SeenFile] {
    /// Binary search; they are sorted by path.
    fileprivate func containsPath(_ path: Text) -> Bool {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].path < path { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].path == path
    }
}

extension Text {
    /// Whether this path is `folder` or lies in it; everything lies in `""`.
    func isAtOrBelow(_ folder: Text) -> Bool {
        if folder.isEmpty { return true }
        guard hasPrefix(folder) else { return false }
        return utf8.count == folder.utf8.count || utf8.dropFirst(folder.utf8.count).first == UInt8(ascii: "/")
    }
}

extension FileStatus {
    var stamp: FileStamp {
        FileStamp(size: size, modified: modified, changed: changed, inode: inode, birth: birth)
    }
}
