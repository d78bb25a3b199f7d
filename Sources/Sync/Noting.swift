import Journal
import Model
import Reconcile

/// What a look found out goes into the journal, whether or not anything is sent or written after it.
extension Run {
    func commit(_ view: View) throws {
        if notedLook { return }
        let state = view.state
        let conflicts = try journal.conflicts()
        let inFlight = Set(try journal.inFlight().map(\.id))
        let undoings = try keepPulled(view)
        let noted = try recorder.found(view)
        try journal.commit { writer in
            try noted.put(writer)
            for (id, var task) in view.known {
                let plan = view.plans[id]
                if plan?.action == .forget {
                    // An answer may still say that the server has it.
                    if inFlight.contains(id) { continue }
                    try writer.removeKnownTask(id)
                    if task.base != nil { try writer.mark(id, .gone, since: now) }
                    continue
                }
                // Once a pull.
                if view.undone[id] != nil { task.beforePull = nil }
                if let plan, plan.action == .merge { task.base = plan.baseWithAgreed(task.base) }
                if let local = view.local[id] {
                    task.cleanDigest = task.base?.says(local.fileContent) == true ? local.digest : nil
                    if case .agreed? = plan?.fields[.path] { task.isMoved = false }
                    if plan?.fields[.path] == nil, plan?.action == .merge { task.isMoved = false }
                }
                // The journal knows an unsent file only from the moment its id is announced.
                if state.known[id] == nil, task.base == nil { continue }
                if task != state.known[id] { try writer.put(task) }
            }
            try note(conflicts: conflicts, view, writer)
            for notice in undoings { try writer.put(notice) }
            // A change on either side ends the waiting of what failed in passing. What can't be read now decides nothing.
            for record in try journal.later().values where view.local[record.id] != nil || view.plans[record.id] != nil
            {
                let print = Outbox.fingerprint(view.local[record.id], remote: view.remote[record.id])
                if print != record.fingerprint { try writer.removeLater(record.id) }
            }
            let cache = view.snapshot.cache
            try writer.replaceCachedFiles(
                changed: cache.filter { state.files[$0.key] != $0.value },
                removed: state.files.keys.filter { cache[$0] == nil })
            if let rules = disk.scanRules, try journal.fact(Disk.scanRulesKey) != rules {
                try writer.put(fact: rules, for: Disk.scanRulesKey)
            }
            for remark in view.matching.notices where said.insert(remark).inserted {
                try writer.put(
                    Notice(time: now, path: disk.taskFolder.file(of: remark.place), text: remark.text))
            }
            if disk.isElsewhere(than: state), !view.matching.laidDownAgain.isEmpty {
                try writer.put(
                    Notice(
                        time: now, path: "",
                        text: """
                            this workspace was copied, restored or carried here: \(view.matching.laidDownAgain.count) tasks whose \
                            files are missing are laid down again, and none counts as deleted
                            """))
            }
            if let ground = disk.ground, ground != state.ground {
                try writer.put(fact: ground, for: JournalState.groundKey)
            }
            try writer.updateMeta {
                $0.machineID = disk.machine
                $0.homeIdentity = disk.home
            }
        }
        notedLook = true
    }

    /// A conflict is over when the sides are equal, merge cleanly, or one deleted the task; it is replaced in place when
    /// either side moved.
    private func note(
        conflicts: [ItemID: ConflictRecord], _ view: View, _ writer: borrowing JournalWriter
    ) throws {
        for (id, plan) in view.plans {
            let fields = plan.conflicts
            guard !fields.isEmpty, let row = view.remote[id] else { continue }
            let raised = row.fields.filter { fields.contains($0.key) }
            if let record = conflicts[id], record.fields == fields, record.raised == raised { continue }
            var shown = conflicts[id]?.shown
            // A field that is new in a conflict wasn't shown yet: its value of now counts.
            for field in fields.subtracting(conflicts[id]?.fields ?? []) { shown?[field] = raised[field] }
            try writer.put(
                ConflictRecord(
                    id: id, fields: fields, raised: raised, shown: shown, since: conflicts[id]?.since ?? now))
        }
        for id in conflicts.keys where view.plans[id]?.conflicts.isEmpty ?? true {
            // What can't be read now decides nothing.
            if view.local[id] == nil, view.plans[id] == nil, view.known[id] != nil { continue }
            try writer.removeConflict(id)
        }
    }
}

extension JournalWriter {
    /// The server's values of these conflicts were shown to a person.
    func show(_ conflicts: some Sequence<ConflictRecord>) throws {
        for var record in conflicts where record.shown != record.raised {
            record.shown = record.raised
            try put(record)
        }
    }
}
