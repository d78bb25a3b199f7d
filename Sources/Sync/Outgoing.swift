import Model
import Reconcile

/// A change that is ready to leave, with what it was planned from.
struct Outgoing: Sendable {
    var change: Change
    /// The file it came from; nil for a deletion.
    var local: LocalTask?
    /// Where that file is, or was.
    var place: Text
    /// As the plan's line names it.
    var action: PlanLine.Action

    var isNew: Bool { action == .sendNew }

    /// What is told of it once it was applied.
    func line(in folder: TaskFolder) -> PlanLine {
        let isEdit = action == .send || action == .revive
        let fields = isEdit ? Array(change.fields.keys) + change.removed.map { .property($0) } : []
        return PlanLine(action: action, path: folder.file(of: place), fields: fields.sorted(), to: nil)
    }
}

extension PlanLine.Action {
    /// What sending a plan is called.
    init(sending action: TaskPlan.Action) {
        switch action {
        case .insert: self = .sendNew
        case .sendDeletion: self = .sendDeletion
        case .revive: self = .revive
        default: self = .send
        }
    }
}

/// Turns plans into changes: what goes out, in which words. Pure.
enum Outbox {
    /// The change of a plan, or nil where it sends nothing. Fields in `withheld` stay behind.
    static func change(
        for plan: TaskPlan, local: LocalTask?, remote: TaskRow?, withheld: Set<Field>, allowed: Bool, cursor: Int64,
        device: Text, changeID: ItemID
    ) -> Change? {
        var change = Change(
            changeID: changeID, device: device, table: "tasks", operation: .upsert, id: plan.id,
            baseVersion: remote?.version)
        switch plan.action {
        case .insert:
            guard let local else { return nil }
            change.baseVersion = nil
            change.fields = local.content.fields
            change.fields[.path] = .string(local.place)
        case .merge, .revive:
            let sends = plan.sends.filter { !withheld.contains($0.key) }
            if sends.isEmpty, plan.action == .merge { return nil }
            for (field, value) in sends {
                if case .property(let key) = field, value == nil { change.removed.append(key) }
                change.fields[field] = value
            }
            change.removed.sort()
        case .sendDeletion:
            change.operation = .delete
            change.allowed = allowed
            change.seen = cursor
        default: return nil
        }
        return change
    }

    /// A change that was refused with several fields, once more field by field, so that only the refused one stays.
    static func fieldByField(_ change: Change, newID: () -> ItemID) -> [Change] {
        let removed = change.removed.map { Field.property($0) }
        return (change.fields.keys + removed).sorted().map { field in
            var single = change
            single.changeID = newID()
            single.fields = [:]
            single.removed = []
            if let value = change.fields[field] { single.fields[field] = value }
            if case .property(let key) = field, change.fields[field] == nil { single.removed = [key] }
            return single
        }
    }

    /// What a refusal is remembered by: the task as it stands here, and the version of the row it was refused on.
    static func fingerprint(_ local: LocalTask?, remote: TaskRow?) -> Digest {
        var values = local?.content.fields ?? [:]
        values[.path] = local?.path
        let version = remote.map { JSON.integer($0.version) } ?? .null
        return Digest(of: JSON.array([values.json, version]).serialized)
    }

    /// The same change said before, so that its id is used again: a change id belongs to one set of values.
    static func sameWords(_ a: Change, _ b: JSON) -> Bool {
        guard var other = try? Change(json: b) else { return false }
        other.changeID = a.changeID
        // The cursor is not what is said, only from where.
        other.seen = a.seen
        return other == a
    }
}

extension Base? {
    /// The base after this change was applied: the values that were sent, and nothing else of the answered row.
    func applying(_ change: Change) -> Base {
        var base = self ?? Base(values: [:])
        for (field, value) in change.fields { base.agree(field, value) }
        for key in change.removed { base.agree(.property(key), nil) }
        return base
    }
}
