import Libraries
import LocalSupabase
import Model
import Supabase
import Sync
import Workspace

/// The way from a workspace to its project.
struct Connector: Sendable {
    /// The workspace, absolute.
    let root: String
    let config: Config
    let variables: [String: String]
    let clock: @Sendable () -> Instant

    /// The project with a session of `account`; nil: of the one that is signed in. The server is opened by the first request.
    func link(account: ItemID?) throws -> ServerLink {
        let (project, server) = try embedded()
        let store = try sessions()
        guard let account = try account ?? config.user ?? store.accounts(at: project).first,
            let session = try store.session(of: account, at: project)
        else {
            throw RunFailure(.signedOut, "nobody is signed in to this workspace's server (otask init --demo signs in)")
        }
        let timing = Timing(now: clock)
        let transport = MeteredTransport(HandlerTransport { try await server.handle($0) })
        let auth = Auth(project: project, transport: transport, timing: timing)
        let keeper = SessionKeeper(account: account, project: project, store: store, auth: auth, timing: timing)
        return ServerLink(
            service: SyncService(project: project, sessions: keeper, transport: transport, timing: timing),
            account: AccountInfo(userID: account, email: session.email, isAnonymous: session.isAnonymous),
            traffic: { await transport.traffic })
    }

    /// Signs in to the demo account and keeps its session.
    func signInToDemo() async throws -> Session {
        let (project, server) = try embedded(creates: true)
        let store = try sessions()
        let demo = try await server.demo()
        let timing = Timing(now: clock)
        let auth = Auth(
            project: project, transport: HandlerTransport { try await server.handle($0) }, timing: timing)
        let session = try await auth.signIn(email: Text(demo.email), password: Text(demo.password))
        try await SessionKeeper(
            account: session.userID, project: project, store: store, auth: auth, timing: timing
        ).keep(session)
        return session
    }

    private func embedded(creates: Bool = false) throws -> (Project, EmbeddedServer) {
        guard case .embedded(let directory) = config.project else {
            throw RunFailure(
                .failed, "project.url: this version works with an embedded server only (otask init --demo)")
        }
        let place = absolute(directory.string, from: root)
        // The server has no address; its directory tells its sessions from those of others. Its key is in its database.
        let name = Digest(of: Array(place.utf8)).description.prefix(32)
        let project = try Project(url: Text("http://\(name).invalid"), publishableKey: "embedded")
        return (project, EmbeddedServer(directory: place, creates: creates, clock: clock))
    }

    private func sessions() throws -> SessionStore {
        guard let directory = SessionStore.directory(environment: variables) else {
            throw Failure(.cantCreate, "there is no place for the session: neither XDG_STATE_HOME nor HOME is set")
        }
        return SessionStore(directory: directory)
    }
}

/// The server that is kept in a directory, opened by the first request.
private actor EmbeddedServer {
    private let directory: String
    private let clock: @Sendable () -> Instant
    private var opened: LocalSupabase?

    private let creates: Bool

    /// `creates`: a server that isn't there yet is made; else it counts as one that can't be reached, so that a
    /// directory that went missing for a while is neither replaced nor takes the session along.
    init(directory: String, creates: Bool, clock: @escaping @Sendable () -> Instant) {
        self.directory = directory
        self.creates = creates
        self.clock = clock
    }

    func handle(_ request: HTTPRequest) async throws -> HTTPResponse {
        let server = try open()
        var request = request
        request.headers["apikey"] = server.publishableKey
        return try await server.handle(request)
    }

    func demo() throws -> LocalSupabase.Account { try open().demo }

    private func open() throws -> LocalSupabase {
        if let opened { return opened }
        guard creates || LocalSupabase.isKept(in: directory) else {
            throw TransportError.unreachable("there is no embedded server in \(directory)")
        }
        let server = try LocalSupabase(directory: directory, clock: clock)
        opened = server
        return server
    }
}
