/// Tells whether a transfer goes on.
///
/// What was moved is weighed in spans: one ends when it has moved what is asked of its whole time, and the next begins.
/// While a server works on a request that it has whole, it may be silent for longer; that is a span of its own.
struct HTTPPace: Sendable {
    enum Verdict: Sendable {
        case goesOn
        /// Too slow while bytes should have moved.
        case stalled
        /// The request went out, and nothing came.
        case unanswered
    }

    /// Where a transfer stands.
    struct Progress: Sendable {
        /// Bytes on the wire, both ways.
        var moved: Int
        /// The request is with the server, and not a byte of the answer came.
        var isWaiting: Bool
    }

    private let limits: HTTPClient.Limits
    private var start: ContinuousClock.Instant?
    private var before = 0
    private var isWaiting = false

    init(limits: HTTPClient.Limits) { self.limits = limits }

    /// Comes again and again from when there is a connection on; the time before is libcurl's to limit.
    mutating func weigh(_ progress: Progress, at now: ContinuousClock.Instant) -> Verdict {
        let enough = limits.bytesPerSecond * limits.stalling / 1_000
        guard let start, progress.isWaiting == isWaiting, progress.moved - before < enough else {
            self.start = now
            before = progress.moved
            isWaiting = progress.isWaiting
            return .goesOn
        }
        let passed = now - start
        if progress.isWaiting { return passed < .milliseconds(limits.waiting) ? .goesOn : .unanswered }
        return passed < .milliseconds(limits.stalling) ? .goesOn : .stalled
    }
}
