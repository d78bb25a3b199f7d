import Model

/// One task as the three trees have it.
public struct TaskState: Sendable {
    /// What is on this disk.
    public enum Local: Sendable, Hashable {
        /// Its file says this. `path` is the base's path while the file is at its place, the file's own once a person moved it.
        case present(TaskContent, path: JSON)
        /// A person removed its file.
        case deleted
        /// It never had a file here, or has none through no doing of a person.
        case none
        /// Nothing may be concluded: the file can't be read, is busy, isn't followed.
        case unknown
    }

    public enum Remote: Sendable, Hashable {
        case none
        case live(TaskRow)
        case tombstone(TaskRow)

        public init(_ row: TaskRow?) {
            guard let row else {
                self = .none
                return
            }
            self = row.deletedAt == nil ? .live(row) : .tombstone(row)
        }
    }

    public var id: ItemID
    public var base: Base?
    public var local: Local
    public var remote: Remote
    /// A person wants this id back: its file was here and gone, and has come again.
    public var wantedBack: Bool

    public init(id: ItemID, base: Base?, local: Local, remote: Remote, wantedBack: Bool = false) {
        self.id = id
        self.base = base
        self.local = local
        self.remote = remote
        self.wantedBack = wantedBack
    }
}

/// What is to happen to one task.
public struct TaskPlan: Sendable, Hashable {
    public enum Action: Sendable, Hashable {
        /// Both sides have it: field by field.
        case merge
        /// New here.
        case insert
        /// New on the server, or without a file here.
        case layDown
        /// Deleted here, unchanged there.
        case sendDeletion
        /// Deleted there, unchanged here. `allowed`: whoever deleted it was asked already.
        case removeFile(allowed: Bool)
        /// Deleted here, edited there: the edit wins, the file comes back.
        case bringBack
        /// Edited here, deleted there: the edit wins, the task is revived with its id.
        case revive
        /// Gone on both sides.
        case forget
        /// A tombstone without a base here, whose text is another: a person decides.
        case deletedElsewhere(on: Text)
        case nothing
    }

    public var id: ItemID
    public var action: Action
    /// For `merge` and `revive`; `.same` is left out.
    public var fields: [Field: FieldOutcome]

    public init(id: ItemID, action: Action, fields: [Field: FieldOutcome] = [:]) {
        self.id = id
        self.action = action
        self.fields = fields
    }

    public var conflicts: Set<Field> { Set(fields.filter { $0.value == .conflict }.keys) }

    /// The fields that changed here only, with the values to send.
    public var sends: [Field: JSON?] {
        fields.compactMapValues { if case .send(let value) = $0 { value } else { nil } }
    }

    /// The fields that the file is to take, with the values to write.
    public var writes: [Field: JSON?] {
        fields.compactMapValues {
            switch $0 {
            case .write(let value): .some(value)
            case .merged(let value, _): .some(value)
            default: nil
            }
        }
    }
}

/// Decides one task from base, local and remote (sync.md, "Whole items"). Pure.
public func reconcile(_ state: TaskState) -> TaskPlan {
    switch (state.local, state.remote) {
    case (.unknown, _), (.none, .none):
        return TaskPlan(id: state.id, action: .nothing)

    case (.deleted, .none), (.deleted, .tombstone), (.none, .tombstone):
        return TaskPlan(id: state.id, action: .forget)

    case (.none, .live):
        return TaskPlan(id: state.id, action: .layDown)

    case (.deleted, .live(let row)):
        // Without a base nobody knows what the person had seen of it: what is on the server counts as edited.
        return TaskPlan(id: state.id, action: isEdited(row.fields, from: state.base) ? .bringBack : .sendDeletion)

    case (.present, .none):
        return TaskPlan(id: state.id, action: .insert)

    case (.present(let content, let path), .live(let row)):
        return TaskPlan(id: state.id, action: .merge, fields: merge(content, path: path, with: row, base: state.base))

    case (.present(let content, let path), .tombstone(let row)):
        return reconcile(content, path: path, withTombstone: row, state)
    }
}

private func reconcile(
    _ content: TaskContent, path: JSON, withTombstone row: TaskRow, _ state: TaskState
) -> TaskPlan {
    let edited = state.base.map { isEdited(content.fields, from: $0) } ?? false
    if state.wantedBack || edited {
        // A tombstone that was purged has nothing left to merge with.
        let purged = row.content == TaskContent(title: "")
        var fields = purged ? [:] : merge(content, path: path, with: row, base: state.base)
        // One side deleted it, so the edit wins: a field that both had changed is no conflict.
        for field in fields.keys where fields[field] == .conflict { fields[field] = .send(content.fields[field]) }
        if purged || state.base == nil {
            fields = content.fields.mapValues { .send($0) }
            for key in row.content.properties.keys where content.properties[key] == nil {
                fields[.property(key)] = .send(nil)
            }
            fields[.path] = .send(path)
        }
        return TaskPlan(id: state.id, action: .revive, fields: fields)
    }
    if state.base == nil, content != row.content {
        return TaskPlan(id: state.id, action: .deletedElsewhere(on: row.deletedAt ?? row.updatedAt))
    }
    // At this point the file says what the base says, or what the tombstone says.
    return TaskPlan(id: state.id, action: .removeFile(allowed: row.allowed))
}

private func merge(_ content: TaskContent, path: JSON, with row: TaskRow, base: Base?) -> [Field: FieldOutcome] {
    var local = content.fields
    local[.path] = path
    let remote = row.fields
    var fields = Set(local.keys).union(remote.keys)
    if let base { fields.formUnion(base.values.keys) }
    if let base { fields.formUnion(base.unagreed) }
    var outcomes: [Field: FieldOutcome] = [:]
    for field in fields {
        let outcome = mergeField(field, base: base.value(field), local: local[field], remote: remote[field])
        if outcome != .same { outcomes[field] = outcome }
    }
    return outcomes
}

/// Title, notes, done or an own key differs from the base: a path alone is no edit.
private func isEdited(_ fields: FieldValues, from base: Base?) -> Bool {
    guard let base else { return true }
    return Set(fields.keys).union(base.values.keys).union(base.unagreed).contains { field in
        field != .path && base.agreed(field) != .agreed(fields[field])
    }
}

extension Base {
    fileprivate func agreed(_ field: Field) -> BaseValue { Optional(self).value(field) }
}
