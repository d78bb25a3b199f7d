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
    /// Hears of every request; nil: nobody does.
    var log: (@Sendable (String) -> Void)?

    /// The project with a session of `account`; nil: of the one that is signed in. Nothing is asked of the server yet.
    func link(account: ItemID?) throws -> ServerLink {
        let access = try access()
        guard let account = account ?? signedIn, let session = try sessions().session(of: account, at: access.project)
        else { throw RunFailure(.signedOut, "nobody is signed in here: sign in with \"otask login\"") }
        let transport = MeteredTransport(access.transport)
        let keeper = try keeper(of: account, access)
        return ServerLink(
            service: SyncService(project: access.project, sessions: keeper, transport: transport, timing: timing),
            account: AccountInfo(userID: account, email: session.email, isAnonymous: session.isAnonymous),
            traffic: { await transport.traffic })
    }

    // MARK: Accounts

    /// The account that the workspace belongs to, else the one that signed in here last.
    var signedIn: ItemID? { config.user ?? config.session.flatMap { SessionStore.account(ofFile: $0) } }

    /// The session that is kept of `account`; nil where there is none.
    func session(of account: ItemID) throws -> Session? { try sessions().session(of: account, at: access().project) }

    func auth() throws -> Auth {
        let access = try access()
        return Auth(project: access.project, transport: access.transport, timing: timing)
    }

    func keeper(of account: ItemID) throws -> SessionKeeper { try keeper(of: account, access()) }

    /// Keeps a session; where it lies.
    func keep(_ session: Session) async throws -> Text {
        try await keeper(of: session.userID).keep(session)
        return try sessions().file(of: session.userID, at: access().project)
    }

    /// Signs in to the demo account of the embedded server, which is made where it isn't there yet.
    func signInToDemo() async throws -> Session {
        guard case .embedded(let server) = try place(creates: true) else {
            throw Failure.usage("this server has no demo account")
        }
        let demo = try await server.demo()
        return try await auth().signIn(email: Text(demo.email), password: Text(demo.password))
    }

    private func keeper(of account: ItemID, _ access: Access) throws -> SessionKeeper {
        SessionKeeper(
            account: account, project: access.project, store: try sessions(),
            auth: Auth(project: access.project, transport: access.transport, timing: timing), timing: timing)
    }

    /// The directory that the configuration names, where it is there, so that cron finds what a shell keeps; else the
    /// environment's own.
    private func sessions() throws -> SessionStore {
        if let file = config.session, (try? OpenFolder(path: file.parent.string)) != nil {
            return SessionStore(directory: file.parent)
        }
        guard let directory = SessionStore.directory(environment: variables, home: System.homeFolder()) else {
            throw Failure(.cantCreate, "there is no place for the session: neither XDG_STATE_HOME nor HOME is set")
        }
        return SessionStore(directory: directory)
    }

    private var timing: Timing { Timing(now: clock) }

    // MARK: The project

    /// A project and what carries requests to it.
    struct Access: Sendable {
        let project: Project
        let transport: any Transport
    }

    func access() throws -> Access {
        switch try place() {
        case .network(let project):
            let transport = HTTPTransport(
                project: project, agent: "otask/\(programVersion)", environment: variables)
            return Access(project: project, transport: logged(transport))
        case .embedded(let server):
            let project = try Project(url: Text(server.name), publishableKey: "embedded")
            return Access(project: project, transport: logged(HandlerTransport { try await server.handle($0) }))
        }
    }

    private func logged(_ transport: any Transport) -> any Transport {
        log.map { LoggedTransport(transport, now: clock, log: $0) } ?? transport
    }

    private enum Place {
        case network(Project)
        case embedded(EmbeddedServer)
    }

    private func place(creates: Bool = false) throws -> Place {
        switch config.project {
        case .supabase(let url, let key):
            do throws(ProjectError) {
                return .network(try Project(url: url, publishableKey: key))
            } catch {
                throw Failure(.badData, "\(Config.path): \(printable(error.description))")
            }
        case .embedded(let directory):
            let directory = absolute(directory.string, from: root)
            return .embedded(EmbeddedServer(directory: directory, creates: creates, clock: clock))
        }
    }
}

/// The server that is kept in a directory, opened by the first request.
private actor EmbeddedServer {
    private let directory: String
    private let clock: @Sendable () -> Instant
    private let creates: Bool
    private var opened: LocalSupabase?

    /// `creates`: a server that isn't there yet is made; else it counts as one that can't be reached, so that a
    /// directory that went missing for a while is neither replaced nor takes the session along.
    init(directory: String, creates: Bool, clock: @escaping @Sendable () -> Instant) {
        self.directory = directory
        self.creates = creates
        self.clock = clock
    }

    /// It has no address; its directory tells its sessions from those of others. Its key is in its database.
    nonisolated var name: String { "http://\(Digest(of: Array(directory.utf8)).description.prefix(32)).invalid" }

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
