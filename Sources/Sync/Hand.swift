import Journal
import Libraries
import Model
import Reconcile
import Workspace

/// A command at work on one workspace: it holds the lock and has looked. What it does is what a person could do with an
/// editor and `mv`, `cp`, `rm`.
struct Hand {
    let journal: Journal
    let disk: Disk
    let recorder: Recorder
    let view: View
    let now: Instant

    var unwritableHistory: Text {
        ".otask/history: \(recorder.failure ?? ""): until it can be written, no file here is overwritten, moved or removed"
    }

    var acts: FileActs { FileActs(journal: journal, disk: disk) }

    func path(of id: ItemID) -> Text { disk.taskFolder.file(of: view.place(of: id)) }

    /// The task's file as it is now, if it still is what was looked at.
    func file(of task: LocalTask) throws -> TaskFile {
        let path = disk.taskFolder.file(of: task.place)
        switch disk.scanner(background: false).read(task.place + ".md", in: disk.taskFolder.scanned) {
        case .file(let seen) where seen.digest == task.digest:
            guard let bytes = seen.bytes else { break }
            do {
                return try TaskFile.parse(bytes, name: task.place.lastComponent, idsInFiles: disk.idsInFiles)
            } catch {
                throw PathProblem(.failed, path, Text(error.message))
            }
        case .problem(let problem): throw problem
        default: break
        }
        throw PathProblem(.failed, path, "it is being changed right now; try again")
    }

    /// Writes the task's file so that it says `content`.
    func write(_ content: TaskContent, into task: LocalTask) throws {
        let file = try file(of: task)
        try write(TaskEdit(from: file.content, to: content, id: nil), into: task, file)
    }

    func write(_ edit: TaskEdit, into task: LocalTask, _ file: TaskFile) throws {
        let path = disk.taskFolder.file(of: task.place)
        let bytes: [UInt8]
        do {
            bytes = try file.editing(edit, name: task.place.lastComponent)
        } catch {
            throw PathProblem(.failed, path, Text(error.message))
        }
        if bytes == file.bytes { return }
        let outcome = try acts.replace(
            path, with: bytes, expecting: task.digest, id: task.id, values: file.content.fields)
        if outcome == .changedMeanwhile { throw PathProblem(.failed, path, "it was saved in this moment; try again") }
    }
}

extension Engine {
    /// Runs a command under the lock, with a look at the workspace. What the files hold goes into the history before it, and
    /// what it made of them after it, also where it fails halfway: one operation, that can be undone.
    func withHand<Result>(_ body: (Hand) throws -> Result) throws -> Result {
        let lock = try lock(wait: 10)
        defer { lock.release() }
        let journal = try openJournal()
        let state = try JournalState(journal, now: surroundings.now())
        let looker = Looker(disk: disk, background: false, wait: surroundings.wait, newID: surroundings.newID)
        let recorder = Recorder(journal: journal, disk: disk, surroundings: surroundings, background: false)
        let hand = Hand(
            journal: journal, disk: disk, recorder: recorder, view: try looker.look(state), now: surroundings.now())
        let noted = try recorder.found(hand.view)
        try journal.commit { writer in try noted.put(writer) }
        guard try recorder.isReady(hand.view) else { throw RunFailure(.failed, hand.unwritableHistory) }
        let result = Swift.Result { try body(hand) }
        try recorder.wrote(.command)
        recorder.tidy()
        return try result.get()
    }

    // MARK: The edits of a person

    /// Lays down a new task file, named by the slug of its title.
    public func create(_ content: TaskContent) throws -> TaskSummary {
        try withHand { hand in
            let taken = Set(
                hand.view.snapshot.files.map { Names.foldedKey($0.path.withoutMarkdownSuffix) }
                    + hand.view.wanted.values.map { Names.foldedKey($0) })
            let slug = Names.slug(of: content.title)
            let id = surroundings.newID()
            for number in 1... {
                let place = number == 1 && !Names.isReserved(slug) ? slug : slug + Text("-\(number)")
                if taken.contains(Names.foldedKey(place)) || disk.rules.ignores(disk.taskFolder.file(of: place)) {
                    continue
                }
                let bytes: [UInt8]
                do throws(TaskFileProblem) {
                    bytes = try TaskFile.render(content, id: disk.idsInFiles ? id : nil, name: place.lastComponent)
                } catch {
                    throw PathProblem(.failed, disk.taskFolder.file(of: place), Text(error.message))
                }
                guard case .done(let stamp) = try hand.acts.lay(disk.taskFolder.file(of: place), bytes, id: id) else {
                    continue
                }
                return TaskSummary(
                    id: disk.idsInFiles ? id : nil, path: disk.taskFolder.file(of: place), title: content.title,
                    done: content.done, photos: 0, waiting: true, updated: Instant(nanoseconds: stamp.modified),
                    notes: content.notes, properties: content.properties)
            }
            throw RunFailure(.failed, "no free name was found")
        }
    }

    /// Edits tasks' files as an editor would, in one operation. `told` is called with each once it is written.
    public func edit(_ tasks: [TaskSummary], _ edit: TaskEdit, told: (TaskSummary) -> Void = { _ in }) throws {
        if tasks.isEmpty { return }
        try withHand { hand in
            for task in tasks {
                let local = try hand.local(task)
                try hand.write(edit, into: local, hand.file(of: local))
                told(task)
            }
        }
    }

    /// Removes tasks' files, in one operation; the deletions count as made by name, and other devices take them without
    /// asking. `told` is called with each once its file is gone.
    public func delete(_ tasks: [TaskSummary], told: (TaskSummary) -> Void = { _ in }) throws {
        if tasks.isEmpty { return }
        try withHand { hand in
            for task in tasks {
                let local = try hand.local(task)
                if hand.view.known[local.id]?.base != nil {
                    try hand.journal.commit { writer in try writer.mark(local.id, .deletedByName, since: hand.now) }
                }
                guard
                    try hand.acts.takeAway(
                        task.path, expecting: local.digest, id: local.id, values: local.fileContent.fields)
                else { throw PathProblem(.failed, task.path, "it was saved in this moment; try again") }
                told(task)
            }
        }
    }
}

extension Hand {
    func local(_ task: TaskSummary) throws -> LocalTask {
        let known = task.id.flatMap { view.local[$0] }
        let local =
            known.map { disk.taskFolder.file(of: $0.place) } == task.path
            ? known : view.local.values.first { disk.taskFolder.file(of: $0.place) == task.path }
        guard let local else { throw PathProblem(.missing, task.path, "it is no longer there") }
        return local
    }
}
