import Journal
import Libraries
import Model
import Reconcile
import Workspace

/// Which files a round writes.
enum FileScope { case everything, idLines }

/// A file that is staged, with what becomes of it.
private struct StagedJob {
    let job: FileJob
    let staged: Staged

    var record: PendingWrite {
        job.expected.map { staged.replacing($0, item: job.id) } ?? staged.placing(item: job.id)
    }
}

/// The writing half of a round: files take what the server says. Content first, then removals, so that
/// places become free, then moves and new files.
extension Run {
    /// How many files are staged before they are flushed and recorded together.
    private static let batch = 500

    func writeFiles(_ scope: FileScope) throws {
        let view = try look()
        try commit(view)
        if scope == .everything { releaseGuard(view) }
        let settled = scope == .everything && feedIsComplete ? try settledPlaces(view) : .nothing
        let written = try write(view.local.keys.sorted(), view) { try edits($0, view, settled.places, scope) }
        guard scope == .everything else { return }
        try dropAbsorbed(view, written)
        guard feedIsComplete else { return }
        try remove(view)
        let cleared = try look()
        try commit(cleared)
        let places = try settledPlaces(cleared)
        try move(cleared, places.places)
        _ = try write(cleared.plans.keys.sorted(), cleared) { newFiles($0, cleared, places) }
    }

    // MARK: Writing

    /// Writes the files of these tasks, so many at a time that their texts need little memory; the tasks that had a job.
    private func write(
        _ ids: [ItemID], _ view: View, jobs: (ArraySlice<ItemID>) throws -> [FileJob]
    ) throws -> Set<ItemID> {
        var written: Set<ItemID> = []
        var rest = ids[...]
        while !rest.isEmpty {
            let batch = try jobs(rest.prefix(Self.batch))
            written.formUnion(batch.map(\.id))
            if !batch.isEmpty, try !mayWrite(view) { return [] }
            try writeBatch(batch)
            rest = rest.dropFirst(Self.batch)
        }
        return written
    }

    private func writeBatch(_ jobs: [FileJob]) throws {
        var staged: [StagedJob] = []
        for job in jobs {
            try goingOn(job.id) {
                staged.append(StagedJob(job: job, staged: try disk.writer.stage(job.bytes, at: job.target)))
            }
        }
        guard !staged.isEmpty else { return }
        try recorder.secure(jobs.compactMap { job in job.expected.map { (job.target, $0) } })
        lastLook = nil
        staged = try flushed(staged)
        try journal.commit { writer in for item in staged { try writer.put(item.record) } }
        var written: [(job: FileJob, stamp: FileStamp, displaced: Displaced?)] = []
        var left: [DisplacedRecord] = []
        // What went wrong in the middle stays in the journal: the next run finds out how far it came.
        var over: [StagedJob] = []
        for item in staged {
            let job = item.job
            stuck.insert(job.id)
            try goingOn(job.id) {
                if let expected = job.expected {
                    switch try disk.writer.exchange(item.staged, expecting: expected) {
                    case .written(let stamp, let displaced, let parted):
                        written.append((job, stamp, displaced))
                        if parted {
                            try notice(job.target, "the file had other names (hard links), which keep the old text")
                        }
                    case .changedMeanwhile(let displaced):
                        if let displaced {
                            left.append(DisplacedRecord(displaced: displaced, id: job.id, values: job.before?.fields))
                        }
                    }
                } else if case .written(let stamp) = try disk.writer.place(item.staged) {
                    written.append((job, stamp, nil))
                }
                over.append(item)
                stuck.remove(job.id)
            }
        }
        guard try flushFolders(of: written.map(\.job.target)) else {
            return stuck.formUnion(staged.map(\.job.id))
        }
        try journal.commit { writer in
            for item in over { try writer.removePendingWrite(temporary: item.staged.temporary) }
            for record in left { try writer.put(record) }
            for item in written { try finish(item.job, item.stamp, item.displaced, writer) }
        }
        for item in written { try removeAbsorbed(item.job.absorbed, into: item.job.target) }
    }

    /// The staged files that are durable now. What can't be made so is a problem of its file, where it can be told apart.
    private func flushed(_ staged: [StagedJob]) throws -> [StagedJob] {
        do {
            try disk.writer.flush(staged.map(\.staged))
            return staged
        } catch is PathProblem {
            var durable: [StagedJob] = []
            for item in staged {
                try goingOn(item.job.id) {
                    do { try disk.writer.flush([item.staged]) } catch {
                        try disk.writer.discard(item.staged)
                        throw error
                    }
                    durable.append(item)
                }
            }
            return durable
        }
    }

    /// False where names can't be made durable: nothing of it goes into the journal then, and the next run looks at what is there.
    func flushFolders(of paths: [Text]) throws -> Bool {
        var isDurable = false
        try goingOn(nil) {
            try disk.writer.flushFolders(of: paths)
            isDurable = true
        }
        return isDurable
    }

    /// A problem of one path is told, and the rest goes on.
    func goingOn(_ id: ItemID?, _ body: () throws -> Void) throws {
        do { try body() } catch let problem as PathProblem { try met(problem, id) }
    }

    private func finish(
        _ job: FileJob, _ stamp: FileStamp, _ displaced: Displaced?, _ writer: borrowing JournalWriter
    ) throws {
        var task = job.after
        task.identity = stamp.identity
        task.modified = stamp.modified
        let digest = Digest(of: job.bytes)
        task.cleanDigest = task.base?.says(job.content) == true ? digest : nil
        try writer.put(task)
        recorder.left(digest, at: job.target)
        // As old as the file itself, so that the next look compares its bytes: a person may have saved since.
        let file = CachedFile(stamp: stamp, recorded: Instant(nanoseconds: stamp.changed), digest: digest)
        let path = disk.taskFolder.place(of: job.target) + ".md"
        try writer.replaceCachedFiles(changed: [path: file], removed: [Text]())
        try writer.unmark(job.id, .gone)
        if job.comesBack {
            try writer.put(
                Notice(
                    time: now, path: job.target,
                    text: "it was removed here and edited elsewhere: the edit wins, the file is back"))
        }
        if let displaced {
            try writer.put(DisplacedRecord(displaced: displaced, id: job.id, values: job.before?.fields))
        }
        if let line = job.line {
            count(received: job.id)
            report.plan.append(line)
        }
    }

    /// Saves that said nothing new: there was nothing to write.
    private func dropAbsorbed(_ view: View, _ written: Set<ItemID>) throws {
        for absorption in view.absorptions where includes(absorption.id) && !written.contains(absorption.id) {
            guard let task = view.local[absorption.id], task.content == task.fileContent, try mayWrite(view) else {
                continue
            }
            try removeAbsorbed([absorption], into: disk.taskFolder.file(of: task.place))
            lastLook = nil
        }
    }

    /// A file under an old name goes once its text is in the task's own file.
    private func removeAbsorbed(_ absorptions: [Absorption], into target: Text) throws {
        for absorption in absorptions {
            switch absorption.source {
            case .file(let place, let digest):
                guard
                    try take(
                        away: disk.taskFolder.file(of: place), digest, id: absorption.id,
                        values: absorption.content.fields)
                else { continue }
                try notice(target, "a save under the old name \(place).md was merged into it")
            case .displaced(let path):
                lateSaves.removeAll { if case .displaced(path) = $0.source { true } else { false } }
                try journal.commit { writer in try writer.removeDisplaced(path: path) }
                try notice(target, "a save that came while otask wrote the file was merged into it")
            }
        }
    }

    // MARK: Telling

    /// A problem of one path: the rest goes on. A full disk ends the writing.
    func met(_ met: PathProblem, _ id: ItemID?) throws {
        if met.kind == .full { throw RunFailure(.diskFull, "the disk is full: nothing more is written (\(met.path))") }
        problem(met, id)
    }

    /// A task counts once, however much of its file was written or moved.
    func count(received id: ItemID) {
        if received.insert(id).inserted { report.received.tasks += 1 }
    }

    func notice(_ path: Text, _ text: Text, undo: Text? = nil) throws {
        try journal.commit { writer in try writer.put(Notice(time: now, path: path, text: text, undo: undo)) }
    }
}
