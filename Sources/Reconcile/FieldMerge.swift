import Model

/// What is to happen to one field. A nil value is an absent own key.
public enum FieldOutcome: Hashable, Sendable {
    /// Both sides and the base say the same.
    case same
    /// Both sides say the same, which the base doesn't know yet: nothing is sent or written.
    case agreed(JSON?)
    /// Changed here only.
    case send(JSON?)
    /// Changed on the server only.
    case write(JSON?)
    /// Changed on both sides and merged: the file takes the merge, the base the server's value, so that what remains to be
    /// sent is an ordinary change of this side.
    case merged(JSON, remote: JSON?)
    /// Changed on both sides to different values: it waits for a person.
    case conflict
}

/// The base's word on one field.
public enum BaseValue: Hashable, Sendable {
    /// The sides never agreed on it.
    case unagreed
    case agreed(JSON?)
}

extension Base? {
    func value(_ field: Field) -> BaseValue {
        guard let base = self, !base.unagreed.contains(field) else { return .unagreed }
        return .agreed(base.values[field])
    }
}

/// Decides one field from its three values (sync.md, "One field").
///
/// `path` never comes here in conflict: moved on both sides, the server's place stands.
public func mergeField(_ field: Field, base: BaseValue, local: JSON?, remote: JSON?) -> FieldOutcome {
    if local == remote { return base == .agreed(local) ? .same : .agreed(local) }
    if field == .path {
        // A task that no device has placed yet, or that can't lie where it is placed, takes its place from the first that
        // found one: from then on a new title moves nothing.
        if !(remote?.text.map(Names.isSafe) ?? false) { return .send(local) }
        if base == .unagreed { return .write(remote) }
    }
    guard case .agreed(let base) = base else { return .conflict }
    if local == base { return .write(remote) }
    if remote == base { return .send(local) }
    // Both sides changed, to different values.
    switch field {
    case .path: return .write(remote)
    case .notes:
        guard let base = base?.text, let local = local?.text, let remote = remote?.text,
            let merged = ValueMerge.notes(base: base, local: local, remote: remote)
        else { return .conflict }
        return outcome(of: .string(merged), local: .string(local), remote: .string(remote))
    case .property:
        // A key that both sides added has an empty list as its base.
        guard let base = base == nil ? [] : base?.array, let localList = local?.array, let remoteList = remote?.array,
            let merged = ValueMerge.list(base: base, local: localList, remote: remoteList)
        else { return .conflict }
        return outcome(of: .array(merged), local: local, remote: remote)
    case .title, .done: return .conflict
    }
}

private func outcome(of merged: JSON, local: JSON?, remote: JSON?) -> FieldOutcome {
    if merged == remote { return .write(remote) }
    // The file holds the server's change already, as after a run that was stopped between file and journal.
    if merged == local { return .send(local) }
    return .merged(merged, remote: remote)
}
