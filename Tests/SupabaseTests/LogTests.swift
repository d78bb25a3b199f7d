import Libraries
import Model
import Testing

@testable import Supabase

struct LogTests {
    @Test func `a line has no secret: no header, no body, and of a query only what is harmless`() async throws {
        let lines = Mutex<[String]>([])
        let script: [Answer] = [.session("new"), .status(200), .failure(.timedOut)]
        let transport = LoggedTransport(ScriptedTransport(script), now: { Instant(seconds: 0) }) { line in
            lines.withLock { $0.append(line) }
        }
        let headers = ["authorization": "Bearer s3cret", "apikey": "s3cret"]
        for (method, target) in [
            ("POST", "/auth/v1/token?grant_type=password"), ("GET", "/rest/v1/tasks?select=id&title=eq.s3cret&limit=1"),
            ("GET", "/storage/v1/object/sign/photos/x.jpg?token=s3cret"),
        ] {
            _ = try? await transport.send(
                HTTPRequest(
                    method: method, target: target, headers: headers, body: Array(#"{"password":"s3cret"}"#.utf8)))
        }
        let log = lines.withLock { $0 }
        #expect(log.allSatisfy { !$0.contains("s3cret") && !$0.contains("refresh-new") })
        #expect(log[0].hasPrefix("POST /auth/v1/token?grant_type=password: 200, 21 bytes up, "))
        #expect(log[1] == "GET /rest/v1/tasks?select=id&title=…&limit=1: 200, 21 bytes up, 0 down, 0 ms")
        #expect(
            log[2] == "GET /storage/v1/object/sign/photos/x.jpg?token=…: the server didn't answer in time, "
                + "21 bytes up, 0 down, 0 ms")
    }

    /// Answers under which every call is made: good ones, refusals that say the token again, and trouble.
    static let answers: [Reply] = [
        Reply(.session("new")), Reply(.code(400, "bad", "refresh-old is none")), Reply(.text(500, "s3cret")),
        .cut(after: []), .cut(after: Array("HTTP/1.1 200 OK\r\nrefresh-old: s3cret\r\n".utf8)),
        .bytes(Array("refresh-old s3cret, no HTTP\r\n".utf8)),
        Reply(.status(302, headers: ["location": "https://s3cret@example.org/?token=refresh-old"])),
    ]

    @Test(arguments: answers.indices)
    func `no call of Auth shows a secret in the log or in its error, whatever is answered`(index: Int) async throws {
        let script = WireScript(Array(repeating: Self.answers[index], count: 60))
        let server = try RawServer { script.serve($0) }
        let lines = Mutex<[String]>([])
        let transport = LoggedTransport(
            try HTTPTransportTests.transport(server.url), now: { Instant(seconds: 0) }
        ) { line in lines.withLock { $0.append(line) } }
        try await Scene.with([]) { scene in
            let auth = Auth(project: scene.project, transport: transport, timing: scene.clock.timing)
            let session = scene.session("old", lasting: 3_600)
            var told: [String] = []
            func call(_ body: () async throws -> Void) async {
                do { try await body() } catch { told.append("\(error)") }
            }
            await call { _ = try await auth.signIn(email: "ada@example.org", password: "s3cret") }
            await call { _ = try await auth.signUpAnonymously() }
            await call { _ = try await auth.refresh(session) }
            await call { _ = try await auth.user(session) }
            await call { try await auth.signOut(session, everywhere: true) }

            let log = lines.withLock { $0 }
            #expect(log.count >= 5)
            let secrets = [
                "s3cret", "refresh-new", session.accessToken.string, Scene.token("new").string,
                scene.project.publishableKey.string, "ada@example.org",
            ]
            for line in log { for secret in secrets + ["refresh-old"] { #expect(!line.contains(secret)) } }
            // What the server itself says is shown.
            for line in told { for secret in secrets.dropFirst() { #expect(!line.contains(secret)) } }
        }
    }
}
