import Journal
import Libraries
import Model
import Reconcile
import Workspace

/// One file to be written, and what is known of its task once it is.
struct FileJob {
    let id: ItemID
    /// Seen from the workspace.
    let target: Text
    let bytes: [UInt8]
    /// What the target holds now; nil for a new file.
    let expected: Digest?
    /// What the target said, for saves that come late.
    let before: TaskContent?
    /// The task once the file is written; its stamp and digest are filled in.
    var after: KnownTask
    /// The text that the file then holds.
    let content: TaskContent
    /// Sources of text that was merged in.
    let absorbed: [Absorption]
    /// It was removed here and edited elsewhere.
    let comesBack: Bool
    let line: PlanLine?
}

/// What a round writes: which files take what of the server, and which are new.
extension Run {
    /// Where each task's file is to be on this device now.
    func settledPlaces(_ view: View) throws -> Settled {
        var wanted = view.wanted
        for frozen in view.matching.frozen { wanted[frozen.id] = nil }
        var current: [ItemID: Text] = [:]
        for (id, task) in view.local {
            current[id] = task.place
            // A person's own move stands until the server has it; one that the server has not placed stays.
            if case .send? = view.plans[id]?.fields[.path] { wanted[id] = nil }
        }
        for remark in view.matching.problems { if let id = remark.id { wanted[id] = nil } }
        for item in view.matching.items where view.local[item.id] == nil { wanted[item.id] = nil }
        let strangers =
            view.matching.unmatched + view.matching.problems.map(\.place)
            + view.matching.items.filter { view.local[$0.id]?.place != $0.place }.map(\.place)
            + view.snapshot.busy.map(\.withoutMarkdownSuffix)
        var ground = PlaceGround(
            wanted: wanted, current: current, occupied: Set(strangers.map { Names.foldedKey($0) }),
            former: Array(try journal.formerPlaces().values),
            ignored: { [disk] place in disk.rules.ignores(disk.taskFolder.file(of: place)) }, now: now)
        // What isn't scanned stands in the way as well: a folder of that name, a link, a pipe.
        let scanned = Set(view.snapshot.files.map { Names.foldedKey($0.path.withoutMarkdownSuffix) })
        while true {
            let settled = Places.settle(ground)
            // A suffix has to be free among the settled tasks' places too.
            if view.settled.counts.files > 0,
                settled.places.contains(where: { $1 != current[$0] && $1 != wanted[$0] })
            {
                return try settledPlaces(lookAtAll())
            }
            let taken = settled.places.filter { id, place in
                current[id] != place && !scanned.contains(Names.foldedKey(place))
                    && isThere(disk.taskFolder.file(of: place))
            }.map { Names.foldedKey($0.value) }
            if ground.occupied.isSuperset(of: taken) { return settled }
            ground.occupied.formUnion(taken)
        }
    }

    private func isThere(_ path: Text) -> Bool {
        let folder = try? disk.root.folder(at: path.parent.string)
        return (try? folder?.status(FileName(path.lastComponent.string))) ?? nil != nil
    }

    /// Those of these tasks.
    func edits(
        _ ids: some Sequence<ItemID>, _ view: View, _ places: [ItemID: Text], _ scope: FileScope
    ) throws -> [FileJob] {
        var jobs: [FileJob] = []
        for id in ids where includes(id) {
            guard let task = view.local[id] else { continue }
            do {
                if let job = try edit(task, view, places[id] ?? task.place, scope) { jobs.append(job) }
            } catch let problem as TaskFileProblem {
                tell(.unwritable(problem, id: id, path: disk.taskFolder.file(of: task.place)))
            }
        }
        return jobs
    }

    private func edit(_ task: LocalTask, _ view: View, _ place: Text, _ scope: FileScope) throws -> FileJob? {
        guard let plan = view.plans[task.id] ?? settledPlan(task, view), plan.action == .merge else { return nil }
        let writes = scope == .everything ? plan.writes.filter { $0.key != .path } : [:]
        var values = (scope == .everything ? task.content : task.fileContent).fields
        for (field, value) in writes { values[field] = value }
        let content = TaskContent(values)
        let name = place.lastComponent
        let nameHoldsTitle = place != task.place && name != task.place.lastComponent
        let needsID = disk.idsInFiles && !task.hasIDLine && mayWriteID(task, view)
        guard content != task.fileContent || needsID || nameHoldsTitle else { return nil }
        if options.background, isOpenInEditor(task.place) { return nil }

        let path = disk.taskFolder.file(of: task.place)
        guard
            case .file(let seen) = disk.scanner(background: false).read(task.place + ".md", in: disk.taskFolder.scanned),
            seen.digest == task.digest, let bytes = seen.bytes
        else { return nil }
        let file = try TaskFile.parse(bytes, name: task.place.lastComponent, idsInFiles: disk.idsInFiles)
        let edited = try file.editing(
            TaskEdit(from: task.fileContent, to: content, id: disk.idsInFiles ? task.id : nil), name: name)
        guard edited != bytes else { return nil }

        var after = view.known[task.id] ?? KnownTask(id: task.id, place: task.place)
        if scope == .everything { after.base = plan.baseWithWritten(after.base) }
        if content != task.fileContent {
            after.beforePull = EarlierText(values: task.fileContent.fields, since: now)
        }
        if !task.hasIDLine, disk.idsInFiles {
            after.beforeID = EarlierText(values: task.fileContent.fields, since: now)
        }
        after.hasIDLine = disk.idsInFiles || task.hasIDLine
        let absorbed = scope == .everything ? view.absorptions.filter { $0.id == task.id } : []
        return FileJob(
            id: task.id, target: path, bytes: edited, expected: task.digest, before: task.fileContent, after: after,
            content: content, absorbed: absorbed, comesBack: false,
            line: content == task.fileContent
                ? nil : PlanLine(action: .write, path: path, fields: writes.keys.sorted(), to: nil))
    }

    /// A task in step has no plan, and may still lack its id line or have to make room for its name.
    private func settledPlan(_ task: LocalTask, _ view: View) -> TaskPlan? {
        view.remote[task.id] == nil ? nil : TaskPlan(id: task.id, action: .merge)
    }

    /// An id is written once the server has the task: at once in a run by hand, after ten quiet seconds in the background.
    private func mayWriteID(_ task: LocalTask, _ view: View) -> Bool {
        guard verb != .pull, view.remote[task.id]?.deletedAt == nil, view.known[task.id]?.base != nil else {
            return false
        }
        if isOpenInEditor(task.place) { return false }
        return !options.background || now - Instant(nanoseconds: task.stamp.modified) >= 10
    }

    func isOpenInEditor(_ place: Text) -> Bool {
        disk.editors.openInEditor(disk.taskFolder.file(of: place)) != nil
    }

    /// The new files of those of these tasks that have none here.
    func newFiles(_ ids: some Sequence<ItemID>, _ view: View, _ settled: Settled) -> [FileJob] {
        var jobs: [FileJob] = []
        for id in ids where includes(id) {
            guard let plan = view.plans[id], plan.action.laysDown, let row = view.remote[id] else { continue }
            guard let place = settled.places[plan.id] else { continue }
            let target = disk.taskFolder.file(of: place)
            let content = row.content.titled(place)
            do throws(TaskFileProblem) {
                let bytes = try TaskFile.render(
                    content, id: disk.idsInFiles ? plan.id : nil, name: place.lastComponent)
                var after = KnownTask(id: plan.id, place: place)
                after.base = Base(values: row.fields)
                after.hasIDLine = disk.idsInFiles
                jobs.append(
                    FileJob(
                        id: plan.id, target: target, bytes: bytes, expected: nil, before: nil, after: after,
                        content: content, absorbed: [], comesBack: plan.action == .bringBack,
                        line: PlanLine(action: .writeNew, path: target, fields: [], to: nil)))
            } catch {
                tell(.unwritable(error, id: plan.id, path: target))
            }
        }
        return jobs
    }
}

extension TaskEdit {
    /// What turns one content into the other.
    init(from old: TaskContent, to new: TaskContent, id: ItemID?) {
        self.init(
            id: id, title: old.title == new.title ? nil : new.title, notes: old.notes == new.notes ? nil : new.notes,
            done: old.done == new.done ? nil : new.done,
            properties: new.properties.filter { old.properties[$0.key] != $0.value },
            removed: Set(old.properties.keys).subtracting(new.properties.keys))
    }
}
