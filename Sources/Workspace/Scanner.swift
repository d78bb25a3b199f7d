import Libraries
import Model

/// What the scanner asks about names, supplied by the rules for names and places.
public struct NameRules: Sendable {
    /// The key under which two paths collide: NFC, without case.
    public var foldedKey: @Sendable (Text) -> Text
    /// What is wrong with a name (one component) for a file of the person's own, and the way out; nil for a good one.
    public var problem: @Sendable (Text) -> Text?

    public init(foldedKey: @escaping @Sendable (Text) -> Text, problem: @escaping @Sendable (Text) -> Text?) {
        self.foldedKey = foldedKey
        self.problem = problem
    }
}

/// A folder of the workspace that is scanned.
public struct ScannedFolder: Hashable, Sendable {
    /// Relative to the workspace; `.` or empty: the workspace itself.
    public var path: Text
    /// Only files that end so; nil: all.
    public var suffix: Text?
    /// Files and folders left out, relative to this folder (the photo folder, the profile).
    public var excluded: Set<Text>
    /// Content up to this many bytes is kept in `SeenFile.bytes`; larger files are only hashed.
    public var keptBytes: Int64

    public init(path: Text, suffix: Text?, excluded: Set<Text> = [], keptBytes: Int64) {
        self.path = path
        self.suffix = suffix
        self.excluded = excluded
        self.keptBytes = keptBytes
    }

    /// A path in this folder, seen from the workspace.
    func inWorkspace(_ path: Text) -> Text { self.path == "." ? path : self.path.appending(path) }
}

/// Finds out what lies in the folders of a workspace: stat first, content only where a stat differs.
public struct Scanner: Sendable {
    let root: OpenFolder
    let rules: IgnoreRules
    let names: NameRules
    let background: Bool
    let now: @Sendable () -> Instant
    /// Called in the middle of each read of a file: where tests let a person save.
    var reading: @Sendable () -> Void = {}

    /// - Parameter background: files younger than two seconds are left as busy.
    public init(
        root: OpenFolder, rules: IgnoreRules, names: NameRules, background: Bool = false,
        now: @escaping @Sendable () -> Instant = { Instant(nanoseconds: System.now()) }
    ) {
        self.root = root
        self.rules = rules
        self.names = names
        self.background = background
        self.now = now
    }

    /// Walks `folder`.
    /// - Throws: `PathProblem` where the folder itself is missing, is no folder or can't be opened; it is never created.
    public func scan(_ folder: ScannedFolder, cache: [Text: CachedFile]) throws(PathProblem) -> Snapshot {
        var settled = SettledFiles()
        return try scan(folder, cache: cache, passingOver: &settled, FolderTree())
    }

    /// The same for what is not settled: settled files that are as they were are marked as seen, and are in no list of the
    /// snapshot. They were found under the same rules, which the caller knows.
    public func scan(
        _ folder: ScannedFolder, cache: [Text: CachedFile] = [:], passingOver settled: inout SettledFiles,
        _ tree: FolderTree
    ) throws(PathProblem) -> Snapshot {
        let opened: OpenFolder
        let device: UInt64
        do throws(SystemError) {
            opened = try root.folder(at: folder.path.string)
            device = try opened.status().device
        } catch {
            throw Self.problem(ofScanned: folder.path, error)
        }
        var walk = ScanWalk(
            scanner: self, folder: folder, device: device, cache: cache, settled: settled, tree: tree)
        // The walk's copy is to be the only one.
        settled = SettledFiles()
        walk.visit(opened, path: "", depth: 0)
        let snapshot = walk.finish()
        settled = walk.settled
        return snapshot
    }

    private static func problem(ofScanned path: Text, _ error: SystemError) -> PathProblem {
        if error.isMissing {
            return PathProblem(
                .missing, path,
                "this folder is missing, and nothing in it counts as deleted; put it back, or run `otask init` for a new one"
            )
        }
        if error.isNoFolder {
            return PathProblem(
                .symlink, path, "isn't a folder, and otask follows no symlink; put the folder itself here")
        }
        return PathProblem(.unreadable, path, "can't be opened (\(error.reason)); see to its permissions")
    }

    public enum Reading: Hashable, Sendable {
        case file(SeenFile)
        case busy
        case missing
        case problem(PathProblem)
    }

    /// Reads one file again, whatever the cache says.
    public func read(_ path: Text, in folder: ScannedFolder) -> Reading {
        do throws(SystemError) {
            let parent = try root.folder(at: folder.path.string).folder(at: path.parent.string)
            let name = FileName(path.lastComponent.string)
            guard let status = try parent.status(name) else { return .missing }
            if let problem = PathProblem.ofKind(status.kind, path) { return .problem(problem) }
            if background, now().isWithinTwoSeconds(of: status.modified) { return .busy }
            return read(name, of: parent, as: path, keptBytes: folder.keptBytes)
        } catch {
            return error.isMissing ? .missing : .problem(.unreadable(path, error))
        }
    }

    /// Reads a file and makes sure that it stood still meanwhile.
    func read(_ name: FileName, of folder: OpenFolder, as path: Text, keptBytes: Int64) -> Reading {
        do throws(SystemError) {
            let file = try folder.open(name)
            let before = try file.status()
            if let problem = PathProblem.ofKind(before.kind, path) { return .problem(problem) }
            var seen = SeenFile(
                path: path, stamp: before.stamp, digest: Digest(bytes: []), linkCount: before.linkCount)
            if before.size <= keptBytes {
                let bytes = try file.read()
                seen.digest = Digest(of: bytes)
                seen.bytes = bytes
            } else {
                seen.digest = try file.digest()
            }
            reading()
            return try file.status().stamp == seen.stamp ? .file(seen) : .busy
        } catch {
            if error.isMissing { return .busy }
            if error.isSymlink { return .problem(.ofKind(.symlink, path)!) }
            return .problem(.unreadable(path, error))
        }
    }

    /// Looks once more at files that are missing though their folder changed less than two seconds ago: many editors
    /// move the old file away before they write the new one. By hand after `wait(0.1)`, called at most once; a background
    /// run doesn't wait and leaves them unsettled.
    public func lookAgain(
        at missing: [Text], in folder: ScannedFolder, wait: (_ seconds: Double) -> Void = System.sleep
    ) -> SecondLook {
        var look = SecondLook()
        var recent: [Text] = []
        let moment = now()
        for path in missing {
            switch lastChange(above: path, in: folder) {
            case .none: look.unsettled.append(path)
            case .some(let change) where moment.isWithinTwoSeconds(of: change): recent.append(path)
            case .some: look.gone.append(path)
            }
        }
        if recent.isEmpty { return look }
        if background {
            look.unsettled += recent
            return look
        }
        wait(0.1)
        for path in recent {
            switch read(path, in: folder) {
            case .file(let file): look.appeared.append(file)
            case .missing: look.gone.append(path)
            case .busy, .problem: look.unsettled.append(path)
            }
        }
        return look
    }

    /// When the nearest folder above `path` that is there changed; nil where that can't be said.
    private func lastChange(above path: Text, in folder: ScannedFolder) -> Int64? {
        do throws(SystemError) {
            var above = try root.folder(at: folder.path.string)
            for component in path.components.dropLast() {
                guard let status = try above.status(FileName(component.string)) else { break }
                if status.kind != .folder { return nil }
                above = try above.folder(FileName(component.string))
            }
            return try above.status().modified
        } catch {
            return nil
        }
    }
}

/// The answer of `Scanner.lookAgain`.
public struct SecondLook: Hashable, Sendable {
    public var appeared: [SeenFile] = []
    public var gone: [Text] = []
    /// Nothing may be decided from them in this run.
    public var unsettled: [Text] = []
}
