import Model
import Supabase
import Workspace

/// What an engine is given from outside: time, chance, this machine, the way to the server, and the places where a test
/// lets things go wrong.
public struct Surroundings: Sendable {
    public var now: @Sendable () -> Instant
    public var newID: @Sendable () -> ItemID
    /// Waits for so many seconds: a lock, a second look at a missing file.
    public var wait: @Sendable (_ seconds: Double) -> Void
    /// What this device is called where others see it.
    public var device: Text
    /// Tells this machine from others that may have a copy of the workspace.
    public var machine: Text
    public var host: Text
    /// What this process does, for the message of one that has to wait for it.
    public var command: Text
    /// Asked before each effect on files.
    public var effects: Effects
    /// Asked before each commit of the journal.
    public var beforeCommit: @Sendable () throws -> Void
    /// The way to the server with the session of this account; nil: whoever is signed in. Throws `RunFailure`.
    public var connect: @Sendable (_ account: ItemID?) throws -> ServerLink

    public init(
        now: @escaping @Sendable () -> Instant, newID: @escaping @Sendable () -> ItemID,
        wait: @escaping @Sendable (Double) -> Void, device: Text, machine: Text, host: Text, command: Text,
        effects: Effects = .none, beforeCommit: @escaping @Sendable () throws -> Void = {},
        connect: @escaping @Sendable (ItemID?) throws -> ServerLink
    ) {
        self.now = now
        self.newID = newID
        self.wait = wait
        self.device = device
        self.machine = machine
        self.host = host
        self.command = command
        self.effects = effects
        self.beforeCommit = beforeCommit
        self.connect = connect
    }
}

/// A project with a session, as one run uses it.
public struct ServerLink: Sendable {
    public var service: SyncService
    public var account: AccountInfo
    /// How much went over the wire so far.
    public var traffic: @Sendable () async -> Traffic

    public init(service: SyncService, account: AccountInfo, traffic: @escaping @Sendable () async -> Traffic) {
        self.service = service
        self.account = account
        self.traffic = traffic
    }
}
