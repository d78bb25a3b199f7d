import FoundationEssentials
import Model

@testable import Supabase

/// A clock that stands still but for the waiting. One task at a time uses it: waits and reads follow each other.
final class TestClock: @unchecked Sendable {
    private(set) var time = Instant(seconds: 1_800_000_000)
    private(set) var waits: [Double] = []

    var timing: Timing {
        Timing(
            now: { self.time },
            wait: { seconds in
                self.waits.append(seconds)
                self.time = self.time + seconds
            },
            random: { 0.5 })
    }
}

/// Answers requests from a list, in order, and keeps them. A request beyond the list is answered 200 `null`.
actor ScriptedTransport: Transport {
    private var script: [Result<HTTPResponse, TransportError>]
    private(set) var requests: [HTTPRequest] = []

    init(_ script: [Result<HTTPResponse, TransportError>]) { self.script = script }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        requests.append(request)
        guard !script.isEmpty else { return HTTPResponse(status: 200, body: Array("null".utf8)) }
        return try script.removeFirst().get()
    }

    var targets: [String] { requests.map(\.target) }
}

typealias Answer = Result<HTTPResponse, TransportError>

extension Answer {
    static func status(_ status: Int, _ body: JSON? = nil, headers: [String: String] = [:]) -> Self {
        .success(HTTPResponse(status: status, headers: headers, body: body?.serialized ?? []))
    }

    static func code(_ status: Int, _ code: String, _ message: String = "no") -> Self {
        .status(status, ["code": .string(Text(code)), "message": .string(Text(message)), "details": nil, "hint": nil])
    }

    static func text(_ status: Int, _ text: String, type: String = "text/html") -> Self {
        .success(HTTPResponse(status: status, headers: ["content-type": type], body: Array(text.utf8)))
    }

    /// The last page of an empty feed.
    static func page(_ user: ItemID = Scene.user) -> Self {
        .status(
            200,
            [
                "rows": [], "next": 0, "more": false, "user_id": .string(user.text), "schema_version": 1,
                "server_time": "2026-11-30T10:00:00+00:00", "applied": [], "behind": false, "total": 0, "sum": "0",
            ])
    }

    /// What Auth answers to a sign-in or refresh.
    static func session(_ name: String, _ user: ItemID = Scene.user) -> Self {
        .status(
            200,
            [
                "access_token": .string(Scene.token(name, user)), "token_type": "bearer", "expires_in": 3600,
                "refresh_token": .string(Text("refresh-" + name)),
                "user": ["id": .string(user.text), "email": "ada@example.org", "is_anonymous": false],
            ])
    }
}

/// A project, an account with a session in a temporary directory, and the client on a scripted network.
struct Scene {
    static let user = ItemID("11111111-1111-4111-8111-111111111111")!
    static let other = ItemID("22222222-2222-4222-8222-222222222222")!

    let directory: Text
    let clock = TestClock()
    let project: Project
    let transport: ScriptedTransport
    let store: SessionStore
    let auth: Auth
    let keeper: SessionKeeper
    let service: SyncService

    /// Runs `body` with a session named "old" that lasts `lasting` seconds more; nil for none.
    static func with(_ script: [Answer], lasting: Int64? = 3600, _ body: (Scene) async throws -> Void) async throws {
        let scene = try Scene(script)
        defer { try? FileManager.default.removeItem(atPath: scene.directory.string) }
        if let lasting { try scene.store.save(scene.session("old", lasting: lasting), at: scene.project) }
        try await body(scene)
    }

    private init(_ script: [Answer]) throws {
        directory = Text(FileManager.default.temporaryDirectory.path + "/otask-client-\(ItemID.random())")
        project = try Project(url: "https://abcd.supabase.co", publishableKey: "sb_publishable_key")
        transport = ScriptedTransport(script)
        store = SessionStore(directory: directory)
        auth = Auth(project: project, transport: transport, timing: clock.timing)
        keeper = SessionKeeper(account: Self.user, project: project, store: store, auth: auth, timing: clock.timing)
        service = SyncService(project: project, sessions: keeper, transport: transport, timing: clock.timing)
    }

    func session(_ name: String, lasting: Int64, user: ItemID = Scene.user) -> Session {
        Session(
            accessToken: Self.token(name, user), refreshToken: Text("refresh-" + name),
            expiresAt: clock.time.nanoseconds / 1_000_000_000 + lasting, userID: user, email: "ada@example.org",
            isAnonymous: false)
    }

    /// The refresh token that is kept now; the error where its file can't be read.
    var kept: Text? {
        do { return try store.session(of: Self.user, at: project)?.refreshToken } catch { return "\(error)" }
    }

    /// An access token with these claims, as Auth makes it but for the signature.
    static func token(_ name: String, _ user: ItemID = Scene.user, role: String = "authenticated") -> Text {
        let claims: JSON = ["sub": .string(user.text), "role": .string(Text(role)), "jti": .string(Text(name))]
        let parts: [JSON] = [["alg": "HS256"], claims]
        return Text(parts.map { base64URL($0.serialized) }.joined(separator: ".") + ".c2ln")
    }

    static func base64URL(_ bytes: [UInt8]) -> String {
        let plain = Data(bytes).base64EncodedString()
        return String(
            plain.compactMap { character -> Character? in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }

    static func change(_ number: Int, notes: Int = 0) -> Change {
        Change(
            changeID: id(number), device: "laptop", operation: .upsert, id: id(1_000 + number), baseVersion: nil,
            fields: [.notes: .string(Text(String(repeating: "x", count: notes)))])
    }

    static func id(_ number: Int) -> ItemID {
        let digits = String(number)
        return ItemID("00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits)!
    }

    /// The error of a pull from 0; nil where there is none.
    func pullFailure() async -> ServiceError? {
        do throws(ServiceError) {
            _ = try await service.pullChanges(since: 0)
            return nil
        } catch {
            return error
        }
    }

    /// The error of asking for a session; nil where there is none.
    func sessionFailure() async -> ServiceError? {
        do throws(ServiceError) {
            _ = try await keeper.current()
            return nil
        } catch {
            return error
        }
    }
}
