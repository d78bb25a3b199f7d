import Model

/// Moments as PostgreSQL keeps them: microseconds since 1970, UTC. Dates follow the Gregorian calendar.
enum Timestamp {
    /// `2026-11-30T10:00:00.12+00:00`: no fraction for a whole second, no zeros at its end (PostgREST).
    static func rest(_ microseconds: Int64) -> String { text(microseconds) + "+00:00" }

    /// The same with `Z`, as GoTrue writes it.
    static func auth(_ microseconds: Int64) -> String { text(microseconds) + "Z" }

    private static func text(_ microseconds: Int64) -> String {
        let second: Int64 = 1_000_000
        let seconds = floorDivide(microseconds, second)
        let fraction = microseconds - seconds * second
        let days = floorDivide(seconds, 86_400)
        let clock = seconds - days * 86_400
        let date = civil(days)
        var out = "\(pad(date.year, 4))-\(pad(date.month, 2))-\(pad(date.day, 2))"
        out += "T\(pad(clock / 3600, 2)):\(pad(clock / 60 % 60, 2)):\(pad(clock % 60, 2))"
        if fraction > 0 {
            var digits = pad(fraction, 6)
            while digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
            out += "." + digits
        }
        return out
    }

    /// Reads `2026-11-30T10:00:00.123456Z`, also with a blank for `T`, an offset (`+01:00`, `+0100`, `+01`), without
    /// seconds, or a bare date. Digits past the sixth are rounded. Nil for any other text.
    static func parse(_ text: String) -> Int64? {
        var reader = Reader(bytes: Array(text.utf8)[...])
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), (1...12).contains(month),
            reader.take("-"), let day = reader.number(2), (1...31).contains(day)
        else { return nil }
        let days = days(year: year, month: month, day: day)
        guard civil(days) == (year, month, day) else { return nil }
        var seconds = days * 86_400
        var fraction: Int64 = 0
        if reader.take("T") || reader.take("t") || reader.take(" ") {
            guard let hour = reader.number(2), hour <= 24, reader.take(":"), let minute = reader.number(2), minute < 60
            else { return nil }
            seconds += hour * 3600 + minute * 60
            if reader.take(":") {
                guard let second = reader.number(2), second <= 60 else { return nil }
                seconds += second
                if reader.take(".") {
                    guard let digits = reader.fraction() else { return nil }
                    fraction = digits
                }
            }
        }
        guard let offset = reader.offset(), reader.bytes.isEmpty else { return nil }
        return (seconds - offset) * 1_000_000 + fraction
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard bytes.first == UInt8(ascii: character) else { return false }
            bytes.removeFirst()
            return true
        }

        mutating func number(_ digits: Int) -> Int64? {
            let part = bytes.prefix(digits)
            guard part.count == digits, part.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            bytes.removeFirst(digits)
            return part.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        mutating func fraction() -> Int64? {
            let digits = Array(bytes.prefix { (0x30...0x39).contains($0) })
            guard !digits.isEmpty else { return nil }
            bytes.removeFirst(digits.count)
            let padded = digits + [UInt8](repeating: 0x30, count: max(0, 7 - digits.count))
            let value = padded.prefix(6).reduce(0) { $0 * 10 + Int64($1 - 0x30) }
            return padded[6] >= 0x35 ? value + 1 : value
        }

        mutating func offset() -> Int64? {
            if take("Z") || take("z") || bytes.isEmpty { return 0 }
            let sign: Int64 = take("+") ? 1 : take("-") ? -1 : 0
            guard sign != 0, let hours = number(2) else { return nil }
            _ = take(":")
            let minutes = bytes.isEmpty ? 0 : number(2)
            return minutes.map { sign * (hours * 3600 + $0 * 60) }
        }
    }

    // Both ways between days since 1970 and a date: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".

    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = floorDivide(year, 400)
        let yearOfEra = year - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear - 719_468
    }

    private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 { a >= 0 ? a / b : -((b - 1 - a) / b) }

    private static func pad(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

extension Instant {
    /// Microseconds since 1970, what is finer cut off.
    var microseconds: Int64 { nanoseconds / 1000 }
}
