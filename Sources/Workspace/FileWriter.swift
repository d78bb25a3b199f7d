import Libraries
import Model

/// Writes, places, moves and removes files of the workspace without losing what a person saves meanwhile. Paths are relative to
/// the workspace.
///
/// The order of a write: `stage`, `flush`, the record into the journal, `exchange` or `place`, `flushFolders`, the journal.
/// A call throws `PathProblem` for what concerns one path; what `Effects` throws goes through unchanged.
public struct FileWriter: Sendable {
    let root: OpenFolder
    let effects: Effects
    let support: RenameSupport
    let now: @Sendable () -> Instant
    let random: @Sendable () -> UInt64

    /// - Parameters:
    ///   - support: what is used of renaming; a file system that has less is noticed by itself.
    ///   - random: for the names of temporary files.
    public init(
        root: OpenFolder, effects: Effects = .none, support: RenameSupport = .full,
        now: @escaping @Sendable () -> Instant = { Instant(nanoseconds: System.now()) },
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0 ... .max) }
    ) {
        self.root = root
        self.effects = effects
        self.support = support
        self.now = now
        self.random = random
    }

    // MARK: Staging

    /// Writes `bytes` to a temporary file in the folder of `path`, with mode, owner, ACL and extended attributes of the file
    /// at `path` where there is one. Missing folders are made. A read-only file is refused.
    public func stage(_ bytes: [UInt8], at path: Text) throws -> Staged {
        try makeFolders(path.parent)
        let spot = try spot(path)
        let old = try doing(path) { () throws(SystemError) in try spot.folder.status(spot.name) }
        if let old { try checkWritable(old, spot) }
        try effects.check(.stage(path))
        let name = temporaryName()
        do {
            let stamp = try doing(path) { () throws(SystemError) in
                let file = try spot.folder.create(FileName(name.string), mode: old == nil ? 0o666 : 0o600)
                if old != nil { try file.copyMetadata(of: spot.folder.open(spot.name)) }
                try file.write(bytes)
                return try file.status().stamp
            }
            return Staged(
                temporary: path.parent.appending(name), target: path, digest: Digest(of: bytes), stamp: stamp)
        } catch {
            try? spot.folder.unlink(FileName(name.string))
            throw error
        }
    }

    func temporaryName() -> Text { IgnoreRules.temporaryPrefix + Text(String(random(), radix: 16)) }

    /// A file without any write bit is meant to stay as it is, though a rename would get round it.
    func checkWritable(_ status: FileStatus, _ spot: Spot) throws {
        if status.kind != .file { throw PathProblem.ofKind(status.kind, spot.path)! }
        let isWritable = try doing(spot.path) { () throws(SystemError) in try spot.folder.isWritable(spot.name) }
        if status.mode & 0o222 == 0 || !isWritable {
            throw PathProblem(.readOnly, spot.path, "is read-only, so it isn't written; `chmod u+w` lets the change in")
        }
    }

    func makeFolders(_ path: Text) throws {
        var folder = root
        var above: Text = ""
        if path.isEmpty { return }
        for component in path.components {
            above = above.appending(component)
            let name = FileName(component.string)
            if try doing(above, { () throws(SystemError) in try folder.status(name) }) == nil {
                try effects.check(.makeFolder(above))
                try doing(above) { () throws(SystemError) in
                    do throws(SystemError) { try folder.makeFolder(name) } catch { if !error.exists { throw error } }
                    try folder.sync()
                }
            }
            folder = try doing(above) { () throws(SystemError) in try folder.folder(name) }
        }
    }

    /// Makes the contents durable: up to 16 one by one, more by one `syncfs`.
    public func flush(_ staged: [Staged]) throws {
        if staged.isEmpty { return }
        try effects.check(.flush)
        if staged.count > Self.flushedOneByOne { return try flushFileSystems(of: staged.map(\.target)) }
        for staged in staged {
            let spot = try spot(staged.temporary)
            try doing(staged.target) { () throws(SystemError) in try spot.folder.open(spot.name).sync() }
        }
    }

    /// Makes the names at these paths durable: the folders above them, up to 16 one by one, more by one `syncfs`.
    public func flushFolders(of paths: [Text]) throws {
        if paths.isEmpty { return }
        try effects.check(.flush)
        let parents = Set(paths.map(\.parent)).sorted()
        if parents.count > Self.flushedOneByOne { return try flushFileSystems(of: paths) }
        for parent in parents {
            try doing(parent) { () throws(SystemError) in try standing(parent)?.sync() }
        }
    }

    private static let flushedOneByOne = 16

    private func flushFileSystems(of paths: [Text]) throws {
        var flushed: Set<UInt64> = []
        for parent in Set(paths.map(\.parent)).sorted() {
            try doing(parent) { () throws(SystemError) in
                guard let folder = try standing(parent) else { return }
                if flushed.insert(try folder.status().device).inserted { try folder.syncFileSystem() }
            }
        }
    }

    /// A folder whose names were changed; nil where it is gone by now, or a file has its name: then what it held was removed
    /// from the one above it.
    private func standing(_ folder: Text) throws(SystemError) -> OpenFolder? {
        do throws(SystemError) { return try root.folder(at: folder.string) } catch {
            if error.isMissing || error.isNoFolder { return nil }
            throw error
        }
    }

    // MARK: New files

    public enum PlaceResult: Hashable, Sendable {
        case written(FileStamp)
        /// Something is there; the staged file is gone.
        case occupied
    }

    /// Puts the staged file where nothing is.
    public func place(_ staged: Staged) throws -> PlaceResult {
        let (spot, temporary) = (try spot(staged.target), staged.temporaryName)
        try effects.check(.place(staged.target))
        let isPlaced = try doing(staged.target) { () throws(SystemError) in
            try moveUnlessOccupied(temporary, in: spot.folder, to: spot.folder, spot.name)
        }
        if !isPlaced {
            try discard(staged)
            return .occupied
        }
        return .written(try stamp(of: staged, at: spot))
    }

    /// Deletes a staged file that isn't wanted any more.
    public func discard(_ staged: Staged) throws { try delete(staged.temporary) }

    /// Deletes temporary files that no record names (`Snapshot.temporaries`, made relative to the workspace). Displaced files beside
    /// their targets are kept until they are older than `date`.
    public func sweep(_ temporaries: [Text], before date: Instant) throws {
        for path in temporaries where path.lastComponent.hasPrefix(IgnoreRules.temporaryPrefix) {
            if path.lastComponent.hasPrefix(Self.displacedPrefix) {
                let name = Text(Substring(path.lastComponent.utf8.dropFirst(Self.displacedPrefix.utf8.count)))
                guard let displaced = Displaced.date(ofName: name), displaced < date else { continue }
            }
            try delete(path)
        }
    }

    // MARK: Folders

    /// Removes the folders above `path` that are empty, up to and without `folder`.
    public func removeEmptyFolders(above path: Text, within folder: Text) throws {
        var above = path.parent
        while above != folder, !above.isEmpty, folder == "." || above.isAtOrBelow(folder) {
            guard let spot = try? spot(above) else { return }
            try effects.check(.discard(above))
            // Not empty, or not ours to remove: it stays, and so do those above it.
            guard (try? spot.folder.removeFolder(spot.name)) != nil else { return }
            above = above.parent
        }
    }

    // MARK: Pieces

    /// A path, opened up to its last component.
    struct Spot {
        var path: Text
        var folder: OpenFolder
        var name: FileName
    }

    func spot(_ path: Text) throws(PathProblem) -> Spot {
        let folder = try doing(path) { () throws(SystemError) in try root.folder(at: path.parent.string) }
        return Spot(path: path, folder: folder, name: FileName(path.lastComponent.string))
    }

    /// What the system refuses while `path` is dealt with is a problem of that path.
    func doing<Result>(_ path: Text, _ body: () throws(SystemError) -> Result) throws(PathProblem) -> Result {
        do throws(SystemError) { return try body() } catch { throw .writing(path, error) }
    }

    /// False where something is at the new name.
    func moveUnlessOccupied(
        _ name: FileName, in folder: OpenFolder, to other: OpenFolder, _ newName: FileName
    ) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try folder.move(name, to: other, newName, support: support)
            return true
        } catch {
            if error.exists { return false }
            throw error
        }
    }

    /// The digest of a file that stood still while it was read; nil for anything else.
    func steadyDigest(_ folder: OpenFolder, _ name: FileName) throws(SystemError) -> Digest? {
        do throws(SystemError) {
            let file = try folder.open(name)
            let before = try file.status()
            guard before.kind == .file else { return nil }
            let digest = try file.digest()
            return try file.status() == before ? digest : nil
        } catch {
            if error.isMissing || error.isSymlink { return nil }
            throw error
        }
    }

    /// The stamp of a staged file in its place. Where a person has saved over it already, the stamp it had: the next
    /// scan then sees that the file is another.
    func stamp(of staged: Staged, at spot: Spot) throws(PathProblem) -> FileStamp {
        let status = try doing(spot.path) { () throws(SystemError) in try spot.folder.status(spot.name) }
        guard let stamp = status?.stamp, stamp.inode == staged.stamp.inode, stamp.size == staged.stamp.size,
            stamp.modified == staged.stamp.modified
        else { return staged.stamp }
        return stamp
    }

    func delete(_ path: Text) throws {
        try effects.check(.discard(path))
        let spot = try spot(path)
        try doing(path) { () throws(SystemError) in
            do throws(SystemError) { try spot.folder.unlink(spot.name) } catch { if !error.isMissing { throw error } }
        }
    }
}

extension Staged {
    var temporaryName: FileName { FileName(temporary.lastComponent.string) }
}
