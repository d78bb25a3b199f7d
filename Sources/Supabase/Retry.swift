import Model

/// How passing failures are repeated: up to five times in 60 seconds, each after a random share of a span that doubles
/// (full jitter: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
struct Retry: Sendable {
    static let maximumRepeats = 5
    /// Seconds from the first request after which none is repeated.
    static let budget = 60.0

    let timing: Timing

    /// What one try came to.
    enum Attempt<Value: Sendable, Failure: Error>: Sendable {
        case done(Value)
        /// The failure, and for how many seconds the server asked to be left alone.
        case passing(Failure, after: Double?)
    }

    /// Tries until it is done, fails for good, or the tries are used up: then the last failure is thrown.
    func run<Value, Failure>(
        _ attempt: () async throws(Failure) -> Attempt<Value, Failure>
    ) async throws(Failure) -> Value {
        let start = timing.now()
        var repeats = 0
        while true {
            switch try await attempt() {
            case .done(let value): return value
            case .passing(let failure, let after):
                let left = Self.budget - (timing.now() - start)
                guard repeats < Self.maximumRepeats,
                    let seconds = Self.delay(repeats: repeats, after: after, left: left, random: timing.random())
                else { throw failure }
                await timing.wait(seconds)
                if Task.isCancelled { throw failure }
                repeats += 1
            }
        }
    }

    /// Seconds to wait before the next try, of the `left` ones; nil where the server asks for more than is left.
    /// `random` is from 0 up to 1. The jitter comes on top of what the server asks for, so that devices that were
    /// sent away together don't come back together.
    static func delay(repeats: Int, after: Double?, left: Double, random: Double) -> Double? {
        let asked = max(after ?? 0, 0)
        guard asked <= left else { return nil }
        let span = Double(1 << min(repeats, 4))
        return min(asked + span * random, left)
    }

    /// Seconds of a `Retry-After` header, a number or a date (RFC 9110, section 10.2.3); nil for another text.
    static func seconds(retryAfter text: String, now: Instant) -> Double? {
        if let seconds = Int64(text), seconds >= 0, seconds < 1 << 31 { return Double(seconds) }
        guard let date = HTTPDate.seconds(text) else { return nil }
        return max(0, Instant(seconds: date) - now)
    }
}

/// A date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Seconds since 1970; nil for another text. The two obsolete forms are not read: no server sends them.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT", let day = Int64(parts[1]),
            let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
            (1970...9999).contains(year)
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard clock.count == 3, (1...31).contains(day), (0..<24).contains(clock[0]), (0..<60).contains(clock[1]),
            (0...60).contains(clock[2])
        else { return nil }
        return days(year, Int64(month) + 1, day) * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2]
    }

    /// Days from 1970-01-01 (http://howardhinnant.github.io/date_algorithms.html#days_from_civil, for years from 1970).
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
