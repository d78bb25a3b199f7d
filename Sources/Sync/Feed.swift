import Journal
import Model
import Reconcile
import Supabase

/// The pull half of a run: the server's news go into the journal's remote tree.
extension Run {
    /// The newest schema of the server that this `otask` knows.
    static let knownSchema = 1

    /// Reads the feed to its end.
    func readFeed(_ service: SyncService) async throws {
        feedIsComplete = false
        let inFlight = try journal.inFlight()
        var since = try journal.meta().cursor
        var asks = inFlight.map(\.changeID)
        var suspicious = false
        while true {
            let page = try await pull(service, since: since, inFlight: asks)
            suspicious = try store(page, inFlight: inFlight) || page.behind || suspicious
            asks = []
            since = page.next
            if page.more { continue }
            let totals = try journal.remoteTotals()
            if let total = page.total, let sum = page.sum, total != totals.count || sum != totals.sum {
                suspicious = true
            }
            break
        }
        if suspicious { try await readAgain(service) }
        feedIsComplete = true
    }

    /// One page, checked to be of this workspace's account and to lead on.
    func pull(_ service: SyncService, since: Int64, inFlight: [ItemID]) async throws -> FeedPage {
        let page: FeedPage
        do {
            page = try await service.pullChanges(since: since, inFlight: inFlight)
        } catch {
            throw RunFailure(error)
        }
        try checkAccount(page.userID)
        if page.schemaVersion > Self.knownSchema { readOnly = true }
        if page.more, page.next <= since {
            throw RunFailure(
                .failed, "the server's change feed doesn't end: it gave the cursor \(Text(String(page.next))) twice")
        }
        return page
    }

    private func checkAccount(_ user: ItemID) throws {
        if let bound = try journal.meta().userID ?? workspace.user() {
            guard bound == user else {
                throw RunFailure(
                    .otherAccount,
                    "this workspace belongs to another account (\(bound.text)) than the one signed in: nothing was synced"
                )
            }
        } else if !options.dryRun {
            try workspace.bind(user)
        }
        if !options.dryRun, try journal.meta().userID == nil {
            try journal.commit { writer in try writer.updateMeta { $0.userID = user } }
        }
    }

    /// Stores a page with its cursor, and settles what was in flight. True where a row speaks of a server set back.
    private func store(_ page: FeedPage, inFlight: [InFlightRecord]) throws -> Bool {
        if !page.rows.isEmpty || !inFlight.isEmpty { lastLook = nil }
        return try journal.commit { writer in
            let stored = try writer.store(page)
            for record in inFlight where page.applied.contains(record.changeID) {
                guard let change = try? Change(json: record.change) else { continue }
                try settle(change, record: record, local: nil, writer)
                try writer.removeInFlight(changeID: record.changeID)
            }
            for record in inFlight where !page.applied.contains(record.changeID) && now - record.sent > 86_400 {
                try writer.removeInFlight(changeID: record.changeID)
            }
            return !stored.suspects.isEmpty
        }
    }

    /// A change was applied: the base takes the values that were sent, and nothing else.
    func settle(_ change: Change, record: InFlightRecord?, local: LocalTask?, _ writer: borrowing JournalWriter) throws
    {
        guard change.table == "tasks" else { return }
        try writer.removeLater(change.id)
        if change.operation == .delete {
            try writer.removeKnownTask(change.id)
            try writer.mark(change.id, .gone, since: now)
            try writer.removeRefusals(change.id)
            try writer.removeConflict(change.id)
            try writer.unmark(change.id, .deletedByName)
            return
        }
        var task = try journal.known([change.id])[change.id] ?? KnownTask(id: change.id, place: record?.place)
        if task.identity == nil { task.identity = record?.identity }
        task.base = task.base.applying(change)
        if let path = change.fields[.path]?.text {
            // A new file that was moved while its answer was under way is a person's move from the place that was sent.
            if path == task.place { task.isMoved = false } else if change.baseVersion == nil { task.isMoved = true }
        }
        if let local {
            task.cleanDigest = task.base?.says(local.fileContent) == true ? local.digest : nil
            task.hasIDLine = local.hasIDLine
            task.modified = local.stamp.modified
        } else {
            task.cleanDigest = nil
        }
        try writer.put(task)
        try writer.unmark(change.id, .gone)
    }

    // MARK: A server set back

    /// Reads the feed once more from 0, with nothing forgotten; if that shows a server that was set back, and a second
    /// reading says the same, forgets what both sides agreed on and keeps every file.
    private func readAgain(_ service: SyncService) async throws {
        defer { lastLook = nil }
        let first = try await readAll(service)
        let remote = try ["tasks", "photos", "profiles"].flatMap { try journal.remoteRows(of: $0) }
        guard Self.isSetBack(remote, by: first.rows) else {
            try journal.commit { writer in _ = try writer.store(first) }
            return
        }
        let second = try await readAll(service)
        guard Self.isSetBack(remote, by: second.rows) else {
            try journal.commit { writer in _ = try writer.store(second) }
            return
        }
        try journal.commit { writer in
            try writer.forgetRemoteAndBase()
            _ = try writer.store(second)
            try writer.put(
                Notice(
                    time: now, path: "",
                    text: """
                        the server was set back to an earlier state (restored from a backup): every file is kept; what is \
                        equal agrees, what differs is a conflict, what the server lost is sent again
                        """))
        }
    }

    /// The whole feed as one page.
    private func readAll(_ service: SyncService) async throws -> FeedPage {
        var page = try await pull(service, since: 0, inFlight: [])
        while page.more {
            let next = try await pull(service, since: page.next, inFlight: [])
            let rows = page.rows + next.rows
            page = next
            page.rows = rows
        }
        return page
    }

    /// Whether rows that were seen are gone, have a lower version, or the same version with another content. A row seen
    /// at two moments of one reading counts as it was last.
    static func isSetBack(_ remote: [FeedRow], by rows: [FeedRow]) -> Bool {
        struct Key: Hashable {
            let table: Text
            let id: ItemID
        }
        let found = Dictionary(rows.map { (Key(table: $0.table, id: $0.id), $0) }, uniquingKeysWith: { $1 })
        return remote.contains { seen in
            guard let row = found[Key(table: seen.table, id: seen.id)] else { return true }
            return row.version < seen.version
                || row.version == seen.version
                    && (row.changeSeq != seen.changeSeq || row.json["changed"] != seen.json["changed"])
        }
    }
}

extension RunFailure {
    /// What a call that failed as a whole means for a run (sync.md, "Network trouble").
    public init(_ error: ServiceError) {
        let text = Text(error.description)
        switch error {
        case .unreachable, .passing, .splittable: self.init(.unreachable, text)
        case .signedOut, .accountGone: self.init(.signedOut, text)
        case .otherAccount: self.init(.otherAccount, text)
        case .schemaMissing: self.init(.schema, text)
        case .garbled, .sessionFile: self.init(.failed, text)
        }
    }
}
