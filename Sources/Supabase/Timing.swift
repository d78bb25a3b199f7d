import Model

/// Time and chance, passed in.
public struct Timing: Sendable {
    public var now: @Sendable () -> Instant
    /// Waits for so many seconds; comes back earlier when the task is cancelled.
    public var wait: @Sendable (_ seconds: Double) async -> Void
    /// A number from 0 up to, but not including, 1.
    public var random: @Sendable () -> Double

    public init(
        now: @escaping @Sendable () -> Instant, wait: @escaping @Sendable (_ seconds: Double) async -> Void,
        random: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.wait = wait
        self.random = random
    }

    /// `now` is the caller's clock; waiting and chance are the system's.
    public init(now: @escaping @Sendable () -> Instant) {
        self.init(
            now: now, wait: { seconds in try? await Task.sleep(for: .seconds(seconds)) },
            random: { Double.random(in: 0..<1) })
    }
}
