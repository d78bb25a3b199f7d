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
        guard !records.isEmpty, try mayWrite(view) else { return }
        lastLook = nil
        records.sort { $0.move.from < $1.move.from }
        try journal.commit { writer in for record in records { try writer.put(record) } }
        try finishMoves(records, view)
    }

    /// Carries moves out, also those that an earlier run began.
    func finishMoves(_ records: [MoveRecord], _ view: View?) throws {
        let results = try disk.writer.move(records.map(\.move), foldedKey: { Names.foldedKey($0) })
        var arrivals: [(record: MoveRecord, at: Text)] = []
        var over: [MoveRecord] = []
        for (record, result) in zip(records, results) {
            switch result {
            case .moved: arrivals.append((record, record.move.to))
            case .missing: over.append(record)
            case .occupied, .problem:
                if let path = try wayOut(of: record), path != record.move.from {
                    arrivals.append((record, path))
                } else if disk.writer.progress(of: record.move) != .halfway {
                    over.append(record)
                    if case .problem(let met) = result { problem(met, record.id) }
                }
            // Still halfway, it goes on from there at the next run, and each look tells of it until then.
            }
        }
        guard try flushFolders(of: records.flatMap { [$0.move.from, $0.move.to] } + arrivals.map(\.at)) else { return }
        try journal.commit { writer in
            for record in over { try writer.removeMove(from: record.move.from) }
            for (record, path) in arrivals { try arrived(record, at: path, view, writer) }
        }
        for record in records {
            try disk.writer.removeEmptyFolders(above: record.move.from, within: disk.taskFolder.path)
        }
    }

    /// Where a file goes that is stuck halfway: home, or beside the place it was to have, as a newcomer with a suffix.
    private func wayOut(of record: MoveRecord) throws -> Text? {
        func beside(_ path: Text) -> [Text] {
            Places.alternatives(to: disk.taskFolder.place(of: path), record.id).map { disk.taskFolder.file(of: $0) }
        }
        let move = record.move
        return try disk.writer.finish(move, atFirstFreeOf: [move.to, move.from] + beside(move.to) + beside(move.from))?
            .path
    }

    private func arrived(
        _ record: MoveRecord, at path: Text, _ view: View?, _ writer: borrowing JournalWriter
    ) throws {
        try writer.removeMove(from: record.move.from)
        guard var task = try journal.known([record.id])[record.id] else { return }
        let old = task.place
        let wasMoved = task.isMoved
        // Where it found its way out elsewhere.
        if path != record.move.to { try writer.putUnrecorded(path, .own, arriving: record.id) }
        task.place = disk.taskFolder.place(of: path)
        task.isMoved = false
        if let row = try journal.remote([record.id])[record.id], row.deletedAt == nil {
            task.base?.agree(.path, row.path.map { .string($0) } ?? .null)
            if wasMoved, let old {
                try writer.put(
                    Notice(
                        time: now, path: path,
                        text: "moved here and elsewhere: the server's place stands; here it was \(old).md"))
            }
        }
        try writer.put(task)
        recorder.left(view?.local[record.id]?.digest, at: path)
        if let old {
            let modified = view?.local[record.id]?.stamp.modified
            // An editor that has the old name open read the file before this run wrote into it.
            let earlier = task.beforePull.flatMap { $0.since >= started ? $0.values : nil }
            let lately = modified.map { now - Instant(nanoseconds: $0) < 3_600 } ?? true
            try writer.put(
                FormerPlace(
                    place: old, id: record.id, since: now,
                    values: earlier ?? view?.local[record.id]?.content.fields ?? task.base?.contentValues ?? [:],
                    wasEditedLately: lately))
        }
        report.plan.append(PlanLine(action: .move, path: record.move.from, fields: [.path], to: path))
        count(received: record.id)
    }

    // MARK: Removing

    func remove(_ view: View) throws {
        for plan in view.plans.values.sorted(by: { $0.id < $1.id }) where includes(plan.id) {
            guard case .removeFile(let allowed) = plan.action, let task = view.local[plan.id], !isGuarded(plan, view)
            else {
                continue
            }
            if options.background, isOpenInEditor(task.place) { continue }
            guard try mayWrite(view) else { return }
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
        try recorder.secure([(path, digest)])
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
