import Libraries
import Model

/// What the journal knows of the workspace as a whole.
public struct Meta: Hashable, Sendable {
    public struct TimedText: Hashable, Sendable {
        public var text: Text
        public var at: Instant

        public init(text: Text, at: Instant) {
            self.text = text
            self.at = at
        }
    }

    /// The cursor of the feed; moved by storing a page, set to 0 by forgetting.
    public internal(set) var cursor: Int64 = 0
    /// The workspace that this journal belongs to, as its configuration has it too.
    public var marker: Text?
    public var projectURL: Text?
    /// The account, from the first exchange on (law 9).
    public var userID: ItemID?
    /// With `homeIdentity`: where this journal was written. Others than now: the workspace was copied or restored.
    public var machineID: Text?
    /// Of `.otask/`.
    public var homeIdentity: FileIdentity?
    /// The name of this device.
    public var device: Text?
    public var lastPull: Instant?
    public var lastPush: Instant?
    public var lastError: TimedText?
    /// What the last run found of the connection, in the words of `status`.
    public var connection: Text?
    /// A person asked to be treated as if there was no network.
    public var simulatedOffline = false
    public var serverSchema: Int64?
    /// Of the last page, as the server wrote it.
    public var serverTime: Text?
    /// A pull of this workspace has been brought together with its files once.
    public var firstSyncDone = false
    /// When a background run last said that the deletion guard holds something.
    public var guardSaid: Instant?
    /// The mark of a change of account under way (law 9).
    public var accountChange: Text?

    public init() {}

    /// By name, as the table `meta` keeps them.
    var stored: [(key: String, value: SQLValue)] {
        [
            ("cursor", SQLValue(cursor)), ("marker", SQLValue(marker)), ("project_url", SQLValue(projectURL)),
            ("user_id", SQLValue(userID)), ("machine_id", SQLValue(machineID)),
            ("home_inode", SQLValue(inode: homeIdentity?.inode)), ("home_birth", SQLValue(homeIdentity?.birth)),
            ("device", SQLValue(device)), ("last_pull", SQLValue(lastPull)), ("last_push", SQLValue(lastPush)),
            ("last_error", SQLValue(lastError?.text)), ("last_error_at", SQLValue(lastError?.at)),
            ("connection", SQLValue(connection)), ("simulated_offline", SQLValue(simulatedOffline)),
            ("server_schema", SQLValue(serverSchema)), ("server_time", SQLValue(serverTime)),
            ("first_sync_done", SQLValue(firstSyncDone)), ("guard_said", SQLValue(guardSaid)),
            ("account_change", SQLValue(accountChange)),
        ]
    }

    init(stored: [String: SQLValue]) {
        cursor = stored["cursor"]?.integer ?? 0
        marker = stored["marker"]?.asText
        projectURL = stored["project_url"]?.asText
        userID = stored["user_id"]?.id
        machineID = stored["machine_id"]?.asText
        if let inode = stored["home_inode"]?.integer, let birth = stored["home_birth"]?.integer {
            homeIdentity = FileIdentity(inode: UInt64(bitPattern: inode), birth: birth)
        }
        device = stored["device"]?.asText
        lastPull = stored["last_pull"]?.instant
        lastPush = stored["last_push"]?.instant
        if let text = stored["last_error"]?.asText, let at = stored["last_error_at"]?.instant {
            lastError = TimedText(text: text, at: at)
        }
        connection = stored["connection"]?.asText
        simulatedOffline = stored["simulated_offline"]?.flag ?? false
        serverSchema = stored["server_schema"]?.integer
        serverTime = stored["server_time"]?.asText
        firstSyncDone = stored["first_sync_done"]?.flag ?? false
        guardSaid = stored["guard_said"]?.instant
        accountChange = stored["account_change"]?.asText
    }
}
