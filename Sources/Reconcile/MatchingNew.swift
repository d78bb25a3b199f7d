import Model

/// The rules for files that are no known task.
extension Matcher {
    /// An id that the journal doesn't know.
    mutating func matchUnknownIDs() {
        for file in files.indices where isFree(file) {
            if let id = id(in: file) { refuseChangedID(file, id) }
        }
        for id in filesByID.keys.filter({ input.known[$0] == nil }).sorted() {
            let bearers = (filesByID[id] ?? []).filter(isFree)
            if bearers.isEmpty { continue }
            if input.takenElsewhere.contains(id) {
                for file in bearers { takeFromElsewhere(file) }
                continue
            }
            // One of several: the file at the server's place for it, else the first by name; the others are copies.
            let wanted = input.wanted[id] ?? input.remote(id)?.path
            let first = bearers.first { files[$0].place == wanted } ?? bearers[0]
            matchUnknownID(first, id)
            for file in bearers where file != first {
                takeAsNew(file, .copy(of: id))
                if matches[file] != nil { note(file, "copied from \(files[first].place).md") }
            }
        }
    }

    /// Known path, and an id that neither the journal nor the server knows, or only as deleted: it waits, and so does the
    /// path's task, which no other file was found to be.
    private mutating func refuseChangedID(_ file: Int, _ id: ItemID) {
        guard let owner = ownerAt[files[file].place], isOpen(owner) else { return }
        let isKnown = input.gone.contains(id) || input.remote(id).map { $0.deletedAt == nil } ?? false
        if isKnown { return }
        wait(
            file,
            "the id was changed: it waits. Put back \u{201C}id: \(owner)\u{201D}; if it is another task, give it another name"
        )
    }

    private mutating func takeFromElsewhere(_ file: Int) {
        takeAsNew(file, .fromElsewhere)
        if matches[file] != nil { note(file, "a copy from another account: it is a new task here, with a new id") }
    }

    private mutating func matchUnknownID(_ file: Int, _ id: ItemID) {
        guard let row = input.remote(id) else {
            if input.gone.contains(id) { wantBack(file, id) } else { takeAsNew(file, id: id, .new) }
            return
        }
        if row.deletedAt == nil {
            match(file, id, .adopted, .none)
        } else if input.gone.contains(id) {
            wantBack(file, id)
        } else if case .task = files[file].reading {
            match(file, id, .deleted, .none)
        } else {
            takeAsNew(file, .new)
        }
    }

    private mutating func wantBack(_ file: Int, _ id: ItemID) {
        match(file, id, .wantedBack, .none)
        note(file, "its task was deleted: it comes back with its id")
    }

    /// No id, unknown path, and a task on the server without a file here wants that place: that task, where title and
    /// notes are equal or this is the first sync. A place of the same bytes goes before one that differs by case or form.
    mutating func adoptByPlace() {
        let open = files.indices.filter { isFree($0) && id(in: $0) == nil && isTask($0) }
        if open.isEmpty { return }
        let waiting = input.wanted.filter { id, _ in
            let known = input.known[id]
            return fileOf[id] == nil && known?.place == nil && known?.frozen == nil
        }
        let byPlace = Dictionary(waiting.map { ($1, $0) }, uniquingKeysWith: min)
        for file in open { adopt(file, byPlace[files[file].place]) }
        let byKey = Dictionary(waiting.map { (Names.foldedKey($1), $0) }, uniquingKeysWith: min)
        for file in open where isFree(file) { adopt(file, byKey[Names.foldedKey(files[file].place)]) }
    }

    private func isTask(_ file: Int) -> Bool { if case .task = files[file].reading { true } else { false } }

    private mutating func adopt(_ file: Int, _ id: ItemID?) {
        guard let id, fileOf[id] == nil, let row = input.remote(id), row.deletedAt == nil,
            case .task(_, let content) = files[file].reading
        else { return }
        let isEqual = content.title == row.content.title && content.notes == row.content.notes
        if isEqual || input.firstSync { match(file, id, isEqual ? .adopted : .contested, .none) }
    }

    /// Nothing else: a new task.
    mutating func takeAsNew() {
        for file in files.indices where isFree(file) { takeAsNew(file, .new) }
    }
}
