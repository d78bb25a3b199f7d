import Model
import Sync

/// The documents of `--json`. Their keys are stable: new ones may come, none changes its meaning.
enum ReportJSON {
    static func status(_ report: StatusReport) -> JSON {
        var members = lists(report.waiting, report.conflicts, report.refused, report.problems)
        members["format"] = 1
        members["workspace"] = .string(report.workspace)
        members["account"] = report.account.map(account) ?? .null
        members["connection"] = .string(Text(report.connection.rawValue))
        members["syncing"] =
            report.syncing.map { ["since": time($0.since), "command": .string($0.command)] } ?? .null
        members["last_error"] = report.lastError.map { .string($0.text) } ?? .null
        members["last_pull"] = report.lastPull.map(time) ?? .null
        members["last_push"] = report.lastPush.map(time) ?? .null
        members["counts"] = [
            "tasks": .integer(report.counts.tasks), "open": .integer(report.counts.open),
            "done": .integer(report.counts.done), "photos": .integer(report.counts.photos),
        ]
        members["notices"] = .array(report.notices.map(notice))
        return .object(members)
    }

    /// What `pull`, `push` and `sync` did; with a `plan` where nothing was done yet.
    static func run(_ report: RunReport, isPlan: Bool) -> JSON {
        var members = lists(nil, report.conflicts, report.refused, report.problems)
        members["format"] = 1
        members["ok"] = .bool(RunText.exitCode(report) == .done)
        members["error"] = report.failure.map { .string($0.text) } ?? .null
        members["guarded"] =
            report.guarded.map {
                [
                    "count": .integer($0.count), "on_server": .integer($0.onServer), "here": .integer($0.here),
                    "went_back_in_time": .integer($0.wentBackInTime),
                ]
            } ?? .null
        members["sent"] = tally(report.sent)
        members["received"] = tally(report.received)
        members["requests"] = .integer(report.requests)
        members["bytes_up"] = .integer(report.bytesUp)
        members["bytes_down"] = .integer(report.bytesDown)
        members["seconds"] = .number(Text(rounded(report.seconds)))
        if isPlan { members["plan"] = .array(report.plan.map(step)) }
        return .object(members)
    }

    static func list(_ tasks: [TaskSummary], asOf: Instant?) -> JSON {
        [
            "format": 1, "source": "files", "as_of": asOf.map(time) ?? .null,
            "tasks": .array(tasks.map { .object(summary($0)) }),
        ]
    }

    /// One task with all that it says.
    static func task(_ task: TaskSummary) -> JSON {
        var members = summary(task)
        members["format"] = 1
        members["notes"] = .string(task.notes)
        members["properties"] = .object(task.properties)
        return .object(members)
    }

    static func sides(_ sides: [FieldSides], of task: TaskSummary) -> JSON {
        let fields = sides.map { side -> JSON in
            [
                "field": .string(side.field.name), "base": side.base ?? .null, "mine": side.mine ?? .null,
                "theirs": side.theirs ?? .null,
            ]
        }
        return ["format": 1, "id": id(task.id), "path": .string(task.path), "fields": .array(fields)]
    }

    /// What waits and what was refused (`changes list`).
    static func changes(_ report: StatusReport) -> JSON {
        let all = lists(report.waiting, report.conflicts, report.refused, report.problems)
        return ["format": 1, "waiting": all["waiting"] ?? [], "refused": all["refused"] ?? []]
    }

    static func notices(_ notices: [Notice]) -> JSON { ["format": 1, "notices": .array(notices.map(notice))] }

    static func time(_ moment: Instant) -> JSON { .string(Text(moment.rfc3339)) }

    private static func lists(
        _ waiting: [WaitingItem]?, _ conflicts: [ConflictItem], _ refused: [RefusedItem], _ problems: [ProblemItem]
    ) -> [Text: JSON] {
        var members: [Text: JSON] = [:]
        members["waiting"] = waiting.map { .array($0.map(waitingItem)) }
        members["conflicts"] = .array(
            conflicts.map { .object(item($0.id, $0.path, ["fields": fields($0.fields)])) })
        members["refused"] = .array(
            refused.map {
                .object(
                    item(
                        $0.id, $0.path,
                        [
                            "fields": fields($0.fields), "code": .string($0.code), "message": .string($0.message),
                            "since": time($0.since),
                        ]))
            })
        members["problems"] = .array(
            problems.map {
                .object(
                    item(
                        $0.id, $0.path,
                        ["problem": .string($0.problem), "line": $0.line.map { .integer($0) } ?? .null]))
            })
        return members
    }

    private static func waitingItem(_ waiting: WaitingItem) -> JSON {
        .object(
            item(
                waiting.id, waiting.path,
                [
                    "change": .string(Text(waiting.change.rawValue)), "fields": fields(waiting.fields),
                    "state": .string(Text(waiting.state.rawValue)), "from": waiting.from.map { .string($0) } ?? .null,
                    "reason": waiting.reason.map { .string($0) } ?? .null,
                ]))
    }

    private static func item(_ item: ItemID?, _ path: Text, _ more: [Text: JSON]) -> [Text: JSON] {
        more.merging(["kind": "task", "id": id(item), "path": .string(path)]) { $1 }
    }

    private static func summary(_ task: TaskSummary) -> [Text: JSON] {
        [
            "id": id(task.id), "path": .string(task.path), "title": .string(task.title), "done": .bool(task.done),
            "photos": .integer(task.photos), "waiting": .bool(task.waiting), "updated_at": time(task.updated),
        ]
    }

    private static func step(_ line: PlanLine) -> JSON {
        [
            "action": .string(Text(line.action.rawValue)), "kind": "task", "path": .string(line.path),
            "fields": fields(line.fields), "to": line.to.map { .string($0) } ?? .null,
        ]
    }

    private static func notice(_ notice: Notice) -> JSON {
        [
            "time": time(notice.time), "path": .string(notice.path), "text": .string(notice.text),
            "undo": notice.undo.map { .string($0) } ?? .null,
        ]
    }

    private static func tally(_ tally: Tally) -> JSON {
        [
            "tasks": .integer(tally.tasks), "photos": .integer(tally.photos), "profiles": .integer(tally.profiles),
            "deleted": .integer(tally.deleted),
        ]
    }

    private static func account(_ account: AccountInfo) -> JSON {
        [
            "user_id": id(account.userID), "email": account.email.map { .string($0) } ?? .null,
            "anonymous": .bool(account.isAnonymous),
        ]
    }

    private static func fields(_ fields: [Field]) -> JSON { .array(fields.sorted().map { .string($0.name) }) }

    private static func id(_ id: ItemID?) -> JSON { id.map { .string($0.text) } ?? .null }

    /// Seconds with three decimals.
    private static func rounded(_ seconds: Double) -> String {
        let thousandths = Int((seconds * 1_000).rounded())
        let rest = String(thousandths % 1_000)
        return "\(thousandths / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
