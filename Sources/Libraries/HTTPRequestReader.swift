/// A request that an HTTP server can't take: the answer it gets, after which the connection closes.
struct HTTPRefusal: Error, Equatable {
    let status: Int
    let reason: String
}

/// Reads the requests of one connection out of its bytes (HTTP/1.1, RFC 9112). What can be read in two ways is
/// refused, so that no other server on the way can have read it differently.
struct HTTPRequestReader {
    let limits: HTTPServer.Limits

    enum Step {
        /// More bytes are needed.
        case incomplete
        /// The client waits for `100 Continue` before it sends the body.
        case awaitsContinue
        /// A whole request; whether the connection may take another one.
        case request(HTTPServer.Request, keepsAlive: Bool)
    }

    /// Bytes that arrived and belong to no body.
    private var pending: [UInt8] = []
    /// How far the end of the head was looked for.
    private var searched = 0
    private var head: Head?
    private var body: [UInt8] = []

    private struct Head {
        var request: HTTPServer.Request
        var keepsAlive: Bool
        var length = 0
        var awaitsContinue = false
    }

    init(limits: HTTPServer.Limits) { self.limits = limits }

    /// Whether a request has begun and is not yet complete.
    var isWithinRequest: Bool { head != nil || !pending.isEmpty }
    /// Whether it is the head that is not yet complete.
    var isWithinHead: Bool { head == nil && !pending.isEmpty }

    mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        guard let head else {
            pending.append(contentsOf: bytes)
            return
        }
        let missing = min(head.length - body.count, bytes.count)
        body.append(contentsOf: bytes.prefix(missing))
        pending.append(contentsOf: bytes.dropFirst(missing))
    }

    /// The next thing to do about what was fed. Nothing more can be read after a refusal.
    mutating func next() throws(HTTPRefusal) -> Step {
        if head == nil {
            guard let lines = try takeHead() else { return .incomplete }
            let head = try parse(lines)
            self.head = head
            body.reserveCapacity(min(head.length, 1 << 20))
            let here = min(head.length, pending.count)
            body.append(contentsOf: pending.prefix(here))
            pending.removeFirst(here)
        }
        guard var head else { return .incomplete }
        if body.count < head.length {
            guard head.awaitsContinue else { return .incomplete }
            self.head?.awaitsContinue = false
            return .awaitsContinue
        }
        head.request.body = body
        self.head = nil
        body = []
        return .request(head.request, keepsAlive: head.keepsAlive)
    }

    /// The lines of a head that is complete, without their ends.
    private mutating func takeHead() throws(HTTPRefusal) -> [ArraySlice<UInt8>]? {
        // An empty line before a request is skipped (RFC 9112, section 2.2).
        if searched == 0 { pending.removeFirst(pending.prefix { $0 == .cr || $0 == .lf }.count) }
        var end: Int?
        while end == nil, let feed = pending[searched...].firstIndex(of: .lf) {
            let next = pending[(feed + 1)...].prefix(2)
            if next.first == .lf {
                end = feed + 2
            } else if next.first == .cr, next.count == 2 {
                if next.last == .lf { end = feed + 3 } else { throw .malformed("a carriage return stands alone") }
            } else if next.isEmpty || (next.first == .cr && next.count == 1) {
                searched = feed
                break
            }
            if end == nil { searched = feed + 1 }
        }
        guard let end else {
            if pending[searched...].firstIndex(of: .lf) == nil { searched = pending.count }
            if pending.count > limits.head { throw tooLarge() }
            return nil
        }
        if end > limits.head { throw tooLarge() }
        let lines = pending[..<end].split(separator: .lf).map { $0.last == .cr ? $0.dropLast() : $0 }
        pending.removeFirst(end)
        searched = 0
        return lines.filter { !$0.isEmpty }
    }

    private func tooLarge() -> HTTPRefusal {
        pending.contains(.lf)
            ? HTTPRefusal(status: 431, reason: "the headers are too large")
            : HTTPRefusal(status: 414, reason: "the request line is too long")
    }

    private func parse(_ lines: [ArraySlice<UInt8>]) throws(HTTPRefusal) -> Head {
        guard let first = lines.first else { throw .malformed("there is no request line") }
        var (head, isOlder) = try requestLine(first)
        var connection: [Substring] = []
        var length: Int?
        for line in lines.dropFirst() {
            let (name, value) = try header(line)
            switch name {
            case "transfer-encoding":
                throw HTTPRefusal(status: 411, reason: "a body needs a content-length; chunks are not taken")
            case "content-length":
                guard !value.isEmpty, value.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int(value),
                    length == nil || length == number
                else { throw .malformed("the content-length is no single number") }
                length = number
            case "host":
                if head.request.headers["host"] != nil { throw .malformed("there are two hosts") }
            case "expect":
                guard value.lowercased() == "100-continue" else {
                    throw HTTPRefusal(status: 417, reason: "this expectation can't be met")
                }
                head.awaitsContinue = !isOlder
            case "connection":
                connection += value.lowercased().split(separator: ",").map { $0.trimmed }
            default: break
            }
            let before = head.request.headers[name]
            head.request.headers[name] = before.map { name == "content-length" ? $0 : $0 + ", " + value } ?? value
        }
        if !isOlder, head.request.headers["host"] == nil { throw .malformed("there is no host") }
        head.length = length ?? 0
        if head.length > limits.body {
            throw HTTPRefusal(status: 413, reason: "the body is larger than \(limits.body) bytes")
        }
        head.keepsAlive = isOlder ? connection.contains("keep-alive") : !connection.contains("close")
        return head
    }

    private func requestLine(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> (Head, isOlder: Bool) {
        let words = line.split(separator: .blank, omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(\.isTokenByte) else {
            throw .malformed("the request line is not a method, a target and a version")
        }
        guard words[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .malformed("there is a control character in the target")
        }
        let version = String(decoding: words[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            guard version.hasPrefix("HTTP/") else { throw .malformed("this is not HTTP") }
            throw HTTPRefusal(status: 505, reason: "only HTTP/1.1 is spoken here")
        }
        var target = String(decoding: words[1], as: UTF8.self)[...]
        // The absolute form, which proxies are sent, is taken as well (RFC 9112, section 3.2.2).
        if target.lowercased().hasPrefix("http://") {
            let rest = target.dropFirst(7)
            target = rest.firstIndex(where: { $0 == "/" || $0 == "?" }).map { rest[$0...] } ?? "/"
            if target.first == "?" { target = "/" + target }
        }
        let method = String(decoding: words[0], as: UTF8.self)
        guard target.first == "/" || (target == "*" && method == "OPTIONS") else {
            throw .malformed("the target is no path")
        }
        let request = HTTPServer.Request(method: method, target: String(target), headers: [:], body: [])
        return (Head(request: request, keepsAlive: true), version == "HTTP/1.0")
    }

    private func header(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(\.isTokenByte)
        else { throw .malformed("a header is not a name, a colon and a value") }
        let value = line[(colon + 1)...]
        guard value.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
            throw .malformed("there is a control character in a header")
        }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        return (name, String(String(decoding: value, as: UTF8.self)[...].trimmed))
    }
}

extension HTTPRefusal {
    fileprivate static func malformed(_ reason: String) -> HTTPRefusal { HTTPRefusal(status: 400, reason: reason) }
}

extension Substring {
    /// Without blanks and tabs at both ends.
    fileprivate var trimmed: Substring {
        var rest = drop { $0 == " " || $0 == "\t" }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return rest
    }
}

extension UInt8 {
    fileprivate static let cr = UInt8(ascii: "\r")
    fileprivate static let lf = UInt8(ascii: "\n")
    fileprivate static let blank = UInt8(ascii: " ")

    /// A byte of a method or of a header's name (RFC 9110, section 5.6.2).
    fileprivate var isTokenByte: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
