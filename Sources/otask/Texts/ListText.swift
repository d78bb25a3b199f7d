import Libraries
import Model
import Sync

/// `otask list` and `otask show` for people.
enum ListText {
    /// Where the rows came from and when, and what the mark means where one is there.
    static func header(_ tasks: [TaskSummary], asOf: Instant?, now: Instant) -> String {
        let source = asOf.map { "last synced " + phrase($0, now: now) } ?? "never synced"
        let waiting = tasks.count(where: \.waiting)
        let marks = waiting == 0 ? "" : "; * marks \(waiting) whose change hasn't reached the server"
        return counted(tasks.count, "task") + " from the files here, " + source + marks
    }

    /// A task a line: mark, box, title, path, age; titles cut to what `width` leaves (nil: never).
    static func rows(_ tasks: [TaskSummary], paths: PathDisplay, now: Instant, width: Int?, style: Style) -> String {
        let rows = tasks.map { task in
            let photos = task.photos == 0 ? "" : "  " + counted(task.photos, "photo")
            return (task: task, title: printable(task.title), path: paths(task.path), photos: photos)
        }
        let pathWidth = min(rows.map { UnicodeText.displayWidth($0.path) }.max() ?? 0, 48)
        let room = width.map { max($0 - pathWidth - 26, 16) } ?? .max
        let titleWidth = min(rows.map { UnicodeText.displayWidth($0.title) }.max() ?? 0, room)
        return rows.map { row in
            let mark = row.task.waiting ? style.yellow("*") : " "
            let box = row.task.done ? style.green("[x]") : "[ ]"
            let title = column(row.title, titleWidth)
            let path = style.dim(column(row.path, pathWidth, cut: false))
            return "\(mark) \(box) \(title)  \(path)  \(phrase(row.task.updated, now: now))\(row.photos)\n"
        }.joined()
    }

    /// One task as a whole.
    static func task(_ task: TaskSummary, paths: PathDisplay, now: Instant, style: Style) -> String {
        var facts = [
            ("path", paths(task.path)), ("id", task.id?.description ?? "none yet"), ("done", task.done ? "yes" : "no"),
        ]
        facts.append(("changed", phrase(task.updated, now: now) + (task.waiting ? ", not sent yet" : "")))
        if task.photos > 0 { facts.append(("photos", String(task.photos))) }
        for key in task.properties.keys.sorted() {
            facts.append((printable(key), task.properties[key].map(ValueText.line) ?? ""))
        }
        let width = facts.map { UnicodeText.displayWidth($0.0) }.max() ?? 0
        var text = style.bold(printable(task.title)) + "\n\n"
        text += facts.map { style.dim(column($0.0, width)) + "  " + $0.1 + "\n" }.joined()
        if !task.notes.isEmpty { text += "\n" + printableLines(task.notes) + "\n" }
        return text
    }

    /// `text` in a column of so many terminal columns, cut with `…` where it is wider.
    static func column(_ text: String, _ width: Int, cut: Bool = true) -> String {
        let own = UnicodeText.displayWidth(text)
        if own <= width { return text + String(repeating: " ", count: width - own) }
        guard cut else { return text }
        var kept = ""
        var used = 0
        for character in text {
            let next = UnicodeText.displayWidth(String(character))
            if used + next > width - 1 { break }
            kept.append(character)
            used += next
        }
        return kept + "…" + String(repeating: " ", count: max(0, width - used - 1))
    }
}

/// Values of fields for people.
enum ValueText {
    /// A value on one line.
    static func line(_ value: JSON) -> String {
        switch value {
        case .string(let text): printable(text)
        case .array(let values) where values.allSatisfy({ $0.array == nil && $0.object == nil }):
            values.map(line).joined(separator: ", ")
        case .null: "(empty)"
        default: printable(value.serializedText)
        }
    }

    /// A side of a field: a value, or that there is none.
    static func side(_ value: JSON?) -> String { value.map(line) ?? "(none)" }
}
