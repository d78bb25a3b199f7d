import Libraries
import Model

extension FileWriter {
    public enum ExchangeResult: Hashable, Sendable {
        /// `partedHardLinks`: the old file had other names, which keep the old content.
        case written(FileStamp, displaced: Displaced, partedHardLinks: Bool)
        /// The target isn't what was expected: it holds the person's file, and nothing of ours is left. What a person's program
        /// wrote besides, in the same moment, is in `displaced`.
        case changedMeanwhile(displaced: Displaced?)
    }

    /// Puts the staged file in the place of its target.
    public func exchange(_ staged: Staged, expecting expected: Digest) throws -> ExchangeResult {
        let spot = try spot(staged.target)
        let old = try doing(spot.path) { () throws(SystemError) in try spot.folder.status(spot.name) }
        guard let old, old.kind == .file else { return try giveUp(staged) }
        do { try checkWritable(old, spot) } catch {
            try discard(staged)
            throw error
        }
        try effects.check(.exchange(staged.target))
        if support != .full { return try replace(staged, at: spot, expecting: expected) }
        do throws(SystemError) {
            try spot.folder.exchange(staged.temporaryName, with: spot.folder, spot.name)
        } catch {
            if error.isUnsupported { return try replace(staged, at: spot, expecting: expected) }
            if error.isMissing { return try giveUp(staged) }
            throw PathProblem.writing(spot.path, error)
        }
        let (held, status) = try doing(spot.path) { () throws(SystemError) in
            (try steadyDigest(spot.folder, staged.temporaryName), try spot.folder.status(staged.temporaryName))
        }
        guard held == expected else { return .changedMeanwhile(displaced: try putBack(staged, at: spot)) }
        let displaced = try keep(staged.temporary, of: staged.target, digest: expected)
        return .written(
            try stamp(of: staged, at: spot), displaced: displaced, partedHardLinks: (status?.linkCount ?? 1) > 1)
    }

    private func giveUp(_ staged: Staged) throws -> ExchangeResult {
        try discard(staged)
        return .changedMeanwhile(displaced: nil)
    }

    /// Where the file system has no exchange: compare, then rename. The old file stays under a second name, or as a copy.
    private func replace(_ staged: Staged, at spot: Spot, expecting expected: Digest) throws -> ExchangeResult {
        let (held, status) = try doing(spot.path) { () throws(SystemError) in
            (try steadyDigest(spot.folder, spot.name), try spot.folder.status(spot.name))
        }
        guard held == expected, let status else { return try giveUp(staged) }
        let displaced = try keepCopy(of: spot, digest: expected)
        try doing(spot.path) { () throws(SystemError) in
            try spot.folder.rename(staged.temporaryName, to: spot.folder, spot.name)
        }
        return .written(try stamp(of: staged, at: spot), displaced: displaced, partedHardLinks: status.linkCount > 1)
    }

    /// Puts what the exchange displaced back into its place. The newest of the person's saves stands there in the end.
    func putBack(_ staged: Staged, at spot: Spot) throws -> Displaced? {
        let temporary = staged.temporaryName
        try effects.check(.putBack(staged.target))
        do throws(SystemError) {
            try spot.folder.exchange(temporary, with: spot.folder, spot.name)
        } catch {
            guard error.isMissing else { throw PathProblem.writing(spot.path, error) }
            // Our file is gone from there again: the place is free.
            _ = try doing(spot.path) { () throws(SystemError) in
                try moveUnlessOccupied(temporary, in: spot.folder, to: spot.folder, spot.name)
            }
            return nil
        }
        let (digest, status) = try doing(spot.path) { () throws(SystemError) in
            (try steadyDigest(spot.folder, temporary), try spot.folder.status(temporary))
        }
        if status?.inode == staged.stamp.inode {
            if digest == staged.digest {
                try discard(staged)
                return nil
            }
        } else {
            // Saved by rename once more, between the two exchanges: that save is the newest.
            try doing(spot.path) { () throws(SystemError) in
                try spot.folder.exchange(temporary, with: spot.folder, spot.name)
            }
        }
        return try keep(staged.temporary, of: staged.target, digest: nil)
    }

    // MARK: Removing

    /// The record of a removal, for the journal, before `remove`.
    public func removal(of path: Text, expecting expected: Digest, item: ItemID?) -> PendingWrite {
        let name = Displaced.name(expected, at: now(), random: random())
        return PendingWrite(
            kind: .remove, temporary: Self.displacedFolder.appending(name), target: path, digest: nil,
            expected: expected, item: item)
    }

    public enum RemoveResult: Hashable, Sendable {
        case removed(Displaced)
        /// The file isn't what was expected and is where it was; `displaced`: a newer one came there in the same moment, so
        /// it is kept.
        case changedMeanwhile(displaced: Displaced?)
        case absent
    }

    /// Moves the file to `.otask/displaced/`, with the name in the record.
    public func remove(_ removal: PendingWrite) throws -> RemoveResult {
        let spot = try spot(removal.target)
        let status = try doing(spot.path) { () throws(SystemError) in try spot.folder.status(spot.name) }
        guard let status else { return .absent }
        try checkWritable(status, spot)
        try effects.check(.remove(removal.target))
        guard let path = try moveAside(spot, to: removal.temporary.lastComponent) else { return .absent }
        return try settle(removal, at: path)
    }

    /// Compares what a removal took away, and puts it back where it isn't what was expected.
    func settle(_ removal: PendingWrite, at path: Text) throws -> RemoveResult {
        let kept = try self.spot(path)
        let held = try doing(removal.target) { () throws(SystemError) in try steadyDigest(kept.folder, kept.name) }
        if let held, held == removal.expected {
            return .removed(Displaced(path: path, target: removal.target, digest: held, at: now()))
        }
        let spot = try spot(removal.target)
        try effects.check(.putBack(removal.target))
        let isBack = try doing(spot.path) { () throws(SystemError) in
            try moveUnlessOccupied(kept.name, in: kept.folder, to: spot.folder, spot.name)
        }
        if isBack { return .changedMeanwhile(displaced: nil) }
        return .changedMeanwhile(
            displaced: Displaced(path: path, target: removal.target, digest: held ?? Digest(bytes: []), at: now()))
    }
}
