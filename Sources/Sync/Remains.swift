import Journal
import Model
import Reconcile
import Workspace

/// What is left to say about a workspace after a look: what waits, what is in conflict, refused, or wrong.
struct Remains {
    var waiting: [WaitingItem] = []
    var conflicts: [ConflictItem] = []
    var refused: [RefusedItem] = []
    var problems: [ProblemItem]
    var notFollowed: [ProblemItem] = []

    init(
        _ view: View, journal: Journal, disk: Disk, held: [ItemID: Text] = [:], guardReleased: Bool = false
    ) throws {
        problems = view.problems
        let refusals = Dictionary(grouping: try journal.refusals(), by: \.id)
        let later = try journal.later()
        let guarding = view.guarding
        for plan in view.plans.values {
            let path = disk.taskFolder.file(of: view.place(of: plan.id))
            if !plan.conflicts.isEmpty {
                conflicts.append(ConflictItem(id: plan.id, path: path, fields: plan.conflicts.sorted()))
            }
            let print = Outbox.fingerprint(view.local[plan.id], remote: view.remote[plan.id])
            let standing = (refusals[plan.id] ?? []).filter { $0.fingerprint == print }
            refused += standing.map {
                RefusedItem(
                    id: plan.id, path: path, fields: $0.field.map { [$0] } ?? [], code: $0.code, message: $0.message,
                    since: $0.since)
            }
            guard var item = Self.waiting(plan, path: path, view, disk, refused: standing) else { continue }
            let isGuarded =
                !guardReleased
                && (guarding.guardsDeletions && view.isUnaskedDeletion(plan)
                    || guarding.guardsWentBack && view.wentBack.contains(plan.id))
            if isGuarded {
                item.state = .guarded
            } else if let record = later[plan.id] {
                item.state = .later
                item.reason = record.message
            } else if let reason = held[plan.id] {
                item.state = .held
                item.reason = reason
            }
            waiting.append(item)
        }
        for (place, digest) in try journal.keptHere() {
            guard view.matching.items.contains(where: { $0.place == place && $0.sighting.digest == digest }) else {
                continue
            }
            notFollowed.append(
                ProblemItem(
                    id: nil, path: disk.taskFolder.file(of: place), problem: "kept here only, as dismissed", line: nil))
        }
        for frozen in view.matching.frozen {
            notFollowed.append(
                ProblemItem(
                    id: frozen.id, path: disk.taskFolder.file(of: view.place(of: frozen.id)), problem: frozen.reason,
                    line: nil))
        }
        for plan in view.plans.values where plan.action == .layDown {
            guard let place = view.wanted[plan.id], disk.rules.ignores(disk.taskFolder.file(of: place)) else {
                continue
            }
            notFollowed.append(
                ProblemItem(
                    id: plan.id, path: disk.taskFolder.file(of: place),
                    problem: "not laid down: an ignore rule names its place", line: nil))
        }
        waiting.sort { $0.path < $1.path }
        conflicts.sort { $0.path < $1.path }
        refused.sort { ($0.path, $0.fields.first?.name ?? "") < ($1.path, $1.fields.first?.name ?? "") }
        problems.sort { $0.path < $1.path }
        notFollowed.sort { $0.path < $1.path }
    }

    /// Before the first run: nothing was refused or held yet.
    init(_ view: View, disk: Disk) {
        problems = view.problems.sorted { $0.path < $1.path }
        waiting = view.plans.values.compactMap {
            Self.waiting($0, path: disk.taskFolder.file(of: view.place(of: $0.id)), view, disk, refused: [])
        }.sorted { $0.path < $1.path }
    }

    /// What of a plan waits to be sent; nil where nothing does.
    private static func waiting(
        _ plan: TaskPlan, path: Text, _ view: View, _ disk: Disk, refused: [RefusalRecord]
    ) -> WaitingItem? {
        func item(_ change: ChangeKind, _ fields: [Field]) -> WaitingItem {
            WaitingItem(
                id: plan.id, path: path, change: change, fields: fields, state: .waiting, from: nil, reason: nil)
        }
        let refusedWhole = refused.contains { $0.field == nil }
        switch plan.action {
        case .insert:
            if refusedWhole { return nil }
            var new = item(.new, [])
            if view.known[plan.id]?.base == nil, view.local[plan.id]?.hasIDLine == false { new.id = nil }
            return new
        case .sendDeletion: return refusedWhole ? nil : item(.deleted, [])
        case .removeFile:
            // A deletion from elsewhere waits only where the guard holds it.
            return view.guarding.guardsDeletions && view.isUnaskedDeletion(plan) ? item(.deleted, []) : nil
        case .revive: return refusedWhole ? nil : item(.edited, plan.sends.keys.filter { $0 != .path }.sorted())
        case .merge:
            let withheld = Set(refused.compactMap(\.field))
            let fields = (Array(plan.sends.keys) + plan.merges).filter { !withheld.contains($0) }.sorted()
            if fields.isEmpty { return nil }
            let isMove = fields == [.path]
            // A place that `otask` itself found for a task of nobody's isn't told to people: they did nothing.
            if isMove, view.local[plan.id]?.path == .string(view.place(of: plan.id)),
                view.known[plan.id]?.isMoved == false
            {
                return nil
            }
            var waiting = item(isMove ? .moved : .edited, fields)
            if plan.sends[.path] != nil, let old = view.known[plan.id]?.base?.values[.path]?.text {
                waiting.from = disk.taskFolder.file(of: old)
            }
            return waiting
        default: return nil
        }
    }
}
