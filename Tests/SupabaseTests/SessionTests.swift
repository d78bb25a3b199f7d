import Model
import Testing

@testable import Supabase

struct SessionTests {
    @Test func `no description or dump of a session shows a token`() async throws {
        try await Scene.with([]) { scene in
            let session = scene.session("secret", lasting: 10)
            var dumped = ""
            dump(session, to: &dumped)
            for text in [
                "\(session)", String(reflecting: session), dumped, "\(Optional(session) as Any)", "\([session])",
            ] {
                #expect(!text.contains("refresh-secret"))
                #expect(!text.contains(session.accessToken.string))
                #expect(text.contains(Scene.user.description))
            }
        }
    }

    @Test func `no error shows a token, even when the answer with it is cut off`() async throws {
        let half = #"{"access_token":"\#(Scene.token("x"))","refresh_token":"refresh-x""#
        try await Scene.with([.text(200, half, type: "application/json")], lasting: 30) { scene in
            let expected = ServiceError.garbled("status 200, \(half.utf8.count) bytes of application/json")
            #expect(await scene.sessionFailure() == expected)
            #expect(scene.kept == "refresh-old")
        }
    }

    @Test(arguments: [(61, 0), (60, 1), (0, 1), (-5_000, 1)] as [(Int64, Int)])
    func `a session is refreshed when it expires within 60 seconds`(lasting: Int64, refreshes: Int) async throws {
        try await Scene.with([.session("new")], lasting: lasting) { scene in
            let session = try await scene.keeper.current()
            #expect(session.refreshToken == (refreshes == 1 ? "refresh-new" : "refresh-old"))
            #expect(await scene.transport.requests.count == refreshes)
            #expect(scene.kept == session.refreshToken)
        }
    }

    @Test func `how long a refreshed session lasts is counted by this machine's clock`() async throws {
        try await Scene.with([.session("new")], lasting: 0) { scene in
            let session = try await scene.keeper.current()
            #expect(session.expiresAt == 1_800_000_000 + 3_600)
        }
    }

    @Test(arguments: [
        "refresh_token_not_found", "refresh_token_already_used", "session_not_found", "session_expired", "user_banned",
        "validation_failed",
    ])
    func `a definite refusal of the refresh token ends the session`(code: String) async throws {
        try await Scene.with([.code(400, code)], lasting: 0) { scene in
            guard case .signedOut? = await scene.sessionFailure() else {
                Issue.record("it isn't told as signed out")
                return
            }
            #expect(scene.kept == nil)
        }
    }

    static let harmless: [Answer] = [
        .failure(.unreachable("no route")), .failure(.timedOut), .failure(.cut), .status(500), .status(409),
        .status(429),
        .text(200, "<html>"), .text(302, ""), .status(401, ["message": "Invalid API key"]), .status(400),
        .session("other", Scene.other),
    ]

    @Test(arguments: harmless.indices)
    func `no network error ends the session, nor anything else that isn't definite`(index: Int) async throws {
        try await Scene.with(Array(repeating: Self.harmless[index], count: 6), lasting: 0) { scene in
            #expect(await scene.sessionFailure() != nil)
            #expect(scene.kept == "refresh-old")
        }
    }

    @Test func `a lost answer is asked for again with the same refresh token`() async throws {
        try await Scene.with([.failure(.cut), .status(503), .session("new")], lasting: 0) { scene in
            _ = try await scene.keeper.current()
            let bodies = await scene.transport.requests.map(\.body)
            #expect(bodies == Array(repeating: Array(#"{"refresh_token":"refresh-old"}"#.utf8), count: 3))
        }
    }

    @Test func `before a refused token is believed, the file is read again`() async throws {
        try await Scene.with([], lasting: 0) { scene in
            let store = scene.store
            let project = scene.project
            let renewed = scene.session("elsewhere", lasting: 3600)
            let transport = HandlerTransport { _ in
                try store.save(renewed, at: project)
                return try Answer.code(400, "refresh_token_already_used").get()
            }
            let keeper = SessionKeeper(
                account: Scene.user, project: project, store: store,
                auth: Auth(project: project, transport: transport, timing: scene.clock.timing),
                timing: scene.clock.timing)
            let found = try await keeper.current()
            #expect(found == renewed)
            #expect(scene.kept == "refresh-elsewhere")
        }
    }

    @Test(arguments: ["anon", "service_role", ""])
    func `the token's role is checked before it is used`(role: String) async throws {
        try await Scene.with([]) { scene in
            let session = Session(
                accessToken: Scene.token("old", role: role), refreshToken: "r", expiresAt: 1_900_000_000,
                userID: Scene.user, isAnonymous: false)
            try scene.store.save(session, at: scene.project)
            #expect(await scene.pullFailure() == .otherAccount)
            #expect(await scene.transport.requests.isEmpty)
        }
    }

    @Test func `the token's user is checked before it is used, and before it is kept`() async throws {
        try await Scene.with([]) { scene in
            let session = Session(
                accessToken: Scene.token("old", Scene.other), refreshToken: "r", expiresAt: 1_900_000_000,
                userID: Scene.user, isAnonymous: false)
            await #expect(throws: ServiceError.otherAccount) { try await scene.keeper.keep(session) }
            #expect(scene.kept == "refresh-old")
            try scene.store.save(session, at: scene.project)
            #expect(await scene.pullFailure() == .otherAccount)
            #expect(await scene.transport.requests.isEmpty)
        }
    }

    @Test func `signing out ends this session only, or all, and forgets it though the server is away`() async throws {
        try await Scene.with([.status(204)]) { scene in
            try await scene.keeper.end(everywhere: false)
            #expect(await scene.transport.targets == ["/auth/v1/logout?scope=local"])
            #expect(scene.kept == nil)
        }
        try await Scene.with([.failure(.unreachable("no route"))]) { scene in
            try await scene.keeper.end(everywhere: true)
            #expect(await scene.transport.targets == ["/auth/v1/logout?scope=global"])
            #expect(scene.kept == nil)
        }
    }

    @Test func `an expired session is refreshed before it is signed out`() async throws {
        try await Scene.with([.session("new"), .status(204)], lasting: 0) { scene in
            try await scene.keeper.end(everywhere: false)
            let last = await scene.transport.requests.last
            #expect(last?.headers["authorization"] == "Bearer \(Scene.token("new"))")
        }
    }
}

/// Auth that counts refreshes and takes each refresh token once.
private actor CountingAuth {
    private(set) var refreshes = 0

    func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
        let token = try JSON(parsing: request.body)["refresh_token"]?.text
        // The others come to the lock meanwhile.
        for _ in 0..<100 { await Task.yield() }
        refreshes += 1
        guard token == "refresh-old", refreshes == 1 else {
            return try Answer.code(400, "refresh_token_already_used").get()
        }
        return try Answer.session("new").get()
    }
}

struct ConcurrentRefreshTests {
    @Test func `twenty that share an account refresh once`() async throws {
        try await Scene.with([], lasting: 0) { scene in
            let server = CountingAuth()
            let project = scene.project
            let directory = scene.directory
            let start = scene.clock.time
            let tokens = try await withThrowingTaskGroup(of: Text.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        // Each has a store of its own, and so a file description of its own to lock.
                        let timing = Timing(now: { start }, wait: { _ in await Task.yield() }, random: { 0.5 })
                        let transport = HandlerTransport { try await server.answer($0) }
                        let keeper = SessionKeeper(
                            account: Scene.user, project: project, store: SessionStore(directory: directory),
                            auth: Auth(project: project, transport: transport, timing: timing), timing: timing)
                        return try await keeper.current().refreshToken
                    }
                }
                return try await group.reduce(into: [Text]()) { $0.append($1) }
            }
            #expect(tokens == Array(repeating: "refresh-new", count: 20))
            #expect(await server.refreshes == 1)
        }
    }

    @Test func `one who waited for the lock takes what the other refreshed`() async throws {
        try await Scene.with([], lasting: 0) { scene in
            let stale = scene.session("old", lasting: 0)
            try scene.store.save(scene.session("new", lasting: 3600), at: scene.project)
            #expect(try await scene.keeper.renewed(after: stale).refreshToken == "refresh-new")
            #expect(await scene.transport.requests.isEmpty)
        }
    }

    @Test func `a lock that is never given back is told, not waited for endlessly`() async throws {
        try await Scene.with([], lasting: 0) { scene in
            let lock = try #require(try scene.store.lock(Scene.user, at: scene.project))
            #expect(await scene.sessionFailure() == .unreachable("another process is busy with the session"))
            lock.release()
            #expect(await scene.transport.requests.isEmpty)
        }
    }
}
