import Libraries
import Model
import Sync

extension Option {
    static let mine = Option(name: "mine", help: "the file as it stands here is the answer")
    static let theirs = Option(name: "theirs", help: "the server's text is the answer")
    static let edit = Option(name: "edit", help: "write the answer in an editor (VISUAL, EDITOR) that shows both")
    static let server = Option(name: "server", help: "against what the server has, as last seen")
    static let remove = Option(name: "remove", help: "also remove a refused new file")
}

extension Command {
    static let diff = Command(
        name: "diff", summary: "show what changed: since the last run, between two states, or against the server",
        group: .sync,
        details: [
            "Without an option: the files as they are now beside the newest recorded state. --server compares a task with what "
                + "the last pull saw, field by field. No network is used."
        ],
        options: [.server, .from, .to, .json],
        operands: [Operand(name: "TASK", kind: .task, count: .optional, help: Operand.task.help)],
        examples: [
            .init(line: "otask diff", meaning: "what was edited since the last run"),
            .init(line: "otask diff --from ~3", meaning: "what the last three operations and your edits changed"),
            .init(line: "otask diff fence --server", meaning: "both sides of every field that differs"),
        ],
        action: { try $0.diff() })

    static let resolve = Command(
        name: "resolve", summary: "end conflicts", group: .sync,
        details: [
            "The server gets the answer with the next sync. A conflict also ends when the file says what the server says."
        ],
        options: [.mine, .theirs, .edit, .all],
        operands: [Operand(name: "TASK", kind: .task, count: .any, help: Operand.task.help)],
        examples: [
            .init(line: "otask resolve fence --mine", meaning: "keep what the file says"),
            .init(line: "otask resolve --all --theirs", meaning: "take the server's text everywhere"),
        ],
        action: { try $0.resolve() })

    static let changes = Command(
        name: "changes", summary: "list or settle what waits and what was refused", group: .sync,
        subcommands: [
            Command(
                name: "list", summary: "list changes that wait and changes that were refused", options: [.json],
                examples: [.init(line: "otask changes", meaning: "the same as \"otask changes list\"")],
                action: { try $0.listChanges() }),
            Command(
                name: "discard", summary: "take waiting changes back: the server's text, name and file return",
                details: ["A file that the server doesn't have yet is removed. \"otask undo\" takes all of it back."],
                options: [.json],
                operands: [.changed],
                examples: [.init(line: "otask changes discard tasks/fence.md", meaning: "forget what was edited here")],
                action: { try $0.settle { try $0.discard($1) } }),
            Command(
                name: "retry", summary: "send refused changes, and those to be tried later, at the next run",
                operands: [.changed],
                examples: [
                    .init(line: "otask changes retry tasks/fence.md", meaning: "after the server's rule was changed")
                ],
                action: { invocation in
                    let workspace = try invocation.workspace()
                    for path in try workspace.engine.retry(try invocation.changed(workspace)) {
                        invocation.print("\(workspace.paths(path)) is sent again at the next sync")
                    }
                    return .done
                }),
            Command(
                name: "dismiss", summary: "give up refused edits and deletions: the server's state returns",
                details: ["A refused new file stays, kept here only, until it changes."], options: [.remove, .json],
                operands: [.changed],
                examples: [.init(line: "otask changes dismiss tasks/fence.md", meaning: "agree with the server")],
                action: { invocation in
                    try invocation.settle { try $0.dismiss($1, remove: invocation.arguments.has(.remove)) }
                }),
        ])
}

extension Operand {
    fileprivate static let changed = Operand(
        name: "TASK", kind: .task, count: .some, help: "a path as \"otask changes list\" shows it, or any TASK")
}

extension Invocation {
    fileprivate func diff() throws -> ExitCode {
        guard arguments.has(.server) else { return try diffStates() }
        if arguments.has(.from) || arguments.has(.to) {
            throw Failure.usage("diff takes --server, or --from and --to: the server keeps no states")
        }
        guard !arguments.operands.isEmpty else { throw Failure.usage("diff --server needs a TASK") }
        let workspace = try workspace()
        let task = try tasks(workspace.engine)[0]
        let sides = try task.id.map { try workspace.engine.sides(of: $0) } ?? []
        if wantsJSON {
            print(ReportJSON.sides(sides, of: task))
        } else if task.id == nil {
            say("\(workspace.paths(task.path)) has never been sent")
        } else if sides.isEmpty {
            say("\(workspace.paths(task.path)) is the same here and on the server, as last seen")
        } else {
            print(SidesText.render(sides, style: style))
        }
        return .done
    }

    fileprivate func resolve() throws -> ExitCode {
        let ways = [Option.mine, .theirs, .edit].filter(arguments.has)
        guard ways.count == 1 else { throw Failure.usage("resolve needs one of --mine, --theirs and --edit") }
        guard arguments.has(.all) != !arguments.operands.isEmpty else {
            throw Failure.usage("resolve needs TASKs, or --all")
        }
        let workspace = try workspace()
        let conflicts = try workspace.engine.status().conflicts
        let chosen: [ConflictItem]
        if arguments.has(.all) {
            chosen = conflicts
        } else {
            chosen = try tasks(workspace.engine).map { task in
                guard let conflict = conflicts.first(where: { $0.id == task.id }) else {
                    throw Failure.usage("\(workspace.paths(task.path)) is in no conflict")
                }
                return conflict
            }
        }
        for conflict in chosen {
            if arguments.has(.edit) {
                try edit(conflict, workspace)
            } else {
                try workspace.engine.resolve(conflict.id, arguments.has(.mine) ? .mine : .theirs)
            }
            print("resolved \(workspace.paths(conflict.path))\(ItemText.fields(conflict.fields))")
        }
        say(chosen.isEmpty ? "there is no conflict" : "  \"otask sync\" tells the server")
        return .done
    }

    /// `resolve --edit`: a scratch file with both texts, an editor, and what was saved in it.
    private func edit(_ conflict: ConflictItem, _ workspace: OpenWorkspace) throws {
        let variables = environment.variables
        guard let editor = [variables["VISUAL"], variables["EDITOR"]].compactMap({ $0 }).first(where: { !$0.isEmpty })
        else {
            throw Failure.usage(
                "--edit needs an editor", hints: ["set VISUAL or EDITOR, as in: EDITOR=vi otask resolve ..."])
        }
        let scratch = try workspace.engine.scratch(for: conflict.id)
        let folder = try OpenFolder(path: try System.makeTemporaryFolder())
        let name = FileName("resolve.md")
        try folder.create(name, mode: 0o600).write(scratch.bytes)
        let path = folder.path + "/resolve.md"
        guard try Console.run(editor: editor, path: path) == 0 else {
            throw Failure(
                .failed, "the editor ended with an error; nothing was changed", hints: ["your text is kept in \(path)"])
        }
        let saved = try folder.open(name).read()
        if saved.split(separator: UInt8(ascii: "\n")).contains(where: { $0.starts(with: "<<<<<<< ".utf8) }) {
            throw Failure(
                .needsAttention,
                "\(workspace.paths(conflict.path)): the markers are still there, so the conflict stays",
                hints: ["your text is kept in \(path)"])
        }
        do {
            try workspace.engine.resolve(conflict.id, .edited(scratch, bytes: saved))
        } catch {
            var failure = Failure(error)
            failure.hints.append("your text is kept in \(path)")
            throw failure
        }
        try folder.unlink(name)
        let place = Text(folder.path)
        try OpenFolder(path: place.parent.string).removeFolder(FileName(place.lastComponent.string))
    }

    fileprivate func listChanges() throws -> ExitCode {
        let workspace = try workspace()
        let report = try workspace.engine.status()
        if wantsJSON {
            print(ReportJSON.changes(report))
            return .done
        }
        for item in report.waiting {
            print(item.state.rawValue.padding(to: 9) + ItemText.waiting(item, workspace.paths))
        }
        for item in report.refused {
            print(style.red("refused") + "  " + ItemText.refused(item, workspace.paths))
        }
        if report.waiting.isEmpty, report.refused.isEmpty { say("nothing waits, nothing was refused") }
        return .done
    }

    fileprivate func settle(_ body: (Engine, [Text]) throws -> [Notice]) throws -> ExitCode {
        let workspace = try workspace()
        let notices = try body(workspace.engine, try changed(workspace))
        if wantsJSON {
            print(ReportJSON.notices(notices))
        } else {
            for line in notices.flatMap({ ItemText.notice($0, workspace.paths, now: now) }) { print(line) }
        }
        return .done
    }

    /// The paths of the operands in the workspace; one that is no file any more (a deletion) counts as typed.
    fileprivate func changed(_ workspace: OpenWorkspace) throws -> [Text] {
        let report = try workspace.engine.status()
        let lookup = try workspace.engine.lookup(from: Text(directory))
        let known = Set(report.waiting.map(\.path) + report.refused.map(\.path) + report.notFollowed.map(\.path))
        return try arguments.operands.map { operand in
            let typed = Text(absolute(operand, from: directory))
            let prefix = workspace.root + "/"
            let relative = typed.hasPrefix(prefix) ? Text(Substring(typed.utf8.dropFirst(prefix.utf8.count))) : nil
            for candidate in [relative, Text(operand)].compactMap({ $0 }) where known.contains(candidate) {
                return candidate
            }
            return try lookup.find(Text(operand)).path
        }
    }
}
