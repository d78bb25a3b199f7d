import Model

/// The rules for tasks that the journal knows.
extension Matcher {
    /// An id reserved for a new file stays with that file, by path, then by inode, and beats an id line in it: the server
    /// may have the task already.
    mutating func keepReservedIDs() {
        for task in tasks where task.base == nil && task.place != nil {
            if let own = ownFile(of: task), isFree(own), !isAnotherMovedOver(own, task) {
                give(own, to: task)
            } else if let moved = filesWithInode(of: task).first(where: { ownerAt[files[$0].place] == nil }) {
                give(moved, to: task)
            }
        }
    }

    /// Whether the file at a reserved place is, by its inode and its id, another task that was moved there since.
    private func isAnotherMovedOver(_ file: Int, _ task: KnownTask) -> Bool {
        guard let id = id(in: file), id != task.id, let other = input.known[id] else { return false }
        return hasInode(of: other, file) && !hasInode(of: task, file)
    }

    private func filesWithInode(of task: KnownTask) -> [Int] {
        guard let identity = task.identity else { return [] }
        return (filesByIdentity[identity] ?? []).filter(isFree)
    }

    /// Known id, same path: that task. A clean file is what it was.
    mutating func matchIDsAtTheirPath() {
        for task in tasks where isOpen(task.id) {
            guard let own = ownFile(of: task), isFree(own), ownerAt[files[own].place] == task.id else { continue }
            if files[own].reading == .clean || id(in: own) == task.id { give(own, to: task) }
        }
    }

    /// Known id, and its own path doesn't bear it: renamed, unless something may still be the task at its own path.
    mutating func matchIDsElsewhere() {
        var undecided: [(place: Text, files: [Int])] = []
        for task in tasks where isOpen(task.id) {
            let bearers = (filesByID[task.id] ?? []).filter(isFree)
            guard let best = bearers.min(by: { rank($0, task) < rank($1, task) }) else { continue }
            guard let place = task.place, !hasInode(of: task, best) else {
                give(best, to: task)
                continue
            }
            if let own = fileAt[place] {
                // Without an id the old path keeps the task; the others are copies. Else it holds another's id.
                give(isFree(own) && id(in: own) == nil ? own : best, to: task)
            } else if isUnknown(place) || input.notFollowed(place) != nil && task.identity == nil {
                undecided.append((place, bearers))
            } else if input.notFollowed(place) == nil || hiddenPath(of: task) == nil {
                give(best, to: task)
            }
        }
        for (place, bearers) in undecided {
            for file in bearers {
                wait(file, "its id is that of \(place).md, which can't be looked at now: it waits until that can")
            }
        }
    }

    /// Which of several files with its id is the task, if none is at its path: the one with its inode, else the first by
    /// name; rather not one at an old name of its own or in another task's place.
    private func rank(_ file: Int, _ task: KnownTask) -> (Int, Int, Int, Int) {
        (
            hasInode(of: task, file) ? 0 : 1, formerPlace(file, of: task.id) == nil ? 0 : 1,
            ownerAt[files[file].place] == nil ? 0 : 1, file
        )
    }

    /// No id, and the inode of a task whose path is gone: renamed.
    mutating func pairByInode() {
        let displaced = displacedTasks()
        let lost = tasks.filter { isLost($0) || displaced.contains($0.id) }
        for task in lost where isOpen(task.id) {
            let moved = filesWithInode(of: task).first { file in
                guard id(in: file) == nil else { return false }
                guard let owner = ownerAt[files[file].place] else { return true }
                // A path whose own task may still be there stays with that task.
                return !isOpen(owner) || displaced.contains(owner)
            }
            if let moved { give(moved, to: task) }
        }
    }

    /// Whether the task has no file yet and its path holds none that could be it: nothing, or a file with another id.
    private func isLost(_ task: KnownTask) -> Bool {
        guard isOpen(task.id), task.place != nil || task.frozen != nil else { return false }
        guard let own = ownFile(of: task) else { return true }
        return !isFree(own) || id(in: own) != nil
    }

    /// Tasks that were moved while another known task was moved to their path: swaps and chains of files without an id. Where
    /// only one of the two is shown by inodes, the path decides, since a program that writes a new file and moves it over
    /// the old one makes an edit.
    private func displacedTasks() -> Set<ItemID> {
        let open = tasks.filter { isOpen($0.id) }
        let byIdentity = Dictionary(
            open.compactMap { task in task.identity.map { ($0, task.id) } }, uniquingKeysWith: { first, _ in first })
        var displaced: Set<ItemID> = []
        for task in open {
            guard let own = ownFile(of: task), isFree(own), id(in: own) == nil, !hasInode(of: task, own),
                let identity = files[own].stamp.identity, byIdentity[identity] != nil,
                filesWithInode(of: task).contains(where: { id(in: $0) == nil })
            else { continue }
            displaced.insert(task.id)
        }
        return displaced
    }

    /// No id, path known: that task.
    mutating func matchPathsWithoutID() {
        for task in tasks where isOpen(task.id) {
            guard let own = ownFile(of: task), isFree(own), id(in: own) == nil else { continue }
            give(own, to: task)
        }
    }

    /// The id of a task that has its own file (or one that isn't followed): an editor with an old name, a text copied over
    /// another task, or a copy.
    mutating func matchForeignIDs() {
        for file in files.indices where isFree(file) {
            guard let id = id(in: file), input.known[id] != nil else { continue }
            let owner = ownerAt[files[file].place].flatMap { input.known[$0] }
            if let own = fileOf[id], let former = formerPlace(file, of: id) {
                match(file, id, .formerPlace, .former(former))
                note(file, "an editor that had the old name saved it: merged into \(files[own].place).md")
                if let owner, isOpen(owner.id) { overwritten.insert(owner.id) }
            } else if let owner, isOpen(owner.id) {
                match(file, owner.id, .copiedOver(with: id), ground(of: owner, file))
                note(file, "the text of another task was copied over it: its own id is put back")
            } else {
                takeAsNew(file, .copy(of: id))
                let original = fileOf[id].map { files[$0].place } ?? input.known[id]?.place
                if let original, matches[file] != nil { note(file, "copied from \(original).md") }
            }
        }
    }

    func formerPlace(_ file: Int, of id: ItemID) -> FormerPlace? {
        formers[files[file].place]?.filter { $0.id == id }.max { $0.since < $1.since }
    }

    /// No id, unknown path, and the content of a task whose path is gone: renamed. Not where several had that content.
    mutating func pairByContent() {
        var byDigest: [Digest: [KnownTask]] = [:]
        for task in tasks where isLost(task) {
            guard let digest = task.cleanDigest else { continue }
            byDigest[digest, default: []].append(task)
        }
        if byDigest.isEmpty { return }
        for file in files.indices where isFree(file) && id(in: file) == nil {
            guard let same = byDigest[files[file].digest], same.count == 1, isOpen(same[0].id), isGone(same[0])
            else { continue }
            give(file, to: same[0])
        }
    }

    /// Whether the task's file is known to be gone. At this point its inode is at no place of a task.
    private mutating func isGone(_ task: KnownTask) -> Bool {
        guard let place = task.place else { return false }
        return !isUnknown(place) && input.notFollowed(place) == nil && hiddenPath(of: task) == nil
    }

    /// What it means that a known task has no file: a deletion only where nothing else can be.
    mutating func concludeMissing() {
        for task in tasks where isOpen(task.id) {
            guard let place = task.place else {
                if let reason = task.frozen { result.frozen.append(Frozen(id: task.id, reason: reason, place: nil)) }
                continue
            }
            if overwritten.contains(task.id) {
                result.laidDownAgain.append(task.id)
            } else if isUnknown(place) {
                result.unknown.append(task.id)
            } else if let reason = input.notFollowed(place) {
                result.frozen.append(Frozen(id: task.id, reason: reason, place: place))
            } else if let path = hiddenPath(of: task) {
                let reason: Text = "its file is now \(path), which is no task"
                result.frozen.append(Frozen(id: task.id, reason: reason, place: nil))
            } else if input.homeChanged {
                result.laidDownAgain.append(task.id)
            } else {
                result.gone.append(task.id)
            }
        }
    }
}
