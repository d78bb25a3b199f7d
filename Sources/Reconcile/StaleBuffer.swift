import Model

/// What a save takes back of the last pull (files.md, "Stale buffers"). Pure.
public enum StaleBuffer {
    /// The text with what the last pull had written put back, if `saved` undoes all of that; nil where it doesn't. What else
    /// was edited in it stays.
    /// - Parameters:
    ///   - before: the text before the last write by a pull.
    ///   - after: the text after it.
    public static func restoring(_ saved: FieldValues, before: FieldValues, after: FieldValues) -> FieldValues? {
        let pulled = Set(before.keys).union(after.keys).filter { $0 != .path && before[$0] != after[$0] }
        guard !pulled.isEmpty else { return nil }
        var restored = saved
        for field in pulled {
            if saved[field] == before[field] {
                restored[field] = after[field]
                continue
            }
            guard field == .notes, let before = before[field]?.text, let after = after[field]?.text,
                let saved = saved[field]?.text,
                ValueMerge.notes(base: after, local: saved, remote: before) == saved,
                let notes = ValueMerge.notes(base: before, local: saved, remote: after)
            else { return nil }
            restored[field] = .string(notes)
        }
        return restored
    }
}
