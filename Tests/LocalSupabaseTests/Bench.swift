import Libraries
import LocalSupabase
import Model
import RequestLists
import Testing

/// A server in memory with two accounts, `ann` and `ben`, and a clock that stands still until it is moved.
final class Bench: Sendable {
    let server: LocalSupabase
    let clock: TestClock
    let sessions: [String: JSON]
    /// The way over a socket; nil calls the server.
    private let wire: Wire?

    /// A listener and a client for it.
    private struct Wire: Sendable {
        let listener: Listener
        let client: HTTPClient
    }

    /// `wired`: requests go over HTTP.
    init(directory: String? = nil, wired: Bool = false) async throws {
        let clock = TestClock()
        self.clock = clock
        server = try LocalSupabase(directory: directory, clock: { clock.now })
        wire = wired ? Wire(listener: try Listener(server: server), client: try HTTPClient()) : nil
        var sessions: [String: JSON] = [:]
        for name in ["ann", "ben"] {
            let body: JSON = ["email": .string("\(name)@example.com"), "password": "correct horse"]
            let answer = try await server.handle(
                HTTPRequest(
                    method: "POST", target: "/auth/v1/signup", headers: ["apikey": server.publishableKey],
                    body: body.serialized))
            sessions[name] = try JSON(parsing: answer.body)
        }
        self.sessions = sessions
    }

    private init(server: LocalSupabase, clock: TestClock, sessions: [String: JSON]) {
        wire = nil
        self.server = server
        self.clock = clock
        self.sessions = sessions
    }

    /// The same server with new sessions: after the clock was moved beyond the life of a token.
    func signedInAgain() async throws -> Bench {
        var sessions: [String: JSON] = [:]
        for name in ["ann", "ben"] {
            let body: JSON = ["email": .string("\(name)@example.com"), "password": "correct horse"]
            let answer = try await send(
                "POST", "/auth/v1/token?grant_type=password", as: nil, body: body.serialized)
            sessions[name] = try JSON(parsing: answer.body)
        }
        return Bench(server: server, clock: clock, sessions: sessions)
    }

    /// Sends a request as `user`; nil sends it without a session. `other`: another opening of the same directory.
    func send(
        _ method: String, _ target: String, as user: String? = "ann", on other: LocalSupabase? = nil,
        headers: [String: String] = [:], body: [UInt8] = []
    ) async throws -> HTTPResponse {
        var all = ["apikey": server.publishableKey].merging(headers) { $1 }
        if let user, headers["authorization"] == nil {
            all["authorization"] = "Bearer " + sessions[user]!["access_token"]!.text!.string
        }
        let request = HTTPRequest(method: method, target: target, headers: all, body: body)
        guard let wire else { return try await (other ?? server).handle(request) }
        let answer = try await wire.client.perform(
            HTTPClient.Request(
                method: method, url: wire.listener.url + target, headers: all.map { ($0.key, $0.value) }, body: body))
        return HTTPResponse(
            status: answer.status,
            headers: Dictionary(answer.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $1 }),
            body: answer.body)
    }

    func id(of user: String) -> ItemID { ItemID(sessions[user]!["user"]!["id"]!.text!)! }

    /// Runs the steps of a scenario and checks each answer.
    func run(_ scenario: Scenario) async throws {
        var names = Names()
        for name in ["ann", "ben"] {
            names.values[name] = .string(id(of: name).text)
            names.values[name + ".refresh"] = sessions[name]!["refresh_token"]
        }
        for (index, step) in scenario.steps.enumerated() {
            if let seconds = step["wait"]?.integer {
                clock.move(seconds: seconds)
                continue
            }
            let answer = try await send(step, names)
            let text = String(decoding: answer.body.prefix(2000), as: UTF8.self)
            let told = "step \(index + 1) of “\(scenario)”: \(text)"
            #expect(answer.status == Int(step["status"]?.integer ?? 200), "\(told)")
            for (name, value) in step["headers_back"]?.object ?? [:] {
                #expect(answer.headers[name.string] == names.filled(value).text?.string, "\(name): \(told)")
            }
            if let pattern = step["answer"] {
                let problem = names.mismatch(pattern, try JSON(parsing: answer.body))
                #expect(problem == nil, "\(told)")
            } else if step["empty"] != nil {
                #expect(answer.body.isEmpty, "\(told)")
            }
        }
    }

    private func send(_ step: JSON, _ names: Names) async throws -> HTTPResponse {
        let user: String? = step["as"].map { $0.text?.string } ?? "ann"
        var headers: [String: String] = [:]
        for (name, value) in step["headers"]?.object ?? [:] { headers[name.string] = names.filled(value).text?.string }
        if let changes = step["push"] {
            let body: JSON = ["changes": names.filled(changes)]
            return try await send("POST", "/rest/v1/rpc/push_changes", as: user, body: body.serialized)
        }
        if let arguments = step["pull"] {
            let body = names.filled(arguments).serialized
            return try await send("POST", "/rest/v1/rpc/pull_changes", as: user, body: body)
        }
        let words = names.filled(step["call"]!.text!.string).split(separator: " ", maxSplits: 1).map(String.init)
        let target = words[1].hasPrefix("/auth") || words[1].hasPrefix("/storage") ? words[1] : "/rest/v1" + words[1]
        let body = step["raw"]?.text?.bytes ?? step["body"].map { names.filled($0).serialized } ?? []
        return try await send(words[0], target, as: user, headers: headers, body: body)
    }
}

/// A clock that stands at 2026-11-30T10:00:00.123456Z until it is moved.
final class TestClock: Sendable {
    private let moment = Mutex(Instant(nanoseconds: 1_796_032_800_123_456_000))

    var now: Instant { moment.withLock { $0 } }

    func move(seconds: Int64) { moment.withLock { $0 = $0 + Double(seconds) } }
}
