import Journal
import Libraries
import Model
import Reconcile
import Workspace

/// Ending a conflict: first the file is written, then the base of its fields becomes the server's value that the person
/// was shown, and nothing else. What the server has by then is merged against that like any edit.
extension Engine {
    public enum Resolution: Sendable {
        case mine
        case theirs
        /// What a person saved in a scratch file made by `scratch(for:)`.
        case edited(Scratch, bytes: [UInt8])
    }

    /// A scratch file for `resolve --edit`: the task's file with diff3 markers.
    public struct Scratch: Sendable {
        public let id: ItemID
        public let bytes: [UInt8]
        /// Of the task's file that it was made from.
        public let digest: Digest
    }

    /// The fields in conflict with their three values, and those in which only one side changed since; marks the server's
    /// values as shown (`diff --server`).
    public func sides(of id: ItemID) throws -> [FieldSides] {
        let (_, _, view) = try view()
        let row = view.remote[id].flatMap { $0.deletedAt == nil ? $0 : nil }
        var mine = view.local[id]?.content.fields ?? [:]
        mine[.path] = view.local[id]?.path
        let base = view.known[id]?.base?.values ?? [:]
        let theirs = row?.fields ?? [:]
        if let plan = view.plans[id], !plan.conflicts.isEmpty, let lock = try? lock(wait: 0) {
            defer { lock.release() }
            let journal = try openJournal()
            if var record = try journal.conflicts()[id] {
                let shown = theirs.filter { record.fields.contains($0.key) }
                if shown != record.shown {
                    record.shown = shown
                    try journal.commit { writer in try writer.put(record) }
                }
            }
        }
        return Set(mine.keys).union(theirs.keys).sorted().filter { mine[$0] != theirs[$0] }.map {
            FieldSides(field: $0, base: base[$0], mine: mine[$0], theirs: theirs[$0])
        }
    }

    public func scratch(for id: ItemID) throws -> Scratch {
        try withHand { hand in
            let (task, record) = try hand.conflict(id)
            let file = try hand.file(of: task)
            func version(_ values: FieldValues) throws -> [UInt8] {
                var all = file.content.fields
                for field in record.fields { all[field] = values[field] }
                return try file.editing(
                    TaskEdit(from: file.content, to: TaskContent(all), id: nil), name: task.place.lastComponent)
            }
            let base = hand.view.known[id]?.base?.values ?? [:]
            let merged = mergeLines(
                base: try version(base), ours: file.bytes, theirs: try version(record.answer),
                labels: ("as both last had it", "this device", "the server"))
            return Scratch(id: id, bytes: merged.bytes, digest: task.digest)
        }
    }

    public func resolve(_ id: ItemID, _ resolution: Resolution) throws {
        try withHand { hand in
            let (task, record) = try hand.conflict(id)
            switch resolution {
            case .mine: break
            case .theirs:
                var values = task.content.fields
                for field in record.fields where field != .path { values[field] = record.answer[field] }
                try hand.write(TaskContent(values), into: task)
            case .edited(let scratch, let bytes):
                try hand.take(scratch, bytes, task)
            }
            guard var known = hand.view.known[id] else { return }
            var base = known.base ?? Base(values: [:])
            for field in record.fields { base.agree(field, record.answer[field]) }
            known.base = base
            known.cleanDigest = nil
            try hand.journal.commit { writer in
                try writer.put(known)
                try writer.removeConflict(id)
            }
        }
    }
}

extension ConflictRecord {
    /// The server's values that a resolution answers: those last shown, else those the conflict was raised with.
    var answer: FieldValues { shown ?? raised }
}

extension Hand {
    fileprivate func conflict(_ id: ItemID) throws -> (LocalTask, ConflictRecord) {
        guard let fields = view.plans[id]?.conflicts, !fields.isEmpty, let task = view.local[id],
            let row = view.remote[id]
        else {
            throw RunFailure(
                .failed, "\(path(of: id)): there is no conflict to resolve; run otask sync if there should be one")
        }
        if let record = try journal.conflicts()[id], record.fields == fields { return (task, record) }
        // It came up by an edit since the last run: what was shown of it is the server's row as it is known.
        let raised = row.fields.filter { fields.contains($0.key) }
        return (task, ConflictRecord(id: id, fields: fields, raised: raised, since: now))
    }

    /// What was saved in the scratch file becomes the task's file, if that is still what the scratch file was made from.
    fileprivate func take(_ scratch: Engine.Scratch, _ bytes: [UInt8], _ task: LocalTask) throws {
        let path = disk.taskFolder.file(of: task.place)
        let markers = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].map { Array($0.utf8) }
        let isMarked =
            bytes.split(separator: UInt8(ascii: "\n")).filter { line in markers.contains { line.starts(with: $0) } }
            .count > 2
        if isMarked { throw PathProblem(.failed, path, "markers are left in the text: the conflict stays") }
        guard task.digest == scratch.digest else {
            throw PathProblem(.failed, path, "the file was changed while the scratch file was open: it isn't written")
        }
        do {
            _ = try TaskFile.parse(bytes, name: task.place.lastComponent, idsInFiles: disk.idsInFiles)
        } catch {
            throw PathProblem(.failed, path, Text("what was saved is no task file: \(error.message)"))
        }
        let outcome = try acts.replace(
            path, with: bytes, expecting: task.digest, id: task.id, values: task.fileContent.fields)
        if outcome == .changedMeanwhile { throw PathProblem(.failed, path, "it was saved in this moment; try again") }
    }
}
