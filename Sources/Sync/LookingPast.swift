import Journal
import Libraries
import Model
import Reconcile
import Workspace

/// Most of a workspace is as it was: the files of settled tasks are passed over by their stamps, and no text of theirs is
/// read. The rest is decided as `look` decides it; where a settled task might have a say in that, everything is looked at.
extension Looker {
    /// What `look` comes to, with the settled tasks left out of its lists (`View.settled` has them).
    ///
    /// - Parameter ahead: what was begun to be read before the journal was opened.
    func look(
        _ journal: Journal, now: Instant, ahead: ReadAhead? = nil, displaced: [Absorption] = []
    ) throws -> View {
        if let view = try lookPastSettled(journal, now: now, ahead: ahead, displaced: displaced) { return view }
        return try look(JournalState(journal, now: now), displaced: displaced)
    }

    /// Begins to list the files.
    func readAhead() -> ReadAhead { ReadAhead(disk.scanner(background: background), disk.taskFolder.scanned) }

    /// Nil: everything has to be looked at.
    private func lookPastSettled(
        _ journal: Journal, now: Instant, ahead: ReadAhead?, displaced: [Absorption]
    ) throws -> View? {
        var state = try JournalState(smallOf: journal, now: now)
        // Elsewhere no stamp means anything, under other rules no earlier scan, and before the first sync nothing is settled.
        // What was on the way, and rows that can't be read, are weighed against all others.
        guard state.meta.firstSyncDone, !disk.isElsewhere(than: state), state.moves.isEmpty, state.unreadable.isEmpty,
            try journal.fact(Disk.scanRulesKey) == disk.scanRules
        else { return nil }
        let ahead = ahead ?? readAhead()
        let scanner = disk.scanner(background: background)
        let folder = disk.taskFolder.scanned
        var (settled, others) = try journal.settledFiles(idsInFiles: disk.idsInFiles)
        let tree = ahead.wait(passingOver: settled)
        var snapshot = try scanner.scan(folder, passingOver: &settled, tree)
        if snapshot.mayHaveTwins { return nil }

        let ids = try Set(others + settled.missed() + displaced.map(\.id) + journal.itemsWithRecords())
        try wake(ids, &state, &snapshot, &settled, journal)
        snapshot.files.sort { $0.path < $1.path }
        state.files = settled.rest()
        var seen = sightings(state, snapshot)
        // A copy of a settled task, or its file under another name, is decided beside that task's own.
        let borne = seen.ids.subtracting(ids)
        if !borne.isEmpty {
            let before = snapshot.files.count
            try wake(borne, &state, &snapshot, &settled, journal)
            for file in snapshot.files[before...] { seen.sightings.append(.clean(file)) }
        }
        // At this point every row that is live and isn't settled must be of a task with a place: where others are to lie
        // depends on all rows there are.
        let live = state.remote.values.filter { $0.deletedAt == nil && state.known[$0.id] != nil }.count
        guard state.known.values.allSatisfy({ $0.place != nil }),
            try live + settled.counts.files == journal.liveRows(of: "tasks")
        else { return nil }
        let wanted = state.wantedPlaces
        if mayMeetSettled(wanted, state, settled) { return nil }
        return decide(state, seen, wanted: wanted, settled: settled, displaced: displaced)
    }

    /// Reads these tasks, those that are known, with what the scan saw of their files.
    private func wake(
        _ ids: Set<ItemID>, _ state: inout JournalState, _ snapshot: inout Snapshot, _ settled: inout SettledFiles,
        _ journal: Journal
    ) throws {
        for (id, task) in try journal.known(ids) {
            state.known[id] = task
            if let file = task.place.flatMap({ settled.wake(place: $0) }) { snapshot.files.append(file) }
        }
        state.remote.merge(try journal.remote(ids)) { $1 }
    }

    /// Whether a place that one of the rest wants, other than where it lies, may be a settled task's.
    private func mayMeetSettled(_ wanted: [ItemID: Text], _ state: JournalState, _ settled: SettledFiles) -> Bool {
        let moving = wanted.filter { $1 != state.known[$0]?.place }
        if moving.isEmpty { return false }
        // A slug or a suffix is found by trying what is free.
        if moving.contains(where: { $1 != state.remote[$0]?.path }) { return true }
        let taken = settled.placeHashes(of: Names.foldedKey)
        return moving.values.contains { taken.contains(Names.foldedKey($0).hashValue) }
    }
}

extension Sighting {
    /// A known file that is as the base says.
    fileprivate static func clean(_ file: SeenFile) -> Sighting {
        Sighting(place: file.path.withoutMarkdownSuffix, stamp: file.stamp, digest: file.digest, reading: .clean)
    }
}
