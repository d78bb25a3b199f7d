/// Requests over HTTP by libcurl: HTTP/2 where TLS offers it, connections that are used again, compressed answers,
/// proxies.
///
/// No redirect is followed, no body is sent in chunks or held back by `Expect`, and nothing but http and https is spoken.
/// All requests run side by side on one thread, which ends with the client; requests still under way fail then.
///
/// ```swift
/// let client = try HTTPClient()
/// let answer = try await client.perform(HTTPClient.Request(method: "GET", url: "https://example.com/"))
/// ```
public final class HTTPClient: Sendable {
    public struct Request: Sendable {
        /// Upper case.
        public var method: String
        /// Absolute, percent-encoded.
        public var url: String
        public var headers: [(name: String, value: String)]
        public var body: [UInt8]

        public init(
            method: String, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []
        ) {
            self.method = method
            self.url = url
            self.headers = headers
            self.body = body
        }
    }

    public struct Response: Sendable {
        public var status: Int
        /// As they came, interim answers (1xx) left out.
        public var headers: [(name: String, value: String)]
        /// Decompressed.
        public var body: [UInt8]
    }

    /// How long a server may keep a client waiting, and how much it may send.
    public struct Limits: Sendable {
        /// Milliseconds until there is a connection, TLS included.
        public var connecting = 10_000
        /// A transfer that is slower than `bytesPerSecond` for so many milliseconds is cut. There is none on the whole.
        public var stalling = 30_000
        public var bytesPerSecond = 1_024
        /// Milliseconds from the end of a request to the first byte of its answer. A hosted project may take a minute.
        public var waiting = 61_000
        /// Bytes of an answer, decompressed.
        public var answer = 64 << 20
        /// Bytes of an answer's headers.
        public var headers = 256 << 10

        public init() {}
    }

    private let loop: HTTPLoop
    private let limits: Limits
    private let surroundings: HTTPSurroundings

    /// Throws where libcurl isn't there.
    public init(
        limits: Limits = Limits(), surroundings: HTTPSurroundings = HTTPSurroundings()
    ) throws(HTTPClientError) {
        self.limits = limits
        self.surroundings = surroundings
        loop = try HTTPLoop(limits: limits)
    }

    deinit { loop.stop() }

    /// Sends a request and waits for the whole answer. A cancelled task's request is dropped.
    public func perform(_ request: Request) async throws(HTTPClientError) -> Response {
        let transfer = try HTTPTransfer(request, limits: limits, surroundings: surroundings)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.whenEnded { continuation.resume(returning: $0) }
                loop.add(transfer)
            }
        } onCancel: {
            loop.cancel(transfer)
        }
        return try result.get()
    }
}

/// Why there is no answer. The words are for people, in lower case.
public enum HTTPClientError: Error, Hashable, CustomStringConvertible {
    /// Nothing reached the server: no such name, no route, refused, no trust in its certificate, no libcurl.
    case unreachable(String)
    /// The connection was lost while the request or the answer was under way: it may have been carried out.
    case cut(String)
    /// The server said nothing for too long.
    case timedOut
    /// What came is no HTTP, or more than a limit allows.
    case badAnswer(String)
    case cancelled

    public var description: String {
        switch self {
        case .unreachable(let reason), .cut(let reason), .badAnswer(let reason): reason
        case .timedOut: "the server didn't answer in time"
        case .cancelled: "cancelled"
        }
    }
}
