import Journal
import Libraries
import Model
import Reconcile
import Workspace

/// Files that move to their places, and files that go.
extension Run {
    // MARK: Moving

    /// The tasks whose files are to lie elsewhere, and where.
    func moves(_ view: View, _ places: [ItemID: Text]) -> [(task: LocalTask, place: Text)] {
        view.local.values.compactMap { task in
            guard includes(task.id), let place = places[task.id], place != task.place,
                view.plans[task.id].map({ $0.action == .merge }) ?? true
            else { return nil }
            return options.background && isOpenInEditor(task.place) ? nil : (task, place)
        }
    }

    func move(_ view: View, _ places: [ItemID: Text]) throws {
        var records = try moves(view, places).compactMap { task, place in
            try disk.writer.planMove(
                from: disk.taskFolder.file(of: task.place), to: disk.taskFolder.file(of: place)
            ).map { MoveRecord(id: task.id, move: $0) }
        }
        guard !records.isEmpty else { return }
        lastLook = nil
        records.sort { $0.move.from < $1.move.from }
        try journal.commit { writer in for record in records { try writer.put(record) } }
        try finishMoves(records, view)
    }

    private func isThere(_ path: Text) -> Bool {
        let folder = try? disk.root.folder(at: path.parent.string)
        return (try? folder?.status(FileName(path.lastComponent.string))) ?? nil != nil
    }

    /// Carries moves out, also those that an earlier run began.
    func finishMoves(_ records: [MoveRecord], _ view: View?) throws {
        let results = try disk.writer.move(records.map(\.move), foldedKey: { Names.foldedKey($0) })
        try disk.writer.flushFolders(of: records.flatMap { [$0.move.from, $0.move.to] })
        try journal.commit { writer in
            for (record, result) in zip(records, results) {
                if case .problem(let met) = result { problem(met, record.id) }
                // Stopped halfway, it goes on from there at the next run.
                if case .problem = result, isThere(record.move.temporary) { continue }
                try writer.removeMove(from: record.move.from)
                guard case .moved = result, var task = try journal.known([record.id])[record.id] else { continue }
                let place = disk.taskFolder.place(of: record.move.to)
                let old = task.place
                task.place = place
                let wasMoved = task.isMoved
                task.isMoved = false
                if let row = try journal.remote([record.id])[record.id], row.deletedAt == nil {
                    task.base?.agree(.path, row.path.map { .string($0) } ?? .null)
                    if wasMoved, let old {
                        try writer.put(
                            Notice(
                                time: now, path: record.move.to,
                                text: "moved here and elsewhere: the server's place stands; here it was \(old).md"))
                    }
                }
                try writer.put(task)
                if let old {
                    let modified = view?.local[record.id]?.stamp.modified
                    // An editor that has the old name open read the file before this run wrote into it.
                    let earlier = task.beforePull.flatMap { $0.since >= started ? $0.values : nil }
                    let lately = modified.map { now - Instant(nanoseconds: $0) < 3_600 } ?? true
                    try writer.put(
                        FormerPlace(
                            place: old, id: record.id, since: now,
                            values: earlier ?? view?.local[record.id]?.content.fields ?? task.base?.contentValues
                                ?? [:],
                            wasEditedLately: lately))
                }
                report.plan.append(PlanLine(action: .move, path: record.move.from, fields: [.path], to: record.move.to))
                count(received: record.id)
            }
        }
        for record in records {
            try disk.writer.removeEmptyFolders(above: record.move.from, within: disk.taskFolder.path)
        }
    }

    // MARK: Removing

    func remove(_ view: View) throws {
        for plan in view.plans.values.sorted(by: { $0.id < $1.id }) where includes(plan.id) {
            guard case .removeFile(let allowed) = plan.action, let task = view.local[plan.id], !isGuarded(plan, view)
            else {
                continue
            }
            if options.background, isOpenInEditor(task.place) { continue }
            let path = disk.taskFolder.file(of: task.place)
            guard try take(away: path, task.digest, id: plan.id, values: task.content.fields) else { continue }
            let asked = allowed || guardReleased
            try journal.commit { writer in
                try writer.removeKnownTask(plan.id)
                try writer.mark(plan.id, .gone, since: now)
                try writer.removeConflict(plan.id)
                try writer.removeRefusals(plan.id)
                if !asked { try writer.put(DeletionCount(at: now, table: "tasks", count: 1)) }
            }
            report.received.deleted += 1
            report.plan.append(PlanLine(action: .remove, path: path, fields: [], to: nil))
        }
    }

    /// Moves a file to `.otask/displaced/`; a problem of it is told, and the rest goes on.
    func take(away path: Text, _ digest: Digest, id: ItemID?, values: FieldValues?) throws -> Bool {
        lastLook = nil
        do {
            return try FileActs(journal: journal, disk: disk).takeAway(path, expecting: digest, id: id, values: values)
        } catch let problem as PathProblem {
            try met(problem, id)
            return false
        }
    }
}

extension TaskFolder {
    /// The place of a file, seen from the workspace.
    func place(of file: Text) -> Text {
        (path.isEmpty ? file : Text(Substring(file.utf8.dropFirst(path.utf8.count + 1)))).withoutMarkdownSuffix
    }
}
