import Model

/// How the base moves (sync.md, "Bookkeeping"): never to more than what is known to be the same on both sides.
extension Base {
    /// Both sides now say `value` in this field; nil: neither has it.
    public mutating func agree(_ field: Field, _ value: JSON?) {
        values[field] = value
        unagreed.remove(field)
    }

    /// The base of a task that has none, once both sides are known: nothing agreed on.
    public static func none(over fields: some Sequence<Field>) -> Base {
        Base(values: [:], unagreed: Set(fields))
    }

    /// The values of title, notes, done and the own keys.
    public var contentValues: FieldValues { values.filter { $0.key != .path } }

    /// Whether a file with this content says what the base says.
    public func says(_ content: TaskContent) -> Bool {
        unagreed.subtracting([.path]).isEmpty && contentValues == content.fields
    }
}

extension TaskPlan {
    /// The base with the fields that both sides were found to agree on.
    public func baseWithAgreed(_ base: Base?) -> Base? {
        guard action == .merge else { return base }
        var base = base ?? .none(over: fields.keys)
        for case (let field, .agreed(let value)) in fields { base.agree(field, value) }
        return base
    }

    /// The base once the file has taken what the plan writes: the server's values, also where the file holds a merge, so
    /// that what remains is an ordinary change of this side.
    public func baseWithWritten(_ base: Base?) -> Base? {
        guard var base = baseWithAgreed(base) else { return nil }
        for (field, outcome) in fields {
            switch outcome {
            case .write(let remote), .merged(_, let remote): base.agree(field, remote)
            default: break
            }
        }
        return base
    }
}
