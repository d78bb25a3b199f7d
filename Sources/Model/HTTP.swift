/// A request of HTTP, the same value whether it travels or stays in the process.
public struct HTTPRequest: Sendable, Equatable {
    /// Upper case: `GET`, `POST`, `PATCH`, `DELETE`, …
    public var method: String
    /// The path and query as they stand on the wire, percent-encoded: `/rest/v1/tasks?id=eq.…`.
    public var target: String
    /// Names in lower case.
    public var headers: [String: String]
    public var body: [UInt8]

    public init(method: String, target: String, headers: [String: String] = [:], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }
}

/// An answer of HTTP.
public struct HTTPResponse: Sendable, Equatable {
    public var status: Int
    /// Names in lower case.
    public var headers: [String: String]
    public var body: [UInt8]

    public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
