import Model

/// Something that goes wrong with one request.
public enum Fault: Sendable {
    /// The connection is cut before the server sees the request.
    case dropBefore
    /// The request is carried out, and its answer never arrives.
    case dropAfter
    /// The request waits for this before it is carried out.
    case hold(@Sendable () async -> Void)
    /// The gateway answers this; the server never sees the request.
    case answer(HTTPResponse)
    /// The request is carried out; this many bytes of the answer's body arrive (`content-length` tells of all).
    case truncate(to: Int)
    /// The server takes the request's access token for expired.
    case expireToken

    var expiresToken: Bool { if case .expireToken = self { true } else { false } }

    /// A gateway's answer of this status, with a body that is no JSON.
    public static func status(_ status: Int, retryAfter seconds: Int? = nil) -> Fault {
        var headers = ["content-type": "text/html"]
        if let seconds { headers["retry-after"] = String(seconds) }
        return .answer(HTTPResponse(status: status, headers: headers, body: Array("<html></html>".utf8)))
    }
}

/// The connection went away before an answer arrived; whether the request was carried out can't be known.
public struct ConnectionLost: Error, Equatable, CustomStringConvertible {
    public init() {}
    public var description: String { "the connection was lost" }
}

/// The faults that are still to happen.
struct FaultPlan {
    private struct Entry {
        let fault: Fault
        var skipping: Int
        var times: Int
        let matches: @Sendable (HTTPRequest) -> Bool
    }

    private var entries: [Entry] = []

    mutating func add(
        _ fault: Fault, skipping: Int, times: Int, on matches: @escaping @Sendable (HTTPRequest) -> Bool
    ) {
        entries.append(Entry(fault: fault, skipping: skipping, times: times, matches: matches))
    }

    /// The fault of this request: the first that chooses it. Those before it that still let requests through count it.
    mutating func next(for request: HTTPRequest) -> Fault? {
        for index in entries.indices where entries[index].times > 0 && entries[index].matches(request) {
            if entries[index].skipping > 0 {
                entries[index].skipping -= 1
                continue
            }
            entries[index].times -= 1
            return entries[index].fault
        }
        return nil
    }
}
