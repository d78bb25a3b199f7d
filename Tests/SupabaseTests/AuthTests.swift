import Model
import Testing

@testable import Supabase

struct AuthTests {
    @Test func `a sign-in sends address and password once, without a session`() async throws {
        try await Scene.with([.session("new")], lasting: nil) { scene in
            let session = try await scene.auth.signIn(email: "ada@example.org", password: "pass")
            #expect(session.userID == Scene.user)
            #expect(session.email == "ada@example.org")
            let request = try #require(await scene.transport.requests.first)
            #expect(request.target == "/auth/v1/token?grant_type=password")
            #expect(request.headers["authorization"] == nil)
            #expect(request.headers["apikey"] == "sb_publishable_key")
            #expect(request.body == Array(#"{"email":"ada@example.org","password":"pass"}"#.utf8))
        }
    }

    @Test func `an anonymous sign-up isn't repeated: each that got through is one more account`() async throws {
        try await Scene.with([.failure(.cut), .session("new")], lasting: nil) { scene in
            await #expect(throws: AuthError.self) { try await scene.auth.signUpAnonymously() }
            #expect(await scene.transport.targets == ["/auth/v1/signup"])
        }
    }

    static let errors: [(Answer, AuthError)] = [
        (
            .status(400, ["code": 400, "error_code": "invalid_credentials", "msg": "Invalid login credentials"]),
            .refused(code: "invalid_credentials", status: 400, message: "Invalid login credentials")
        ),
        (
            .status(422, ["code": "anonymous_provider_disabled", "message": "off"]),
            .refused(code: "anonymous_provider_disabled", status: 422, message: "off")
        ),
        (
            .status(400, ["error": "invalid_request", "error_description": "what"]),
            .refused(code: "invalid_request", status: 400, message: "what")
        ),
        (
            .status(400, headers: ["x-sb-error-code": "bad_json"]),
            .refused(code: "bad_json", status: 400, message: "status 400 without an explanation")
        ),
        (
            .status(429, headers: ["retry-after": "3"]),
            .passing(code: nil, message: "status 429 without an explanation", after: 3)
        ),
        (
            .status(200, ["id": "x", "email": "ada@example.org"]),
            .refused(code: "email_not_confirmed", status: 200, message: "the address isn't confirmed")
        ),
        (.text(200, "<html>"), .garbled("status 200, 6 bytes of text/html")),
        (.failure(.timedOut), .unreachable("the server didn't answer in time")),
    ]

    @Test(arguments: errors.indices)
    func `errors are read in every shape that Auth has`(index: Int) async throws {
        let (answer, expected) = Self.errors[index]
        try await Scene.with([answer]) { scene in
            await #expect(throws: expected) { try await scene.auth.signIn(email: "ada@example.org", password: "x") }
        }
    }

    @Test(arguments: ["anon", "service_role"])
    func `a session whose token doesn't speak for a user is no session`(role: String) async throws {
        let answer: JSON = [
            "access_token": .string(Scene.token("x", role: role)), "refresh_token": "r", "expires_in": 3600,
        ]
        try await Scene.with([.status(200, answer)]) { scene in
            await #expect(throws: AuthError.self) { try await scene.auth.signUpAnonymously() }
        }
    }

    @Test func `the user is asked with the session's token`() async throws {
        let user: JSON = ["id": .string(Scene.user.text), "email": "", "is_anonymous": true]
        try await Scene.with([.status(200, user)]) { scene in
            let account = try await scene.auth.user(scene.session("old", lasting: 10))
            #expect(account == Account(id: Scene.user, email: nil, isAnonymous: true))
            let request = await scene.transport.requests.first
            #expect(request?.headers["authorization"] == "Bearer \(Scene.token("old"))")
        }
    }

    @Test(arguments: [401, 403, 404])
    func `a session that is gone already is signed out`(status: Int) async throws {
        try await Scene.with([.code(status, "bad_jwt")]) { scene in
            try await scene.auth.signOut(scene.session("old", lasting: 10), everywhere: false)
            #expect(await scene.transport.targets == ["/auth/v1/logout?scope=local"])
        }
    }
}

struct TransportTests {
    private struct Odd: Error, CustomStringConvertible { let description = "odd" }

    @Test func `a handler's own errors are unreachable, transport errors pass through`() async {
        await #expect(throws: TransportError.unreachable("odd")) {
            try await HandlerTransport { _ in throw Odd() }.send(HTTPRequest(method: "GET", target: "/"))
        }
        await #expect(throws: TransportError.cut) {
            try await HandlerTransport { _ in throw TransportError.cut }.send(HTTPRequest(method: "GET", target: "/"))
        }
    }

    @Test func `requests and bytes are counted, those that failed too`() async throws {
        let metered = MeteredTransport(ScriptedTransport([.failure(.cut), .text(200, "12345")]))
        for _ in 0..<2 {
            _ = try? await metered.send(HTTPRequest(method: "POST", target: "/", body: [1, 2, 3]))
        }
        var expected = Traffic()
        expected.requests = 2
        expected.bytesUp = 6
        expected.bytesDown = 5
        #expect(await metered.traffic == expected)
    }
}
