import Model

/// One request on its way through the server, with what the server knows at that moment.
struct Call {
    let request: HTTPRequest
    let query: Query
    /// Microseconds since 1970, as the database counts.
    let now: Int64
    let random: RandomSource
    let tokensExpired: Bool

    /// The token in `authorization`; nil where there is none.
    var bearer: String? {
        guard let header = request.headers["authorization"] else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    /// What the gateway answers a request without the right key; the server does not see it then.
    func refusedByGateway(publishableKey: String) -> HTTPResponse? {
        guard let key = request.headers["apikey"] ?? query["apikey"] else {
            return .json(
                401,
                [
                    "message": "No API key found in request",
                    "hint": "No `apikey` request header or url param was found.",
                ])
        }
        guard key == publishableKey else {
            return .json(
                401,
                [
                    "message": "Invalid API key",
                    "hint": "Double check your Supabase `anon` or `service_role` API key.",
                ])
        }
        return nil
    }
}

/// Random numbers from a function that is passed in.
struct RandomSource: RandomNumberGenerator, Sendable {
    let draw: @Sendable () -> UInt64

    func next() -> UInt64 { draw() }

    func newID() -> String {
        var source = self
        return ItemID(using: &source).description
    }

    func bytes(_ count: Int) -> [UInt8] {
        var source = self
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &source) }
    }

    /// `count` characters of `a-z0-9`, as GoTrue makes its refresh tokens.
    func letters(_ count: Int) -> String {
        var source = self
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<count).map { _ in alphabet.randomElement(using: &source)! })
    }
}

/// The path and the parameters of a request's target, decoded.
struct Query {
    let path: String
    /// In the order of the request; one name may come several times.
    let parameters: [(name: String, value: String)]

    init(target: String) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = Query.decode(parts.first ?? "")
        let pairs = parts.count > 1 ? parts[1].split(separator: "&") : []
        parameters = pairs.map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Query.decode(sides[0], form: true), sides.count > 1 ? Query.decode(sides[1], form: true) : "")
        }
    }

    subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The components of the path after `prefix`; nil where it stands elsewhere.
    func path(below prefix: String) -> [String]? {
        guard path == prefix || path.hasPrefix(prefix + "/") else { return nil }
        return path.dropFirst(prefix.count).split(separator: "/").map(String.init)
    }

    /// Percent-decoded; with `form` a `+` is a blank.
    private static func decode(_ text: some StringProtocol, form: Bool = false) -> String {
        var out: [UInt8] = []
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            if byte == UInt8(ascii: "%"), bytes.count >= 2,
                let value = UInt8(String(decoding: bytes.prefix(2), as: UTF8.self), radix: 16)
            {
                out.append(value)
                bytes.removeFirst(2)
            } else {
                out.append(form && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Percent-encoded: everything but letters, digits and `-._~`.
    static func encode(_ text: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        let hex = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte in
            plain.contains(byte) ? [byte] : [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPResponse {
    static func json(_ status: Int, _ body: JSON, headers: [String: String] = [:]) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers, body: body.serialized)
        response.headers["content-type"] = "application/json"
        return response
    }
}
