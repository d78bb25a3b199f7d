import Model

/// What carries a request to one project and brings the answer: a network library, or a handler in this process.
public protocol Transport: Sendable {
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse
}

/// Why there is no answer.
public enum TransportError: Error, Hashable, CustomStringConvertible {
    /// No route, refused, no such name, no trust: for people, in lower case.
    case unreachable(String)
    /// The connection was lost while the request or the answer was under way: it may have been carried out.
    case cut
    /// The server didn't answer in time.
    case timedOut
    /// What came is no HTTP, or more than a client takes.
    case garbled(String)

    public var description: String {
        switch self {
        case .unreachable(let reason), .garbled(let reason): reason
        case .cut: "the connection was cut"
        case .timedOut: "the server didn't answer in time"
        }
    }
}

/// A server in this process.
public struct HandlerTransport: Transport {
    private let handler: @Sendable (HTTPRequest) async throws -> HTTPResponse

    /// A `TransportError` that the handler throws passes through; any other error is `unreachable`.
    public init(handler: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) { self.handler = handler }

    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        do {
            return try await handler(request)
        } catch let error as TransportError {
            throw error
        } catch {
            throw .unreachable("\(error)")
        }
    }
}

/// How much went over the wire.
public struct Traffic: Hashable, Sendable {
    /// Requests that were sent, repeated ones too.
    public var requests = 0
    /// Bytes of the bodies sent.
    public var bytesUp = 0
    /// Bytes of the bodies received.
    public var bytesDown = 0

    public init() {}
}

/// Counts what goes through another transport.
public actor MeteredTransport: Transport {
    private let base: any Transport
    public private(set) var traffic = Traffic()

    public init(_ base: any Transport) { self.base = base }

    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        traffic.requests += 1
        traffic.bytesUp += request.body.count
        let response = try await base.send(request)
        traffic.bytesDown += response.body.count
        return response
    }
}
