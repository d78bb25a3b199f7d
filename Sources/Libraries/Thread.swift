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
