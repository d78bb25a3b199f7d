import Model
import Reconcile

/// `--dry-run`: the plan as lines, which a run then carries out.
extension Run {
    func planLines(_ view: View) throws -> [PlanLine] {
        let places = verb == .push ? [:] : try settledPlaces(view).places
        var lines = moves(view, places).map { task, place in
            PlanLine(
                action: .move, path: disk.taskFolder.file(of: task.place), fields: [.path],
                to: disk.taskFolder.file(of: place))
        }
        for plan in view.plans.values where includes(plan.id) { lines += self.lines(of: plan, view, places) }
        return lines.sorted { ($0.path, $0.action.rawValue) < ($1.path, $1.action.rawValue) }
    }

    private func lines(of plan: TaskPlan, _ view: View, _ places: [ItemID: Text]) -> [PlanLine] {
        var lines: [PlanLine] = []
        func line(_ action: PlanLine.Action, _ fields: some Sequence<Field> = [], at place: Text? = nil) {
            let path = disk.taskFolder.file(of: place ?? view.place(of: plan.id))
            lines.append(PlanLine(action: action, path: path, fields: fields.sorted(), to: nil))
        }
        let isHeld = isGuarded(plan, view)
        if verb != .push {
            let writes = plan.writes.keys.filter { $0 != .path }
            switch plan.action {
            case .merge where !writes.isEmpty: line(.write, writes)
            case .layDown, .bringBack: if let place = places[plan.id] { line(.writeNew, at: place) }
            case .removeFile: line(isHeld ? .hold : .remove)
            default: break
            }
        }
        if verb != .pull, plan.sendsNow(verb) || verb == .sync && !plan.merges.isEmpty {
            let action = PlanLine.Action(sending: plan.action)
            // A merge is written first, and is an edit of this side then.
            let fields = action == .sendNew ? [] : Array(plan.sends.keys) + (verb == .sync ? plan.merges : [])
            line(isHeld ? .hold : action, fields)
        }
        if !plan.conflicts.isEmpty { line(.conflict, plan.conflicts) }
        return lines
    }
}

extension TaskPlan {
    /// The fields in which both sides' changes are brought into one.
    var merges: [Field] { fields.filter { if case .merged = $0.value { true } else { false } }.map(\.key) }
}
