/// A moment as the server writes it (RFC 3339): compared as an instant, whatever offset and fraction it is written with.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Whole seconds since 1970-01-01T00:00:00Z.
    public let seconds: Int64
    /// 0 ..< 1,000,000,000.
    public let nanoseconds: Int64

    /// Reads `2026-11-30T10:00:00.123456+00:00`: 0 to 9 digits of a fraction, `Z` or an offset, `T` or a blank between
    /// date and time. Nil for any other text.
    public init?(_ text: Text) {
        var reader = TimestampReader(bytes: text.bytes)
        guard let year = reader.number(digits: 4), reader.take("-"),
            let month = reader.number(digits: 2), reader.take("-"),
            let day = reader.number(digits: 2), reader.take("T") || reader.take("t") || reader.take(" "),
            let hour = reader.number(digits: 2), reader.take(":"),
            let minute = reader.number(digits: 2), reader.take(":"),
            let second = reader.number(digits: 2),
            let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd,
            // 60 is a leap second; it counts as the first second of the next minute.
            (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day), hour < 24, minute < 60,
            second < 61
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month, day: day)
        seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        nanoseconds = fraction
    }

    public static func < (a: Timestamp, b: Timestamp) -> Bool {
        (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
    }

    /// The same moment; nil outside of the years 1678 to 2261, which is what 64 bits of nanoseconds hold.
    public var instant: Instant? {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = product.addingReportingOverflow(nanoseconds)
        return overflow || carry ? nil : Instant(nanoseconds: sum)
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counts in years that begin in March, so that the leap day is the last of its year.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

private struct TimestampReader {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func digit() -> Int64? {
        guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
        position += 1
        return Int64(bytes[position - 1] - 0x30)
    }

    mutating func number(digits: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// Nanoseconds; 0 where there is no fraction.
    mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        var value: Int64 = 0
        var count = 0
        while let digit = digit() {
            value = value * 10 + digit
            count += 1
            if count > 9 { return nil }
        }
        if count == 0 { return nil }
        for _ in count..<9 { value *= 10 }
        return value
    }

    /// Seconds east of UTC. PostgreSQL leaves out minutes that are zero where it isn't asked for JSON (`+00`).
    mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = number(digits: 2), hours < 24 else { return nil }
        if isAtEnd { return sign * hours * 3600 }
        guard take(":"), let minutes = number(digits: 2), minutes < 60 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
