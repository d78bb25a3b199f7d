@preconcurrency import Dispatch

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Signals to this process.
public enum Signals {
    /// Returns when somebody asks the process to end (SIGINT, SIGTERM), which it doesn't by itself any more.
    public static func untilAskedToEnd() async {
        let numbers = [SIGINT, SIGTERM]
        let asked = AsyncStream<Void> { continuation in
            let sources = numbers.map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { continuation.yield() }
                source.resume()
                return source
            }
            continuation.onTermination = { _ in for source in sources { source.cancel() } }
        }
        for await _ in asked { break }
    }
}
