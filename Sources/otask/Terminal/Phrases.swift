import Model

/// `one task`, `3 tasks`
func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(number) \(number == 1 ? one : many ?? one + "s")"
}

/// A moment as people say it, seen from `now`: `just now`, `3 minutes ago`, `in 20 seconds`; further off than two
/// weeks, its day (UTC).
func phrase(_ moment: Instant, now: Instant) -> String {
    let seconds = now - moment
    let length = abs(seconds)
    if length >= 14 * 86_400 { return "on " + moment.rfc3339.prefix(10) }
    if length < 5 { return "just now" }
    let amount =
        switch length {
        case ..<60: counted(Int(length), "second")
        case ..<3_600: counted(Int(length / 60), "minute")
        case ..<86_400: counted(Int(length / 3_600), "hour")
        default: counted(Int(length / 86_400), "day")
        }
    return seconds < 0 ? "in " + amount : amount + " ago"
}

/// Paths of a workspace as someone in a directory types them: from there where that is shorter, else absolute.
struct PathDisplay: Sendable {
    /// The workspace, absolute.
    let root: Text
    /// The working directory, absolute.
    let directory: Text

    /// `path` is relative to the workspace.
    func callAsFunction(_ path: Text) -> String {
        printable(path.hasPrefix("/") ? shortest(path) : shortest(root.appending(path)))
    }

    /// An absolute path.
    func shortest(_ absolute: Text) -> Text {
        let from = directory.components.filter { !$0.isEmpty }
        let to = absolute.components.filter { !$0.isEmpty }
        let common = zip(from, to).prefix { $0 == $1 }.count
        let steps = Array(repeating: Text(".."), count: from.count - common) + to.dropFirst(common)
        guard let first = steps.first else { return "." }
        let relative = steps.dropFirst().reduce(first) { $0.appending($1) }
        return relative.utf8.count <= absolute.utf8.count ? relative : absolute
    }
}
