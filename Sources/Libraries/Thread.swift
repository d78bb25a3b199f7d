#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Runs `body` on a thread of its own, which nobody waits for. False where the system gives none.
func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    let box = Unmanaged.passRetained(ThreadBody(run: body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    #if canImport(Darwin)
        var thread: pthread_t?
        let code = pthread_create(&thread, &attributes, { start($0) }, box.toOpaque())
    #else
        var thread = pthread_t()
        let code = pthread_create(&thread, &attributes, { start($0!) }, box.toOpaque())
    #endif
    if code != 0 { box.release() }
    return code == 0
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) { self.run = run }
}

private func start(_ body: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().run()
    return nil
}

/// Work on a thread of its own, whose result is waited for.
///
/// ```swift
/// let listing = Parallel { list(folder) }
/// let known = read(journal)
/// compare(listing.wait(), known)
/// ```
public final class Parallel<Result: Sendable>: Sendable {
    private let work: Work<Result>
    private let hasThread: Bool

    /// Begins at once.
    public init(_ body: @escaping @Sendable () -> Result) {
        let work = Work(body)
        self.work = work
        hasThread = startThread { work.run() }
    }

    /// The result, once it is there. Where the system gave no thread, the work is done now.
    public func wait() -> Result {
        if !hasThread { work.run() }
        return work.wait()
    }
}

private final class Work<Result: Sendable>: @unchecked Sendable {
    private let body: @Sendable () -> Result
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Read and written under the mutex.
    private var result: Result?

    init(_ body: @escaping @Sendable () -> Result) {
        self.body = body
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func run() {
        let result = body()
        pthread_mutex_lock(mutex)
        self.result = result
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    func wait() -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result { return result }
            pthread_cond_wait(condition, mutex)
        }
    }
}
