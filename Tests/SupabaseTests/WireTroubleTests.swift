import Libraries
import Model
import Testing

@testable import Supabase

/// What a server answers to one request, on the wire.
enum Reply: Sendable {
    /// The bytes of an answer; the connection goes on.
    case bytes([UInt8])
    /// These, and then the connection is cut.
    case cut(after: [UInt8])
    case silence

    init(_ answer: Answer) {
        switch answer {
        case .success(let response):
            var lines = response.headers.map { "\($0.key): \($0.value)\r\n" }.sorted()
            if response.status != 204 { lines.append("content-length: \(response.body.count)\r\n") }
            self = .bytes(Array("HTTP/1.1 \(response.status) X\r\n\(lines.joined())\r\n".utf8) + response.body)
        case .failure: self = .cut(after: [])
        }
    }
}

/// Requests that came to a server, and the replies that are left. A request beyond them is answered `null`.
final class WireScript: Sendable {
    private let state: Mutex<(replies: [Reply], requests: [String])>

    init(_ replies: [Reply]) { state = Mutex((replies, [])) }

    var requests: [String] { state.withLock { $0.requests } }

    /// `POST /path`, of each.
    var targets: [String] { requests.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } }

    var bodies: [Substring] { requests.map { $0[($0.firstRange(of: "\r\n\r\n")?.upperBound ?? $0.endIndex)...] } }

    /// Answers the requests of a connection.
    func serve(_ connection: RawServer.Connection) {
        while let request = connection.request() {
            let reply = state.withLock { state in
                state.requests.append(request)
                return state.replies.isEmpty ? Reply(.status(200, .null)) : state.replies.removeFirst()
            }
            switch reply {
            case .bytes(let bytes): connection.write(bytes)
            case .cut(let bytes): return connection.write(bytes)
            case .silence: return connection.waitForEnd()
            }
        }
    }
}

/// The table of network trouble, over a real socket.
struct WireTroubleTests {
    /// Runs `body` with the client of a scene whose requests go to a server that replies so.
    private static func with(
        _ replies: [Reply], lasting: Int64 = 3_600, limits: HTTPClient.Limits = HTTPClient.Limits(),
        _ body: (Scene, SyncService, WireScript) async throws -> Void
    ) async throws {
        let script = WireScript(replies)
        let server = try RawServer { script.serve($0) }
        let transport = try HTTPTransportTests.transport(server.url, limits: limits)
        try await Scene.with([], lasting: lasting) { scene in
            let timing = scene.clock.timing
            let keeper = SessionKeeper(
                account: Scene.user, project: scene.project, store: scene.store,
                auth: Auth(project: scene.project, transport: transport, timing: timing), timing: timing)
            let service = SyncService(
                project: scene.project, sessions: keeper, transport: transport, timing: timing)
            try await body(scene, service, script)
        }
    }

    private static func failure(_ service: SyncService) async -> ServiceError? {
        do throws(ServiceError) {
            _ = try await service.pullChanges(since: 0)
            return nil
        } catch {
            return error
        }
    }

    static let answers: [[Answer]] = [
        [.page()], [.code(401, "PGRST303", "JWT expired"), .session("new"), .page()],
        [.code(401, "PGRST303"), .session("new"), .code(401, "PGRST301", "JWSError")],
        [.code(401, "PGRST303"), .code(400, "refresh_token_not_found", "gone")],
        [.status(401, ["message": "Invalid API key"])], [.code(401, "42501")],
        [.code(403, "42501", "row-level security")],
        [.code(400, "OT003", "no profile")], [.code(404, "PGRST202", "no function")], [.code(404, "42P01")],
        [.status(408), .page()], [.status(425), .page()], [.status(429), .page()], [.status(500), .page()],
        [.text(503, "<html>busy</html>"), .page()], [.status(544), .page()], [.status(540)],
        [.code(500, "57014"), .page()], [.code(500, "P0002")], [.code(413, "413", "too large")],
        [.status(429, headers: ["retry-after": "3"]), .page()],
        [.status(503, headers: ["retry-after": "Fri, 15 Jan 2027 08:00:07 GMT"]), .page()],
        [.status(503, headers: ["retry-after": "120"])], Array(repeating: .status(503), count: 6),
        [.failure(.cut), .failure(.cut), .page()], Array(repeating: .failure(.cut), count: 6),
        [.text(200, "<!doctype html><title>Sign in</title>")], [.text(200, #"{"rows":[],"next":0"#)],
        [.text(200, "")], [.text(200, #"{"rows":7}"#, type: "application/json")], [.status(204)],
        [.status(302, headers: ["location": "/sign-in"])], [.page(Scene.other)],
    ]

    @Test(arguments: answers.indices)
    func `an answer over a socket means what it means in the process`(index: Int) async throws {
        let answers = Self.answers[index]
        var expected: (error: ServiceError?, waits: [Double], targets: [String], kept: Text?)?
        try await Scene.with(answers) { scene in
            let error = await scene.pullFailure()
            let targets = await scene.transport.requests.map { "\($0.method) \($0.target)" }
            expected = (error, scene.clock.waits, targets, scene.kept)
        }
        let wanted = try #require(expected)
        try await Self.with(answers.map { Reply($0) }) { scene, service, script in
            #expect(await Self.failure(service) == wanted.error)
            #expect(scene.clock.waits == wanted.waits)
            #expect(script.targets == wanted.targets)
            #expect(scene.kept == wanted.kept)
        }
    }

    @Test func `Retry-After is honoured, in seconds and as a date`() async throws {
        for value in ["3", "Fri, 15 Jan 2027 08:00:03 GMT"] {
            let busy = Reply(.status(429, headers: ["retry-after": value]))
            try await Self.with([busy, Reply(.page())]) { scene, service, _ in
                #expect(scene.clock.time == Instant(seconds: 1_800_000_000))
                #expect(await Self.failure(service) == nil)
                #expect(scene.clock.waits == [3.5])
            }
        }
    }

    static let halves: [[UInt8]] = {
        guard case .bytes(let page) = Reply(.page()) else { return [] }
        let head = (page.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? 0)
        return [0, 5, head - 2, head, head + 1, page.count - 1].map { Array(page[..<$0]) }
    }()

    @Test(arguments: halves.indices)
    func `wherever an answer is cut, it is asked for again, the same bytes`(index: Int) async throws {
        try await Self.with([.cut(after: Self.halves[index]), Reply(.page())]) { scene, service, script in
            #expect(await Self.failure(service) == nil)
            #expect(scene.clock.waits == [0.5])
            #expect(script.requests.count == 2)
            #expect(Set(script.bodies).count == 1)
        }
    }

    @Test func `a batch whose answer was lost is sent again with the same change ids`() async throws {
        let answer: JSON = [
            [
                "change_id": .string(Scene.change(1).changeID.text), "status": "applied", "code": nil, "message": nil,
                "row": nil,
            ]
        ]
        try await Self.with([.cut(after: []), Reply(.status(200, answer))]) { _, service, script in
            let result = await service.push([Scene.change(1)])
            #expect(result.stopped == nil)
            #expect(script.bodies.count == 2)
            #expect(script.bodies.first == script.bodies.last)
            #expect(script.bodies.first?.contains(Scene.change(1).changeID.description) == true)
        }
    }

    @Test func `a batch that nobody answers stays unanswered, and is neither applied nor refused`() async throws {
        try await Self.with([.silence], limits: HTTPTransportTests.quick) { scene, service, script in
            let result = await service.push([Scene.change(1), Scene.change(2)])
            #expect(result.outcomes == [.unanswered, .unanswered])
            #expect(result.stopped == .unreachable("the server didn't answer in time"))
            #expect(script.requests.count == 1)
            #expect(scene.kept == "refresh-old")
        }
    }

    @Test func `a redirect takes no token along, elsewhere or on the same host`() async throws {
        let elsewhere = try RawServer { $0.waitForEnd() }
        let other = "http://127.0.0.1:\(elsewhere.port)"
        for (location, words) in [
            (
                "http://user:secret@127.0.0.1:\(elsewhere.port)/sign-in?token=secret",
                "a redirect to \(other), which is not followed"
            ),
            ("/sign-in?token=secret", "a redirect (status 307), which is not followed"),
        ] {
            let reply = Reply(.status(307, headers: ["location": location]))
            try await Self.with([reply]) { scene, service, script in
                #expect(await Self.failure(service) == .garbled(words))
                #expect(script.requests.count == 1)
                #expect(scene.kept == "refresh-old")
            }
        }
        #expect(elsewhere.accepted == 0)
    }

    @Test func `twenty with a token that ran out refresh it once`() async throws {
        let refreshes = Mutex(0)
        let server = try RawServer { connection in
            while let request = connection.request() {
                guard request.hasPrefix("POST /auth/v1/token?grant_type=refresh_token") else { return }
                let isFirst = refreshes.withLock {
                    $0 += 1
                    return $0 == 1
                }
                let answer: Answer =
                    isFirst && request.contains("refresh-old")
                    ? .session("new") : .code(400, "refresh_token_already_used")
                guard case .bytes(let bytes) = Reply(answer) else { return }
                connection.write(bytes)
            }
        }
        try await Scene.with([], lasting: 0) { scene in
            let project = scene.project
            let directory = scene.directory
            let start = scene.clock.time
            let tokens = try await withThrowingTaskGroup(of: Text.self) { group in
                for _ in 0..<20 {
                    // Each has a store and connections of its own, as a process has.
                    let transport = try HTTPTransportTests.transport(server.url)
                    group.addTask {
                        let timing = Timing(now: { start }, wait: { _ in await Task.yield() }, random: { 0.5 })
                        let keeper = SessionKeeper(
                            account: Scene.user, project: project, store: SessionStore(directory: directory),
                            auth: Auth(project: project, transport: transport, timing: timing), timing: timing)
                        return try await keeper.current().refreshToken
                    }
                }
                return try await group.reduce(into: [Text]()) { $0.append($1) }
            }
            #expect(tokens == Array(repeating: "refresh-new", count: 20))
            #expect(refreshes.withLock { $0 } == 1)
            #expect(scene.kept == "refresh-new")
        }
    }
}
