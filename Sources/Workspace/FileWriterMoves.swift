import Libraries
import Model

public enum MoveResult: Hashable, Sendable {
    case moved(FileStamp)
    /// Something else is at the new path; the file is where it was.
    case occupied
    /// The file is at none of its paths.
    case missing
    case problem(PathProblem)
}

extension FileWriter {
    /// The record of a move, for the journal, before `move`; nil where there is no file.
    public func planMove(from: Text, to: Text) throws -> Move? {
        guard let status = try find(from) else { return nil }
        if status.kind != .file { throw PathProblem.ofKind(status.kind, from)! }
        return Move(
            from: from, to: to, temporary: from.parent.appending(temporaryName()), inode: status.inode,
            birth: status.birth)
    }

    /// Carries out moves, through temporary names where they form swaps or only change case. Call it again with the
    /// same records after a crash: it finishes what is left. One result a move, in their order.
    /// - Parameter foldedKey: see `NameRules`.
    public func move(_ moves: [Move], foldedKey: (Text) -> Text) throws -> [MoveResult] {
        var results = [MoveResult?](repeating: nil, count: moves.count)
        var left: [Int] = []
        var taken: Set<Int> = []
        var current = moves
        for index in moves.indices {
            do {
                switch try locate(moves[index]) {
                case .at(let path):
                    if try find(moves[index].to) != nil { taken.insert(index) }
                    current[index].from = path
                    left.append(index)
                case .arrived(let stamp): results[index] = .moved(stamp)
                case .missing: results[index] = .missing
                }
            } catch let problem as PathProblem {
                results[index] = .problem(problem)
            }
        }
        for index in blocked(left, taken, current, foldedKey) { results[index] = .occupied }
        left.removeAll { results[$0] != nil }

        for step in MovePlan.order(left.map { current[$0] }, foldedKey: foldedKey) where results[left[step.move]] == nil
        {
            let index = left[step.move]
            do {
                let isMoved = try rename(step.from, to: step.to)
                if !isMoved { results[index] = .occupied }
                if isMoved, step.to == moves[index].to {
                    results[index] = try find(step.to).map { .moved($0.stamp) } ?? .missing
                }
            } catch let problem as PathProblem {
                results[index] = .problem(problem)
            }
        }
        for index in moves.indices { try returnHome(moves[index], results[index]) }
        return results.map { $0! }
    }

    private enum Location {
        case at(Text)
        case arrived(FileStamp)
        case missing
    }

    /// Where the file of a move is by now.
    private func locate(_ move: Move) throws -> Location {
        func file(_ path: Text) throws -> FileStatus? {
            guard let status = try find(path), status.kind == .file, status.inode == move.inode,
                status.birth == move.birth
            else { return nil }
            return status
        }
        for path in [move.temporary, move.from] {
            guard let status = try file(path) else { continue }
            // With one name only, both paths being this file means that the file system takes them for one (case).
            guard status.linkCount > 1, let arrived = try file(move.to) else { return .at(path) }
            // Moved by a hard link, whose first name was not removed yet.
            try delete(path)
            return .arrived(arrived.stamp)
        }
        return try file(move.to).map { .arrived($0.stamp) } ?? .missing
    }

    /// The moves whose target is taken by a file that isn't about to leave it. Leaving one out may block others.
    private func blocked(
        _ moves: [Int], _ taken: Set<Int>, _ current: [Move], _ foldedKey: (Text) -> Text
    ) -> Set<Int> {
        var left = Set(moves)
        while true {
            let leaving = Set(left.map { foldedKey(current[$0].from) })
            let blocked = left.filter { taken.contains($0) && !leaving.contains(foldedKey(current[$0].to)) }
            if blocked.isEmpty { return Set(moves).subtracting(left) }
            left.subtract(blocked)
        }
    }

    /// A file that could not get from its temporary name to its new one goes back to the old one, if that is free.
    private func returnHome(_ move: Move, _ result: MoveResult?) throws {
        switch result {
        case .occupied, .problem: _ = try finish(move, atFirstFreeOf: [move.from])
        default: break
        }
    }

    /// Brings a file that is stuck at its temporary name to the first of `paths` that takes it; nil where none does, or where the
    /// file isn't at that name.
    public func finish(_ move: Move, atFirstFreeOf paths: [Text]) throws -> (path: Text, stamp: FileStamp)? {
        for path in paths {
            do {
                guard let status = try find(move.temporary) else { return nil }
                if try rename(move.temporary, to: path) { return (path, try find(path)?.stamp ?? status.stamp) }
            } catch is PathProblem {
                continue
            }
        }
        return nil
    }

    /// Where the file of a move is by now: at its new path, at its temporary name (halfway), or at neither.
    public enum Progress: Hashable, Sendable { case arrived, halfway, neither }

    /// Only looks.
    public func progress(of move: Move) -> Progress {
        func isAt(_ path: Text) -> Bool {
            guard let status = try? find(path) else { return false }
            return status.kind == .file && status.inode == move.inode && status.birth == move.birth
        }
        if isAt(move.temporary) { return .halfway }
        return isAt(move.to) && !isAt(move.from) ? .arrived : .neither
    }

    /// False where something is at the new path.
    private func rename(_ from: Text, to: Text) throws -> Bool {
        try makeFolders(to.parent)
        let (old, new) = (try spot(from), try spot(to))
        try effects.check(.move(from: from, to: to))
        return try doing(to) { () throws(SystemError) in
            try moveUnlessOccupied(old.name, in: old.folder, to: new.folder, new.name)
        }
    }

    /// What is at `path`; nil where nothing is, or a folder above it is missing.
    func find(_ path: Text) throws -> FileStatus? {
        let parent: OpenFolder
        do throws(SystemError) { parent = try root.folder(at: path.parent.string) } catch {
            if error.isMissing { return nil }
            throw PathProblem.writing(path, error)
        }
        return try doing(path) { () throws(SystemError) in try parent.status(FileName(path.lastComponent.string)) }
    }
}
