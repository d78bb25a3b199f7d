import Journal
import Model
import Workspace

/// What a run finds of an earlier one that was stopped, tidied up before anything else.
extension Run {
    func recover() throws {
        for pending in try journal.pendingWrites() {
            if let id = pending.item { stuck.insert(id) }
            try goingOn(pending.item) {
                try recover(pending)
                if let id = pending.item { stuck.remove(id) }
            }
        }
        let moves = try journal.moves()
        if !moves.isEmpty { try finishMoves(moves, nil) }
        try forgetOld()
    }

    private func recover(_ pending: PendingWrite) throws {
        let recovery = try disk.writer.recover(
            pending, save: { try recorder.keep($0, at: pending.target, id: pending.item) })
        try journal.commit { writer in
            try writer.removePendingWrite(temporary: pending.temporary)
            if let displaced = recovery.displaced {
                let values = try pending.item.flatMap { try journal.known([$0])[$0]?.base?.contentValues }
                try writer.put(DisplacedRecord(displaced: displaced, id: pending.item, values: values))
            }
        }
        if case .displacedSave(let displaced) = recovery { try absorb(displaced, of: pending.item) }
    }

    /// Temporary files that a stopped run left before it had noted them.
    func sweep(_ view: View) throws {
        let noted = Set(
            try journal.pendingWrites().map(\.temporary) + journal.moves().map(\.move.temporary)
                + journal.displaced().map(\.displaced.path))
        let left = view.snapshot.temporaries.map { disk.taskFolder.inWorkspace($0) }.filter { !noted.contains($0) }
        try goingOn(nil) { try disk.writer.sweep(left, before: now + -Double(disk.historyDays) * 86_400) }
    }

    /// Displaced files stay until a later run, a minute or more after, has looked again: bytes that came meanwhile from a
    /// program that still had the file open are an edit of that task.
    func revisitDisplaced() throws {
        for record in try journal.displaced() where now - record.displaced.at >= 60 {
            try goingOn(record.id) { try revisit(record) }
        }
    }

    private func revisit(_ record: DisplacedRecord) throws {
        guard let bytes = try disk.writer.revisit(record.displaced), let id = record.id,
            let file = try? TaskFile.parse(
                bytes, name: disk.taskFolder.place(of: record.displaced.target).lastComponent,
                idsInFiles: disk.idsInFiles)
        else {
            try journal.commit { writer in try writer.removeDisplaced(path: record.displaced.path) }
            // The history has had it since before it was displaced, if it is still that: what came late and makes no task
            // is nowhere else.
            let displaced = record.displaced
            if try journal.fact(Recorder.headKey) != nil,
                try disk.writer.displaced(with: displaced.digest) == displaced.path
            {
                try disk.writer.discard(displaced)
            }
            return
        }
        guard verb != .push else { return }
        if try journal.known([id])[id] == nil { return try putBack(record, bytes) }
        lateSaves.append(
            Absorption(
                id: id, content: file.content, ground: record.values ?? [:],
                source: .displaced(path: record.displaced.path)))
    }

    /// Bytes that came into a removed file are an edit, which wins: the file is there again, and its task is wanted back.
    private func putBack(_ record: DisplacedRecord, _ bytes: [UInt8]) throws {
        let target = record.displaced.target
        let outcome = try FileActs(journal: journal, disk: disk).lay(target, bytes, id: record.id)
        // Where another file is there now, what was saved stays where it lies.
        let isBack = outcome != .changedMeanwhile
        try journal.commit { writer in try writer.removeDisplaced(path: record.displaced.path) }
        try notice(
            target,
            isBack
                ? "it was removed here while a program still wrote to it: the edit wins, the file is back"
                : "it was removed here while a program still wrote to it: what that saved is in \(record.displaced.path)"
        )
    }

    /// A save that was displaced by a crash, whose target was edited since.
    private func absorb(_ displaced: Displaced, of id: ItemID?) throws {
        guard let id, let task = try journal.known([id])[id], let ground = task.base?.contentValues,
            let path = try disk.writer.displaced(with: displaced.digest),
            let bytes = try? disk.root.folder(at: path.parent.string).open(.init(path.lastComponent.string)).read(),
            let file = try? TaskFile.parse(
                bytes, name: disk.taskFolder.place(of: displaced.target).lastComponent, idsInFiles: disk.idsInFiles)
        else { return }
        lateSaves.append(
            Absorption(id: id, content: file.content, ground: ground, source: .displaced(path: displaced.path)))
    }

    /// What the journal keeps for a while goes when its time is over, displaced files with the history.
    private func forgetOld() throws {
        try journal.commit { writer in try writer.forgetExpired(at: now) }
        try goingOn(nil) { try disk.writer.prune(before: now + -Double(disk.historyDays) * 86_400) }
    }
}

extension FileWriter.Recovery {
    /// The file that went to `.otask/displaced/`, if one did.
    fileprivate var displaced: Displaced? {
        switch self {
        case .notDone: nil
        case .done(let displaced), .putBack(let displaced): displaced
        case .displacedSave(let displaced): displaced
        }
    }
}
