import Libraries
import Model

/// A stand-in for a Supabase project that runs inside this process: it answers the calls of Auth and REST that `otask`
/// and plain clients make, with the same statuses, headers and bodies.
///
/// ```swift
/// let server = try LocalSupabase(directory: nil, clock: { now })
/// let answer = try await server.handle(HTTPRequest(method: "GET", target: "/auth/v1/health"))
/// ```
public actor LocalSupabase {
    /// The key that every request bears as `apikey`.
    public nonisolated let publishableKey: String
    /// The account that is there from the beginning.
    public nonisolated let demo = Account(email: "demo@example.com", password: "otask-demo")

    /// What a person signs in with.
    public struct Account: Sendable, Equatable {
        public let email: String
        public let password: String
    }

    private let store: Store
    private let clock: @Sendable () -> Instant
    private let random: RandomSource
    private var faults = FaultPlan()

    /// Opens the server kept in `directory`, which is created where it is missing; nil keeps it in memory, for this
    /// value alone. Many processes may use one directory at once.
    ///
    /// `clock` is the server's clock; `random` makes ids, keys and tokens. Throws `SQLiteError` when the directory
    /// can't be used.
    public init(
        directory: String?,
        clock: @escaping @Sendable () -> Instant,
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) throws {
        self.clock = clock
        self.random = RandomSource(draw: random)
        store = try Store(directory: directory)
        publishableKey = try store.prepare(demo: demo, now: clock().microseconds, random: self.random)
    }

    /// Whether a server was made in `directory` before.
    public static func isKept(in directory: String) -> Bool { (try? OpenFile(path: Store.file(in: directory))) != nil }

    /// Answers one request. Throws only where a fault says so.
    public func handle(_ request: HTTPRequest) async throws(ConnectionLost) -> HTTPResponse {
        let fault = faults.next(for: request)
        switch fault {
        case .dropBefore: throw ConnectionLost()
        case .answer(let response): return response
        case .hold(let wait): await wait()
        default: break
        }
        var response = answer(request, tokensExpired: fault?.expiresToken ?? false)
        if response.status != 204 { response.headers["content-length"] = String(response.body.count) }
        if request.method == "HEAD" { response.body = [] }
        if case .dropAfter = fault { throw ConnectionLost() }
        if case .truncate(let count) = fault { response.body = Array(response.body.prefix(count)) }
        return response
    }

    /// Lets `fault` happen to requests that `matches` chooses: to `times` of them, after `skipping` went through.
    /// Faults that were added earlier come first.
    public func addFault(
        _ fault: Fault, skipping: Int = 0, times: Int = 1,
        on matches: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) {
        faults.add(fault, skipping: skipping, times: times, on: matches)
    }

    /// Forgets all faults that have not happened.
    public func removeFaults() { faults = FaultPlan() }

    /// What a client that was given the address alone needs: no project of Supabase answers this.
    private var introduction: HTTPResponse {
        .json(
            200,
            [
                "server": "otask serve", "publishable_key": .string(Text(publishableKey)),
                "demo": ["email": .string(Text(demo.email)), "password": .string(Text(demo.password))],
            ])
    }

    private func answer(_ request: HTTPRequest, tokensExpired: Bool) -> HTTPResponse {
        let call = Call(
            request: request, query: Query(target: request.target), now: clock().microseconds, random: random,
            tokensExpired: tokensExpired)
        if call.query.path == "/", request.method == "GET" { return introduction }
        if let refusal = call.refusedByGateway(publishableKey: publishableKey) { return refusal }
        if let path = call.query.path(below: "/auth/v1") { return Auth(store: store, call: call).answer(path: path) }
        if let path = call.query.path(below: "/rest/v1") { return Rest(store: store, call: call).answer(path: path) }
        return .json(404, ["message": "no Route matched with those values"])
    }
}

/// What a person with the database in hand does: no client can.
extension LocalSupabase {
    /// Removes an account with all its rows, as a deletion in `auth.users` does. Its access tokens stay valid.
    public func deleteUser(_ id: ItemID) throws {
        try store.deleteUser(id.description)
    }

    /// Empties tombstones older than 180 days and forgets which changes were applied that long ago, as the database's
    /// own job does. The number of emptied rows.
    @discardableResult
    public func purgeTombstones() throws -> Int {
        try store.purgeTombstones(now: clock().microseconds)
    }

    /// Copies the whole database into a file that is not there yet.
    public func backUp(to path: String) throws {
        try store.backUp(to: path)
    }

    /// Puts the whole database back to what `backUp` copied, accounts and sessions included: a server restored from
    /// yesterday's backup.
    public func restore(from path: String) throws {
        try store.restore(from: path)
    }
}
