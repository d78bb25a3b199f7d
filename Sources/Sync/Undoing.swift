import History
import Journal
import Libraries
import Model
import Reconcile
import Workspace

/// Which operation is to be taken back.
public enum UndoChoice: Hashable, Sendable {
    /// The newest that a person did here, and that isn't undone.
    case last
    /// The newest undo that isn't redone.
    case lastUndo
    case state(Revision)
}

/// What taking back an operation did, or would do.
public struct UndoReport: Sendable {
    public var operation: History.Operation
    public var steps: [UndoStep]
    /// The new state; nil where nothing was left to take back, and with `--dry-run`.
    public var revision: Revision?

    /// Tasks that are gone here now, and on the server with the next push.
    public var deletions: Int { steps.count { $0.action == .remove } }
    public var clashes: [UndoStep] { steps.filter { $0.action == .clash } }
}

/// What becomes of one file.
public struct UndoStep: Hashable, Sendable {
    public enum Action: String, Sendable {
        case write, lay, move, remove
        /// What was changed since stays as it is.
        case clash
    }

    public var action: Action
    /// Relative to the workspace: where the file lies, or is laid.
    public var path: Text
    /// Where it goes, for a move.
    public var to: Text?
    public var id: ItemID?
    /// For a clash: the fields that stay; empty: the whole file.
    public var fields: [Field] = []
    /// What is written.
    var bytes: [UInt8]?
    /// What the file holds now.
    var expected: Digest?
}

extension Engine {
    /// Takes an operation's effect on the files back, by an inverse three-way merge, so that later edits stay. The next push
    /// carries it to the server.
    ///
    /// - Parameter allowedDeletions: so many deletions don't count for the deletion guard.
    ///
    /// Throws `RunFailure` where there is nothing to take back, `HistoryError`, `PathProblem`.
    public func undo(_ choice: UndoChoice, allowedDeletions: Int? = nil, dryRun: Bool = false) throws -> UndoReport {
        let before = newestState()
        var report = try withHand { hand in
            let undoing = Undoing(history: try hand.recorder.history(), disk: disk, view: hand.view)
            // What was edited since the last run is recorded by now, also for a plan: it may be what is to be taken back.
            let (operation, steps) = try undoing.plan(choice)
            if dryRun { return UndoReport(operation: operation, steps: steps, revision: nil) }
            hand.recorder.undoing = operation.revision
            let deleted = steps.filter { $0.action == .remove }.compactMap(\.id)
            if let allowedDeletions {
                guard deleted.count == allowedDeletions else {
                    throw RunFailure(
                        .failed, "\(deleted.count) tasks would be deleted, not \(allowedDeletions): nothing was changed"
                    )
                }
                try hand.journal.commit { writer in
                    for id in deleted where hand.view.known[id]?.base != nil {
                        try writer.mark(id, .deletedByName, since: hand.now)
                    }
                }
            }
            return UndoReport(operation: operation, steps: try hand.takeBack(steps), revision: nil)
        }
        let after = newestState()
        if !dryRun, after != before { report.revision = after }
        return report
    }

    /// What the history recorded last; nil where nothing was.
    public func newestState() -> Revision? { History.openReadOnly(at: historyPath)?.head }

    var historyPath: String { root.string + "/.otask/history" }

    /// The history, for reading. Throws `RunFailure` where nothing was recorded yet.
    public func openHistory() throws -> History {
        guard let history = History.openReadOnly(at: historyPath) else {
            throw RunFailure(.failed, "nothing was recorded here yet: the history begins with the first change")
        }
        return history
    }
}

/// Decides what taking an operation back means for the files as they are now.
struct Undoing {
    let history: History
    let disk: Disk
    let view: View

    func plan(_ choice: UndoChoice) throws -> (History.Operation, [UndoStep]) {
        switch choice {
        case .state(let revision):
            let operation = try history.operation(revision)
            guard !operation.isBeginning else { throw Self.isBeginning(operation) }
            return (operation, try steps(operation))
        case .last:
            for operation in try history.undoable() {
                if operation.isBeginning { throw Self.isBeginning(operation) }
                // What only wrote ids, or was taken back by hand since, isn't worth a step.
                let steps = try steps(operation)
                if !steps.isEmpty { return (operation, steps) }
            }
            throw RunFailure(.failed, "there is nothing to undo: no operation that was given here is left")
        case .lastUndo:
            for operation in try history.redoable() {
                let steps = try steps(operation)
                if !steps.isEmpty { return (operation, steps) }
            }
            throw RunFailure(.failed, "there is nothing to redo")
        }
    }

    private static func isBeginning(_ operation: History.Operation) -> RunFailure {
        RunFailure(
            .failed, "the history begins with \(operation.revision.short): there is nothing before it to go back to")
    }

    private func steps(_ operation: History.Operation) throws -> [UndoStep] {
        try history.changes(of: operation.revision).flatMap { try steps($0) }
    }

    private func steps(_ change: FileChange) throws -> [UndoStep] {
        let now = try current(change)
        let before = try change.old.map { try history.bytes($0) }
        let after = try change.new.map { try history.bytes($0) }
        switch (before, after, now) {
        case (nil, let after?, let now?): return [removal(of: now, saying: after, change)]
        case (let before?, nil, nil):
            return [
                UndoStep(action: .lay, path: change.path, id: change.id, bytes: bearing(before, change.id, change.path))
            ]
        case (let before?, let after?, let now?): return merge(change, before, after, now)
        // It is as it was before already, or gone since.
        default: return []
        }
    }

    /// A file as it is now.
    private struct Current {
        var path: Text
        var bytes: [UInt8]
        var id: ItemID?
        var task: LocalTask?
    }

    /// The file that a change is about, wherever it lies by now.
    private func current(_ change: FileChange) throws -> Current? {
        let task = change.id.flatMap { view.local[$0] }
        let path = task.map { disk.taskFolder.file(of: $0.place) } ?? change.path
        // Another task lies there.
        if task == nil, let id = change.id, let other = owner(of: path), other != id { return nil }
        switch disk.held(at: path) {
        case .nothing: return nil
        case .bytes(let bytes): return Current(path: path, bytes: bytes, id: task?.id ?? change.id, task: task)
        case .unknown, .beyond:
            throw PathProblem(.unreadable, path, "can't be read, or is being saved right now; try again")
        }
    }

    private func owner(of path: Text) -> ItemID? {
        view.local.values.first { disk.taskFolder.file(of: $0.place) == path }?.id
    }

    private func removal(of now: Current, saying after: [UInt8], _ change: FileChange) -> UndoStep {
        let isSame =
            now.bytes == after
            || parsed(now.bytes, now.path).map { $0.content == parsed(after, change.path)?.content } ?? false
        return UndoStep(
            action: isSame ? .remove : .clash, path: now.path, id: now.id, expected: Digest(of: now.bytes))
    }

    /// The file's text back to what it was, with what was changed since, and its place.
    private func merge(_ change: FileChange, _ before: [UInt8], _ after: [UInt8], _ now: Current) -> [UndoStep] {
        var steps: [UndoStep] = []
        let digest = Digest(of: now.bytes)
        let (bytes, clash) = taken(back: now, before, after, change)
        if let bytes, bytes != now.bytes {
            steps.append(UndoStep(action: .write, path: now.path, id: now.id, bytes: bytes, expected: digest))
        }
        if let clash {
            steps.append(UndoStep(action: .clash, path: now.path, id: now.id, fields: clash, expected: digest))
        }
        if let old = change.oldPath, old != now.path {
            let isMovedSince = now.path != change.path
            steps.append(
                isMovedSince
                    ? UndoStep(action: .clash, path: now.path, id: now.id, fields: [.path])
                    : UndoStep(action: .move, path: now.path, to: old, id: now.id))
        }
        return steps
    }

    /// The bytes that the file is to have, and the fields that clash with later edits; empty: all of it.
    private func taken(
        back now: Current, _ before: [UInt8], _ after: [UInt8], _ change: FileChange
    ) -> (bytes: [UInt8]?, clash: [Field]?) {
        if before == after || now.bytes == before { return (nil, nil) }
        if now.bytes == after { return (bearing(before, change.id, now.path), nil) }
        guard let old = parsed(before, change.oldPath ?? change.path), let new = parsed(after, change.path),
            let current = parsed(now.bytes, now.path)
        else {
            let merged = mergeLines(base: after, ours: now.bytes, theirs: before, labels: ("", "", ""))
            return merged.isClean ? (merged.bytes, nil) : (nil, [])
        }
        var values = current.content.fields
        var clash: [Field] = []
        let (was, became) = (old.content.fields, new.content.fields)
        for field in Set(was.keys).union(became.keys).sorted() where field != .path {
            switch mergeField(field, base: .agreed(became[field]), local: values[field], remote: was[field]) {
            case .write(let value): values[field] = value
            case .merged(let value, _): values[field] = value
            case .conflict: clash.append(field)
            case .same, .agreed, .send: break
            }
        }
        let edit = TaskEdit(from: current.content, to: TaskContent(values), id: nil)
        let bytes = try? current.editing(edit, name: now.path.lastComponent.withoutMarkdownSuffix)
        return (bytes, clash.isEmpty ? nil : clash)
    }

    /// These bytes with the id line that the task has by now: undo never removes one.
    func bearing(_ bytes: [UInt8], _ id: ItemID?, _ path: Text) -> [UInt8] {
        guard disk.idsInFiles, let id, view.known[id] != nil || view.remote[id] != nil,
            let file = parsed(bytes, path), file.id == nil
        else { return bytes }
        let edit = TaskEdit(from: file.content, to: file.content, id: id)
        return (try? file.editing(edit, name: path.lastComponent.withoutMarkdownSuffix)) ?? bytes
    }

    private func parsed(_ bytes: [UInt8], _ path: Text) -> TaskFile? {
        guard path.hasSuffix(".md") else { return nil }
        return try? TaskFile.parse(
            bytes, name: path.lastComponent.withoutMarkdownSuffix, idsInFiles: disk.idsInFiles)
    }
}

extension Hand {
    /// Carries the steps out: what goes first makes room for what comes. The steps as they went.
    func takeBack(_ steps: [UndoStep]) throws -> [UndoStep] {
        var done: [UndoStep] = []
        for action in [UndoStep.Action.write, .remove, .move, .lay, .clash] {
            for step in steps where step.action == action { done.append(try takeBack(step)) }
        }
        return done
    }

    private func takeBack(_ step: UndoStep) throws -> UndoStep {
        var clash = step
        clash.action = .clash
        switch step.action {
        case .clash: return step
        case .write:
            guard let bytes = step.bytes, let expected = step.expected else { return clash }
            let values = step.id.flatMap { view.local[$0]?.fileContent.fields }
            let outcome = try acts.replace(step.path, with: bytes, expecting: expected, id: step.id, values: values)
            return outcome == .changedMeanwhile ? clash : step
        case .remove:
            guard let expected = step.expected else { return clash }
            let values = step.id.flatMap { view.local[$0]?.fileContent.fields }
            return try acts.takeAway(step.path, expecting: expected, id: step.id, values: values) ? step : clash
        case .lay: return try lay(step)
        case .move:
            guard let to = step.to, try move(step.path, to: to, id: step.id) else {
                clash.fields = [.path]
                return clash
            }
            return step
        }
    }

    /// A file that comes back: its task is wanted, with its id. Another file in its place stays; then it bears a suffix.
    private func lay(_ step: UndoStep) throws -> UndoStep {
        guard let bytes = step.bytes else { return step }
        let place = disk.taskFolder.place(of: step.path)
        var places = [place]
        if let id = step.id {
            places += Places.alternatives(to: place, id)
            try journal.commit { writer in
                try writer.mark(id, .gone, since: now)
                try writer.unmark(id, .deletedByName)
            }
        }
        for place in places {
            var laid = step
            laid.path = disk.taskFolder.file(of: place)
            guard case .done(let stamp) = try acts.lay(laid.path, bytes, id: step.id) else { continue }
            // A file that can't say its id is this task by its place.
            if let id = step.id, !disk.idsInFiles {
                var known = KnownTask(id: id, place: place)
                known.identity = stamp.identity
                known.modified = stamp.modified
                try journal.commit { writer in try writer.put(known) }
            }
            return laid
        }
        var clash = step
        clash.action = .clash
        return clash
    }

    /// Moves a file as a person would: what it means is found out by the next look. False where something is there.
    private func move(_ path: Text, to target: Text, id: ItemID?) throws -> Bool {
        guard let move = try disk.writer.planMove(from: path, to: target) else { return true }
        let record = id.map { MoveRecord(id: $0, move: move) }
        try journal.commit { writer in
            if let record {
                try writer.put(record)
            } else {
                try writer.putUnrecorded(path, .own)
                try writer.putUnrecorded(target, .own)
            }
        }
        let result = try disk.writer.move([move], foldedKey: { Names.foldedKey($0) }).first
        try disk.writer.flushFolders(of: [path, target])
        try journal.commit { writer in try writer.removeMove(from: move.from) }
        try disk.writer.removeEmptyFolders(above: path, within: disk.taskFolder.path)
        if case .moved? = result { return true }
        return false
    }
}
