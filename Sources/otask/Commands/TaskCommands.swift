import Libraries
import Model
import Sync
import Workspace

extension Option {
    static let open = Option(name: "open", help: "open tasks (what list shows without an option)")
    static let done = Option(name: "done", help: "done tasks")
    static let recent = Option(name: "recent", help: "tasks changed within the last 7 days, open or done")
    static let search = Option(
        name: "search", value: .text("TEXT"), help: "tasks, open or done, with TEXT in title or notes, in any case")
    static let notes = Option(
        name: "notes", value: .text("TEXT|-"), help: "the notes; \"-\" reads them from standard input")
    static let all = Option(name: "all", help: "every one")
}

extension Command {
    static let list = Command(
        name: "list", summary: "list tasks, newest change first", group: .tasks,
        details: [
            "--search narrows --open, --done and --recent. A task whose change hasn't reached the server is marked *."
        ],
        options: [.open, .done, .recent, .search, .deleted, .json],
        examples: [
            .init(line: "otask list", meaning: "the open tasks"),
            .init(line: "otask list --done --search milk", meaning: "done tasks that speak of milk"),
        ],
        action: { try $0.list() })

    static let show = Command(
        name: "show", summary: "show a task as it stands here, or as it was", group: .tasks,
        details: ["TASK@REV shows its file as it was in a state of \"otask log\", wherever it lay."], options: [.json],
        operands: [.task],
        examples: [
            .init(line: "otask show fence", meaning: "the task with \"fence\" in its title"),
            .init(line: "otask show fence@~2", meaning: "its file as it was two operations ago"),
        ],
        action: { invocation in
            if let code = try invocation.showPast() { return code }
            let workspace = try invocation.workspace()
            let task = try invocation.tasks(workspace.engine)[0]
            if invocation.wantsJSON {
                invocation.print(ReportJSON.task(task))
            } else {
                invocation.print(
                    ListText.task(task, paths: workspace.paths, now: invocation.now, style: invocation.style))
            }
            return .done
        })

    static let new = Command(
        name: "new", summary: "write a new task and send it", group: .tasks,
        details: ["Without a connection the task is saved here and goes out with the next sync."],
        options: [.notes, .json], operands: [Operand(name: "TITLE", help: "the title, on one line")],
        examples: [
            .init(line: "otask new \"Buy milk\"", meaning: "a task without notes"),
            .init(line: "otask new \"Read this\" --notes - < mail.txt", meaning: "the notes come from a file"),
        ],
        action: { try await $0.new() })

    static let done = Command(
        name: "done", summary: "tick tasks off", group: .tasks,
        details: ["It edits the files. With --all, every open task at once, and pushes."],
        options: [.all], operands: [Operand(name: "TASK", kind: .task, count: .any, help: Operand.task.help)],
        examples: [
            .init(line: "otask done milk", meaning: "the task with \"milk\" in its title"),
            .init(line: "otask done --all", meaning: "every open task"),
        ],
        action: { try await $0.done() })

    static let undone = Command(
        name: "undone", summary: "open tasks again", group: .tasks, operands: [.tasks],
        examples: [.init(line: "otask undone milk", meaning: "take the tick off again")],
        action: { invocation in
            let workspace = try invocation.workspace()
            try invocation.tick(try invocation.tasks(workspace.engine), done: false, workspace)
            return .done
        })

    static let delete = Command(
        name: "delete", summary: "delete tasks: remove their files", group: .tasks,
        details: [
            "The deletion goes out with the next push. \"otask undo\" brings the tasks back, here and everywhere."
        ],
        operands: [.tasks],
        examples: [.init(line: "otask delete tasks/buy-milk.md", meaning: "as rm, by the task's name")],
        action: { invocation in
            let workspace = try invocation.workspace()
            try workspace.engine.delete(try invocation.tasks(workspace.engine)) {
                invocation.print("deleted \(workspace.paths($0.path))")
            }
            invocation.sayUndo(workspace, "brings back what was deleted, also once it was pushed")
            return .done
        })
}

extension Invocation {
    fileprivate func list() throws -> ExitCode {
        if arguments.has(.deleted) {
            if [Option.open, .done, .recent, .search].contains(where: arguments.has) {
                throw Failure.usage("list --deleted stands alone")
            }
            return try listDeleted()
        }
        let workspace = try workspace()
        let asOf = try workspace.engine.status().lastPull
        let chosen = ListFilter(arguments, now: now).apply(to: try workspace.engine.tasks())
        if wantsJSON {
            print(ReportJSON.list(chosen, asOf: asOf))
            return .done
        }
        say(messageStyle.dim(ListText.header(chosen, asOf: asOf, now: now)))
        environment.output(
            ListText.rows(
                chosen, paths: workspace.paths, now: now, width: environment.outputIsTerminal ? environment.width : nil,
                style: style))
        return .done
    }

    fileprivate func new() async throws -> ExitCode {
        let workspace = try workspace()
        var notes = Text(arguments.value(.notes) ?? "")
        if notes == "-" {
            guard let read = Text(utf8: environment.readInput()) else {
                throw Failure(.badData, "the notes on standard input are not UTF-8")
            }
            notes = read
        }
        let title = Text(arguments.operands[0])
        guard !title.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { throw Failure.usage("a task needs a title") }
        guard !title.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else {
            throw Failure.usage("a title is one line; give the rest with --notes")
        }
        let content = TaskContent(title: title, notes: notes)
        let task = try workspace.engine.create(content)
        var options = RunOptions()
        options.only = task.id.map { [$0] }
        let report = try await workspace.engine.run(.push, options)
        let saved = try workspace.engine.tasks().first { $0.path == task.path } ?? task
        if wantsJSON {
            print(ReportJSON.task(saved))
        } else {
            print(workspace.paths(task.path) + (saved.waiting ? ": saved here" : ": saved here and on the server"))
            environment.errors(RunText.attention(report, paths: workspace.paths, now: now, style: messageStyle))
        }
        if let failure = report.failure {
            // Saved is what was asked for; that it waits is no failure.
            say("  it waits for the next sync: \(printable(failure.text))")
            return .done
        }
        return report.refused.isEmpty && report.problems.isEmpty ? .done : .needsAttention
    }

    fileprivate func done() async throws -> ExitCode {
        let all = arguments.has(.all)
        guard all != !arguments.operands.isEmpty else {
            throw Failure.usage(all ? "done takes TASKs or --all, not both" : "done needs a TASK, or --all")
        }
        let workspace = try workspace()
        guard all else {
            try tick(try tasks(workspace.engine), done: true, workspace)
            return .done
        }
        try tick(try workspace.engine.tasks().filter { !$0.done }, done: true, workspace)
        sayUndo(workspace, "takes it back, also once it was pushed")
        return show(try await workspace.engine.run(.push, RunOptions()), workspace.paths)
    }

    fileprivate func tick(_ tasks: [TaskSummary], done: Bool, _ workspace: OpenWorkspace) throws {
        let word = done ? "done" : "open"
        for task in tasks where task.done == done { say("\(workspace.paths(task.path)) is \(word) already") }
        try workspace.engine.edit(tasks.filter { $0.done != done }, TaskEdit(done: done)) {
            print("\(word): \(workspace.paths($0.path))")
        }
    }
}

/// Which tasks `list` shows.
struct ListFilter {
    /// Nil: both.
    var done: Bool?
    var changedSince: Instant?
    /// Folded.
    var search: String?

    init(_ arguments: Arguments, now: Instant) {
        let states = (open: arguments.has(.open), done: arguments.has(.done))
        if states.open != states.done {
            done = states.done
        } else if !states.open, !arguments.has(.recent), !arguments.has(.search) {
            done = false
        }
        if arguments.has(.recent) { changedSince = now + -7 * 86_400 }
        search = arguments.value(.search).map(UnicodeText.folded)
    }

    /// The tasks that pass, newest change first, those of one moment in the order of their paths.
    func apply(to tasks: [TaskSummary]) -> [TaskSummary] {
        tasks.filter(passes).sorted { $0.updated == $1.updated ? $0.path < $1.path : $0.updated > $1.updated }
    }

    private func passes(_ task: TaskSummary) -> Bool {
        if let done, task.done != done { return false }
        if let changedSince, task.updated < changedSince { return false }
        guard let search else { return true }
        return contains(task.title, search) || contains(task.notes, search)
    }

    private func contains(_ text: Text, _ folded: String) -> Bool {
        Array(UnicodeText.folded(text.string).utf8).contains(Array(folded.utf8))
    }
}

/// A text as one word of a shell's command line.
func shellQuoted(_ text: Text) -> String {
    let plain = text.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "/._-".utf8.contains(byte) || byte >= 0x80
    }
    if plain, !text.isEmpty { return text.string }
    return "'" + printable(text).split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
        + "'"
}
