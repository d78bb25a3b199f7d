import Model

extension History.Operation {
    /// The files as they were found when the history began, or began anew.
    public var isBeginning: Bool { parent == nil && entry.kind == .found }
}

extension History {
    /// Operations that a person did here and that aren't undone, the newest first: what a run brought by itself isn't
    /// among them, nor is an undo.
    public func undoable() throws -> [Operation] {
        try operationsWithState().filter { state in
            let operation = state.operation
            return !state.isUndone && operation.entry.undoes == nil && !operation.entry.background
                || operation.isBeginning
        }.map(\.operation)
    }

    /// Undos that aren't undone themselves, the newest first.
    public func redoable() throws -> [Operation] {
        let all = try operationsWithState()
        let undos = Set(all.filter { $0.operation.entry.undoes != nil }.map(\.operation.revision))
        return all.filter { state in
            guard let undone = state.operation.entry.undoes else { return false }
            // What took back an undo is a redo.
            return !state.isUndone && !undos.contains(undone)
        }.map(\.operation)
    }

    /// All operations, the newest first, with whether a later undo of theirs stands.
    private func operationsWithState() throws -> [(operation: Operation, isUndone: Bool)] {
        var undone: Set<Revision> = []
        var all: [(Operation, Bool)] = []
        try forEachOperation { operation in
            let isUndone = undone.contains(operation.revision)
            if let target = operation.entry.undoes, !isUndone { undone.insert(target) }
            all.append((operation, isUndone))
            return true
        }
        return all
    }
}
