import Libraries
import LocalSupabase
import Model
import Supabase
import Workspace

@testable import Sync

/// A server and the devices of one person, all in this process. Directories are removed with it.
final class World: Sendable {
    let server: LocalSupabase
    let clock = TestClock()
    let folder: String
    let project: Project
    /// Whether devices talk to the server over a socket; else they call it.
    static let isWired = Console.variables()["OTASK_WIRE"] == "http"
    private let listener: Listener?
    /// Carries a device's request to the server.
    let wire: @Sendable (HTTPRequest) async throws -> HTTPResponse

    private let random: Mutex<SeededGenerator>

    /// With a seed, ids and the server's choices are the same each time.
    init(server folderName: String? = nil, seed: UInt64 = .random(in: 0 ... .max)) throws {
        random = Mutex(SeededGenerator(seed: ~seed))
        folder = try System.makeTemporaryFolder()
        let clock = clock
        server = try LocalSupabase(
            directory: folderName.map { [folder] in folder + "/" + $0 }, clock: { clock.now() },
            random: SeededSource(seed: seed).next)
        guard Self.isWired else {
            listener = nil
            project = try Project(url: "http://server.invalid", publishableKey: Text(server.publishableKey))
            wire = { [server] in try await server.handle($0) }
            return
        }
        let listener = try Listener(server: server)
        self.listener = listener
        let project = try Project(url: Text(listener.url), publishableKey: Text(server.publishableKey))
        self.project = project
        let transport = HTTPTransport(project: project, agent: "otask/test", environment: [:])
        wire = { try await transport.send($0) }
    }

    deinit { Shell.remove(folder) }

    @Sendable func newID() -> ItemID { random.withLock { ItemID(using: &$0) } }

    /// A new device of the demo account, with an empty workspace, or one that is there already.
    func device(_ name: String, settings: [String: Text] = [:], isThere: Bool = false) async throws -> Device {
        let device = try Device(name: name, world: self, settings: isThere ? nil : settings)
        try await device.signIn(email: Text(server.demo.email), password: Text(server.demo.password))
        return device
    }
}

extension World {
    /// A device of somebody else.
    func stranger(_ name: String) async throws -> Device {
        let device = try Device(name: name, world: self, settings: [:])
        try await device.signUp()
        return device
    }
}

/// Numbers of one seed for a server that draws them from many tasks.
private final class SeededSource: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    @Sendable func next() -> UInt64 { generator.withLock { $0.next() } }
}

/// The real clock, with an offset that tests move on.
final class TestClock: Sendable {
    private let offset = Mutex<Int64>(0)

    func now() -> Instant { Instant(nanoseconds: System.now() + offset.withLock { $0 }) }
    func advance(_ seconds: Double) { offset.withLock { $0 += Int64(seconds * 1e9) } }
}

/// Thrown where a test stops the process.
struct Crash: Error {}

/// Passes a request on to the server, or doesn't, and its answer back, or another one.
typealias Way =
    @Sendable (HTTPRequest, _ server: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) async throws ->
    HTTPResponse

/// One device: a workspace, its sessions, and the points at which it can be stopped.
final class Device: Sendable {
    let name: String
    let root: String
    let world: World
    let store: SessionStore
    private let account = Mutex<ItemID?>(nil)
    /// How many effects may still happen; nil: all.
    private let effectsLeft = Mutex<Int?>(nil)
    let effectsSeen = Mutex<Int>(0)
    private let waiting = Mutex<(@Sendable () -> Void)?>(nil)
    let machine = Mutex<Text>("machine")
    /// What another program does just before an effect on a file.
    private let meanwhile = Mutex<(@Sendable (Effect) throws -> Void)?>(nil)
    /// What stands between this device and the server; nil: nothing.
    let onTheWay = Mutex<Way?>(nil)

    fileprivate init(name: String, world: World, settings: [String: Text]?) throws {
        self.name = name
        self.world = world
        root = world.folder + "/" + name
        store = SessionStore(directory: Text(world.folder + "/sessions-" + name))
        guard let settings else { return }
        Shell.makeFolders(root + "/tasks")
        Shell.makeFolders(root + "/.otask/displaced")
        let config = try Config(
            template: "", workspace: ItemID.random(), project: .embedded(directory: "/nowhere"), settings: settings)
        Shell.write(root + "/.otask/config.yaml", config.source.bytes)
    }

    func signUp() async throws {
        let timing = Timing(now: world.clock.now)
        let session = try await Auth(project: world.project, transport: transport, timing: timing).signUpAnonymously()
        try await keeper(session.userID).keep(session)
        account.withLock { $0 = session.userID }
    }

    func signIn(email: Text, password: Text) async throws {
        let timing = Timing(now: world.clock.now)
        let auth = Auth(project: world.project, transport: transport, timing: timing)
        let session = try await auth.signIn(email: email, password: password)
        try await keeper(session.userID).keep(session)
        account.withLock { $0 = session.userID }
    }

    private var transport: any Transport {
        let world = world
        return HandlerTransport { [self] request in
            // A request is an effect too: the process can be stopped before it leaves, and after it was answered.
            try step()
            do {
                let way = onTheWay.withLock { $0 } ?? { request, server in try await server(request) }
                let answer = try await way(request) { try await world.wire($0) }
                try step()
                return answer
            } catch is ConnectionLost {
                throw TransportError.cut
            }
        }
    }

    private func keeper(_ id: ItemID) -> SessionKeeper {
        let timing = Timing(now: world.clock.now)
        return SessionKeeper(
            account: id, project: world.project, store: store,
            auth: Auth(project: world.project, transport: transport, timing: timing), timing: timing)
    }

    /// One effect: stops the process where the test wants it.
    func step() throws {
        effectsSeen.withLock { $0 += 1 }
        try effectsLeft.withLock { left in
            guard let count = left else { return }
            if count == 0 { throw Crash() }
            left = count - 1
        }
    }

    /// Lets the next run be stopped after so many effects; nil: not at all.
    func crash(after effects: Int?) { effectsLeft.withLock { $0 = effects } }

    /// Lets another program act while a run waits; nil: no longer.
    func whileWaiting(_ act: (@Sendable () -> Void)?) { waiting.withLock { $0 = act } }

    /// Lets another program act before each effect of the next runs; nil: no longer.
    func meanwhile(_ act: (@Sendable (Effect) throws -> Void)?) { meanwhile.withLock { $0 = act } }

    var isCrashed: Bool { effectsLeft.withLock { $0 == 0 } }

    func engine() throws -> Engine {
        let transport = transport
        let world = world
        let timing = Timing(now: world.clock.now, wait: { _ in }, random: { 0.5 })
        return try Engine(
            root: Text(root),
            surroundings: Surroundings(
                now: world.clock.now, newID: world.newID,
                wait: { [self] _ in waiting.withLock { $0 }?() }, device: Text(name),
                machine: machine.withLock { $0 },
                host: "host", command: "test",
                effects: Effects { [self] effect in
                    try meanwhile.withLock { $0 }?(effect)
                    try step()
                },
                beforeCommit: { [self] in try step() },
                connect: { [self] id in
                    guard let id = id ?? account.withLock({ $0 }) else { throw RunFailure(.signedOut, "signed out") }
                    let metered = MeteredTransport(transport)
                    return ServerLink(
                        service: SyncService(
                            project: world.project, sessions: keeper(id), transport: metered, timing: timing),
                        account: AccountInfo(userID: id, email: nil, isAnonymous: false),
                        traffic: { await metered.traffic })
                }))
    }

    // MARK: What a person does

    @discardableResult
    func run(_ verb: Verb, _ change: (inout RunOptions) -> Void = { _ in }) async throws -> RunReport {
        var options = RunOptions()
        change(&options)
        return try await engine().run(verb, options)
    }

    @discardableResult
    func sync(_ change: (inout RunOptions) -> Void = { _ in }) async throws -> RunReport {
        try await run(.sync, change)
    }

    func path(_ place: String) -> String { root + "/tasks/" + place + ".md" }
    func write(_ place: String, _ text: String) { Shell.write(path(place), Array(text.utf8)) }
    /// Writes a new file and renames it over the old one, as many editors save.
    func saveByRename(_ place: String, _ text: String) {
        Shell.write(path(place) + "~new~", Array(text.utf8))
        Shell.rename(path(place) + "~new~", path(place))
    }
    func read(_ place: String) -> String? { Shell.read(path(place)).map { String(decoding: $0, as: UTF8.self) } }
    func move(_ place: String, _ to: String) { Shell.rename(path(place), path(to)) }
    func copy(_ place: String, _ to: String) { if let bytes = Shell.read(path(place)) { Shell.write(path(to), bytes) } }
    func remove(_ place: String) { Shell.unlink(path(place)) }
    func replace(_ place: String, _ old: String, _ new: String) {
        guard let text = read(place) else { return }
        write(place, text.split(separator: old, omittingEmptySubsequences: false).joined(separator: new))
    }

    /// What the engine makes of the files, for the report of a failure.
    func picture() -> String {
        guard let view = try? engine().view().view else { return "no view" }
        let known = view.known.values.sorted { $0.id < $1.id }.map {
            "\($0.id.text.string.prefix(4)) at \($0.place ?? "-") moved \($0.isMoved) base \($0.base?.values[.title]?.text ?? "-") \($0.base?.values[.path]?.serializedText ?? "-") remote \(view.remote[$0.id].map { "v\($0.version) \($0.path ?? "-") \($0.deletedAt ?? "live")" } ?? "-") \(view.plans[$0.id]?.action as Any) \(view.plans[$0.id]?.fields ?? [:]) \(view.local[$0.id].map { "local \($0.kind) \($0.digest.description.prefix(6)) clean \(view.known[$0.id]?.cleanDigest?.description.prefix(6) ?? "-") \($0.content.notes.string.debugDescription) base \(view.known[$0.id]?.base?.values[.notes]?.text?.string.debugDescription ?? "-") remote \(view.remote[$0.id]?.content.notes.string.debugDescription ?? "-")" } ?? "no file")"
        }
        return ([name] + known + view.problems.map { "\($0.path): \($0.problem)" }).joined(separator: "\n")
    }

    /// The places of all task files.
    var places: [String] {
        Shell.files(below: root + "/tasks").filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) }.sorted()
    }

    /// What every file says: place → title, notes, done, own keys.
    func contents() throws -> [String: TaskContent] {
        var contents: [String: TaskContent] = [:]
        for place in places {
            let bytes = Shell.read(path(place)) ?? []
            contents[place] = try TaskFile.parse(bytes, name: Text(place).lastComponent, idsInFiles: true).content
        }
        return contents
    }
}
