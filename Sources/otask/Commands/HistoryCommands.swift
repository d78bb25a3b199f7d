import History
import Libraries
import Model
import Sync

extension Option {
    static let limit = Option(name: "limit", short: "n", value: .number("N", 1...Int.max), help: "at most so many (20)")
    static let from = Option(name: "from", value: .text("REV"), help: "from this state (the newest recorded)")
    static let to = Option(name: "to", value: .text("REV"), help: "to this state (the files as they are now)")
    static let at = Option(
        name: "at", value: .text("REV|TIME"), help: "as it was in this state, or at this time (2026-11-30, or RFC 3339)"
    )
    static let deleted = Option(
        name: "deleted", help: "tasks that were deleted, here or elsewhere, which restore brings back")
}

extension Operand {
    fileprivate static let optionalTask = Operand(
        name: "TASK", kind: .task, count: .optional, help: Operand.task.help)
    fileprivate static let operation = Operand(
        name: "N|REV", count: .optional, help: "the last N operations, or the one with this name in the log")
}

extension Command {
    static let log = Command(
        name: "log", summary: "list what happened to the files, newest first", group: .history,
        details: [
            "Each line is a state in the history: its name, when, the command whose run recorded it, and what changed. What you "
                + "did with your own tools stands there as \"found\".",
            "A state is named by the first digits of its name, by ~N (N operations ago), or by a time.",
        ],
        options: [.limit, .json], operands: [.optionalTask],
        examples: [
            .init(line: "otask log", meaning: "the last 20 operations"),
            .init(line: "otask log fence", meaning: "what happened to one task, through its renames"),
        ],
        action: { try $0.log() })

    static let undo = Command(
        name: "undo", summary: "take an operation back; later edits stay", group: .history,
        details: [
            "Without an argument: the newest thing that was done here, by a command or with an editor; what a background run "
                + "brought is taken back only by its name. The next push carries it to the server and to all devices.",
            "It is an inverse merge: what was edited since stays. Where both touch the same text, the later edit stays, and "
                + "that is said (exit 2).",
        ],
        options: [.allowDeletions, .dryRun, .json], operands: [.operation],
        examples: [
            .init(line: "otask undo", meaning: "the last thing that was done here"),
            .init(line: "otask undo 3", meaning: "the last three"),
            .init(line: "otask undo 4f2a91", meaning: "one operation of \"otask log\""),
        ],
        action: { try $0.undo() })

    static let redo = Command(
        name: "redo", summary: "take the last undo back", group: .history, options: [.dryRun, .json],
        examples: [.init(line: "otask redo", meaning: "after an undo too many")],
        action: { try $0.takeBack(.lastUndo, times: 1) })

    static let restore = Command(
        name: "restore", summary: "bring back a deleted task, or a file as it was", group: .history,
        details: [
            "A TASK that was deleted, here or on another device, comes back with its id (\"otask list --deleted\" lists them). "
                + "A PATH gets what it held in the state that --at names; without --at what it held before."
        ],
        options: [.at, .dryRun, .json],
        operands: [Operand(name: "PATH|TASK", kind: .task, help: "a path in the workspace, or a deleted task")],
        examples: [
            .init(line: "otask restore \"Paint the fence\"", meaning: "a deleted task, on any device"),
            .init(line: "otask restore tasks/fence.md --at 2026-11-28", meaning: "the file as it was that day"),
        ],
        action: { try $0.restore() })

    static let why = Command(
        name: "why", summary: "show who changed each field of a task last, when, on which device", group: .history,
        options: [.json], operands: [.task],
        examples: [.init(line: "otask why fence", meaning: "where the title, the notes, the place come from")],
        action: { try $0.why() })
}

extension Invocation {
    fileprivate func log() throws -> ExitCode {
        let workspace = try workspace()
        let task = try arguments.operands.isEmpty ? nil : tasks(workspace.engine)[0]
        let limit = arguments.number(.limit) ?? 20
        // One more tells whether there are more.
        let found = try workspace.engine.log(of: task, limit: limit + 1)
        let shown = Array(found.prefix(limit))
        if wantsJSON {
            print(HistoryJSON.log(shown))
            return .done
        }
        if shown.isEmpty { say("nothing was recorded yet") }
        environment.output(HistoryText.log(shown, now: now, style: style))
        if found.count > limit { say("  older ones: \"otask log --limit \(limit * 5)\"") }
        return .done
    }

    fileprivate func undo() throws -> ExitCode {
        guard let word = arguments.operands.first else { return try takeBack(.last, times: 1) }
        if word.count <= 3, let count = Int(word) {
            guard count > 0 else { throw Failure.usage("undo needs a number of operations, as in \"otask undo 2\"") }
            return try takeBack(.last, times: count)
        }
        return try takeBack(.state(try workspace().engine.revision(Text(word))), times: 1)
    }

    fileprivate func takeBack(_ choice: UndoChoice, times: Int) throws -> ExitCode {
        let workspace = try workspace()
        let isPlan = arguments.has(.dryRun)
        if isPlan, times > 1 { throw Failure.usage("--dry-run shows one operation; name it, or leave the number out") }
        let allowed = line.command.name == "undo" ? arguments.number(.allowDeletions) : nil
        var reports: [UndoReport] = []
        do {
            for _ in 0..<times {
                reports.append(try workspace.engine.undo(choice, allowedDeletions: allowed, dryRun: isPlan))
            }
        } catch {
            // What was taken back already is told all the same.
            guard !reports.isEmpty else { throw error }
            show(reports, workspace, isPlan)
            throw error
        }
        show(reports, workspace, isPlan)
        return reports.allSatisfy { $0.clashes.isEmpty } ? .done : .needsAttention
    }

    private func show(_ reports: [UndoReport], _ workspace: OpenWorkspace, _ isPlan: Bool) {
        if wantsJSON {
            print(HistoryJSON.undo(reports, isPlan: isPlan))
            return
        }
        for report in reports {
            environment.output(HistoryText.undo(report, workspace.paths, now: now, isPlan: isPlan, style: style))
        }
        if isPlan || reports.allSatisfy({ $0.steps.isEmpty }) { return }
        let deletions = reports.reduce(0) { $0 + $1.deletions }
        if deletions > 0 { say("  \(counted(deletions, "task")) will be deleted on the server, too") }
        let isRedo = line.command.name == "redo"
        say("  the next \"otask sync\" tells the server; \"otask \(isRedo ? "undo" : "redo")\" takes this back")
    }

    fileprivate func restore() throws -> ExitCode {
        let workspace = try workspace()
        let engine = workspace.engine
        let word = arguments.operands[0]
        let isPlan = arguments.has(.dryRun)
        let path = inWorkspace(word, workspace)
        let laid: Text
        if arguments.value(.at) == nil, let task = try deletedTask(word, path, engine) {
            laid = isPlan ? task.path : try engine.restore(task)
        } else {
            let file = try (path.flatMap { try engine.hasState(of: $0) ? $0 : nil }) ?? tasks(engine)[0].path
            let revision = try arguments.value(.at).map { try engine.revision(Text($0)) } ?? engine.lastState(of: file)
            laid = try engine.restore(file, at: revision, dryRun: isPlan)
        }
        if wantsJSON {
            print(["format": 1, "path": .string(laid), "dry_run": .bool(isPlan)])
        } else {
            print("\(isPlan ? "would restore" : "restored") \(workspace.paths(laid))")
            if !isPlan { say("  the next \"otask sync\" tells the server; \"otask undo\" takes this back") }
        }
        return .done
    }

    /// The deleted task that an operand means: its path, its title, a unique part of it, or the start of its id.
    private func deletedTask(_ word: String, _ path: Text?, _ engine: Engine) throws -> DeletedTask? {
        let deleted = try engine.deletedTasks()
        if let task = deleted.first(where: { $0.path == path }) { return task }
        let folded = UnicodeText.folded(word)
        let exact = deleted.filter { UnicodeText.folded($0.title.string) == folded }
        if let task = exact.first { return task }
        if (try? engine.lookup(from: Text(directory)).find(Text(word))) != nil { return nil }
        let found = deleted.filter { task in
            word.utf8.count >= 4 && task.id.description.hasPrefix(folded)
                || UnicodeText.folded(task.title.string).contains(folded)
        }
        guard found.count > 1 else { return found.first }
        throw Failure.usage(
            "\"\(printable(word))\" can mean \(counted(found.count, "deleted task")); name one:",
            hints: found.prefix(8).map {
                "\(printable($0.path))  \(printable($0.title))  [\($0.id.description.prefix(8))]"
            })
    }

    fileprivate func why() throws -> ExitCode {
        let workspace = try workspace()
        let task = try tasks(workspace.engine)[0]
        let origins = try workspace.engine.origins(of: task)
        if wantsJSON {
            print(HistoryJSON.origins(origins, of: task))
        } else {
            environment.output(HistoryText.origins(origins, now: now, style: style))
        }
        return .done
    }

    /// An operand as a path in the workspace; nil where it leads out of it.
    func inWorkspace(_ word: String, _ workspace: OpenWorkspace) -> Text? {
        let typed = Text(absolute(word, from: directory))
        let prefix = workspace.root + "/"
        return typed.hasPrefix(prefix) ? Text(Substring(typed.utf8.dropFirst(prefix.utf8.count))) : nil
    }

    // MARK: What other commands show of the past

    /// The exact command that takes back what was just done.
    func sayUndo(_ workspace: OpenWorkspace, _ what: String) {
        if let state = workspace.engine.newestState() { say("  \"otask undo \(state.short)\" \(what)") }
    }

    /// `diff` without `--server`.
    func diffStates() throws -> ExitCode {
        let workspace = try workspace()
        let engine = workspace.engine
        let task = try arguments.operands.isEmpty ? nil : tasks(engine)[0]
        let from = try arguments.value(.from).map { try engine.revision(Text($0)) }
        let to = try arguments.value(.to).map { try engine.revision(Text($0)) }
        let found = try engine.differences(from: from, to: to, of: task)
        if wantsJSON {
            print(HistoryJSON.differences(found))
        } else if found.isEmpty {
            say("nothing differs")
        } else {
            environment.output(found.map { DifferenceText.render($0, style: style) }.joined(separator: "\n"))
        }
        return .done
    }

    /// `show TASK@REV`: nil where the operand names no state.
    func showPast() throws -> ExitCode? {
        let word = arguments.operands[0]
        guard let at = word.lastIndex(of: "@"), at != word.startIndex else { return nil }
        let workspace = try workspace()
        let engine = workspace.engine
        let name = String(word[..<at])
        let revision: Revision
        do { revision = try engine.revision(Text(word[word.index(after: at)...])) } catch {
            // A title may have such a sign in it.
            if (try? tasks(engine)) != nil { return nil }
            throw error
        }
        let task = try? engine.lookup(from: Text(directory)).find(Text(name))
        let path = try task.flatMap { try engine.path(of: $0, at: revision) } ?? inWorkspace(name, workspace)
        guard let path, let bytes = try engine.bytes(of: path, at: revision) else {
            throw Failure.usage("\(printable(name)) wasn't there in \(revision.short)")
        }
        if wantsJSON {
            print([
                "format": 1, "path": .string(path), "rev": .string(revision.text),
                "text": .string(Text(String(decoding: bytes, as: UTF8.self))),
            ])
        } else {
            environment.output(printableLines(Text(String(decoding: bytes, as: UTF8.self))))
        }
        return .done
    }

    /// `list --deleted`.
    func listDeleted() throws -> ExitCode {
        let workspace = try workspace()
        let deleted = try workspace.engine.deletedTasks()
        if wantsJSON {
            print(HistoryJSON.deleted(deleted))
            return .done
        }
        say(
            messageStyle.dim(
                "\(counted(deleted.count, "deleted task")), as the last pull saw them; \"otask restore TASK\" brings one back"
            ))
        environment.output(HistoryText.deleted(deleted, workspace.paths, now: now, style: style))
        return .done
    }
}
