import Libraries
import Model

extension FileWriter {
    public enum Recovery: Hashable, Sendable {
        /// The write did not happen; nothing of it is left.
        case notDone
        /// It happened; the old file, where it is known.
        case done(Displaced?)
        /// A person's save was displaced and is back in its place; what otask had written is in `displaced`, if it was still there.
        case putBack(displaced: Displaced?)
        /// A person's save was displaced, and the target has been edited since: it is kept in `displaced`, to be merged.
        case displacedSave(Displaced)
    }

    /// What became of a write that a run left behind, tidied up.
    /// - Parameter save: called with the bytes of a displaced save, into the history, before it is moved.
    public func recover(_ pending: PendingWrite, save: ([UInt8]) throws -> Void) throws -> Recovery {
        switch pending.kind {
        case .place: try recoverPlacing(pending)
        case .replace: try recoverReplacing(pending, save)
        case .remove: try recoverRemoval(pending, save)
        }
    }

    private func recoverPlacing(_ pending: PendingWrite) throws -> Recovery {
        guard let temporary = try find(pending.temporary) else { return .done(nil) }
        // Placed by a hard link, whose first name was not removed yet.
        let isPlaced = try find(pending.target)?.inode == temporary.inode
        try delete(pending.temporary)
        return isPlaced ? .done(nil) : .notDone
    }

    private func recoverReplacing(_ pending: PendingWrite, _ save: ([UInt8]) throws -> Void) throws -> Recovery {
        guard try find(pending.temporary) != nil else {
            return .done(try pending.expected.flatMap { try known($0, pending) })
        }
        guard let bytes = try steadyBytes(pending.temporary) else {
            throw PathProblem(.unreadable, pending.temporary, "is being written; wait until no program has it open")
        }
        let held = Digest(of: bytes)
        if held == pending.digest {
            try delete(pending.temporary)
            return .notDone
        }
        if held == pending.expected { return .done(try keep(pending.temporary, of: pending.target, digest: held)) }

        try save(bytes)
        let temporary = try spot(pending.temporary)
        let target = try spot(pending.target)
        guard try find(pending.target) != nil else {
            let isBack = try doing(pending.target) { () throws(SystemError) in
                try moveUnlessOccupied(temporary.name, in: temporary.folder, to: target.folder, target.name)
            }
            if isBack { return .putBack(displaced: nil) }
            return .displacedSave(try keep(pending.temporary, of: pending.target, digest: held))
        }
        let ours = try doing(pending.target) { () throws(SystemError) in try steadyDigest(target.folder, target.name) }
        guard ours == pending.digest else {
            return .displacedSave(try keep(pending.temporary, of: pending.target, digest: held))
        }
        try effects.check(.putBack(pending.target))
        try doing(pending.target) { () throws(SystemError) in
            try temporary.folder.exchange(temporary.name, with: target.folder, target.name)
        }
        return .putBack(displaced: try keep(pending.temporary, of: pending.target, digest: nil))
    }

    private func known(_ digest: Digest, _ pending: PendingWrite) throws -> Displaced? {
        try displaced(with: digest).map { path in
            let at = Displaced.date(ofName: path.lastComponent) ?? now()
            return Displaced(path: path, target: pending.target, digest: digest, at: at)
        }
    }

    private func recoverRemoval(_ pending: PendingWrite, _ save: ([UInt8]) throws -> Void) throws -> Recovery {
        let places = [pending.temporary, Self.beside(pending.target, pending.temporary.lastComponent)]
        guard let path = try places.first(where: { try find($0) != nil }) else { return .notDone }
        if let bytes = try steadyBytes(path), Digest(of: bytes) != pending.expected { try save(bytes) }
        switch try settle(pending, at: path) {
        case .removed(let displaced): return .done(displaced)
        case .changedMeanwhile(.some(let displaced)): return .displacedSave(displaced)
        case .changedMeanwhile(.none): return .putBack(displaced: nil)
        case .absent: return .notDone
        }
    }
}
