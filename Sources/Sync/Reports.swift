import Model

/// What a change of a person's is, as `status` names it.
public enum ChangeKind: String, Sendable { case new, edited, moved, deleted }

/// Where a waiting change stands.
public enum WaitingState: String, Sendable { case waiting, later, held, guarded }

public struct WaitingItem: Sendable, Equatable {
    public var id: ItemID?
    /// Relative to the workspace, with `.md`.
    public var path: Text
    public var change: ChangeKind
    public var fields: [Field]
    public var state: WaitingState
    /// Where it lay before, for a moved one.
    public var from: Text?
    /// Why it is later or held, for people.
    public var reason: Text?
}

public struct ConflictItem: Sendable, Equatable {
    public var id: ItemID
    public var path: Text
    public var fields: [Field]
}

public struct RefusedItem: Sendable, Equatable {
    public var id: ItemID
    public var path: Text
    public var fields: [Field]
    public var code: Text
    public var message: Text
    public var since: Instant
}

/// A file that waits because something is wrong with it, with the way out in the text.
public struct ProblemItem: Sendable, Equatable {
    public var id: ItemID?
    public var path: Text
    public var problem: Text
    public var line: Int?
}

public enum Connection: String, Sendable { case unknown, online, unreachable, offline, signedOut = "signed_out" }

public struct AccountInfo: Sendable, Equatable {
    public var userID: ItemID
    public var email: Text?
    public var isAnonymous: Bool

    public init(userID: ItemID, email: Text?, isAnonymous: Bool) {
        self.userID = userID
        self.email = email
        self.isAnonymous = isAnonymous
    }
}

public struct TaskCounts: Sendable, Equatable {
    public var tasks = 0
    public var open = 0
    public var done = 0
    public var photos = 0
}

/// What `status` shows.
public struct StatusReport: Sendable {
    /// The workspace's directory.
    public var workspace: Text
    public var account: AccountInfo?
    public var connection: Connection
    /// A run that holds the workspace now.
    public var syncing: (since: Instant, command: Text)?
    public var lastError: (text: Text, at: Instant)?
    public var lastPull: Instant?
    public var lastPush: Instant?
    /// The next try of an item that failed in passing.
    public var nextTry: Instant?
    public var counts: TaskCounts
    public var waiting: [WaitingItem]
    public var conflicts: [ConflictItem]
    public var refused: [RefusedItem]
    public var problems: [ProblemItem]
    /// Known tasks whose files are not followed here: path and reason.
    public var notFollowed: [ProblemItem]
    /// Those of the last 30 days not yet shown.
    public var notices: [Notice]
}

public struct Tally: Sendable, Equatable {
    public var tasks = 0
    public var photos = 0
    public var profiles = 0
    public var deleted = 0
}

/// One step of a plan, as `--dry-run` prints it.
public struct PlanLine: Sendable, Equatable {
    public enum Action: String, Sendable {
        case send, sendNew = "send_new", sendDeletion = "send_deletion", revive
        case write, writeNew = "write_new", move, remove, conflict, hold
    }
    public var action: Action
    public var path: Text
    public var fields: [Field]
    public var to: Text?
}

public enum Verb: String, Sendable { case pull, push, sync }

/// What a run did.
public struct RunReport: Sendable {
    public var verb: Verb
    public var sent = Tally()
    public var received = Tally()
    public var waiting: [WaitingItem] = []
    public var conflicts: [ConflictItem] = []
    public var refused: [RefusedItem] = []
    public var problems: [ProblemItem] = []
    public var notices: [Notice] = []
    /// In a background run: what is new since the one before and needs a person.
    public var news: [Notice] = []
    /// What the run did or, with `--dry-run`, would do.
    public var plan: [PlanLine] = []
    /// The number of items that the deletion guard holds; nil where it holds none.
    public var guarded: GuardedDeletions?
    /// What kept the run from finishing (unreachable, signed out, no schema); what could be done without is done.
    public var failure: RunFailure?
    public var requests = 0
    public var bytesUp = 0
    public var bytesDown = 0
    public var seconds = 0.0

    public init(verb: Verb) { self.verb = verb }
}

public struct GuardedDeletions: Sendable, Equatable {
    /// The number to allow.
    public var count: Int
    /// Tasks that would disappear on the server / here.
    public var onServer: Int
    public var here: Int
    public var wentBackInTime: Int
}

/// Why a run could not finish, for people, with the exit code of commands.md.
public struct RunFailure: Error, Sendable, Equatable {
    public enum Kind: Sendable {
        case failed, unreachable, offline, signedOut, otherAccount, schema, readOnly, diskFull
    }
    public var kind: Kind
    public var text: Text

    public init(_ kind: Kind, _ text: Text) {
        self.kind = kind
        self.text = text
    }
}

public struct RunOptions: Sendable {
    public var dryRun = false
    public var background = false
    public var allowDeletions: Int?
    /// Only these tasks are sent and written; the feed is read in full all the same.
    public var only: Set<ItemID>?
    /// How long to wait for another run, in seconds.
    public var wait = 10.0

    public init() {}
}

/// One task of a list.
public struct TaskSummary: Sendable, Equatable {
    public var id: ItemID?
    public var path: Text
    public var title: Text
    public var done: Bool
    public var photos: Int
    /// Its change has not reached the server.
    public var waiting: Bool
    /// The server's clock, or the file's time where the change is only here.
    public var updated: Instant
    public var notes: Text
    public var properties: [Text: JSON]
}

/// The two sides of a field in conflict.
public struct FieldSides: Sendable, Equatable {
    public var field: Field
    public var base: JSON?
    public var mine: JSON?
    public var theirs: JSON?
}
