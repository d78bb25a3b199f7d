#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An HTTP/1.1 server without TLS, for this machine: it hands each request to a handler and writes its answer.
///
/// ```swift
/// let server = try HTTPServer(port: 0) { request in HTTPServer.Response(status: 200, body: request.body) }
/// print("listening on port \(server.port)")
/// await server.stop()
/// ```
///
/// One thread serves all sockets. Requests are read here: libwebsockets decodes and folds a path before anybody sees it,
/// and a filter needs its `%2B`.
public final class HTTPServer: Sendable {
    public struct Request: Sendable, Equatable {
        public var method: String
        /// As it stands on the wire: path and query, percent-encoded.
        public var target: String
        /// Names in lower case; several of one name are joined by commas.
        public var headers: [String: String]
        public var body: [UInt8]
    }

    /// An answer. Without a `content-length` it gets one; where that promises more than the body has, the connection
    /// is cut after the body.
    public struct Response: Sendable, Equatable {
        public var status: Int
        public var headers: [String: String]
        public var body: [UInt8]

        public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    /// What clients may do.
    public struct Limits: Sendable {
        /// Bytes of a request's first line and headers.
        public var head = 64 << 10
        /// Bytes of a body.
        public var body = 64 << 20
        /// Connections at once; further ones are closed.
        public var connections = 1000
        /// Seconds that a connection may rest, that a head may take, and that may pass between two pieces of a body.
        public var patience = 60.0

        public init() {}
    }

    /// Answers a request; throwing cuts the connection without an answer.
    public typealias Handler = @Sendable (Request) async throws -> Response

    /// The port it listens on.
    public let port: Int
    private let mailbox: HTTPServerMailbox

    /// Listens on `port` of `address` (IPv4 or IPv6, numeric); port 0 takes a free one. Throws `SystemError` where it
    /// can't; `isInUse` tells of a port that another program listens on.
    public init(
        address: String = "127.0.0.1", port: Int = 0, limits: Limits = Limits(), handler: @escaping Handler
    ) throws(SystemError) {
        let socket = try ListeningSocket(address: address, port: port)
        self.port = socket.port
        let mailbox = HTTPServerMailbox()
        let loop = try HTTPServerLoop(socket: socket, limits: limits, mailbox: mailbox, handler: handler)
        self.mailbox = mailbox
        // The loop lives on its thread alone.
        guard startThread({ loop.run() }) else {
            throw SystemError(code: EAGAIN, path: "the HTTP server", call: "pthread_create")
        }
    }

    deinit { mailbox.askToStop() }

    /// Takes no further connection, lets answers that are under way end for up to a second, and closes. Returns when
    /// all is closed; again, it does nothing.
    public func stop() async {
        mailbox.askToStop()
        await mailbox.untilStopped()
    }
}

/// What other threads say to the one that serves.
final class HTTPServerMailbox: Sendable {
    struct Answer: Sendable {
        let connection: UInt64
        /// nil: the connection is to be cut.
        let response: HTTPServer.Response?
    }

    private struct State {
        var answers: [Answer] = []
        var isStopping = false
        var hasStopped = false
        var wake: (@Sendable () -> Void)?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// `wake` is called, until `close`, when something arrives.
    func open(wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    /// Nothing is woken any more.
    func close() { state.withLock { $0.wake = nil } }

    func post(_ answer: Answer) {
        state.withLock {
            $0.answers.append(answer)
            $0.wake?()
        }
    }

    func askToStop() {
        state.withLock {
            $0.isStopping = true
            $0.wake?()
        }
    }

    func take() -> (answers: [Answer], isStopping: Bool) {
        state.withLock { state in
            defer { state.answers = [] }
            return (state.answers, state.isStopping)
        }
    }

    func hasStopped() {
        let waiting = state.withLock { state in
            state.hasStopped = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func untilStopped() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock {
                if !$0.hasStopped { $0.waiting.append(continuation) }
                return $0.hasStopped
            }
            if isOver { continuation.resume() }
        }
    }
}
