import Journal
import Libraries
import Model
import Reconcile
import Supabase
import Workspace

/// One workspace, opened: the place where commands meet disk, journal and server.
///
/// Reading (`status`, `tasks`, `find`) takes no lock and no network. What changes something takes the workspace's lock for
/// as long as it works.
///
/// ```swift
/// let engine = try Engine(root: "/home/nina/tasks", surroundings: surroundings)
/// let report = try await engine.run(.sync, RunOptions())
/// ```
public final class Engine {
    /// The workspace's directory.
    public let root: Text
    public let config: Config
    let surroundings: Surroundings
    let disk: Disk

    /// Throws `ConfigError` where `.otask/config.yaml` can't be used, `SystemError` where the directory can't be opened.
    public init(root: Text, surroundings: Surroundings) throws {
        self.root = root
        self.surroundings = surroundings
        config = try Config.load(root: root.string)
        disk = try Disk(root: OpenFolder(path: root.string), config: config, surroundings: surroundings)
    }

    private var journalPath: Text { root + "/.otask/journal.sqlite" }

    // MARK: Bringing both sides together

    /// `pull`, `push` or `sync`. What kept a run from finishing is in its report; throws `WorkspaceLock.Busy` while
    /// another run holds the workspace, and `JournalError`.
    public func run(_ verb: Verb, _ options: RunOptions) async throws -> RunReport {
        let lock = try lock(wait: options.background ? 0 : options.wait)
        defer { lock.release() }
        let journal = try openJournal()
        let binding = WorkspaceBinding(
            user: { [config] in config.user }, bind: { [self] in try bind(to: $0) },
            check: { [self] in try checkMarker() })
        do {
            return try await Run(
                verb: verb, options: options, journal: journal, disk: disk, surroundings: surroundings,
                workspace: binding
            ).execute(noting: { failure in try self.note(failure, journal) })
        } catch JournalError.damaged(let path, let reason) {
            // Every page is checked now, and the file set aside: the next run starts from the files and a full pull.
            _ = try openJournal(check: .everything)
            throw JournalError.damaged(path: path, reason: reason)
        }
    }

    func lock(wait: Double) throws -> WorkspaceLock {
        try WorkspaceLock.acquire(
            root: disk.root, command: surroundings.command, wait: wait, sleep: surroundings.wait)
    }

    /// The journal, opened for writing; the caller holds the lock. A damaged one was set aside: that is said once.
    func openJournal(check: Journal.Check = .header) throws -> Journal {
        try partJournal()
        let (journal, opening) = try Journal.open(
            path: journalPath, check: check, now: surroundings.now(), beforeCommit: surroundings.beforeCommit)
        let meta = try journal.meta()
        if let marker = meta.marker, marker != config.workspace.text {
            throw RunFailure(
                .failed,
                "the journal belongs to another workspace than .otask/config.yaml says: one of the two was copied here")
        }
        if meta.marker == nil || meta.userID == nil && config.user != nil {
            try journal.commit { writer in
                try writer.updateMeta {
                    $0.marker = config.workspace.text
                    $0.userID = config.user
                }
            }
        }
        if case .rebuilt(let setAside) = opening {
            try journal.commit { writer in
                try writer.put(
                    Notice(
                        time: surroundings.now(), path: ".otask/journal.sqlite",
                        text: """
                            the journal was damaged: it is kept as \(setAside.lastComponent) and was rebuilt from the files and \
                            the server; tasks that were removed here and not yet sent come back
                            """))
            }
        }
        return journal
    }

    private func bind(to user: ItemID) throws {
        var bound = try Config.load(root: root.string)
        if bound.user == user { return }
        try bound.bind(to: user)
        try bound.save(root: root.string)
    }

    /// Law 9: the directory at this path must still be the workspace that the journal belongs to.
    private func checkMarker() throws {
        guard let now = try? Config.load(root: root.string), now.workspace == config.workspace else {
            throw RunFailure(
                .failed, "the workspace's marker in .otask/config.yaml is gone or another: nothing more is sent")
        }
    }

    private func note(_ failure: RunFailure, _ journal: Journal) throws {
        try journal.commit { writer in
            try writer.updateMeta {
                $0.lastError = Meta.TimedText(text: failure.text, at: surroundings.now())
                switch failure.kind {
                case .unreachable: $0.connection = Text(Connection.unreachable.rawValue)
                case .signedOut: $0.connection = Text(Connection.signedOut.rawValue)
                case .offline: $0.connection = Text(Connection.offline.rawValue)
                default: break
                }
            }
            try writer.keepOutline(idsInFiles: disk.idsInFiles)
        }
    }

    /// Simulates being offline, or ends it.
    public func simulateOffline(_ offline: Bool) throws {
        let lock = try lock(wait: 10)
        defer { lock.release() }
        try openJournal().commit { writer in
            try writer.updateMeta {
                $0.simulatedOffline = offline
                if !offline, $0.connection == Text(Connection.offline.rawValue) { $0.connection = nil }
            }
        }
    }

    // MARK: Reading

    /// The journal and a look at all files, as they are now.
    func view() throws -> (journal: Journal?, state: JournalState, view: View) {
        let journal: Journal?
        let state: JournalState
        do {
            let opened = try Journal.openReadOnly(path: journalPath)
            state = try opened.snapshot { try JournalState(opened, now: surroundings.now()) }
            journal = opened
        } catch JournalError.missing {
            journal = nil
            state = JournalState.empty
        }
        let looker = Looker(disk: disk, background: false, wait: surroundings.wait, newID: surroundings.newID)
        return (journal, state, try looker.look(state))
    }

    /// Calls with the journal and a look at the files that need one, or at all of them, of one committed state.
    func reading<Result>(all: Bool = false, _ body: (Journal?, View) throws -> Result) throws -> Result {
        let looker = Looker(disk: disk, background: false, wait: surroundings.wait, newID: surroundings.newID)
        let now = surroundings.now()
        do {
            let ahead = all ? nil : looker.readAhead()
            let journal = try Journal.openReadOnly(path: journalPath)
            return try journal.snapshot {
                try body(
                    journal,
                    all ? looker.look(JournalState(journal, now: now)) : looker.look(journal, now: now, ahead: ahead))
            }
        } catch JournalError.missing {
            return try body(nil, looker.look(JournalState.empty))
        }
    }

    /// Where syncing stands. Takes no lock and no network.
    public func status() throws -> StatusReport { try reading { try status($0, $1) } }

    func status(_ journal: Journal?, _ view: View) throws -> StatusReport {
        let remains = try journal.map { try Remains(view, journal: $0, disk: disk) } ?? Remains(view, disk: disk)
        let (settled, settledDone) = view.settled.counts
        let meta = view.state.meta
        var counts = TaskCounts()
        counts.tasks = settled + view.local.count
        counts.done = settledDone + view.local.values.filter(\.content.done).count
        counts.open = counts.tasks - counts.done
        counts.photos = try journal?.liveRows(of: "photos") ?? 0
        let connection =
            meta.simulatedOffline ? .offline : meta.connection.flatMap { Connection(rawValue: $0.string) } ?? .unknown
        let holder = WorkspaceLock.holder(root: disk.root)
        return StatusReport(
            workspace: root, account: (try? surroundings.connect(meta.userID ?? config.user))?.account,
            connection: connection, syncing: holder.map { ($0.since, $0.command) },
            lastError: meta.lastError.map { ($0.text, $0.at) }, lastPull: meta.lastPull, lastPush: meta.lastPush,
            nextTry: try journal?.later().values.map(\.next).min(), counts: counts, waiting: remains.waiting,
            conflicts: remains.conflicts, refused: remains.refused, problems: remains.problems,
            notFollowed: remains.notFollowed, notices: try journal?.notices(at: surroundings.now()) ?? [])
    }

    /// These notices and conflicts were shown to a person: a resolution answers the server's values of now.
    public func markShown(_ notices: [Notice], conflicts: [ConflictItem] = []) throws {
        guard !notices.isEmpty || !conflicts.isEmpty, let lock = try? lock(wait: 0) else { return }
        defer { lock.release() }
        let journal = try openJournal()
        let records = try journal.conflicts()
        try journal.commit { writer in
            try writer.markShown(notices)
            try writer.show(conflicts.compactMap { records[$0.id] })
        }
    }

    /// Every task that has a file here, in the order of their paths.
    public func tasks() throws -> [TaskSummary] { try reading { try tasks($0, $1) } }

    func tasks(_ journal: Journal?, _ view: View) throws -> [TaskSummary] {
        let remains = try journal.map { try Remains(view, journal: $0, disk: disk) } ?? Remains(view, disk: disk)
        let waiting = Set(remains.waiting.map(\.path)).union(remains.refused.map(\.path))
        var photos: [ItemID: Int] = [:]
        for row in try journal?.remoteRows(of: "photos") ?? [] where !row.deleted {
            if let task = row.json["task_id"]?.text.flatMap({ ItemID($0) }) { photos[task, default: 0] += 1 }
        }
        var tasks = view.local.values.map { task in
            let path = disk.taskFolder.file(of: task.place)
            let isWaiting = waiting.contains(path)
            return TaskSummary(
                id: view.known[task.id]?.base == nil && !task.hasIDLine ? nil : task.id, path: path,
                content: task.content, photos: photos[task.id] ?? 0, waiting: isWaiting, modified: task.stamp.modified,
                updatedAt: isWaiting ? nil : view.remote[task.id]?.updatedAt)
        }
        try view.settled.forEach { id, path, stamp in
            guard let said = try journal?.settledTask(id) else { return }
            tasks.append(
                TaskSummary(
                    id: id, path: disk.taskFolder.inWorkspace(path), content: said.content, photos: photos[id] ?? 0,
                    waiting: false, modified: stamp.modified, updatedAt: said.updatedAt))
        }
        return tasks.sorted { $0.path < $1.path }
    }
}

extension TaskSummary {
    /// - Parameters:
    ///   - modified: of the file, in nanoseconds since 1970.
    ///   - updatedAt: of the server's row, where the change has reached it.
    fileprivate init(
        id: ItemID?, path: Text, content: TaskContent, photos: Int, waiting: Bool, modified: Int64, updatedAt: Text?
    ) {
        self.init(
            id: id, path: path, title: content.title, done: content.done, photos: photos, waiting: waiting,
            updated: updatedAt.flatMap { Timestamp($0)?.instant } ?? Instant(nanoseconds: modified),
            notes: content.notes, properties: content.properties)
    }
}
