import Libraries
import Model
import Workspace

/// What a file became from one state to another.
public struct FileChange: Hashable, Sendable {
    public enum Kind: String, Sendable { case added, edited, moved, deleted }

    public var kind: Kind
    /// Relative to the workspace; of a deleted one, where it was.
    public var path: Text
    /// Where it lay before, for a moved one.
    public var oldPath: Text?
    /// The task, where it is known.
    public var id: ItemID?
    /// What it held before and after; nil where it wasn't there.
    public var old: Content?
    public var new: Content?

    /// A file's bytes in the history.
    public struct Content: Hashable, Sendable {
        let id: GitID
    }

    /// The changes for people, as the subject of a commit.
    static func summary(_ changes: [FileChange]) -> Text {
        if changes.count == 1, let change = changes.first {
            let from = change.oldPath.map { " from \($0)" } ?? ""
            return "\(change.kind.rawValue) \(change.path)\(from)"
        }
        let kinds: [Kind] = [.added, .edited, .moved, .deleted]
        let counts = kinds.map { kind in (kind, changes.count { $0.kind == kind }) }.filter { $0.1 > 0 }
        return Text(counts.map { "\($0.1) \($0.0.rawValue)" }.joined(separator: ", "))
    }
}

extension History {
    /// A recorded state, with how it came about.
    public struct Operation: Hashable, Sendable {
        public var revision: Revision
        /// The state before it; nil: the first there is.
        public var parent: Revision?
        public var entry: HistoryEntry
        /// One line for people: what changed.
        public var summary: Text
    }
}

extension History {
    // MARK: States

    /// The newest operation, or the one before a state; nil where there is none.
    public func operation(before revision: Revision? = nil) throws(HistoryError) -> Operation? {
        var next = try revision.map { revision throws(HistoryError) in try operation(revision).parent } ?? head
        while let current = next {
            let operation = try operation(current)
            if operation.entry.kind != .begin { return operation }
            next = operation.parent
        }
        return nil
    }

    /// How one state came about. Throws where there is no such state.
    public func operation(_ revision: Revision) throws(HistoryError) -> Operation {
        let (commit, message) = try read(revision)
        return Operation(
            revision: revision, parent: parent(commit, message), entry: message.entry, summary: message.summary)
    }

    /// The newest operations first, as long as the body wants more.
    public func forEachOperation(_ body: (Operation) throws -> Bool) throws {
        var before: Revision?
        while let operation = try operation(before: before) {
            if try !body(operation) { return }
            before = operation.revision
        }
    }

    /// The state that is called so: the first digits of its name, at least four.
    public func revision(_ text: Text) throws(HistoryError) -> Revision {
        if let revision = Revision(text) {
            _ = try read(revision)
            return revision
        }
        guard text.utf8.count >= 4 else { throw .unknownRevision(text) }
        var found: [Revision] = []
        var next = head
        while let current = next {
            if current.text.hasPrefix(Text(text.string.lowercased())) { found.append(current) }
            next = try operation(current).parent
        }
        if found.count > 1 { throw .ambiguous(text, found) }
        guard let revision = found.first else { throw .unknownRevision(text) }
        return revision
    }

    /// The newest state that isn't younger than this moment; nil where the history begins later.
    public func revision(at moment: Instant) throws(HistoryError) -> Revision? {
        var next = head
        while let current = next {
            let operation = try operation(current)
            if operation.entry.time <= moment { return current }
            next = operation.parent
        }
        return nil
    }

    private func read(_ revision: Revision) throws(HistoryError) -> (GitRepository.Commit, Message) {
        for link in links.reversed() where link.repository.has(revision.id) {
            let commit = try reading { () throws(GitError) in try link.repository.commit(revision.id) }
            guard let message = Message(commit.message, time: commit.time) else {
                throw .damaged(reason: "\(link.name) holds a commit of another program")
            }
            return (commit, message)
        }
        throw .unknownRevision(revision.text)
    }

    private func parent(_ commit: GitRepository.Commit, _ message: Message) -> Revision? {
        if let parent = commit.parent { return Revision(parent) }
        // An older repository may have been dropped.
        return message.continues.flatMap { continues in
            links.contains { $0.repository.has(continues.id) } ? continues : nil
        }
    }

    // MARK: Files

    /// Every file of a state, with its task where that is known.
    public func files(at revision: Revision) throws(HistoryError) -> [(path: Text, content: FileChange.Content)] {
        let (commit, _) = try read(revision)
        return try repository(of: commit.id).files(commit.tree).map { ($0.path, FileChange.Content(id: $0.content)) }
    }

    /// What a path held in a state; nil where nothing lay there.
    public func content(of path: Text, at revision: Revision) throws(HistoryError) -> FileChange.Content? {
        let (commit, _) = try read(revision)
        return try repository(of: commit.id).content(of: path, commit.tree).map { FileChange.Content(id: $0) }
    }

    public func bytes(_ content: FileChange.Content) throws(HistoryError) -> [UInt8] {
        try reading { () throws(GitError) in try repository(of: content.id).file(content.id) }
    }

    /// The newest repository that has this object; the newest of all where none has.
    private func repository(of id: GitID) -> GitRepository {
        (links.last { $0.repository.has(id) } ?? links[links.count - 1]).repository
    }

    // MARK: Changes

    /// What an operation did to the files.
    public func changes(of revision: Revision) throws(HistoryError) -> [FileChange] {
        let (commit, message) = try read(revision)
        if message.entry.kind == .begin { return [] }
        let repository = repository(of: commit.id)
        let parent = try commit.parent.map { parent throws(HistoryError) in
            try reading { () throws(GitError) in try repository.commit(parent) }
        }
        return try changes(repository.differences(parent?.tree, commit.tree), message.ids, in: repository)
    }

    /// What differs between two states, the older first; nil: before the first.
    public func changes(from old: Revision?, to new: Revision) throws(HistoryError) -> [FileChange] {
        let (newCommit, _) = try read(new)
        let newRepository = repository(of: newCommit.id)
        let oldCommit = try old.map { old throws(HistoryError) in try read(old).0 }
        var ids = PathIDs(now: try owners(at: newCommit.id))
        if let oldCommit { ids.before = try owners(at: oldCommit.id) }
        if let oldCommit, !newRepository.has(oldCommit.tree) {
            // Over two repositories: file by file.
            let before = Dictionary(
                uniqueKeysWithValues: try repository(of: oldCommit.id).files(oldCommit.tree).map {
                    ($0.path, $0.content)
                })
            let after = Dictionary(
                uniqueKeysWithValues: try newRepository.files(newCommit.tree).map { ($0.path, $0.content) })
            let differences = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted().map {
                TreeDifference(path: $0, old: before[$0], new: after[$0])
            }
            return try changes(differences, ids, in: newRepository)
        }
        return try changes(newRepository.differences(oldCommit?.tree, newCommit.tree), ids, in: newRepository)
    }

    /// Pairs what went with what came: by the task, else by equal content.
    func changes(
        _ differences: [TreeDifference], _ ids: PathIDs, in repository: GitRepository
    ) throws(HistoryError) -> [FileChange] {
        func bytes(_ id: GitID) throws(HistoryError) -> [UInt8] {
            try reading { () throws(GitError) in
                try (repository.has(id) ? repository : self.repository(of: id)).file(id)
            }
        }
        // Only what may have moved needs an id to be read for it.
        let mayMove =
            differences.contains { $0.old != nil } && differences.contains { $0.new != nil } && differences.count > 1
        func owner(_ path: Text, _ content: GitID?, _ known: [Text: ItemID]) throws(HistoryError) -> ItemID? {
            if let id = known[path] { return id }
            guard let content else { return nil }
            return taskID(in: try bytes(content), path)
        }
        struct End { var path: Text, content: GitID, id: ItemID? }
        var went: [End] = []
        var came: [End] = []
        var changes: [FileChange] = []
        for difference in differences {
            let (path, old, new) = (difference.path, difference.old, difference.new)
            let oldID = old == nil ? nil : try owner(path, old, ids.before)
            let newID = new == nil ? nil : try owner(path, new, ids.now) ?? (old != nil && !mayMove ? oldID : nil)
            if let old, let new, oldID == newID || oldID == nil || newID == nil {
                changes.append(
                    FileChange(
                        kind: .edited, path: path, id: newID ?? oldID, old: .init(id: old), new: .init(id: new)))
                continue
            }
            if let old { went.append(End(path: path, content: old, id: oldID)) }
            if let new { came.append(End(path: path, content: new, id: newID)) }
        }
        for end in came {
            let index =
                went.firstIndex { $0.id != nil && $0.id == end.id }
                ?? went.firstIndex { ($0.id == nil || end.id == nil) && $0.content == end.content }
            if let index {
                let start = went.remove(at: index)
                changes.append(
                    FileChange(
                        kind: .moved, path: end.path, oldPath: start.path, id: end.id ?? start.id,
                        old: .init(id: start.content), new: .init(id: end.content)))
            } else {
                changes.append(FileChange(kind: .added, path: end.path, id: end.id, new: .init(id: end.content)))
            }
        }
        for start in went {
            changes.append(FileChange(kind: .deleted, path: start.path, id: start.id, old: .init(id: start.content)))
        }
        return changes.sorted { $0.path < $1.path }
    }

    /// The task whose file lay at a path in a state, where that is known.
    public func owner(of path: Text, at revision: Revision) throws(HistoryError) -> ItemID? {
        guard let content = try content(of: path, at: revision) else { return nil }
        if let id = try owners(at: revision.id)[path] { return id }
        return taskID(in: try bytes(content), path)
    }

    /// The tasks of those files of a state that don't say their ids themselves.
    func owners(at commit: GitID) throws(HistoryError) -> [Text: ItemID] {
        var owners: [Text: ItemID] = [:]
        var settled: Set<Text> = []
        var next: Revision? = Revision(commit)
        while let current = next {
            let (commit, message) = try read(current)
            for (path, id) in message.ids.now where settled.insert(path).inserted { owners[path] = id }
            // What a path had before it changed hands says nothing about later states.
            settled.formUnion(message.ids.before.keys)
            if message.entry.kind == .begin { break }
            next = commit.parent.map(Revision.init)
        }
        return owners
    }
}

/// The id that a task file bears.
private func taskID(in bytes: [UInt8], _ path: Text) -> ItemID? {
    guard path.hasSuffix(".md") else { return nil }
    let name = Text(Substring(path.lastComponent.utf8.dropLast(3)))
    guard case .id(let id)? = (try? TaskFile.parse(bytes, name: name, idsInFiles: true))?.idLine else { return nil }
    return id
}
