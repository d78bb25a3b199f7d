import Model
import Sync

/// `otask status` for people: where syncing stands, then groups, each with what to type next.
enum StatusText {
    static func render(_ report: StatusReport, paths: PathDisplay, now: Instant, style: Style) -> String {
        var blocks = [standing(report, now: now, style: style)]
        func group(_ title: String, _ hints: [String], _ rows: [String], _ paint: (String) -> String) {
            if rows.isEmpty { return }
            let hints = hints.map { style.dim("  (\($0))") }
            blocks.append(([title] + hints + rows.map { "        " + paint($0) }).joined(separator: "\n"))
        }
        group(
            "Conflicts:",
            [
                "\"otask diff TASK --server\" shows both sides; \"otask resolve TASK --mine\", \"--theirs\" or \"--edit\" ends it"
            ],
            report.conflicts.map { "both changed:  \(paths($0.path))\(suffix($0.fields))" }, style.red)
        group(
            "Refused by the server:",
            ["change the file and sync again, or \"otask changes retry TASK\", or \"otask changes dismiss TASK\""],
            report.refused.map { "\(ItemText.refused($0, paths)), \(phrase($0.since, now: now))" }, style.red)
        group(
            "Problems:", ["these files wait until they are mended; everything else goes on"],
            report.problems.map { ItemText.problem($0, paths) }, style.red)
        for state in [WaitingState.guarded, .held, .later, .waiting] {
            let items = report.waiting.filter { $0.state == state }
            let paint = state == .waiting ? style.green : style.yellow
            group(title(state), hints(state, report.nextTry, now), items.map { ItemText.waiting($0, paths) }, paint)
        }
        group(
            "Not followed here:", ["their tasks stay as they are until the rule or name goes"],
            report.notFollowed.map { ItemText.problem($0, paths) }, style.dim)
        group("Notices:", [], report.notices.flatMap { ItemText.notice($0, paths, now: now) }, { $0 })
        return blocks.joined(separator: "\n\n") + "\n"
    }

    /// `--short`: two letters and a path a line, for scripts and quick looks.
    static func short(_ report: StatusReport, paths: PathDisplay) -> String {
        var lines = report.conflicts.map { "CC \(paths($0.path))" }
        lines += report.refused.map { "RR \(paths($0.path))" }
        lines += report.problems.map { "!! \(paths($0.path))" }
        lines += report.waiting.map { item in
            let from = item.from.map { paths($0) + " -> " } ?? ""
            return "\(letter(item.change))\(letter(item.state)) \(from)\(paths(item.path))"
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func letter(_ change: ChangeKind) -> String {
        switch change {
        case .new: "N"
        case .edited: "E"
        case .moved: "M"
        case .deleted: "D"
        }
    }

    private static func letter(_ state: WaitingState) -> String {
        switch state {
        case .waiting: "w"
        case .later: "l"
        case .held: "h"
        case .guarded: "g"
        }
    }

    private static func title(_ state: WaitingState) -> String {
        switch state {
        case .waiting: "Changes to be sent:"
        case .later: "To be tried again later:"
        case .held: "Held until what they depend on is sent:"
        case .guarded: "Held by the deletion guard:"
        }
    }

    private static func hints(_ state: WaitingState, _ nextTry: Instant?, _ now: Instant) -> [String] {
        switch state {
        case .waiting: ["\"otask sync\" sends them; \"otask changes discard TASK\" takes one back"]
        case .later: ["\"otask sync\" tries at once" + (nextTry.map { "; by itself " + phrase($0, now: now) } ?? "")]
        case .held: []
        case .guarded:
            ["\"otask sync --allow-deletions N\" lets them through; \"otask changes discard TASK\" puts them back"]
        }
    }

    /// The first lines: where syncing stands.
    private static func standing(_ report: StatusReport, now: Instant, style: Style) -> String {
        let waiting = counted(report.waiting.count, "change") + (report.waiting.count == 1 ? " waits" : " wait")
        let saved = report.lastPull.map { "showing saved data of " + phrase($0, now: now) } ?? "never synced yet"
        var lines: [String] = []
        switch report.connection {
        case _ where report.syncing != nil:
            let syncing = report.syncing!
            lines.append("Syncing since \(phrase(syncing.since, now: now)) (\(printable(syncing.command))).")
        case .offline:
            lines.append(style.yellow("Offline is simulated") + "; \(saved) (\"otask offline off\" ends it).")
        case .signedOut: lines.append(style.yellow("Signed out") + "; \(saved).")
        case .unreachable: lines.append(style.yellow("The server can't be reached") + "; \(saved).")
        case .unknown, .online:
            if let pull = report.lastPull {
                let fresh = report.waiting.isEmpty && report.conflicts.isEmpty && report.refused.isEmpty
                lines.append((fresh ? "Up to date as of " : "Last synced ") + phrase(pull, now: now) + ".")
            } else {
                let push = report.lastPush.map { "Last pushed \(phrase($0, now: now)), never" } ?? "Never"
                lines.append(push + " synced yet (\"otask sync\" does).")
            }
        }
        if let error = report.lastError {
            lines.append(style.red("The last run failed") + " \(phrase(error.at, now: now)): \(printable(error.text))")
        }
        var facts = counted(report.counts.open, "open task") + ", \(report.counts.done) done"
        if !report.waiting.isEmpty { facts = "\(waiting) to be sent; " + facts }
        lines.append(facts + ".")
        return lines.joined(separator: "\n")
    }

    private static func suffix(_ fields: [Field]) -> String { ItemText.fields(fields) }
}

/// One item of a report in one line.
enum ItemText {
    /// ` (title, notes)`, or nothing.
    static func fields(_ fields: [Field]) -> String {
        fields.isEmpty ? "" : " (" + fields.sorted().map(name).joined(separator: ", ") + ")"
    }

    /// A field as people call it: an own key by its name.
    static func name(_ field: Field) -> String {
        if case .property(let key) = field { printable(key) } else { field.name.string }
    }

    static func waiting(_ item: WaitingItem, _ paths: PathDisplay) -> String {
        let label = (item.change.rawValue + ":").padding(to: 9)
        let from = item.from.map { paths($0) + " -> " } ?? ""
        // A new task is new as a whole, and a move is told by its two paths.
        let told = item.change == .new || item.change == .deleted ? [] : item.fields.filter { $0 != .path }
        let reason = item.reason.map { ": " + printable($0) } ?? ""
        return "\(label) \(from)\(paths(item.path))\(fields(told))\(reason)"
    }

    static func conflict(_ item: ConflictItem, _ paths: PathDisplay) -> String {
        paths(item.path) + fields(item.fields)
    }

    static func refused(_ item: RefusedItem, _ paths: PathDisplay) -> String {
        "\(paths(item.path))\(fields(item.fields)): \(printable(item.message)) [\(printable(item.code))]"
    }

    static func problem(_ item: ProblemItem, _ paths: PathDisplay) -> String {
        paths(item.path) + (item.line.map { ":\($0)" } ?? "") + ": " + printable(item.problem)
    }

    /// The notice, and below it the way back.
    static func notice(_ notice: Notice, _ paths: PathDisplay, now: Instant) -> [String] {
        let path = notice.path.isEmpty ? "" : paths(notice.path) + ": "
        let when = now - notice.time < 5 ? "" : " (\(phrase(notice.time, now: now)))"
        return ["\(path)\(printable(notice.text))\(when)"] + (notice.undo.map { ["  undo: \(printable($0))"] } ?? [])
    }
}

extension String {
    /// With blanks behind it, up to `width` characters.
    func padding(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
}
