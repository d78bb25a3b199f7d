import History
import Model
import Sync

/// What the commands about the past print for people.
enum HistoryText {
    /// An operation a line, its files below it where there are few.
    static func log(
        _ entries: [(operation: History.Operation, changes: [FileChange])], now: Instant, style: Style
    ) -> String {
        entries.map { operation, _ in
            let entry = operation.entry
            let by = entry.background ? "by itself" : ""
            let facts = [command(entry), by, phrase(entry.time, now: now)].filter { !$0.isEmpty }.joined(
                separator: ", ")
            return "\(style.yellow(operation.revision.short.string))  \(printable(operation.summary))  "
                + style.dim("(\(facts))") + "\n"
        }.joined()
    }

    private static func command(_ entry: HistoryEntry) -> String {
        switch entry.kind {
        case .found: "found by \(printable(entry.command))"
        case .command: printable(entry.command)
        case .server: "written by \(printable(entry.command))"
        case .begin: "begun"
        }
    }

    static func undo(_ report: UndoReport, _ paths: PathDisplay, now: Instant, isPlan: Bool, style: Style) -> String {
        let operation = report.operation
        var lines = [
            (isPlan ? "would take back " : "took back ") + style.yellow(operation.revision.short.string) + ": "
                + printable(operation.summary) + style.dim(" (\(phrase(operation.entry.time, now: now)))")
        ]
        if report.steps.isEmpty { lines.append("  nothing is left of it to take back") }
        for step in report.steps {
            let path = paths(step.path)
            switch step.action {
            case .write: lines.append("  edited back  \(path)")
            case .lay: lines.append("  brought back \(path)")
            case .move: lines.append("  moved back   \(path)" + (step.to.map { " -> " + paths($0) } ?? ""))
            case .remove: lines.append("  removed      \(path)")
            case .clash:
                let what = step.fields.isEmpty ? "it" : step.fields.map { ItemText.name($0) }.joined(separator: ", ")
                lines.append(
                    style.red("  left as it is") + " \(path): \(what) was changed since; \"otask show "
                        + "\(shellQuoted(step.path))@\(operation.parent?.short ?? "")\" shows what it was")
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    static func origins(_ origins: [FieldOrigin], now: Instant, style: Style) -> String {
        let width = origins.map { ItemText.name($0.field).count }.max() ?? 0
        return origins.map { origin in
            var facts: [String] = []
            if let at = origin.at { facts.append(phrase(at, now: now)) }
            if origin.isOriginal {
                facts.append("when the task was made")
            } else {
                facts.append(origin.device.map { "on \(printable($0))" } ?? "by another app")
            }
            if origin.isWaiting { facts.append("not sent yet") }
            if let operation = origin.operation {
                facts.append("here in \(operation.revision.short) (\(command(operation.entry)))")
            }
            return style.bold(ListText.column(ItemText.name(origin.field), width)) + "  "
                + facts.joined(separator: ", ")
                + "\n"
        }.joined()
    }

    static func size(_ size: History.Size, now: Instant) -> String {
        let since = size.since.map { ", the oldest \(phrase($0, now: now))" } ?? ""
        return "\nHistory: \(counted(size.operations, "operation"))\(since), \(amount(size.bytes)) in .otask/history"
    }

    private static func amount(_ bytes: Int64) -> String {
        let units = ["bytes", "KB", "MB", "GB"]
        var (value, unit) = (Double(bytes), 0)
        while value >= 1_000, unit < units.count - 1 { (value, unit) = (value / 1_000, unit + 1) }
        return unit == 0 ? "\(bytes) bytes" : "\((value * 10).rounded() / 10) \(units[unit])"
    }

    static func deleted(_ tasks: [DeletedTask], _ paths: PathDisplay, now: Instant, style: Style) -> String {
        let width = min(tasks.map { printable($0.title).count }.max() ?? 0, 48)
        return tasks.map { task in
            let when = task.deletedAt.map { "deleted " + phrase($0, now: now) } ?? ""
            return "\(task.done ? "[x]" : "[ ]") \(ListText.column(printable(task.title), width))  "
                + style.dim(paths(task.path)) + "  \(when)  \(task.id.description.prefix(8))\n"
        }.joined()
    }
}

/// The documents of `--json` about the past.
enum HistoryJSON {
    static func log(_ entries: [(operation: History.Operation, changes: [FileChange])]) -> JSON {
        ["format": 1, "operations": .array(entries.map { operation($0.operation, $0.changes) })]
    }

    private static func operation(_ operation: History.Operation, _ changes: [FileChange]) -> JSON {
        let entry = operation.entry
        return [
            "rev": .string(operation.revision.text), "time": ReportJSON.time(entry.time),
            "kind": .string(Text(entry.kind.rawValue)), "command": .string(entry.command),
            "background": .bool(entry.background), "device": .string(entry.device),
            "undoes": entry.undoes.map { .string($0.text) } ?? .null, "summary": .string(operation.summary),
            "paths": .array(changes.map { .string($0.path) }),
            "changes": .array(changes.map { change($0.kind, $0.path, $0.oldPath, $0.id) }),
        ]
    }

    private static func change(_ kind: FileChange.Kind, _ path: Text, _ from: Text?, _ id: ItemID?) -> JSON {
        [
            "change": .string(Text(kind.rawValue)), "path": .string(path), "from": from.map { .string($0) } ?? .null,
            "id": id.map { .string($0.text) } ?? .null,
        ]
    }

    static func undo(_ reports: [UndoReport], isPlan: Bool) -> JSON {
        [
            "format": 1, "ok": .bool(reports.allSatisfy { $0.clashes.isEmpty }), "dry_run": .bool(isPlan),
            "undone": .array(
                reports.map { report in
                    [
                        "rev": .string(report.operation.revision.text), "summary": .string(report.operation.summary),
                        "state": report.revision.map { .string($0.text) } ?? .null,
                        "deletions": .integer(report.deletions),
                        "steps": .array(
                            report.steps.map { step in
                                [
                                    "action": .string(Text(step.action.rawValue)), "path": .string(step.path),
                                    "to": step.to.map { .string($0) } ?? .null,
                                    "id": step.id.map { .string($0.text) } ?? .null,
                                    "fields": .array(step.fields.map { .string($0.name) }),
                                ]
                            }),
                    ]
                }),
        ]
    }

    static func origins(_ origins: [FieldOrigin], of task: TaskSummary) -> JSON {
        [
            "format": 1, "id": task.id.map { .string($0.text) } ?? .null, "path": .string(task.path),
            "fields": .array(
                origins.map { origin in
                    [
                        "field": .string(origin.field.name), "at": origin.at.map(ReportJSON.time) ?? .null,
                        "device": origin.device.map { .string($0) } ?? .null,
                        "original": .bool(origin.isOriginal), "waiting": .bool(origin.isWaiting),
                        "rev": origin.operation.map { .string($0.revision.text) } ?? .null,
                        "command": origin.operation.map { .string($0.entry.command) } ?? .null,
                    ]
                }),
        ]
    }

    static func differences(_ files: [FileDifference]) -> JSON {
        func text(_ bytes: [UInt8]?) -> JSON {
            bytes.map { .string(Text(String(decoding: $0, as: UTF8.self))) } ?? .null
        }
        return [
            "format": 1,
            "files": .array(
                files.map { file in
                    [
                        "change": .string(Text(file.kind.rawValue)), "path": .string(file.path),
                        "from": file.oldPath.map { .string($0) } ?? .null,
                        "id": file.id.map { .string($0.text) } ?? .null,
                        "old": text(file.old), "new": text(file.new),
                    ]
                }),
        ]
    }

    static func deleted(_ tasks: [DeletedTask]) -> JSON {
        [
            "format": 1,
            "tasks": .array(
                tasks.map { task in
                    [
                        "id": .string(task.id.text), "path": .string(task.path), "title": .string(task.title),
                        "done": .bool(task.done), "deleted_at": task.deletedAt.map(ReportJSON.time) ?? .null,
                    ]
                }),
        ]
    }
}
