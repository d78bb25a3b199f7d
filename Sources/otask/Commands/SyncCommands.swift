import Model
import Sync

extension Option {
    static let dryRun = Option(name: "dry-run", short: "n", help: "print what would be done, and do nothing")
    static let allowDeletions = Option(
        name: "allow-deletions", value: .number("N", 1...Int.max),
        help: "let the N deletions through that the deletion guard holds")
    static let wait = Option(
        name: "wait", value: .number("SECONDS", 0...86_400), help: "wait so long for another run to end (10)")
    static let verbose = Option(name: "verbose", short: "v", help: "print each step and each request")
    static let background = Option(
        name: "background", help: "for cron: silent unless something new needs a person; never waits")
    static let short = Option(name: "short", short: "s", help: "two letters and a path a line")
    static let exitCode = Option(
        name: "exit-code",
        help: "end with 2 where conflicts, refusals or problems are there, with 3 where deletions are held")
}

extension Command {
    static let status = Command(
        name: "status", summary: "show where syncing stands and what waits", group: .sync,
        details: [
            "It looks at the files and asks nobody: no network is used. The two letters of --short are N new, E edited, "
                + "M moved or D deleted, then w waiting, l later, h held or g guarded; CC is a conflict, RR refused, !! a problem."
        ],
        options: [.short, .json, .exitCode, .verbose],
        examples: [
            .init(line: "otask status", meaning: "what is new, edited, moved, deleted, in conflict or refused"),
            .init(line: "otask status --exit-code --short", meaning: "for scripts: exit 2 where a person is needed"),
        ],
        action: { try await $0.status() })

    static let pull = verb(
        .pull, "fetch what is new on the server into the files; sends nothing",
        [.init(line: "otask pull --dry-run", meaning: "which files a pull would write")])
    static let push = verb(
        .push, "send what was changed here; edits no task file except to write an id",
        [.init(line: "otask push \"buy milk\"", meaning: "send one task only")])
    static let sync = verb(
        .sync, "pull and push: bring both sides together",
        [
            .init(line: "otask sync", meaning: "fetch, merge and send"),
            .init(line: "otask sync --allow-deletions 12", meaning: "let 12 deletions through that the guard holds"),
        ])

    private static func verb(_ verb: Verb, _ summary: String, _ examples: [Example]) -> Command {
        Command(
            name: verb.rawValue, summary: summary, group: .sync,
            details: ["With TASKs only these are sent and written."],
            options: [.dryRun, .allowDeletions, .wait] + (verb == .sync ? [.background] : []) + [.json, .verbose],
            operands: [Operand(name: "TASK", kind: .task, count: .any, help: Operand.task.help)], examples: examples,
            action: { try await $0.run(verb) })
    }

    static let offline = Command(
        name: "offline", summary: "simulate being offline, or end that", group: .sync,
        details: ["While it is on, nothing is fetched or sent; every edit waits, as without a network."],
        operands: [
            Operand(
                name: "on|off", kind: .choice(["on", "off"]), count: .optional, help: "without it: whether it is on")
        ],
        examples: [.init(line: "otask offline on", meaning: "see how everything works without a server")],
        action: { invocation in
            let workspace = try invocation.workspace()
            if let word = invocation.arguments.operands.first { try workspace.engine.simulateOffline(word == "on") }
            let isOn = try workspace.engine.status().connection == .offline
            invocation.print(isOn ? "offline is simulated" : "offline is not simulated")
            return .done
        })
}

extension Invocation {
    fileprivate func status() async throws -> ExitCode {
        let workspace = try workspace()
        let report = try workspace.engine.status()
        if wantsJSON {
            print(ReportJSON.status(report))
        } else if arguments.has(.short) {
            environment.output(StatusText.short(report, paths: workspace.paths))
        } else {
            print(StatusText.render(report, paths: workspace.paths, now: now, style: style))
            if arguments.has(.verbose), let size = try workspace.engine.historySize() {
                print(HistoryText.size(size, now: now))
            }
            try workspace.engine.markShown(report.notices, conflicts: report.conflicts)
        }
        guard arguments.has(.exitCode) else { return .done }
        if report.waiting.contains(where: { $0.state == .guarded }) { return .guarded }
        let isClean = report.conflicts.isEmpty && report.refused.isEmpty && report.problems.isEmpty
        return isClean ? .done : .needsAttention
    }

    fileprivate func run(_ verb: Verb) async throws -> ExitCode {
        let workspace = try workspace()
        var options = RunOptions()
        options.dryRun = arguments.has(.dryRun)
        options.background = arguments.has(.background)
        options.allowDeletions = arguments.number(.allowDeletions)
        options.wait = options.background ? 0 : Double(arguments.number(.wait) ?? 10)
        if !arguments.operands.isEmpty {
            options.only = try chosen(workspace)
        }
        let report: RunReport
        do {
            report = try await workspace.engine.run(verb, options)
        } catch {
            let failure = Failure(error)
            // Another run is at work: the next background run will do.
            if options.background, failure.code == .busy { return .done }
            throw failure
        }
        let code = show(report, workspace.paths, isPlan: options.dryRun, isBackground: options.background)
        if !wantsJSON, !options.background { try workspace.engine.markShown(report.notices) }
        return code
    }

    /// The ids of the TASKs; one whose file was removed is named by its path.
    private func chosen(_ workspace: OpenWorkspace) throws -> Set<ItemID> {
        let deleted = try workspace.engine.status().waiting.filter { $0.change == .deleted }
        let lookup = try workspace.engine.lookup(from: Text(directory))
        return try Set(
            arguments.operands.compactMap { operand in
                let path = Text(absolute(operand, from: directory))
                if let item = deleted.first(where: { path == workspace.root + "/" + $0.path }) { return item.id }
                return try lookup.find(Text(operand)).id
            })
    }

    /// Prints what a run did; the code that it ends with.
    func show(_ report: RunReport, _ paths: PathDisplay, isPlan: Bool = false, isBackground: Bool = false) -> ExitCode {
        let code = RunText.exitCode(report)
        if wantsJSON {
            print(ReportJSON.run(report, isPlan: isPlan))
        } else if isBackground {
            if let notice = report.news.first {
                let more = report.news.count - 1
                print(
                    ItemText.notice(notice, paths, now: now)[0] + (more > 0 ? " (and \(more) more: otask status)" : ""))
            }
        } else {
            if isPlan || arguments.has(.verbose) {
                environment.output(RunText.plan(report, paths: paths, style: style))
            }
            if isPlan, report.plan.isEmpty, report.failure == nil { say("nothing to do") }
            if !isPlan, !isQuiet { print(RunText.summary(report)) }
            environment.output(RunText.attention(report, paths: paths, now: now, style: style))
        }
        if let failure = report.failure {
            if isBackground, code == .unreachable { return .done }
            environment.errors(Failure(failure).text(messageStyle))
        }
        // In a background run nothing that only waits for a person is a failure.
        return isBackground && [.guarded, .needsAttention].contains(code) ? .done : code
    }
}
