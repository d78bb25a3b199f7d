import Journal
import Model
import Reconcile
import Supabase

/// What became of the sending half of a round.
struct Sending {
    /// The server's rows had moved: another round has something to do.
    var serverMoved = false
}

/// The push half of a run: waiting changes go out, conditional and with an id that makes them apply once.
extension Run {
    func send(_ service: SyncService) async throws -> Sending {
        let view = try look()
        try commit(view)
        releaseGuard(view)
        var sending = Sending()
        held = [:]
        var queue = try outgoing(view)
        while !queue.isEmpty {
            var again: [Outgoing] = []
            let byChange = Dictionary(uniqueKeysWithValues: queue.map { ($0.change.changeID, $0) })
            for batch in Batches.split(queue.map(\.change)) {
                try workspace.check()
                let items = try onNewestRows(batch.compactMap { byChange[$0.changeID] })
                try announce(items)
                let result = await service.push(items.map(\.change))
                let answered = try take(result.outcomes, of: items)
                sending.serverMoved = sending.serverMoved || answered.serverMoved
                again += answered.again
                if let stopped = result.stopped { throw RunFailure(stopped) }
            }
            queue = again
        }
        return sending
    }

    /// The changes of the plans that go out now: tasks first, deletions after them.
    private func outgoing(_ view: View) throws -> [Outgoing] {
        let refusals = Dictionary(grouping: try journal.refusals(), by: \.id)
        let later = try journal.later()
        let inFlight = Dictionary(grouping: try journal.inFlight(), by: \.id)
        let cursor = try journal.meta().cursor
        let plans = view.plans.values.filter { includes($0.id) && $0.sendsNow(verb) }.sorted { a, b in
            (a.action == .sendDeletion ? 1 : 0, view.place(of: a.id), a.id)
                < (b.action == .sendDeletion ? 1 : 0, view.place(of: b.id), b.id)
        }
        return plans.compactMap { plan in
            if isGuarded(plan, view) { return nil }
            if options.background, let record = later[plan.id], record.next > now { return nil }
            let local = view.local[plan.id]
            let print = Outbox.fingerprint(local, remote: view.remote[plan.id])
            let standing = (refusals[plan.id] ?? []).filter { $0.fingerprint == print }
            if standing.contains(where: { $0.field == nil }) { return nil }
            guard
                var change = Outbox.change(
                    for: plan, local: local, remote: view.remote[plan.id], withheld: Set(standing.compactMap(\.field)),
                    allowed: view.byName.contains(plan.id) || guardReleased && view.guarding.count > 0,
                    cursor: cursor, device: surroundings.device, changeID: surroundings.newID())
            else { return nil }
            if let said = inFlight[plan.id]?.first(where: { Outbox.sameWords(change, $0.change) }) {
                change.changeID = said.changeID
            }
            return Outgoing(
                change: change, local: local, place: view.place(of: plan.id), action: .init(sending: plan.action))
        }
    }

    /// A field that is sent on its own is based on the row as the field before it left it.
    private func onNewestRows(_ batch: [Outgoing]) throws -> [Outgoing] {
        let remote = try journal.remote(batch.map(\.change.id).filter { sent[$0] != nil })
        return batch.map { item in
            var item = item
            if let row = remote[item.change.id] { item.change.baseVersion = row.version }
            return item
        }
    }

    /// Notes in the journal what is about to be said, and the ids of new tasks.
    private func announce(_ batch: [Outgoing]) throws {
        for item in batch { sent[item.change.id] = item.local }
        try journal.commit { writer in
            for item in batch {
                try writer.put(
                    InFlightRecord(
                        changeID: item.change.changeID, id: item.change.id, place: item.local?.place,
                        identity: item.local?.stamp.identity, digest: item.local?.digest, change: item.change.json,
                        sent: now))
                if item.isNew, let local = item.local, try journal.known([local.id])[local.id] == nil {
                    try writer.put(
                        KnownTask(
                            id: local.id, place: local.place, identity: local.stamp.identity, hasIDLine: local.hasIDLine
                        ))
                }
            }
        }
    }

    /// Takes the answers of a batch into the journal, in one transaction.
    private func take(
        _ outcomes: [PushOutcome], of batch: [Outgoing]
    ) throws -> (serverMoved: Bool, again: [Outgoing]) {
        var serverMoved = false
        var again: [Outgoing] = []
        lastLook = nil
        let older = Dictionary(grouping: try journal.inFlight(), by: \.id)
        try journal.commit { writer in
            for (item, outcome) in zip(batch, outcomes) {
                switch outcome {
                case .unanswered: continue
                case .failed(let failure):
                    // What failed in passing may have been carried out all the same: the next pull tells.
                    if failure.kind == .refused { try writer.removeInFlight(changeID: item.change.changeID) }
                    try take(failure, of: item, writer)
                case .answered(let answer):
                    try writer.removeInFlight(changeID: item.change.changeID)
                    if let row = answer.row { try take(row, table: item.change.table, writer) }
                    switch answer.status {
                    case .applied:
                        try applied(item, writer)
                        // An older word on this item can't be applied any more: its version is past.
                        for record in older[item.change.id] ?? [] {
                            try writer.removeInFlight(changeID: record.changeID)
                        }
                    case .conflict: serverMoved = true
                    case .held: held[item.change.id] = answer.message ?? "what it depends on was not applied"
                    case .refused:
                        if try isTakenElsewhere(item, answer, writer) {
                            serverMoved = true
                        } else if item.change.fields.count + item.change.removed.count > 1, !item.isNew,
                            item.change.operation == .upsert
                        {
                            again += Outbox.fieldByField(item.change, newID: surroundings.newID).map {
                                Outgoing(change: $0, local: item.local, place: item.place, action: item.action)
                            }
                        } else {
                            try refuse(item, code: answer.code ?? "", message: answer.message ?? "refused", writer)
                        }
                    }
                }
            }
        }
        return (serverMoved, again)
    }

    private func take(_ row: JSON, table: Text, _ writer: borrowing JournalWriter) throws {
        var members = row.object ?? [:]
        members["table"] = .string(table)
        guard let feedRow = try? FeedRow(json: .object(members)) else { return }
        _ = try writer.store([feedRow])
    }

    private func applied(_ item: Outgoing, _ writer: borrowing JournalWriter) throws {
        let change = item.change
        try settle(change, record: nil, local: item.local, writer)
        if change.operation == .delete {
            report.sent.deleted += 1
            if !change.allowed { try writer.put(DeletionCount(at: now, table: "tasks", count: 1)) }
        } else {
            report.sent.tasks += 1
            for field in change.fields.keys { try writer.removeRefusal(change.id, field) }
            for key in change.removed { try writer.removeRefusal(change.id, .property(key)) }
            try writer.removeRefusal(change.id, nil)
        }
        report.plan.append(item.line(in: disk.taskFolder))
    }

    private func take(_ failure: ItemFailure, of item: Outgoing, _ writer: borrowing JournalWriter) throws {
        switch failure.kind {
        case .refused: try refuse(item, code: failure.code ?? "", message: failure.message, writer)
        case .later:
            let before = options.background ? try journal.later()[item.change.id]?.tries ?? 0 : 0
            let tries = before + 1
            let wait = min(25 * (0..<(tries - 1)).reduce(1.0) { wait, _ in wait * 5 }, 86_400)
            try writer.put(
                LaterRecord(
                    id: item.change.id, tries: tries, next: now + wait,
                    fingerprint: Outbox.fingerprint(
                        item.local, remote: try journal.remote([item.change.id])[item.change.id]),
                    message: failure.message))
        }
    }

    private func refuse(_ item: Outgoing, code: Text, message: Text, _ writer: borrowing JournalWriter) throws {
        let fields = Set(item.change.fields.keys).union(item.change.removed.map { .property($0) })
        let isWhole = item.isNew || item.change.operation == .delete || fields.count != 1
        let remote = try journal.remote([item.change.id])[item.change.id]
        try writer.put(
            RefusalRecord(
                id: item.change.id, field: isWhole ? nil : fields.first,
                fingerprint: Outbox.fingerprint(item.local, remote: remote), code: code, message: message, since: now))
    }

    /// An id that the server has for another account: the file is a copy from elsewhere and gets an id of its own.
    private func isTakenElsewhere(
        _ item: Outgoing, _ answer: ChangeAnswer, _ writer: borrowing JournalWriter
    ) throws -> Bool {
        guard item.isNew, answer.code == "23505", answer.row == nil else { return false }
        try writer.mark(item.change.id, .takenElsewhere, since: now)
        try writer.removeKnownTask(item.change.id)
        return true
    }

    /// This run's own changes moved versions: what was refused beside them stays refused, for the file as it was sent.
    func refreshFingerprints(_ view: View) throws {
        let stale = try journal.refusals().filter { sent[$0.id] != nil }
        guard !stale.isEmpty else { return }
        try journal.commit { writer in
            for var record in stale {
                record.fingerprint = Outbox.fingerprint(sent[record.id], remote: view.remote[record.id])
                try writer.put(record)
            }
        }
    }

    // MARK: The deletion guard

    func releaseGuard(_ view: View) {
        if let allowed = options.allowDeletions, view.guarding.count > 0, allowed == view.guarding.count {
            guardReleased = true
        }
    }

    /// Whether the guard holds this plan back.
    func isGuarded(_ plan: TaskPlan, _ view: View) -> Bool {
        if guardReleased { return false }
        if view.guarding.guardsDeletions, view.isUnaskedDeletion(plan) { return true }
        return view.guarding.guardsWentBack && view.wentBack.contains(plan.id)
    }
}

extension TaskPlan {
    /// Whether `verb` sends something of this plan. `push` leaves to `sync` what changed on both sides.
    func sendsNow(_ verb: Verb) -> Bool {
        switch action {
        case .insert, .sendDeletion: true
        case .merge: !sends.isEmpty
        case .revive: verb == .sync
        default: false
        }
    }
}
