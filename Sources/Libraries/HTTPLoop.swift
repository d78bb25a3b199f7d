import CCurl

/// The thread on which the transfers of one client run.
final class HTTPLoop: Sendable {
    /// What is shared with the thread.
    private struct State: Sendable {
        var arrived: [HTTPTransfer] = []
        var cancelled: [HTTPTransfer] = []
        var isStopping = false
        /// Cleared by the thread before the handle goes.
        var multi: Multi?
    }

    /// libcurl's handle of many transfers; of its calls only the wake-up may come from another thread.
    private struct Multi: @unchecked Sendable {
        let handle: UnsafeMutableRawPointer
    }

    /// Connections to one server at a time; what goes beyond waits. With HTTP/2 one carries a hundred requests.
    private static let connections = 8

    private let state = Mutex(State())
    /// Milliseconds after which the transfers are looked at again though nothing happened.
    private let pause: CInt

    init(limits: HTTPClient.Limits) throws(HTTPClientError) {
        if let problem = otask_curl_load() {
            throw .unreachable("no requests can be sent: \(String(cString: problem))")
        }
        guard let handle = otask_curl_multi_init() else { throw .unreachable("no memory for requests") }
        otask_curl_multi_set_number(handle, CURLMOPT_MAX_HOST_CONNECTIONS, Self.connections)
        pause = CInt(max(10, min(limits.stalling, limits.waiting, 4_000) / 4))
        let multi = Multi(handle: handle)
        state.withLock { $0.multi = multi }
        // The thread holds the loop, which ends when its client does.
        guard startThread({ [self] in run(multi) }) else {
            otask_curl_multi_cleanup(handle)
            throw .unreachable("no thread can be started for requests")
        }
    }

    func add(_ transfer: HTTPTransfer) {
        let isLate = change {
            if $0.isStopping || transfer.isCancelled { return true }
            $0.arrived.append(transfer)
            return false
        }
        if isLate { transfer.end(.failure(.cancelled)) }
    }

    /// May come before `add`.
    func cancel(_ transfer: HTTPTransfer) {
        change {
            transfer.isCancelled = true
            $0.cancelled.append(transfer)
        }
    }

    func stop() { change { $0.isStopping = true } }

    private func change<Value: Sendable>(_ body: (inout sending State) -> sending Value) -> Value {
        state.withLock { state in
            let value = body(&state)
            if let multi = state.multi { otask_curl_multi_wakeup(multi.handle) }
            return value
        }
    }

    // MARK: On the thread

    private func run(_ multi: Multi) {
        var running: [ObjectIdentifier: HTTPTransfer] = [:]
        func end(_ transfer: HTTPTransfer, _ outcome: HTTPTransfer.Outcome) {
            guard running.removeValue(forKey: ObjectIdentifier(transfer)) != nil else { return }
            otask_curl_multi_remove_handle(multi.handle, transfer.easy)
            transfer.end(outcome)
        }
        while true {
            let (arrived, cancelled, isStopping) = state.withLock { state in
                defer { (state.arrived, state.cancelled) = ([], []) }
                return (state.arrived, state.cancelled, state.isStopping)
            }
            for transfer in arrived {
                running[ObjectIdentifier(transfer)] = transfer
                if otask_curl_multi_add_handle(multi.handle, transfer.easy) != CURLM_OK {
                    end(transfer, .failure(.unreachable("no memory for a request")))
                }
            }
            for transfer in isStopping ? Array(running.values) : cancelled { end(transfer, .failure(.cancelled)) }
            if isStopping { break }

            var count: CInt = 0
            otask_curl_multi_perform(multi.handle, &count)
            var code = CURLE_OK
            while let easy = otask_curl_multi_ended(multi.handle, &code) {
                let transfer = HTTPTransfer.of(easy: easy)
                end(transfer, transfer.outcome(code))
            }
            let now = ContinuousClock.now
            for transfer in running.values {
                if let failure = transfer.tooSlow(at: now) { end(transfer, .failure(failure)) }
            }
            otask_curl_multi_poll(multi.handle, running.isEmpty ? 60_000 : pause)
        }
        state.withLock { $0.multi = nil }
        otask_curl_multi_cleanup(multi.handle)
    }
}
