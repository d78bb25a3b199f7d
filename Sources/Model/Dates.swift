extension Instant {
    /// The year, and the quarter of it (1 to 4), in UTC.
    public var quarter: (year: Int, number: Int) {
        let (year, month, _) = civil(days: Int((Double(nanoseconds) / 86_400e9).rounded(.down)))
        return (year, (month + 2) / 3)
    }

    /// RFC 3339 in UTC, with milliseconds where there are any: `2026-11-30T10:00:00Z`.
    public var rfc3339: String {
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
