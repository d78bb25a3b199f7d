import Journal
import Libraries
import Model
import Reconcile
import Workspace

/// `changes discard`, `retry` and `dismiss`: giving up what waits or was refused, or sending it again.
extension Engine {
    /// Gives waiting or guarded items (by their paths in the workspace) the server's state: its fields, its old name, a
    /// removed file back; a file that the server doesn't have is removed. What was done to each.
    public func discard(_ paths: [Text]) throws -> [Notice] {
        undoable(try withHand { hand in try hand.plans(at: paths).flatMap { try hand.discard($0) } })
    }

    /// The notices with the name of the state that an undo of what was just done takes back.
    private func undoable(_ notices: [Notice]) -> [Notice] {
        guard let state = newestState() else { return notices }
        return notices.map { notice in
            var notice = notice
            if notice.undo == Notice.undoCommand { notice.undo = "\(Notice.undoCommand) \(state.short)" }
            return notice
        }
    }

    /// Refused items, and those that failed in passing, are sent again at the next run; a file whose task was deleted
    /// elsewhere brings it back. The paths that this holds for.
    public func retry(_ paths: [Text]) throws -> [Text] {
        try withHand { hand in
            let dead = hand.deletedElsewhere
            let kept = try hand.keptHere()
            let plans = try hand.plans(at: paths.filter { dead[$0] == nil && kept[$0] == nil })
            try hand.journal.commit { writer in
                for plan in plans {
                    try writer.removeRefusals(plan.id)
                    try writer.removeLater(plan.id)
                    if case .deletedElsewhere = plan.action { try writer.mark(plan.id, .gone, since: hand.now) }
                }
                for id in paths.compactMap({ dead[$0] }) { try writer.mark(id, .gone, since: hand.now) }
                for sighting in paths.compactMap({ kept[$0] }) { try writer.removeKeptHere(sighting.place) }
            }
            return paths.filter { dead[$0] != nil || kept[$0] != nil } + plans.map { hand.path(of: $0.id) }
        }
    }

    /// Gives refused edits and deletions the server's state. A refused new file stays, kept here only, until it changes;
    /// with `remove` it is removed.
    public func dismiss(_ paths: [Text], remove: Bool) throws -> [Notice] {
        let notices = try withHand { hand in
            let kept = try hand.keptHere()
            let asides = try paths.compactMap { kept[$0] }.map { sighting -> Notice in
                let path = hand.disk.taskFolder.file(of: sighting.place)
                guard remove else {
                    throw RunFailure(.failed, "\(path): it is kept here only already; --remove removes it")
                }
                let notice = try hand.moveAside(path, sighting.digest, id: nil, values: nil)
                try hand.journal.commit { writer in try writer.removeKeptHere(sighting.place) }
                return notice
            }
            return try asides
                + hand.plans(at: paths.filter { kept[$0] == nil }).flatMap { plan -> [Notice] in
                    let refused = try hand.journal.refusals().filter { $0.id == plan.id }
                    guard !refused.isEmpty else {
                        throw RunFailure(.failed, "\(hand.path(of: plan.id)): nothing of it was refused")
                    }
                    if plan.action == .insert, !remove { return try [hand.keepHere(plan)] }
                    return try hand.discard(plan, only: Set(refused.compactMap(\.field)))
                }
        }
        return undoable(notices)
    }
}

extension Notice {
    /// Takes back what a command did; the state is filled in once it is recorded.
    fileprivate static let undoCommand: Text = "otask undo"
}

extension Hand {
    /// Files with the id of a task that was deleted elsewhere, which say something else: by path.
    fileprivate var deletedElsewhere: [Text: ItemID] {
        let dead = view.matching.problems.compactMap { problem -> (Text, ItemID)? in
            guard let id = problem.id, view.remote[id]?.deletedAt != nil, view.known[id] == nil else { return nil }
            return (disk.taskFolder.file(of: problem.place), id)
        }
        return Dictionary(dead, uniquingKeysWith: { first, _ in first })
    }

    /// Dismissed new files that are still what was dismissed: by path.
    fileprivate func keptHere() throws -> [Text: Sighting] {
        let kept = try journal.keptHere()
        let files = view.matching.items.map(\.sighting).filter { kept[$0.place] == $0.digest }
        return Dictionary(
            files.map { (disk.taskFolder.file(of: $0.place), $0) }, uniquingKeysWith: { first, _ in first })
    }

    fileprivate func plans(at paths: [Text]) throws -> [TaskPlan] {
        try paths.map { wanted in
            guard let plan = view.plans.values.first(where: { path(of: $0.id) == wanted }) else {
                throw RunFailure(.failed, "\(wanted): nothing of it waits or was refused")
            }
            return plan
        }
    }

    fileprivate func keepHere(_ plan: TaskPlan) throws -> Notice {
        guard let task = view.local[plan.id] else {
            throw RunFailure(.failed, "\(path(of: plan.id)): there is no file")
        }
        try journal.commit { writer in
            try writer.keepHere(task.place, task.digest)
            try writer.removeRefusals(plan.id)
            try writer.removeKnownTask(plan.id)
        }
        return Notice(
            time: now, path: path(of: plan.id), text: "it stays, kept here only, until it changes",
            undo: "otask changes retry \(path(of: plan.id))")
    }

    /// Gives one item the server's state, in these fields (empty: in all that wait).
    fileprivate func discard(_ plan: TaskPlan, only fields: Set<Field> = []) throws -> [Notice] {
        let path = path(of: plan.id)
        var notices: [Notice] = []
        switch plan.action {
        case .insert, .removeFile, .deletedElsewhere, .revive:
            notices = [try moveAside(plan, path)]
        case .sendDeletion, .bringBack:
            notices = [try layDownAgain(plan, path)]
        case .merge:
            notices = try giveBack(plan, path, fields)
        default: break
        }
        try journal.commit { writer in
            for field in fields.isEmpty ? [nil] : fields.map(Optional.some) { try writer.removeRefusal(plan.id, field) }
            if fields.isEmpty { try writer.removeRefusals(plan.id) }
            try writer.removeLater(plan.id)
        }
        return notices
    }

    private func moveAside(_ plan: TaskPlan, _ path: Text) throws -> Notice {
        guard let task = view.local[plan.id] else { throw RunFailure(.failed, "\(path): there is no file") }
        let notice = try moveAside(path, task.digest, id: plan.id, values: task.fileContent.fields)
        try journal.commit { writer in
            try writer.removeKnownTask(plan.id)
            try writer.removeConflict(plan.id)
        }
        return notice
    }

    fileprivate func moveAside(_ path: Text, _ digest: Digest, id: ItemID?, values: FieldValues?) throws -> Notice {
        guard try acts.takeAway(path, expecting: digest, id: id, values: values) else {
            throw PathProblem(.failed, path, "it was saved in this moment; try again")
        }
        return Notice(
            time: now, path: path, text: "the server doesn't have it: the file is in the history alone",
            undo: Notice.undoCommand)
    }

    private func layDownAgain(_ plan: TaskPlan, _ path: Text) throws -> Notice {
        guard let row = view.remote[plan.id], let place = view.known[plan.id]?.place else {
            throw RunFailure(.failed, "\(path): the server doesn't have it")
        }
        let bytes: [UInt8]
        do {
            bytes = try TaskFile.render(row.content, id: disk.idsInFiles ? plan.id : nil, name: place.lastComponent)
        } catch {
            throw PathProblem(.failed, path, Text(error.message))
        }
        guard case .done(let stamp) = try acts.lay(path, bytes, id: plan.id) else {
            throw PathProblem(.failed, path, "another file is there now: move it away first")
        }
        var known = view.known[plan.id] ?? KnownTask(id: plan.id, place: place)
        known.base = Base(values: row.fields)
        known.identity = stamp.identity
        known.modified = stamp.modified
        known.cleanDigest = Digest(of: bytes)
        known.hasIDLine = disk.idsInFiles
        try journal.commit { writer in
            try writer.put(known)
            try writer.unmark(plan.id, .deletedByName)
        }
        return Notice(time: now, path: path, text: "the file is back", undo: Notice.undoCommand)
    }

    /// Takes back what waits in the fields of a task's file, and its move.
    private func giveBack(_ plan: TaskPlan, _ path: Text, _ fields: Set<Field>) throws -> [Notice] {
        guard let task = view.local[plan.id], let row = view.remote[plan.id] else { return [] }
        let waiting = Set(plan.sends.keys)
        let chosen = fields.isEmpty ? waiting : waiting.intersection(fields)
        var notices: [Notice] = []
        let content = chosen.subtracting([.path])
        if !content.isEmpty {
            var values = task.content.fields
            for field in content { values[field] = row.fields[field] }
            try write(TaskContent(values), into: task)
            let names = content.sorted().map(\.name.string).joined(separator: ", ")
            notices.append(
                Notice(
                    time: now, path: path, text: "\(Text(names)): as on the server again", undo: Notice.undoCommand))
        }
        if chosen.contains(.path), let place = row.path, place != task.place {
            let target = disk.taskFolder.file(of: place)
            guard let move = try disk.writer.planMove(from: path, to: target) else { return notices }
            try journal.commit { writer in try writer.put(MoveRecord(id: plan.id, move: move)) }
            let result = try disk.writer.move([move], foldedKey: { Names.foldedKey($0) }).first
            try disk.writer.flushFolders(of: [path, target])
            try journal.commit { writer in
                try writer.removeMove(from: move.from)
                guard case .moved? = result, var known = view.known[plan.id] else { return }
                known.place = place
                known.isMoved = false
                known.cleanDigest = nil
                try writer.put(known)
            }
            guard case .moved? = result else {
                throw PathProblem(.failed, target, "another file is there now: move it away first")
            }
            notices.append(
                Notice(time: now, path: target, text: "moved back from \(path)", undo: Notice.undoCommand))
        }
        return notices
    }
}
