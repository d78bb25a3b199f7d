import Model
import Testing

@testable import Supabase

/// The table of network trouble, row by row.
struct NetworkTroubleTests {
    @Test(arguments: [TransportError.unreachable("no route to host"), .unreachable("no such name"), .timedOut])
    func `no route, refused, time-out and DNS are unreachable at once`(error: TransportError) async throws {
        try await Scene.with([.failure(error)]) { scene in
            #expect(await scene.pullFailure() == .unreachable(error.description))
            #expect(await scene.transport.requests.count == 1)
            #expect(scene.kept == "refresh-old")
        }
    }

    @Test(arguments: ["PGRST301", "PGRST303", nil] as [String?])
    func `a 401 refreshes once and repeats`(code: String?) async throws {
        let refused: Answer = code.map { .code(401, $0, "JWT expired") } ?? .status(401)
        try await Scene.with([refused, .session("new"), .page()]) { scene in
            _ = try await scene.service.pullChanges(since: 0)
            let requests = await scene.transport.requests
            #expect(
                requests.map(\.target) == [
                    "/rest/v1/rpc/pull_changes", "/auth/v1/token?grant_type=refresh_token", "/rest/v1/rpc/pull_changes",
                ])
            #expect(requests[2].headers["authorization"] == "Bearer \(Scene.token("new"))")
            #expect(scene.kept == "refresh-new")
        }
    }

    @Test func `a 401 after the refresh is signed out`() async throws {
        try await Scene.with([.code(401, "PGRST303"), .session("new"), .code(401, "PGRST301", "JWSError")]) { scene in
            #expect(
                await scene.pullFailure() == .signedOut(untilLogin: "the server doesn't take the session: JWSError"))
            #expect(await scene.transport.requests.count == 3)
        }
    }

    @Test func `a 401 whose refresh is refused for good is signed out`() async throws {
        try await Scene.with([.code(401, "PGRST303"), .code(400, "refresh_token_not_found", "gone")]) { scene in
            #expect(await scene.pullFailure() == .signedOut(untilLogin: "the session is over: gone"))
            #expect(scene.kept == nil)
        }
    }

    @Test func `a 401 with 42501 means that no session came, and refreshing won't help`() async throws {
        try await Scene.with([.code(401, "42501", "permission denied")]) { scene in
            #expect(
                await scene.pullFailure()
                    == .signedOut(untilLogin: "the request came without a session: permission denied"))
            #expect(await scene.transport.requests.count == 1)
            #expect(scene.kept == "refresh-old")
        }
    }

    @Test func `a key that the gateway doesn't know is told as such, and the session stays`() async throws {
        try await Scene.with([.status(401, ["message": "Invalid API key", "hint": "double check"])]) { scene in
            let expected = ServiceError.signedOut(
                "the project doesn't take the publishable key of this workspace: Invalid API key")
            #expect(await scene.pullFailure() == expected)
            #expect(scene.kept == "refresh-old")
        }
    }

    @Test func `403 and row level security refuse that item only`() async throws {
        try await Scene.with([.code(403, "42501", "row-level security")]) { scene in
            let result = await scene.service.push([Scene.change(1)])
            let refused = ItemFailure(kind: .refused, code: "42501", message: "row-level security")
            #expect(result == PushResult(outcomes: [.failed(refused)], stopped: nil))
        }
    }

    @Test func `OT003 says that the account is gone, and its session goes`() async throws {
        try await Scene.with([.code(400, "OT003", "no profile")]) { scene in
            #expect(await scene.pullFailure() == .accountGone("no profile"))
            #expect(scene.kept == nil)
        }
    }

    static let passing: [Answer] = [
        .status(408), .status(425), .status(429), .status(500), .status(502), .text(503, "<html>"), .status(544),
        .code(500, "40001"), .code(500, "40P01"), .code(500, "55P03"), .code(503, "53300"), .code(503, "57P01"),
        .code(500, "57014"), .code(503, "08006"), .code(500, "XX000"), .code(503, "PGRST002"), .code(504, "PGRST003"),
        .failure(.cut),
    ]

    @Test(arguments: passing.indices)
    func `a passing failure is repeated with full jitter, up to five times in 60 s`(index: Int) async throws {
        let trouble = Self.passing[index]
        try await Scene.with([trouble, trouble, .page()]) { scene in
            _ = try await scene.service.pullChanges(since: 0)
            #expect(scene.clock.waits == [0.5, 1])
        }
        try await Scene.with(Array(repeating: trouble, count: 9)) { scene in
            guard case .passing? = await scene.pullFailure() else {
                Issue.record("it isn't told as passing")
                return
            }
            #expect(await scene.transport.requests.count == 6)
            #expect(scene.clock.waits.reduce(0, +) <= 60)
        }
    }

    @Test(arguments: [
        (500, "P0002"), (500, "21000"), (500, "42P17"), (500, "54000"), (500, "PGRST300"), (409, "23505"),
        (400, "22P02"),
    ])
    func `the code decides, not the status: what never passes isn't repeated`(status: Int, code: String) async throws {
        try await Scene.with([.code(status, code)]) { scene in
            #expect(await scene.pullFailure() == .splittable(code: Text(code), status: status, message: "no"))
            #expect(await scene.transport.requests.count == 1)
        }
    }

    @Test(arguments: ["PGRST202", "PGRST205", "42883", "42P01"])
    func `a missing function or table names the command that sets the schema up`(code: String) async throws {
        try await Scene.with([.code(404, code, "not found")]) { scene in
            let error = await scene.pullFailure()
            #expect(error == .schemaMissing("not found"))
            #expect(error?.description.contains("otask server setup") == true)
        }
    }

    @Test func `a paused project is unreachable at once, and says why`() async throws {
        try await Scene.with([.status(540)]) { scene in
            #expect(
                await scene.pullFailure() == .unreachable("the project is paused; its dashboard can restore it"))
        }
    }

    @Test(arguments: [
        "<!doctype html><title>Sign in</title>", #"{"rows":[],"next":0"#, "", "[]", "null", #"{"rows":7}"#,
    ])
    func `HTML, half a JSON or wrong types on 200 are garbled`(body: String) async throws {
        try await Scene.with([.text(200, body)]) { scene in
            guard case .garbled? = await scene.pullFailure() else {
                Issue.record("it isn't told as garbled")
                return
            }
            #expect(await scene.transport.requests.count == 1)
        }
    }

    @Test func `a redirect, as of a sign-in page, is garbled`() async throws {
        try await Scene.with([.text(302, "")]) { scene in
            #expect(await scene.pullFailure() == .garbled("a redirect (status 302), which is not followed"))
        }
    }

    @Test func `a page of another user is another account's`() async throws {
        try await Scene.with([.page(Scene.other)]) { scene in
            #expect(await scene.pullFailure() == .otherAccount)
        }
    }

    @Test func `without a session no data request goes out`() async throws {
        try await Scene.with([], lasting: nil) { scene in
            #expect(await scene.pullFailure() == .signedOut(untilLogin: "there is no session of this account"))
            #expect(await scene.transport.requests.isEmpty)
        }
    }

    @Test func `every data request has the project's key and the session's token`() async throws {
        try await Scene.with([.page(), .status(200, [])]) { scene in
            _ = try await scene.service.pullChanges(since: 0)
            _ = try await scene.service.pushChanges([])
            let requests = await scene.transport.requests
            #expect(requests.count == 2)
            for request in requests {
                #expect(request.headers["apikey"] == "sb_publishable_key")
                #expect(request.headers["authorization"] == "Bearer \(Scene.token("old"))")
            }
        }
    }

    @Test func `a pull asks as the wire says it`() async throws {
        try await Scene.with([.page()]) { scene in
            _ = await scene.pullFailure()
            let body = await scene.transport.requests.first?.body ?? []
            let expected = #"{"in_flight":[],"max_bytes":4194304,"max_rows":1000,"since":0}"#
            #expect(String(decoding: body, as: UTF8.self) == expected)
        }
    }

    @Test func `any function is called once, with a session, its name encoded`() async throws {
        try await Scene.with([.code(401, "PGRST303"), .session("new"), .status(204), .failure(.cut)]) { scene in
            let answer = try await scene.service.call("mark/all done", [:])
            #expect(answer == .null)
            let last = await scene.transport.requests.last
            #expect(last?.target == "/rest/v1/rpc/mark%2Fall%20done")
            #expect(last?.headers["authorization"] == "Bearer \(Scene.token("new"))")
            await #expect(throws: ServiceError.passing(code: nil, message: "the connection was cut")) {
                try await scene.service.call("mark_all_done", [:])
            }
            #expect(await scene.transport.requests.count == 4)
        }
    }

    @Test func `every error is one line for people`() {
        let errors: [ServiceError] = [
            .unreachable("no route"), .signedOut("no session"), .sessionFile("/x: no space"),
            .accountGone("no profile"),
            .otherAccount, .schemaMissing("no function"), .passing(code: "40001", message: "two\nlines"),
            .splittable(code: nil, status: 400, message: "two\r\nlines"), .garbled("status 200"),
        ]
        for error in errors {
            #expect(!error.description.contains { $0.isNewline })
            #expect(error.description.first?.isLowercase == true)
        }
    }
}
