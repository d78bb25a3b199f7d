import LocalSupabase
import Model
import Supabase

@testable import Sync

/// An app without files: it reads and writes rows with plain REST calls.
struct RestClient {
    let world: World
    let session: Session

    /// A phone of the demo account.
    init(_ world: World) async throws {
        let demo = world.server.demo
        self.init(
            world: world,
            session: try await Self.auth(world).signIn(email: Text(demo.email), password: Text(demo.password)))
    }

    private init(world: World, session: Session) {
        self.world = world
        self.session = session
    }

    /// A phone of somebody else, with an account of their own.
    static func ofSomebodyElse(_ world: World) async throws -> RestClient {
        RestClient(world: world, session: try await auth(world).signUpAnonymously())
    }

    private static func auth(_ world: World) -> Auth {
        let server = world.server
        return Auth(
            project: world.project, transport: HandlerTransport { try await server.handle($0) },
            timing: Timing(now: world.clock.now))
    }

    private var headers: [String: String] {
        [
            "apikey": world.server.publishableKey, "authorization": "Bearer \(session.accessToken.string)",
            "content-type": "application/json", "prefer": "return=representation",
        ]
    }

    @discardableResult
    func call(_ method: String, _ target: String, _ body: JSON? = nil) async throws -> [JSON] {
        let answer = try await world.server.handle(
            HTTPRequest(method: method, target: target, headers: headers, body: body?.serialized ?? []))
        guard (200..<300).contains(answer.status) else {
            throw RestClientError(text: String(decoding: answer.body, as: UTF8.self))
        }
        return answer.body.isEmpty ? [] : try JSON(parsing: answer.body).array ?? []
    }

    @discardableResult
    func add(_ title: Text, _ more: [Text: JSON] = [:]) async throws -> ItemID {
        let row: JSON = .object(["title": .string(title)].merging(more) { $1 })
        let rows = try await call("POST", "/rest/v1/tasks", row)
        guard let id = rows.first?["id"]?.text.flatMap({ ItemID($0) }) else { throw RestClientError(text: "no row") }
        return id
    }

    func edit(_ title: String, _ values: JSON) async throws {
        let rows = try await call("PATCH", "/rest/v1/tasks?title=eq.\(title)&deleted_at=is.null", values)
        if rows.count != 1 { throw RestClientError(text: "\(rows.count) rows were changed") }
    }

    func delete(_ title: String) async throws {
        _ = try await call("DELETE", "/rest/v1/tasks?title=eq.\(title)")
    }

    /// The live tasks.
    func tasks() async throws -> [JSON] { try await call("GET", "/rest/v1/tasks?deleted_at=is.null&order=title") }
    func titles() async throws -> [Text] { try await tasks().compactMap { $0["title"]?.text } }
}

struct RestClientError: Error { let text: String }
