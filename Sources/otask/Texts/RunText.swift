import Model
import Sync

/// What `pull`, `push` and `sync` did, for people: one line when all is well, exact when something is wrong.
enum RunText {
    /// The one line: `sent 3 tasks, received 1 · 2 requests`.
    static func summary(_ report: RunReport) -> String {
        var parts: [String] = []
        if !isEmpty(report.sent) { parts.append("sent " + amounts(report.sent)) }
        if !isEmpty(report.received) { parts.append("received " + amounts(report.received)) }
        if parts.isEmpty { parts.append(nothing(report)) }
        return parts.joined(separator: ", ") + " · " + counted(report.requests, "request")
    }

    /// What a person should know of beyond that, a line each.
    static func attention(_ report: RunReport, paths: PathDisplay, now: Instant, style: Style) -> String {
        var lines: [String] = []
        for notice in report.notices { lines += ItemText.notice(notice, paths, now: now) }
        for item in report.conflicts {
            lines.append(style.red("conflict") + ": " + ItemText.conflict(item, paths))
        }
        if !report.conflicts.isEmpty {
            lines.append(
                style.dim(
                    "  (\"otask diff TASK --server\" shows both sides, \"otask resolve TASK --mine\" or \"--theirs\" ends it)"
                ))
        }
        for item in report.refused { lines.append(style.red("refused") + ": " + ItemText.refused(item, paths)) }
        if !report.refused.isEmpty {
            lines.append(style.dim("  (change the file and sync again, or \"otask changes dismiss TASK\")"))
        }
        for item in report.problems { lines.append(style.red("problem") + ": " + ItemText.problem(item, paths)) }
        for item in report.waiting where item.state == .later || item.state == .held {
            lines.append(style.yellow(item.state.rawValue) + ": " + ItemText.waiting(item, paths))
        }
        if let guarded = report.guarded { lines += guardLines(guarded, report.verb, style) }
        return lines.map { $0 + "\n" }.joined()
    }

    /// A plan, a step a line: what, which way, where, why.
    static func plan(_ report: RunReport, paths: PathDisplay, style: Style) -> String {
        let lines = report.plan.map { line in
            let to = line.to.map { " -> " + paths($0) } ?? ""
            return describe(line.action, style) + " " + paths(line.path) + to + ItemText.fields(line.fields)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    static func exitCode(_ report: RunReport) -> ExitCode {
        if let failure = report.failure { return failure.kind.exitCode }
        if report.guarded != nil { return .guarded }
        let clean = report.conflicts.isEmpty && report.refused.isEmpty && report.problems.isEmpty
        return clean ? .done : .needsAttention
    }

    /// What a run says that moved nothing.
    private static func nothing(_ report: RunReport) -> String {
        if exitCode(report) != .done { return "nothing sent or received" }
        switch report.verb {
        case .pull: return "nothing new on the server"
        case .push: return "nothing to send"
        case .sync: return "up to date"
        }
    }

    private static func isEmpty(_ tally: Tally) -> Bool {
        tally.tasks + tally.photos + tally.profiles + tally.deleted == 0
    }

    private static func amounts(_ tally: Tally) -> String {
        var parts: [String] = []
        if tally.tasks > 0 { parts.append(counted(tally.tasks, "task")) }
        if tally.photos > 0 { parts.append(counted(tally.photos, "photo")) }
        if tally.profiles > 0 { parts.append("the profile") }
        if tally.deleted > 0 { parts.append(counted(tally.deleted, "deletion")) }
        return parts.joined(separator: " and ")
    }

    private static func guardLines(_ guarded: GuardedDeletions, _ verb: Verb, _ style: Style) -> [String] {
        var what: [String] = []
        if guarded.onServer > 0 { what.append(counted(guarded.onServer, "task") + " would disappear on the server") }
        if guarded.here > 0 { what.append(counted(guarded.here, "task") + " would disappear here") }
        if guarded.wentBackInTime > 0 { what.append(counted(guarded.wentBackInTime, "file") + " went back in time") }
        let head = style.red("held by the deletion guard") + ": " + what.joined(separator: ", ")
        return [
            head,
            "  \"otask \(verb.rawValue) --allow-deletions \(guarded.count)\" lets them through; \"otask changes discard TASK\" puts them back",
        ]
    }

    private static func describe(_ action: PlanLine.Action, _ style: Style) -> String {
        switch action {
        case .send: style.green("send edit      here -> server")
        case .sendNew: style.green("send new       here -> server")
        case .sendDeletion: style.red("send deletion  here -> server")
        case .revive: style.green("revive         here -> server")
        case .write: style.cyan("write edit     server -> here")
        case .writeNew: style.cyan("write new      server -> here")
        case .move: style.cyan("move           here          ")
        case .remove: style.red("remove         server -> here")
        case .conflict: style.red("conflict       both changed ")
        case .hold: style.yellow("hold           not now      ")
        }
    }
}

extension RunFailure.Kind {
    var exitCode: ExitCode {
        switch self {
        case .failed, .diskFull, .readOnly: .failed
        case .unreachable, .offline: .unreachable
        case .signedOut, .otherAccount: .signedOut
        case .schema: .schema
        }
    }
}
