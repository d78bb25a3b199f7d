#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A value that one thread at a time may touch. The standard library's mutex would do; the thread sanitizer can't see into
/// that one, and would take every use of it for a race.
public final class Mutex<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// Read and written under the mutex.
    private var value: Value

    public init(_ value: sending Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Calls with the value, once no other thread has it.
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
