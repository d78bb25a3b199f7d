import History
import Journal
import Libraries
import Model
import Workspace

/// History first: whatever the files hold goes into the history before a run or a command overwrites, moves or removes
/// anything, and what it wrote goes there after it.
///
/// At any commit of the journal the history has each file that the stat cache knows, with just the bytes of which the
/// cache has the digest, but for those in the journal's list of unrecorded files. So a file that nobody touched costs
/// nothing here, and libgit2 is loaded only where there is something to record or to write.
final class Recorder {
    private let journal: Journal
    private let disk: Disk
    private let surroundings: Surroundings
    private let background: Bool
    private var opened: History?
    /// Why nothing can be recorded, for people: then no file is overwritten, moved or removed.
    private(set) var failure: Text?
    /// The state that a command takes back.
    var undoing: Revision?
    /// A damaged history was set aside under this path, and begun anew.
    private(set) var setAside: Text?

    init(journal: Journal, disk: Disk, surroundings: Surroundings, background: Bool) {
        self.journal = journal
        self.disk = disk
        self.surroundings = surroundings
        self.background = background
    }

    /// Under which key the journal keeps the state up to which it and the history are in step.
    static let headKey: Text = "history_head"

    // MARK: What people did

    /// What a look brings into the history, for the commit of the journal that notes the look.
    struct Noted {
        fileprivate var head: Revision?
        fileprivate var recorded: [Text] = []
        fileprivate var missed: [UnrecordedFile] = []

        func put(_ writer: borrowing JournalWriter) throws {
            if let head { try writer.put(fact: head.text, for: Recorder.headKey) }
            for path in recorded { try writer.removeUnrecorded(path) }
            for file in missed {
                try writer.putUnrecorded(file.path, .found, leaving: file.oldID, arriving: file.newID)
            }
        }
    }

    /// Records what people did to the files since the journal's last look, before the journal notes this one.
    func found(_ view: View) throws -> Noted {
        let unrecorded = try journal.unrecorded()
        var changes = view.changes(in: disk.taskFolder)
        let own = Set(unrecorded.lazy.filter { $0.origin == .own }.map(\.path))
        if !own.isEmpty, !isAtWork { try wrote(.server, command: "an earlier run", isByHand: false) }
        // What this run wrote is recorded at its end.
        changes.removeAll { own.contains($0.path) }
        let paths = Set(changes.map(\.path))
        changes += unrecorded.filter { $0.origin == .found && !paths.contains($0.path) }
        isAtWork = true
        if changes.isEmpty { return Noted() }
        var noted = Noted()
        let known = try journal.fact(Self.headKey)
        try recording { history throws(HistoryError) in
            let missed = Missed()
            noted = Noted()
            if try begin(history, view, known, missed) {
                noted.recorded = unrecorded.map(\.path)
            } else {
                _ = try history.record(files(changes, missed), entry(.found), count: changes.count)
                noted.recorded = changes.map(\.path)
            }
            noted.missed = missed.files
            noted.head = history.head
        }
        if failure != nil { noted = Noted(missed: changes) }
        return noted
    }

    /// False until the first look of this process was noted: what is unrecorded by then, an earlier one left.
    private var isAtWork = false
    /// The history has what the journal takes it to have.
    private var isInStep = false

    /// Whether files may be overwritten, moved and removed: what they hold is in the history.
    func isReady(_ view: View) throws -> Bool {
        if !isInStep, failure == nil {
            var noted = Noted()
            let known = try journal.fact(Self.headKey)
            try recording { history throws(HistoryError) in
                let missed = Missed()
                _ = try begin(history, view, known, missed)
                noted = Noted(head: history.head, missed: missed.files)
            }
            if failure == nil, let head = noted.head, known != head.text {
                try journal.commit { writer in try noted.put(writer) }
            }
        }
        return failure == nil
    }

    /// Records the whole state where history and journal aren't in step; true where that was needed.
    private func begin(
        _ history: History, _ view: View, _ known: Text?, _ missed: Missed
    ) throws(HistoryError) -> Bool {
        if isInStep(history, known) {
            isInStep = true
            return false
        }
        let ids = view.idsByPath(in: disk.taskFolder)
        var paths = view.snapshot.files.map { disk.taskFolder.inWorkspace($0.path) }
        view.settled.forEach { _, path, _ in paths.append(disk.taskFolder.inWorkspace(path)) }
        let all = paths.map { UnrecordedFile(path: $0, origin: .found, newID: ids[$0]) }
        _ = try history.recordWhole(files(all, missed), entry(.found))
        isInStep = true
        return true
    }

    private func isInStep(_ history: History, _ known: Text?) -> Bool {
        isInStep || history.head.map { $0.text == known } == true
    }

    // MARK: What otask did

    /// Records what this run or command wrote, moved and removed.
    ///
    /// - Parameters:
    ///   - command: nil: what this process was called for.
    ///   - isByHand: false for a run in the background, and for what a stopped one left.
    @discardableResult
    func wrote(_ kind: HistoryEntry.Kind, command: Text? = nil, isByHand: Bool = true) throws -> Revision? {
        let own = try journal.unrecorded().filter { $0.origin == .own }
        if own.isEmpty { return nil }
        var recorded: Revision?
        var head: Revision?
        let missed = Missed()
        let known = try journal.fact(Self.headKey)
        try recording { history throws(HistoryError) in
            // Else the next look records everything.
            guard isInStep(history, known) else { return }
            var entry = entry(kind)
            if let command { entry.command = command }
            entry.background = background || !isByHand
            entry.undoes = undoing
            recorded = try history.record(
                files(own.filter { !$0.path.hasPrefix(".otask/") }, missed), entry, count: own.count)
            head = history.head
        }
        if let head {
            try journal.commit { writer in
                try writer.put(fact: head.text, for: Self.headKey)
                // What is being saved right now is left for the next run.
                let missed = Set(missed.files.map(\.path))
                for file in own where !missed.contains(file.path) { try writer.removeUnrecorded(file.path) }
            }
        }
        return recorded
    }

    /// This run left a file at a path with this content.
    func left(_ digest: Digest?, at path: Text) { lefts[path] = digest }

    /// What this run left at the paths that it wrote; another digest there is a save that came since.
    private var lefts: [Text: Digest] = [:]

    /// Records what was saved over files that this run has written, before it overwrites or removes them once more.
    func secure(_ files: [(path: Text, expected: Digest)]) throws {
        let own = Set(try lefts.isEmpty ? [] : journal.unrecorded().filter { $0.origin == .own }.map(\.path))
        guard files.contains(where: { own.contains($0.path) && lefts[$0.path] != $0.expected }) else { return }
        try wrote(.server)
    }

    /// Records bytes that stood at a path for a moment: a save that came between two effects.
    func keep(_ bytes: [UInt8], at path: Text, id: ItemID?) throws {
        let known = try journal.fact(Self.headKey)
        var head: Revision?
        try recording { history throws(HistoryError) in
            // A history that isn't in step stays so: the next look records everything.
            let wasInStep = isInStep(history, known)
            _ = try history.record([RecordedFile(path: path, content: .bytes(bytes), id: id, oldID: id)], entry(.found))
            head = wasInStep ? history.head : nil
        }
        if let failure { throw PathProblem(.failed, ".otask/history", failure) }
        try journal.commit { writer in
            if let head { try writer.put(fact: head.text, for: Self.headKey) }
            try writer.putUnrecorded(path, .own, leaving: id)
        }
    }

    /// The history, for reading; after `isReady`.
    func history() throws -> History {
        guard let opened else { throw RunFailure(.failed, failure ?? "the history isn't open") }
        return opened
    }

    /// Packs the history and drops what is older than it is to be kept; where nothing was recorded, nothing is done.
    func tidy() {
        guard let opened, failure == nil else { return }
        var known: Set<ItemID>?
        do throws(HistoryError) {
            try opened.tidy(before: surroundings.now() + -Double(disk.historyDays) * 86_400) { [journal] _, id in
                // What no server ever had is nowhere else.
                let ids = known ?? (try? journal.remoteIDs()) ?? []
                known = ids
                return id.map(ids.contains) ?? false
            }
        } catch { failure = Text(error.description) }
    }

    // MARK: Pieces

    private func entry(_ kind: HistoryEntry.Kind) -> HistoryEntry {
        let program: Text = "otask "
        let command = surroundings.command
        return HistoryEntry(
            kind: kind,
            command: command.hasPrefix(program) ? Text(Substring(command.utf8.dropFirst(program.utf8.count))) : command,
            background: background, device: surroundings.device,
            time: surroundings.now())
    }

    private var path: String { disk.root.path + "/.otask/history" }

    /// Calls with the history, opened where it isn't yet. What it can't do is remembered in `failure`. One that turns out to be
    /// damaged is set aside, and the body called with a new one.
    private func recording(_ body: (History) throws(HistoryError) -> Void) throws {
        if failure != nil { return }
        do {
            do {
                try surroundings.effects.check(.record)
                try attempt(body)
            } catch HistoryError.damaged {
                opened = nil
                isInStep = false
                setAside = try History.setAsideNewest(at: path, now: surroundings.now())
                try attempt(body)
            }
        } catch let error as HistoryError {
            failure = Text(error.description)
        }
    }

    private func attempt(_ body: (History) throws(HistoryError) -> Void) throws(HistoryError) {
        let history: History
        if let opened {
            history = opened
        } else {
            let opening: History.Opening
            (history, opening) = try History.open(at: path, now: surroundings.now())
            if case .rebuilt(let setAside) = opening { self.setAside = setAside }
            opened = history
        }
        try body(history)
    }

    /// Files that were being saved, or couldn't be read.
    private final class Missed { var files: [UnrecordedFile] = [] }

    /// What these files are now, read one by one.
    private func files(_ changes: [UnrecordedFile], _ missed: Missed) -> some Sequence<RecordedFile> {
        changes.lazy.compactMap { [disk] change in
            switch disk.held(at: change.path) {
            case .bytes(let bytes):
                return RecordedFile(
                    path: change.path, content: .bytes(bytes), id: change.newID ?? change.oldID, oldID: change.oldID)
            case .nothing: return RecordedFile(path: change.path, content: .gone, id: nil, oldID: change.oldID)
            case .unknown:
                missed.files.append(change)
                return nil
            case .beyond: return nil
            }
        }
    }
}

extension Disk {
    /// What lies at a path.
    enum Held {
        case bytes([UInt8])
        case nothing
        /// It is being saved, or can't be read.
        case unknown
        /// It is no file, or too large to be a task's: otask never writes to it.
        case beyond
    }

    func held(at path: Text) -> Held {
        do throws(SystemError) {
            let folder = try root.folder(at: path.parent.string)
            let name = FileName(path.lastComponent.string)
            guard let status = try folder.status(name) else { return .nothing }
            guard status.kind == .file, status.size <= taskFolder.scanned.keptBytes else { return .beyond }
            let file = try folder.open(name)
            let before = try file.status()
            let bytes = try file.read()
            return try file.status() == before ? .bytes(bytes) : .unknown
        } catch {
            return error.isMissing || error.isNoFolder ? .nothing : .unknown
        }
    }
}

extension View {
    /// The files that aren't what the journal's last look saw, with the tasks that they were and are.
    func changes(in folder: TaskFolder) -> [UnrecordedFile] {
        let changed = snapshot.cache.filter { state.files[$0.key]?.digest != $0.value.digest }.keys
        let gone = state.files.keys.filter { snapshot.cache[$0] == nil }
        if changed.isEmpty, gone.isEmpty { return [] }
        var before: [Text: ItemID] = [:]
        for task in state.known.values { if let place = task.place { before[place + ".md"] = task.id } }
        var now: [Text: ItemID] = [:]
        // A new file that bears no id has another one at each look, until it is announced to the server.
        for task in local.values where task.hasIDLine || state.known[task.id] != nil {
            now[task.place + ".md"] = task.id
        }
        return (changed + gone).sorted().map { path in
            UnrecordedFile(
                path: folder.inWorkspace(path), origin: .found, oldID: before[path],
                newID: snapshot.cache[path] == nil ? nil : now[path] ?? before[path])
        }
    }

    /// The tasks of all files, by their paths in the workspace.
    fileprivate func idsByPath(in folder: TaskFolder) -> [Text: ItemID] {
        var ids: [Text: ItemID] = [:]
        settled.forEach { id, path, _ in ids[folder.inWorkspace(path)] = id }
        for task in local.values where task.hasIDLine || state.known[task.id] != nil {
            ids[folder.file(of: task.place)] = task.id
        }
        return ids
    }
}
