import Libraries
import Model

extension History {
    /// What the history takes, for people.
    public struct Size: Hashable, Sendable {
        public var bytes: Int64
        public var operations: Int
        /// Of the oldest state.
        public var since: Instant?
    }

    /// Reads the whole chain: for people who ask, not for each run.
    public func size() throws -> Size {
        var size = Size(bytes: 0, operations: 0, since: nil)
        for link in links { size.bytes += (try? folder.folder(FileName(link.name.string)).bytesBelow()) ?? 0 }
        try forEachOperation { operation in
            size.operations += 1
            size.since = operation.entry.time
            return true
        }
        return size
    }

    /// So many loose objects may lie there before they are packed.
    private static let looseObjects = 2_000

    /// Packs what has gathered, and drops old repositories whole.
    ///
    /// - Parameters:
    ///   - date: a repository is dropped once all its states are older.
    ///   - mayDrop: asked with each file of which a repository that is to be dropped has bytes that no later one has. Where it
    ///     says no, the repository stays.
    /// - Returns: the names of the repositories that were dropped.
    @discardableResult
    public func tidy(
        before date: Instant, mayDrop: (_ path: Text, _ id: ItemID?) -> Bool
    ) throws(HistoryError) -> [Text] {
        if let link = links.last { try pack(link) }
        var dropped: [Text] = []
        while links.count > 1 {
            let (old, next) = (links[0], links[1])
            guard let ended = try beginning(of: next), ended < date, try isSpare(old, next, mayDrop) else { break }
            let name = FileName(old.name.string)
            forget(old.name)
            try onDisk { () throws(SystemError) in
                // Under another name first: one that is half removed is no repository.
                let going = FileName(".new-" + old.name.string)
                try folder.rename(name, to: folder, going)
                try folder.removeTree(going)
                try folder.sync()
            }
            dropped.append(old.name)
        }
        return dropped
    }

    private func beginning(of link: Link) throws(HistoryError) -> Instant? {
        try reading { () throws(GitError) -> Instant? in
            var commit = try link.repository.head().map { id throws(GitError) in try link.repository.commit(id) }
            while let parent = commit?.parent { commit = try link.repository.commit(parent) }
            return commit.map { Instant(seconds: $0.time) }
        }
    }

    private func isSpare(
        _ link: Link, _ next: Link, _ mayDrop: (Text, ItemID?) -> Bool
    ) throws(HistoryError) -> Bool {
        var asked: Set<FileChange.Content> = []
        var revision = try reading { () throws(GitError) in try link.repository.head() }.map { Revision($0) }
        while let current = revision {
            for change in try changes(of: current) {
                guard let content = change.new, asked.insert(content).inserted, !next.repository.has(content.id) else {
                    continue
                }
                if !mayDrop(change.path, change.id) { return false }
            }
            revision = try reading { () throws(GitError) in try link.repository.commit(current.id) }.parent.map {
                Revision($0)
            }
        }
        return true
    }

    /// Loose objects become one pack; their files go once that is durable.
    private func pack(_ link: Link) throws(HistoryError) {
        // As many in each of 256 folders, by chance: one tells.
        let sample = try? folder.folder(at: link.name.string + "/objects/17").entries().count
        if (sample ?? 0) * 256 <= Self.looseObjects { return }
        let loose = try onDisk { () throws(SystemError) -> [(folder: OpenFolder, name: FileName, id: GitID)] in
            let objects = try folder.folder(at: link.name.string + "/objects")
            var loose: [(folder: OpenFolder, name: FileName, id: GitID)] = []
            for entry in try objects.entries() {
                guard let start = entry.name.string, start.utf8.count == 2, entry.kind == .folder else { continue }
                let inside = try objects.folder(entry.name)
                for file in try inside.entries() {
                    guard let id = file.name.string.flatMap({ GitID(start + $0) }) else { continue }
                    loose.append((inside, file.name, id))
                }
            }
            return loose
        }
        try writing { () throws(GitError) in try link.repository.pack(loose.map(\.id)) }
        try onDisk { () throws(SystemError) in
            try folder.syncFileSystem()
            for object in loose { try object.folder.unlink(object.name) }
        }
    }
}

extension OpenFolder {
    fileprivate func bytesBelow() throws(SystemError) -> Int64 {
        var bytes: Int64 = 0
        for entry in try entries() {
            if entry.kind == .folder {
                bytes += try folder(entry.name).bytesBelow()
            } else {
                bytes += try status(entry.name)?.size ?? 0
            }
        }
        return bytes
    }
}
