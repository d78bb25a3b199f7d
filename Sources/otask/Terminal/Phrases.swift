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

extension Instant {
    /// RFC 3339 in UTC, with milliseconds where there are any: `2026-11-30T10:00:00Z`.
    var rfc3339: String {
        let seconds = Int64((Double(nanoseconds) / 1e9).rounded(.down))
        let (day, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let days = second < 0 ? day - 1 : day
        let rest = Int(second < 0 ? second + 86_400 : second)
        let (year, month, dayOfMonth) = civil(days: Int(days))
        let milliseconds = Int((nanoseconds - seconds * 1_000_000_000) / 1_000_000)
        let fraction = milliseconds == 0 ? "" : "." + padded(milliseconds, 3)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
            + "T\(padded(rest / 3_600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))\(fraction)Z"
    }
}

private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// The date of a day counted from 1970-01-01 in the proleptic Gregorian calendar (H. Hinnant, `civil_from_days`).
private func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
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
