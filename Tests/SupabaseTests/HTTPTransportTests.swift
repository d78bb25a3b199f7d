import Dispatch
import Libraries
import Model
import Testing

@testable import Supabase

/// What comes over a real socket, and what the client makes of it.
struct HTTPTransportTests {
    /// What a server does with a connection, and what comes of one request to it.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let serve: @Sendable (RawServer.Connection) -> Void
        let outcome: @Sendable (Result<HTTPResponse, TransportError>) -> Bool
        /// Whether it is about waiting.
        var isSlow = false
        /// Bytes of the request.
        var size = 2

        /// Answers each request with these bytes, then hangs up.
        init(
            _ description: String, answers bytes: [UInt8],
            _ outcome: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Bool
        ) {
            self.init(description, outcome) { connection in
                _ = connection.request()
                connection.write(bytes)
            }
        }

        init(
            _ description: String, _ outcome: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Bool,
            isSlow: Bool = false, size: Int = 2, _ serve: @escaping @Sendable (RawServer.Connection) -> Void
        ) {
            testDescription = description
            self.serve = serve
            self.outcome = outcome
            self.isSlow = isSlow
            self.size = size
        }
    }

    static func head(_ status: Int, _ headers: String...) -> [UInt8] {
        Array((["HTTP/1.1 \(status) X"] + headers).map { $0 + "\r\n" }.joined().utf8) + [13, 10]
    }

    static func isStatus(
        _ status: Int, _ body: String? = nil
    ) -> @Sendable (Result<HTTPResponse, TransportError>) -> Bool {
        { outcome in
            guard case .success(let answer) = outcome, answer.status == status else { return false }
            return body.map { Array($0.utf8) == answer.body } ?? true
        }
    }

    @Sendable static func isGarbled(_ outcome: Result<HTTPResponse, TransportError>) -> Bool {
        if case .failure(.garbled) = outcome { true } else { false }
    }

    @Sendable static func isUnreachable(_ outcome: Result<HTTPResponse, TransportError>) -> Bool {
        if case .failure(.unreachable) = outcome { true } else { false }
    }

    /// `{"a":1}` in gzip.
    private static let zipped: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xAB, 0x56, 0x4A, 0x54, 0xB2, 0x32, 0xAC, 0x05,
        0x00, 0xAF,
        0xAC, 0x1B, 0x56, 0x07, 0x00, 0x00, 0x00,
    ]

    static let cases: [Case] = [
        Case("a body with its length", answers: head(200, "Content-Length: 2") + Array("{}".utf8), isStatus(200, "{}")),
        Case(
            "a body in chunks",
            answers: head(200, "Transfer-Encoding: chunked") + Array("2\r\n{}\r\n0\r\n\r\n".utf8), isStatus(200, "{}")),
        Case(
            "HTTP/1.0, whose body ends with the connection", answers: Array("HTTP/1.0 200 OK\r\n\r\n{}".utf8),
            isStatus(200, "{}")),
        Case("no body", answers: head(204), isStatus(204, "")),
        Case(
            "an interim answer before the real one",
            answers: head(103, "X-Early: 1") + head(200, "Content-Length: 2") + Array("{}".utf8),
            { isStatus(200, "{}")($0) && (try? $0.get())?.headers["x-early"] == nil }),
        Case(
            "a compressed body",
            answers: head(200, "Content-Encoding: gzip", "Content-Length: \(zipped.count)") + zipped,
            isStatus(200, #"{"a":1}"#)),
        Case(
            "names in any case, and one that comes twice",
            answers: head(200, "X-A: 1", "x-a: 2", "Content-Length: 0"),
            { (try? $0.get())?.headers["x-a"] == "1, 2" }),
        Case(
            "HTML", answers: head(200, "Content-Type: text/html", "Content-Length: 6") + Array("<html>".utf8),
            isStatus(200, "<html>")),
        Case(
            "a redirect elsewhere is answered as it came",
            answers: head(302, "Location: http://127.0.0.1:1/", "Content-Length: 0"), isStatus(302)),
        Case("hung up without an answer", answers: [], { $0 == .failure(.cut) }),
        Case(
            "hung up in the headers", answers: Array("HTTP/1.1 200 OK\r\nContent-Le".utf8),
            { $0 == .failure(.cut) }),
        Case(
            "hung up in the body", answers: head(200, "Content-Length: 10") + Array("{}".utf8), { $0 == .failure(.cut) }
        ),
        Case(
            "hung up in a chunk", answers: head(200, "Transfer-Encoding: chunked") + Array("9\r\n{}".utf8),
            { $0 == .failure(.cut) }),
        Case("a reset", { $0 == .failure(.cut) }) { connection in
            _ = connection.request()
            connection.reset()
        },
        Case("says nothing", { $0 == .failure(.timedOut) }, isSlow: true) { $0.waitForEnd() },
        Case("trickles", { $0 == .failure(.cut) }, isSlow: true) { connection in
            _ = connection.request()
            connection.write(head(200, "Content-Length: 1000000"))
            // Fifty bytes a second, where a thousand are asked for.
            while connection.isOpen(for: 20) { connection.write(" ") }
        },
        Case("reads nothing of a large request", { $0 == .failure(.cut) }, isSlow: true, size: 32 << 20) {
            _ = $0.isOpen(for: 10_000)
        },
        Case("refuses before it read the request, and hangs up", isStatus(413), size: 32 << 20) { connection in
            connection.write(head(413, "Content-Length: 0", "Connection: close"))
        },
        Case(
            "headers over several lines, and headers after the body",
            answers: head(200, "X-A: 1,", "  2", "Transfer-Encoding: chunked")
                + Array("2\r\n{}\r\n0\r\nX-Late: 1\r\n\r\n".utf8),
            { outcome in
                let headers = (try? outcome.get())?.headers
                return headers?["x-a"] == "1, 2" && headers?["x-late"] == nil
            }),
        Case("a proxy that wants a password", answers: head(407, "Content-Length: 0"), isUnreachable),
        Case("stalls in the body", { $0 == .failure(.cut) }, isSlow: true) { connection in
            _ = connection.request()
            connection.write(head(200, "Content-Length: 10") + Array("{}".utf8))
            connection.waitForEnd()
        },
        Case("no HTTP at all", answers: Array("220 mail.example ESMTP\r\n".utf8), isGarbled),
        Case(
            "broken compression",
            answers: head(200, "Content-Encoding: gzip", "Content-Length: 4") + Array("{}{}".utf8), isGarbled),
        Case(
            "an answer beyond the limit",
            answers: head(200, "Content-Length: \(65 << 20)") + [UInt8](repeating: 32, count: 65 << 20),
            isGarbled),
        Case("headers without end", isGarbled) { connection in
            _ = connection.request()
            connection.write("HTTP/1.1 200 OK\r\n")
            for number in 0..<5_000 { connection.write("X-\(number): \(String(repeating: "x", count: 100))\r\n") }
        },
    ]

    /// Limits that are over in a moment: for servers that keep a client waiting.
    static var quick: HTTPClient.Limits {
        var limits = HTTPClient.Limits()
        limits.stalling = 300
        limits.waiting = 600
        return limits
    }

    static func transport(
        _ url: String, environment: [String: String] = [:], limits: HTTPClient.Limits = HTTPClient.Limits()
    ) throws -> HTTPTransport {
        HTTPTransport(
            project: try Project(url: Text(url), publishableKey: "sb_publishable_key"), agent: "otask/test",
            environment: environment, limits: limits)
    }

    static func outcome(_ transport: HTTPTransport, bytes: Int = 2) async -> Result<HTTPResponse, TransportError> {
        do throws(TransportError) {
            return .success(
                try await transport.send(
                    HTTPRequest(
                        method: "POST", target: "/rest/v1/rpc/x", body: [UInt8](repeating: 0x20, count: bytes))))
        } catch {
            return .failure(error)
        }
    }

    @Test(arguments: cases) func `what a server says is an answer, or the right kind of trouble`(_ of: Case)
        async throws
    {
        let server = try RawServer(of.serve)
        let limits = of.isSlow ? Self.quick : HTTPClient.Limits()
        let outcome = await Self.outcome(try Self.transport(server.url, limits: limits), bytes: of.size)
        #expect(of.outcome(outcome), "\(outcome)")
    }

    @Test func `a bomb is stopped at the limit`() async throws {
        // Blocks of a compressed stream that repeat one byte, 1,000 times as large when unpacked.
        let bomb = try #require(gzip(of: [UInt8](repeating: 0, count: 66 << 20)))
        let server = try RawServer { connection in
            _ = connection.request()
            connection.write(Self.head(200, "Content-Encoding: gzip", "Content-Length: \(bomb.count)") + bomb)
        }
        #expect(bomb.count < 1_000_000)
        #expect(Self.isGarbled(await Self.outcome(try Self.transport(server.url))))
    }

    @Test func `no such name, nobody there, and https where there is none are unreachable`() async throws {
        let gone = try RawServer { _ in }.url
        let plain = try RawServer { $0.write("HTTP/1.1 400 Bad Request\r\n\r\n") }
        for url in ["http://nobody.invalid", gone, "https://127.0.0.1:\(plain.port)"] {
            let outcome = await Self.outcome(try Self.transport(url))
            #expect(Self.isUnreachable(outcome), "\(url): \(outcome)")
        }
    }

    @Test func `a request is one whole: its length first, nothing held back, no type of its own`() async throws {
        let seen = Mutex<String?>(nil)
        let server = try RawServer { connection in
            let request = connection.request()
            seen.withLock { $0 = request }
            connection.write(Self.head(204))
        }
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 3 << 20)
        _ = try await Self.transport(server.url).send(
            HTTPRequest(
                method: "PATCH", target: "/rest/v1/../tasks//?title=eq.a%2Fb%2B..%2Fc",
                headers: ["apikey": "k", "content-type": "application/json"],
                body: body))
        let head = try #require(seen.withLock { $0 }).prefix(2_000).lowercased()
        #expect(head.hasPrefix("patch /rest/v1/../tasks//?title=eq.a%2fb%2b..%2fc http/1.1\r\n"))
        #expect(head.contains("\r\ncontent-length: \(body.count)\r\n"))
        #expect(head.contains("\r\nuser-agent: otask/test\r\n"))
        #expect(head.contains("\r\napikey: k\r\n"))
        for name in ["expect", "transfer-encoding", "x-www-form"] { #expect(!head.contains(name)) }
    }

    @Test func `requests that follow each other use one connection`() async throws {
        let server = try RawServer { connection in
            while connection.request() != nil {
                connection.write(Self.head(200, "Content-Length: 2") + Array("{}".utf8))
            }
        }
        let transport = try Self.transport(server.url)
        // Not among the other tests' tasks: libcurl gives a connection up that was idle for two minutes.
        await withTaskExecutorPreference(OwnThread()) {
            for _ in 0..<20 { #expect(Self.isStatus(200, "{}")(await Self.outcome(transport))) }
        }
        #expect(server.accepted == 1)
    }

    @Test func `a request that got through and was cut is not sent a second time`() async throws {
        let bodies = Mutex(0)
        let server = try RawServer { connection in
            while let request = connection.request() {
                if request.hasPrefix("POST") {
                    bodies.withLock { $0 += 1 }
                    return
                }
                connection.write(Self.head(200, "Content-Length: 0"))
            }
        }
        let transport = try Self.transport(server.url)
        // The connection has been used before: libcurl holds a cut one of these for stale.
        _ = try await transport.send(HTTPRequest(method: "GET", target: "/"))
        #expect(await Self.outcome(transport) == .failure(.cut))
        #expect(bodies.withLock { $0 } == 1)
    }

    @Test func `no request waits for another one's answer`() async throws {
        let together = Mutex(0)
        let server = try RawServer { connection in
            _ = connection.request()
            together.withLock { $0 += 1 }
            while together.withLock({ $0 < 3 }), connection.isOpen(for: 5) {}
            connection.write(Self.head(204))
        }
        let transport = try Self.transport(server.url)
        let right = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<3 { group.addTask { Self.isStatus(204)(await Self.outcome(transport)) } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(right == 3)
    }

    @Test func `two hundred requests side by side are all answered, each with its own`() async throws {
        let server = try RawServer { connection in
            while let request = connection.request() {
                let target = request.split(separator: " ")[1]
                connection.write(Self.head(200, "Content-Length: \(target.utf8.count)") + Array(target.utf8))
            }
        }
        let transport = try Self.transport(server.url)
        let right = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let answer = try? await transport.send(HTTPRequest(method: "GET", target: "/\(number)"))
                    return answer?.body == Array("/\(number)".utf8)
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(right == 200)
    }

    @Test func `a cancelled request ends at once, and the others go on`() async throws {
        let arrived = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            while let request = connection.request() {
                if request.hasPrefix("GET /hangs") {
                    arrived.continuation.yield()
                    return connection.waitForEnd()
                }
                connection.write(Self.head(200, "Content-Length: 0"))
            }
        }
        let transport = try Self.transport(server.url)
        let hanging = Task { try await transport.send(HTTPRequest(method: "GET", target: "/hangs")) }
        for await _ in arrived.stream { break }
        hanging.cancel()
        #expect(await hanging.result.isCut)
        #expect(try await transport.send(HTTPRequest(method: "GET", target: "/")).status == 200)
    }

    @Test func `a redirect takes no token along`() async throws {
        let elsewhere = try RawServer { $0.waitForEnd() }
        let location = "http://user:secret@127.0.0.1:\(elsewhere.port)/sign-in?token=secret"
        let server = try RawServer { connection in
            while connection.request() != nil {
                connection.write(Self.head(307, "Location: \(location)", "Content-Length: 0"))
            }
        }
        try await Scene.with([]) { scene in
            let service = SyncService(
                project: scene.project, sessions: scene.keeper, transport: try Self.transport(server.url),
                timing: scene.clock.timing)
            do throws(ServiceError) {
                _ = try await service.pullChanges(since: 0)
                Issue.record("a redirect was taken for an answer")
            } catch {
                #expect(error == .garbled("a redirect to http://127.0.0.1:\(elsewhere.port), which is not followed"))
                #expect(!"\(error)".contains("secret"))
            }
        }
        #expect(elsewhere.accepted == 0)
    }

    @Test func `a request that was cancelled before it began isn't sent`() async throws {
        let server = try RawServer { _ in }
        let transport = try Self.transport(server.url)
        // Many, since what comes first, the request or its end, is for the two threads to settle.
        for _ in 0..<500 {
            let cancelled = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await transport.send(HTTPRequest(method: "GET", target: "/"))
            }
            cancelled.cancel()
            try #require(await cancelled.result.isCut)
        }
        #expect(server.accepted == 0)
    }

    @Test func `with the transport its connections end`() async throws {
        let ended = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            _ = connection.request()
            connection.write(Self.head(200, "Content-Length: 0"))
            connection.waitForEnd()
            ended.continuation.yield()
        }
        #expect(Self.isStatus(200)(await Self.outcome(try Self.transport(server.url))))
        for await _ in ended.stream { break }
    }

    @Test func `a server may think for longer than a transfer may stall`() async throws {
        var limits = Self.quick
        limits.waiting = 600_000
        let thinking = AsyncStream<Void>.makeStream()
        let isOver = Mutex(false)
        let server = try RawServer { connection in
            let request = connection.request()
            if request?.hasPrefix("GET /stalls") == true {
                connection.write(Self.head(200, "Content-Length: 10"))
                return connection.waitForEnd()
            }
            thinking.continuation.yield()
            while !isOver.withLock({ $0 }), connection.isOpen(for: 10) {}
            connection.write(Self.head(204))
        }
        let transport = try Self.transport(server.url, limits: limits)
        async let answer = transport.send(HTTPRequest(method: "GET", target: "/thinks"))
        for await _ in thinking.stream { break }
        await #expect(throws: TransportError.cut) {
            try await transport.send(HTTPRequest(method: "GET", target: "/stalls"))
        }
        isOver.withLock { $0 = true }
        #expect(try await answer.status == 204)
    }

    @Test(arguments: ["/a b", "/a\r\nX-Evil: 1", "/a\0", "/\u{E9}"])
    func `a target that isn't encoded is not sent`(target: String) async throws {
        let server = try RawServer { _ in }
        let transport = try Self.transport(server.url)
        await #expect(throws: TransportError.self) {
            try await transport.send(HTTPRequest(method: "GET", target: target))
        }
        #expect(server.accepted == 0)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\n", "a\0b"])
    func `a header can't smuggle another one in, and what stands in it isn't told`(value: String) async throws {
        let server = try RawServer { _ in }
        let transport = try Self.transport(server.url)
        let request = HTTPRequest(method: "GET", target: "/", headers: ["authorization": "Bearer s3cret" + value])
        let result = await Task { try await transport.send(request) }.result
        guard case .failure(let error) = result else {
            Issue.record("it was sent")
            return
        }
        #expect(!"\(error)".contains("s3cret"))
        #expect(server.accepted == 0)
    }
}

extension Result where Success == HTTPResponse, Failure == any Error {
    fileprivate var isCut: Bool {
        if case .failure(let error) = self { error as? TransportError == .cut } else { false }
    }
}

/// `bytes`, all of one value, in gzip: stored as the machine's own `gzip` would, by hand, since no library here packs.
/// One DEFLATE block with fixed codes: the byte as a literal, then matches of 258 at distance 1 (RFC 1951, section 3.2.6).
private func gzip(of bytes: [UInt8]) -> [UInt8]? {
    guard let value = bytes.first, value < 144 else { return nil }
    var out: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
    var (pending, filled) = (UInt32(0), 0)
    func put(_ bit: Int) {
        pending |= UInt32(bit) << UInt32(filled)
        filled += 1
        if filled == 8 {
            out.append(UInt8(pending))
            (pending, filled) = (0, 0)
        }
    }
    /// Huffman codes are packed from their highest bit.
    func code(_ value: Int, _ bits: Int) { for bit in (0..<bits).reversed() { put(value >> bit & 1) } }
    put(1)
    put(1)
    put(0)
    code(0x30 + Int(value), 8)
    for _ in 0..<(bytes.count - 1) / 258 {
        code(0b1100_0101, 8)
        code(0, 5)
    }
    code(0, 7)
    while filled != 0 { put(0) }
    return out + [UInt8](repeating: 0, count: 8)
}

/// Runs what is given to it on a thread that it shares with nothing else.
private final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "one test")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
