import History
import Journal
import Libraries
import Model
import Reconcile
import Workspace

/// One file in two states, for `diff` and `log`.
public struct FileDifference: Sendable {
    public var kind: FileChange.Kind
    /// Relative to the workspace; of a deleted one, where it was.
    public var path: Text
    /// Where it lay before, for a moved one.
    public var oldPath: Text?
    public var id: ItemID?
    public var old: [UInt8]?
    public var new: [UInt8]?
}

/// Who changed a field last.
public struct FieldOrigin: Sendable {
    public var field: Field
    public var at: Instant?
    /// The device; nil where the server knows none: a phone app that writes the tables itself.
    public var device: Text?
    /// The run here that brought it or found it.
    public var operation: History.Operation?
    /// It is as it was when the task was made.
    public var isOriginal: Bool
    /// It hasn't reached the server yet.
    public var isWaiting: Bool
}

/// A task that was deleted, as the server keeps it.
public struct DeletedTask: Sendable {
    public var id: ItemID
    public var title: Text
    /// Where it lay, relative to the workspace.
    public var path: Text
    public var deletedAt: Instant?
    public var done: Bool
}

/// What was: read from the history and from what the server keeps of deleted tasks. No network is used.
extension Engine {
    // MARK: Operations

    /// The newest operations first, of all files or of one task through its renames.
    public func log(of task: TaskSummary? = nil, limit: Int?) throws -> [(
        operation: History.Operation, changes: [FileChange]
    )] {
        guard let history = History.openReadOnly(at: historyPath) else { return [] }
        var found: [(History.Operation, [FileChange])] = []
        var trail = task.map { Trail(id: $0.id, path: $0.path) }
        try history.forEachOperation { operation in
            if let limit, found.count >= limit { return false }
            var changes = try history.changes(of: operation.revision)
            if trail != nil { changes = changes.filter { trail?.follow($0) ?? true } }
            if trail == nil || !changes.isEmpty { found.append((operation, changes)) }
            return true
        }
        return found
    }

    /// Where a task's file lay in a state; nil where it had none.
    public func path(of task: TaskSummary, at revision: Revision) throws -> Text? {
        let history = try openHistory()
        var trail = Trail(id: task.id, path: task.path)
        var next = history.head
        while let current = next, current != revision {
            for change in try history.changes(of: current) { _ = trail.follow(change) }
            next = try history.operation(current).parent
        }
        return try history.content(of: trail.path, at: revision) == nil ? nil : trail.path
    }

    // MARK: Two states

    /// What differs between a state (nil: the newest recorded) and another (nil: the files as they are now).
    public func differences(from old: Revision?, to new: Revision?, of task: TaskSummary? = nil) throws
        -> [FileDifference]
    {
        let history = try openHistory()
        guard let head = history.head, let start = old ?? history.head else { return [] }
        var all: [FileDifference]
        if let new {
            all = try history.changes(from: start, to: new).map { change in
                FileDifference(
                    kind: change.kind, path: change.path, oldPath: change.oldPath, id: change.id,
                    old: try change.old.map { try history.bytes($0) }, new: try change.new.map { try history.bytes($0) }
                )
            }
        } else {
            let since = try history.changes(from: start, to: head)
            let edited = try reading { _, view in view.changes(in: disk.taskFolder) }
            let paths = Set(since.flatMap { [$0.path] + ($0.oldPath.map { [$0] } ?? []) } + edited.map(\.path))
            let ids = Dictionary(
                since.compactMap { change in change.id.map { (change.path, $0) } }
                    + edited.compactMap { file in (file.newID ?? file.oldID).map { (file.path, $0) } },
                uniquingKeysWith: { $1 })
            all = Self.paired(
                try paths.map { path in
                    let now: [UInt8]? = if case .bytes(let bytes) = disk.held(at: path) { bytes } else { nil }
                    let before = try history.content(of: path, at: start).map { try history.bytes($0) }
                    return FileDifference(kind: .edited, path: path, id: ids[path], old: before, new: now)
                })
        }
        if let task { all = all.filter { $0.path == task.path || $0.id != nil && $0.id == task.id } }
        return all.sorted { $0.path < $1.path }
    }

    /// Files that went and came again under another name, by their task or content, as moves.
    private static func paired(_ files: [FileDifference]) -> [FileDifference] {
        func id(_ file: FileDifference) -> ItemID? {
            let bytes = file.new ?? file.old ?? []
            let parsed = try? TaskFile.parse(
                bytes, name: file.path.lastComponent.withoutMarkdownSuffix, idsInFiles: true)
            return parsed?.id ?? file.id
        }
        var result = files.filter { $0.old != nil && $0.new != nil && $0.old != $0.new }
        var went = files.filter { $0.old != nil && $0.new == nil }
        for came in files where came.old == nil && came.new != nil {
            var file = came
            let index =
                went.firstIndex { id($0) != nil && id($0) == id(came) } ?? went.firstIndex { $0.old == came.new }
            if let index {
                let start = went.remove(at: index)
                (file.kind, file.oldPath, file.old) = (.moved, start.path, start.old)
            } else {
                file.kind = .added
            }
            result.append(file)
        }
        return result
            + went.map { file in
                var file = file
                file.kind = .deleted
                return file
            }
    }

    /// The state of this name, or of this many operations ago (`~3`), or the newest at a time (RFC 3339, or its day).
    public func revision(_ text: Text) throws -> Revision {
        let history = try openHistory()
        let day: Text = text + "T23:59:59Z"
        if let moment = (Timestamp(text) ?? Timestamp(day))?.instant {
            guard let revision = try history.revision(at: moment) else {
                throw RunFailure(.failed, "the history begins after \(text)")
            }
            return revision
        }
        if text.hasPrefix("~"), let count = Int(text.string.dropFirst()) {
            var revision = history.head
            for _ in 0..<count {
                guard let current = revision else { break }
                revision = try history.operation(before: current)?.revision
            }
            guard let revision else { throw RunFailure(.failed, "the history has fewer than \(count) operations") }
            return revision
        }
        return try history.revision(text)
    }

    /// What a file held in a state.
    public func bytes(of path: Text, at revision: Revision) throws -> [UInt8]? {
        let history = try openHistory()
        return try history.content(of: path, at: revision).map { try history.bytes($0) }
    }

    /// What the history takes on the disk; nil where nothing was recorded yet.
    public func historySize() throws -> History.Size? { try History.openReadOnly(at: historyPath)?.size() }

    // MARK: Deleted tasks

    /// The trash: tasks that were deleted, here or elsewhere, and that the server still keeps, the newest first.
    public func deletedTasks() throws -> [DeletedTask] {
        try reading(all: true) { _, view in
            view.remote.values.filter { row in
                row.deletedAt != nil && view.local[row.id] == nil && row.content != TaskContent(title: "")
            }.map { row in
                DeletedTask(
                    id: row.id, title: row.content.title,
                    path: disk.taskFolder.file(of: row.path ?? Names.slug(of: row.content.title)),
                    deletedAt: row.deletedAt.flatMap { Timestamp($0)?.instant }, done: row.content.done)
            }.sorted {
                ($0.deletedAt ?? Instant(nanoseconds: 0), $0.path) > ($1.deletedAt ?? Instant(nanoseconds: 0), $1.path)
            }
        }
    }

    /// Brings a deleted task back, with its id; the next push revives it everywhere. The path of its file.
    public func restore(_ task: DeletedTask) throws -> Text {
        try withHand { hand in
            guard let row = hand.view.remote[task.id], hand.view.local[task.id] == nil else {
                throw RunFailure(.failed, "\(task.path): it is there already")
            }
            let bytes: [UInt8]
            do throws(TaskFileProblem) {
                bytes = try TaskFile.render(
                    row.content, id: disk.idsInFiles ? row.id : nil,
                    name: task.path.lastComponent.withoutMarkdownSuffix)
            } catch {
                throw PathProblem(.failed, task.path, Text(error.message))
            }
            return try hand.bringBack(bytes, to: task.path, id: row.id)
        }
    }

    /// Gives one file the bytes that it had in a state; one that is gone comes back. The path where it lies then.
    public func restore(_ path: Text, at revision: Revision, dryRun: Bool = false) throws -> Text {
        let history = try openHistory()
        guard let content = try history.content(of: path, at: revision) else {
            throw RunFailure(.failed, "\(path): it wasn't there in \(revision.short)")
        }
        let bytes = try history.bytes(content)
        if dryRun { return path }
        let owner = try history.owner(of: path, at: revision)
        return try withHand { hand in
            let task = owner.flatMap { hand.view.local[$0] }
            // Wherever the task lies by now.
            let target = task.map { hand.disk.taskFolder.file(of: $0.place) } ?? path
            switch disk.held(at: target) {
            case .unknown, .beyond:
                throw PathProblem(.unreadable, target, "can't be read, or is being saved right now; try again")
            case .nothing: return try hand.bringBack(bytes, to: target, id: owner)
            case .bytes(let now):
                let undoing = Undoing(history: history, disk: disk, view: hand.view)
                let new = undoing.bearing(bytes, owner, target)
                if now == new { return target }
                let values = task?.fileContent.fields
                let outcome = try hand.acts.replace(
                    target, with: new, expecting: Digest(of: now), id: owner, values: values)
                if outcome == .changedMeanwhile {
                    throw PathProblem(.failed, target, "it was saved in this moment; try again")
                }
                return target
            }
        }
    }

    /// Whether some state has a file at this path.
    public func hasState(of path: Text) throws -> Bool {
        guard let history = History.openReadOnly(at: historyPath) else { return false }
        var has = false
        try history.forEachOperation { operation in
            has = try history.content(of: path, at: operation.revision) != nil
            return !has
        }
        return has
    }

    /// The newest state in which a path held something else than now.
    public func lastState(of path: Text) throws -> Revision {
        let history = try openHistory()
        let now: [UInt8]? = if case .bytes(let bytes) = disk.held(at: path) { bytes } else { nil }
        var found: Revision?
        try history.forEachOperation { operation in
            guard let content = try history.content(of: path, at: operation.revision),
                try history.bytes(content) != now
            else { return true }
            found = operation.revision
            return false
        }
        guard let found else { throw RunFailure(.failed, "\(path): the history has no other state of it") }
        return found
    }

    // MARK: Why

    /// For each field of a task: who changed it last, when, on which device, in which run.
    public func origins(of task: TaskSummary) throws -> [FieldOrigin] {
        let operations = try log(of: task, limit: nil)
        let history = History.openReadOnly(at: historyPath)
        func content(_ bytes: FileChange.Content?, _ path: Text) -> FieldValues {
            guard let history, let bytes, let read = try? history.bytes(bytes) else { return [:] }
            let file = try? TaskFile.parse(
                read, name: path.lastComponent.withoutMarkdownSuffix, idsInFiles: disk.idsInFiles)
            var fields = file?.content.fields ?? [:]
            fields[.path] = .string(disk.taskFolder.place(of: path))
            return fields
        }
        // Where each field got another value last.
        var changedIn: [Field: History.Operation] = [:]
        for (operation, changes) in operations {
            for change in changes {
                let after = content(change.new, change.path)
                let before = content(change.old, change.oldPath ?? change.path)
                for field in Set(before.keys).union(after.keys)
                where before[field] != after[field] && changedIn[field] == nil {
                    changedIn[field] = operation
                }
            }
        }
        return try reading(all: true) { journal, view in
            let local = task.id.flatMap { view.local[$0] }
            let changed = try task.id.flatMap { try journal?.changed(of: $0) }
            let row = task.id.flatMap { view.remote[$0] }
            let waiting = task.id.flatMap { view.plans[$0]?.sends.keys }.map { Set($0) } ?? []
            var fields = Set((local?.content.fields ?? [:]).keys).union(row?.fields.keys ?? [:].keys)
            fields.insert(.path)
            return fields.sorted().map { field in
                // When, on which device, in which change.
                let entry = changed?[field.name]?.array ?? []
                let isWaiting = row == nil || waiting.contains(field)
                let at = (entry.first?.text ?? row?.createdAt).flatMap { Timestamp($0)?.instant }
                return FieldOrigin(
                    field: field, at: isWaiting ? changedIn[field]?.entry.time : at,
                    device: isWaiting ? surroundings.device : entry.dropFirst().first?.text,
                    operation: changedIn[field], isOriginal: !isWaiting && entry.isEmpty, isWaiting: isWaiting)
            }
        }
    }
}

/// A task followed back through the history.
private struct Trail {
    let id: ItemID?
    var path: Text

    /// Whether a change is of this task; from then on it is looked for where it lay before.
    mutating func follow(_ change: FileChange) -> Bool {
        let isByID = id != nil && change.id == id
        // Another task's file that lay at the same path isn't it.
        guard isByID || change.path == path && (change.id == nil || id == nil || change.id == id) else { return false }
        path = change.oldPath ?? change.path
        return true
    }
}

extension Hand {
    /// Lays down a file that was deleted; its task is wanted, with its id.
    func bringBack(_ bytes: [UInt8], to path: Text, id: ItemID?) throws -> Text {
        let step = try takeBack([UndoStep(action: .lay, path: path, id: id, bytes: bytes)])[0]
        guard step.action == .lay else {
            throw PathProblem(.failed, path, "another file is there now: move it away first")
        }
        return step.path
    }
}
