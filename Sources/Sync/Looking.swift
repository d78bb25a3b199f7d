import Journal
import Libraries
import Model
import Reconcile
import Workspace

/// What the journal holds, read once for a view.
struct JournalState: Sendable {
    var meta: Meta
    var known: [ItemID: KnownTask]
    var remote: [ItemID: TaskRow]
    var files: [Text: CachedFile]
    var former: [FormerPlace]
    var gone: Set<ItemID>
    var takenElsewhere: Set<ItemID>
    var byName: Set<ItemID>
    var keptHere: [Text: Digest]
    var recentDeletions: Int
    /// Moves that a run began and did not finish.
    var moves: [MoveRecord]
    /// As it was (`Disk.ground`).
    var ground: Text?
    /// Rows of the server that this `otask` can't read, and why.
    var unreadable: [ItemID: RowError]

    /// Before the first run.
    static let empty = JournalState()

    private init() {
        meta = Meta()
        known = [:]
        remote = [:]
        files = [:]
        former = []
        gone = []
        takenElsewhere = []
        byName = []
        keptHere = [:]
        recentDeletions = 0
        moves = []
        unreadable = [:]
    }

    init(_ journal: Journal, now: Instant) throws {
        try self.init(smallOf: journal, now: now)
        known = try journal.knownTasks()
        remote = try journal.remoteTasks()
        files = try journal.cachedFiles()
    }

    /// Without tasks and files.
    init(smallOf journal: Journal, now: Instant) throws {
        meta = try journal.meta()
        known = [:]
        remote = [:]
        files = [:]
        former = try journal.formerPlaces().values.filter { now - $0.since < 86_400 }
        gone = Set(try journal.marked(.gone).keys)
        takenElsewhere = Set(try journal.marked(.takenElsewhere).keys)
        byName = Set(try journal.marked(.deletedByName).keys)
        keptHere = try journal.keptHere()
        recentDeletions = try journal.recentDeletions(since: now + -3_600).filter { $0.table == "tasks" }
            .reduce(0) { $0 + $1.count }
        moves = try journal.moves()
        unreadable = try journal.unreadableTasks()
        ground = try journal.fact(Self.groundKey)
    }
}

extension JournalState {
    /// `Places.assign` of the live rows.
    var wantedPlaces: [ItemID: Text] {
        Places.assign(
            remote.values.filter { $0.deletedAt == nil }.map {
                PlaceCandidate(id: $0.id, path: $0.path, title: $0.content.title, createdAt: $0.createdAt)
            })
    }
}

/// Looks at disk and journal and decides (read, compare, decide). Changes nothing.
struct Looker {
    let disk: Disk
    let background: Bool
    let wait: (Double) -> Void
    let newID: () -> ItemID

    /// Every file and every task.
    func look(_ state: JournalState, displaced: [Absorption] = []) throws -> View {
        let (state, halfway) = onTheWay(state)
        let snapshot = try disk.scanner(background: background).scan(
            disk.taskFolder.scanned, cache: disk.isElsewhere(than: state) ? [:] : state.files)
        var seen = sightings(state, snapshot)
        seen.add(halfway, in: disk.taskFolder)
        return decide(state, seen, wanted: state.wantedPlaces, settled: SettledFiles(), displaced: displaced)
    }

    func decide(
        _ state: JournalState, _ seen: Seen, wanted: [ItemID: Text], settled: SettledFiles, displaced: [Absorption]
    ) -> View {
        let homeChanged = disk.isElsewhere(than: state)
        var input = matchInput(state, seen, wanted: wanted, homeChanged: homeChanged)
        var unread: [Text] = []
        input.locate = { [disk, background] identities in
            // A file that is a settled task's is no other's, whatever else it is called.
            let sought = identities.subtracting(settled.seen(identities))
            let search = disk.scanner(background: background).findIdentities(sought)
            unread = search.unread
            return search.found
        }
        var matching = Matching(input)
        if !unread.isEmpty {
            // What is missing may be there.
            matching.unknown += matching.gone
            matching.gone = []
        }
        var view = View(
            folder: disk.taskFolder, state: state, known: state.known, remote: state.remote, wanted: wanted,
            snapshot: seen.snapshot, settled: settled, matching: matching,
            local: [:], absorptions: displaced, plans: [:], problems: seen.problems, wentBack: [], undone: [:],
            guarding: DeletionGuard(existing: 0, onServer: 0, here: 0), byName: state.byName)
        for path in unread where !view.problems.contains(where: { $0.path == path }) {
            view.problems.append(
                ProblemItem(
                    id: nil, path: path, problem: "can't be read, so nothing that is missing counts as deleted",
                    line: nil))
        }
        view.learn(seen, disk.taskFolder, homeChanged: homeChanged, now: disk.now(), keptHere: state.keptHere)
        view.absorb()
        view.decide(disk.taskFolder)
        view.tellBadRows(disk.taskFolder, idsInFiles: disk.idsInFiles)
        view.count(lastHour: state.recentDeletions)
        return view
    }

    private func matchInput(
        _ state: JournalState, _ seen: Seen, wanted: [ItemID: Text], homeChanged: Bool
    ) -> MatchInput {
        let folder = disk.taskFolder
        return MatchInput(
            sightings: seen.sightings, known: state.known, remote: { state.remote[$0] }, wanted: wanted,
            former: state.former, gone: state.gone, takenElsewhere: state.takenElsewhere, unknown: seen.unknown,
            notFollowed: { place in
                let path = place + ".md"
                var above = path
                while !seen.notFollowed.isEmpty, !above.isEmpty {
                    if let problem = seen.notFollowed[above] { return problem }
                    above = above.parent
                }
                return disk.rules.ignores(folder.inWorkspace(path)) ? "an ignore rule names it" : nil
            },
            firstSync: !state.meta.firstSyncDone, homeChanged: homeChanged, idsInFiles: disk.idsInFiles, newID: newID)
    }
}

/// What the scan of the task folder came to.
struct Seen {
    var snapshot: Snapshot
    var sightings: [Sighting] = []
    /// The ids that the files that were read bear.
    var ids: Set<ItemID> = []
    var problems: [ProblemItem] = []
    var unknown: [Text] = []
    /// Paths (of files, with `.md`, and of folders) that are there and not scanned, with the reason.
    var notFollowed: [Text: Text] = [:]
}

extension Looker {
    func sightings(_ state: JournalState, _ snapshot: Snapshot) -> Seen {
        let scanner = disk.scanner(background: background)
        let folder = disk.taskFolder.scanned
        var seen = Seen(snapshot: snapshot)
        seen.unknown = snapshot.unknown + snapshot.busy.map(\.withoutMarkdownSuffix)
        for problem in snapshot.problems {
            seen.problems.append(
                ProblemItem(id: nil, path: disk.taskFolder.inWorkspace(problem.path), problem: problem.text, line: nil))
            switch problem.kind {
            case .symlink, .special, .badName, .twin: seen.notFollowed[problem.path] = problem.text
            default: seen.unknown.append(problem.path.withoutMarkdownSuffix)
            }
        }
        var files = snapshot.files
        let missing = state.known.values.compactMap(\.place).map { $0 + ".md" }.filter {
            // What a rule names isn't missing: it isn't looked at.
            snapshot.absence(of: $0) == .gone && !disk.rules.ignores(disk.taskFolder.inWorkspace($0))
        }
        if !missing.isEmpty {
            let second = scanner.lookAgain(
                at: seen.passingFolders(missing, scanner, disk.taskFolder), in: folder, wait: wait)
            files += second.appeared
            files.sort { $0.path < $1.path }
            seen.unknown += second.unsettled.map(\.withoutMarkdownSuffix)
        }
        let here = Dictionary(files.map { ($0.path, $0) }, uniquingKeysWith: { a, _ in a })
        let atPlace = KnownTask.owners(state.known.values) { place in
            here[place + ".md"].map { ($0.stamp, $0.digest) }
        }
        for file in files { read(file, knownThere: atPlace, scanner: scanner, into: &seen) }
        // At this point every file was read as a task: whoever writes one reads its bytes again.
        for index in seen.snapshot.files.indices { seen.snapshot.files[index].bytes = nil }
        return seen
    }

    private func read(_ file: SeenFile, knownThere: [Text: KnownTask], scanner: Scanner, into seen: inout Seen) {
        let place = file.path.withoutMarkdownSuffix
        func sight(_ reading: Reading, _ file: SeenFile) {
            seen.sightings.append(Sighting(place: place, stamp: file.stamp, digest: file.digest, reading: reading))
        }
        if let task = knownThere[place], task.base != nil, task.cleanDigest == file.digest, task.frozen == nil {
            sight(.clean, file)
            return
        }
        var file = file
        if file.bytes == nil {
            switch scanner.read(file.path, in: disk.taskFolder.scanned) {
            case .file(let again): file = again
            case .busy, .missing:
                seen.unknown.append(place)
                return
            case .problem(let problem):
                seen.problems.append(
                    ProblemItem(id: nil, path: disk.taskFolder.inWorkspace(file.path), problem: problem.text, line: nil)
                )
                sight(.problem(id: nil), file)
                return
            }
        }
        do {
            let task = try TaskFile.parse(file.bytes ?? [], name: place.lastComponent, idsInFiles: disk.idsInFiles)
            if let id = task.id { seen.ids.insert(id) }
            sight(.task(id: task.id, task.content), file)
        } catch {
            let isNew = knownThere[place] == nil
            let text: Text
            switch (error == .empty, isNew) {
            case (true, true): text = "an empty file, a task in the making: write a title"
            case (true, false):
                text = "the file is empty, as after an interrupted save: restore its text, or remove the file"
            default: text = Text(error.message)
            }
            seen.problems.append(
                ProblemItem(
                    id: knownThere[place]?.id, path: disk.taskFolder.inWorkspace(file.path), problem: text,
                    line: error.line))
            sight(.problem(id: nil), file)
        }
    }
}

extension TaskFile {
    var id: ItemID? { if case .id(let id) = idLine { id } else { nil } }
}

extension Text {
    /// A place of a path: without `.md` at its end.
    var withoutMarkdownSuffix: Text { hasSuffix(".md") ? Text(Substring(utf8.dropLast(3))) : self }
}
