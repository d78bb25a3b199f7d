import Journal
import Model
import Reconcile
import Supabase
import Workspace

/// One run of `pull`, `push` or `sync`: recover, read, compare, decide, act. It holds the workspace's lock.
///
/// It can stop anywhere, and the next one picks up from what disk, journal and server say.
final class Run {
    let verb: Verb
    let options: RunOptions
    let journal: Journal
    let disk: Disk
    let recorder: Recorder
    let surroundings: Surroundings
    let workspace: WorkspaceBinding
    var link: ServerLink?
    var report: RunReport
    /// `--allow-deletions` named the right number: the guard is off for the rest of this run.
    var guardReleased = false
    /// Nothing new is placed, moved or removed before the feed was read to its end.
    var feedIsComplete = false
    /// The server's schema is newer than this `otask`: nothing is sent.
    var readOnly = false
    /// Text from displaced files that programs wrote to meanwhile.
    var lateSaves: [Absorption] = []
    /// Tasks as they were when this run sent something of them.
    var sent: [ItemID: LocalTask] = [:]
    let started: Instant
    /// What the matching decided and was noted already: a later look of the same run decides it again.
    var said: Set<MatchRemark> = []
    /// Tasks whose files took something of the server's.
    var received: Set<ItemID> = []
    /// The last look, while nothing was written, sent or received since; and whether the journal has it.
    var lastLook: View?
    var notedLook = false
    /// Tasks with a write that failed in its middle: until the next run has found out how far it came, nothing is concluded
    /// from their files.
    var stuck: Set<ItemID> = []
    /// Tasks that are held because what they depend on wasn't applied.
    var held: [ItemID: Text] = [:]

    init(
        verb: Verb, options: RunOptions, journal: Journal, disk: Disk, surroundings: Surroundings,
        workspace: WorkspaceBinding
    ) {
        self.verb = verb
        self.options = options
        self.journal = journal
        self.disk = disk
        self.surroundings = surroundings
        self.workspace = workspace
        recorder = Recorder(
            journal: journal, disk: disk, surroundings: surroundings, background: options.background)
        report = RunReport(verb: verb)
        started = surroundings.now()
    }

    var now: Instant { surroundings.now() }

    /// `noting`: what kept the run from finishing goes into the journal, for `status`.
    func execute(noting: (RunFailure) throws -> Void) async throws -> RunReport {
        do {
            try await bringTogether()
        } catch let failure as RunFailure {
            report.failure = failure
            if !options.dryRun { try noting(failure) }
        }
        if !options.dryRun { try recordWritten() }
        try conclude()
        if let link { try await note(link) }
        report.seconds = now - started
        return report
    }

    private func bringTogether() async throws {
        if options.dryRun { return try await rehearse() }
        try recover()
        try revisitDisplaced()
        // The state of the files is noted before anything can fail: what a person did is known even without a network.
        let view = try look()
        try commit(view)
        try sweep(view)
        let link = try connect()
        // At most three rounds: another device may have been faster.
        for _ in 1...3 {
            do {
                try await readFeed(link.service)
            } catch let failure as RunFailure where failure.kind == .unreachable && verb != .push {
                // What came before the feed broke off is stored, and goes into files that are here already.
                try writeFiles(.everything)
                throw failure
            }
            if verb != .push { try writeFiles(.everything) }
            if verb == .pull { break }
            let sending = readOnly ? Sending() : try await send(link.service)
            try writeFiles(verb == .push ? .idLines : .everything)
            if !sending.serverMoved { break }
        }
        try journal.commit { writer in
            try writer.updateMeta {
                $0.connection = Text(Connection.online.rawValue)
                if verb != .push { $0.lastPull = now }
                if verb != .pull { $0.lastPush = now }
                $0.lastError = nil
                if feedIsComplete { $0.firstSyncDone = true }
            }
            try writer.keepOutline(idsInFiles: disk.idsInFiles)
        }
        if readOnly {
            throw RunFailure(
                .readOnly, "the server's schema is newer than this otask: nothing was sent; update otask")
        }
    }

    private func connect() throws -> ServerLink {
        let meta = try journal.meta()
        if meta.simulatedOffline {
            throw RunFailure(.offline, "offline is simulated: changes wait (`otask offline off` ends it)")
        }
        let link = try surroundings.connect(meta.userID ?? workspace.user())
        self.link = link
        return link
    }

    /// `--dry-run`: the same plan, printed and not carried out. It reads the server's news without storing them.
    private func rehearse() async throws {
        let link = try connect()
        var state = try JournalState(journal, now: now)
        var since = state.meta.cursor
        var page: FeedPage
        repeat {
            page = try await pull(link.service, since: since, inFlight: [])
            for row in page.rows where row.table == "tasks" {
                guard let task = try? TaskRow(json: row.json) else { continue }
                if let old = state.remote[task.id], old.version > task.version { continue }
                state.remote[task.id] = task
            }
            since = page.next
        } while page.more
        let view = try look(at: state)
        releaseGuard(view)
        report.plan = try planLines(view)
    }

    /// A look at disk and journal. It is made anew once this run, or a page of the feed, has changed something.
    func look() throws -> View {
        if let lastLook { return lastLook }
        var view = try looker.look(journal, now: now, displaced: lateSaves)
        view.leaveAside(stuck)
        lastLook = view
        notedLook = false
        return view
    }

    /// The same at everything, also at settled tasks.
    func lookAtAll() throws -> View { try look(at: JournalState(journal, now: now)) }

    private func look(at state: JournalState) throws -> View {
        var view = try looker.look(state, displaced: lateSaves)
        view.leaveAside(stuck)
        return view
    }

    private var looker: Looker {
        Looker(disk: disk, background: options.background, wait: surroundings.wait, newID: surroundings.newID)
    }

    /// Whether files may be overwritten, moved and removed: what they hold is in the history. Where it can't be, that is
    /// told, and everything else goes on.
    func mayWrite(_ view: View) throws -> Bool {
        if try recorder.isReady(view) { return true }
        tellOfHistory()
        return false
    }

    /// What this run did to the files goes into the history.
    private func recordWritten() throws {
        try recorder.wrote(.server)
        recorder.tidy()
        tellOfHistory()
        if let setAside = recorder.setAside {
            try notice(
                ".otask/history",
                "the history was damaged: it is kept as \(setAside), and begins anew with the files of now")
        }
    }

    private func tellOfHistory() {
        guard let failure = recorder.failure else { return }
        tell(
            ProblemItem(
                id: nil, path: ".otask/history",
                problem: "\(failure): until it can be written, no file here is overwritten, moved or removed", line: nil
            ))
    }

    /// What remains to be said about the workspace at the end.
    private func conclude() throws {
        let view = try look()
        if !options.dryRun { try refreshFingerprints(view) }
        let remains = try Remains(view, journal: journal, disk: disk, held: held, guardReleased: guardReleased)
        report.waiting = remains.waiting
        report.conflicts = remains.conflicts
        report.refused = remains.refused
        report.problems = merge(remains.problems, report.problems)
        if !guardReleased, view.guarding.count > 0 {
            report.guarded = GuardedDeletions(
                count: view.guarding.count, onServer: view.guarding.guardsDeletions ? view.guarding.onServer : 0,
                here: view.guarding.guardsDeletions ? view.guarding.here : 0,
                wentBackInTime: view.guarding.guardsWentBack ? view.guarding.wentBack : 0)
        }
        report.notices = try journal.notices(at: now)
        if options.background, !options.dryRun { report.news = try news() }
        if !options.dryRun, !options.background { try showConflicts() }
    }

    /// What a run by hand reports is what a resolution answers.
    private func showConflicts() throws {
        let reported = Set(report.conflicts.map(\.id))
        let records = try journal.conflicts().values.filter { reported.contains($0.id) && $0.shown != $0.raised }
        if !records.isEmpty { try journal.commit { writer in try writer.show(records) } }
    }

    /// Problems found on the way are told beside those that are still there, each path once.
    private func merge(_ remaining: [ProblemItem], _ met: [ProblemItem]) -> [ProblemItem] {
        remaining + met.filter { problem in !remaining.contains { $0.path == problem.path } }
    }

    private func note(_ link: ServerLink) async throws {
        let traffic = await link.traffic()
        report.requests = traffic.requests
        report.bytesUp = traffic.bytesUp
        report.bytesDown = traffic.bytesDown
    }

    /// Whether this run may touch a task at all.
    func includes(_ id: ItemID) -> Bool { options.only?.contains(id) ?? true }

    func problem(_ problem: PathProblem, _ id: ItemID?) {
        tell(ProblemItem(id: id, path: problem.path, problem: problem.text, line: nil))
    }

    /// Once, however many rounds meet it.
    func tell(_ problem: ProblemItem) {
        if !report.problems.contains(problem) { report.problems.append(problem) }
    }
}

/// To which account and directory a run belongs; asked again before each batch.
struct WorkspaceBinding {
    /// The account in the configuration, once there is one.
    let user: () throws -> ItemID?
    /// Binds the workspace to its first account.
    let bind: (ItemID) throws -> Void
    /// Throws where the directory is no longer the workspace that the journal belongs to.
    let check: () throws -> Void
}
