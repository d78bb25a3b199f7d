/// A conflict of one task, as the journal keeps it: the file keeps the person's own text meanwhile.
public struct ConflictRecord: Hashable, Sendable {
    public var id: ItemID
    public var fields: Set<Field>
    /// The server's values that the conflict was raised with; a field that is not there is absent on the server.
    public var raised: FieldValues
    /// The server's values that a person was last shown, where those are others.
    public var shown: FieldValues?
    public var since: Instant

    public init(id: ItemID, fields: Set<Field>, raised: FieldValues, shown: FieldValues? = nil, since: Instant) {
        self.id = id
        self.fields = fields
        self.raised = raised
        self.shown = shown
        self.since = since
    }
}

/// A change that the server said no to. It isn't sent again until its fingerprint changes.
public struct RefusalRecord: Hashable, Sendable {
    public var id: ItemID
    /// The field that was refused; nil: the whole change (a new task, a deletion, a revival).
    public var field: Field?
    /// Of the value that was refused and of the server's row it was refused on.
    public var fingerprint: Digest
    public var code: Text
    public var message: Text
    public var since: Instant

    public init(id: ItemID, field: Field?, fingerprint: Digest, code: Text, message: Text, since: Instant) {
        self.id = id
        self.field = field
        self.fingerprint = fingerprint
        self.code = code
        self.message = message
        self.since = since
    }
}

/// An item whose change failed in passing, and when a background run tries it again.
public struct LaterRecord: Hashable, Sendable {
    public var id: ItemID
    /// How often it failed in a row; 1 after the first time.
    public var tries: Int
    public var next: Instant
    /// Of the task as it stood here and of the server's row: another one is tried at once.
    public var fingerprint: Digest
    public var message: Text

    public init(id: ItemID, tries: Int, next: Instant, fingerprint: Digest, message: Text) {
        self.id = id
        self.tries = tries
        self.next = next
        self.fingerprint = fingerprint
        self.message = message
    }
}

/// A change that left, or was about to leave, for the server: what was said, so that a late answer is recognised.
/// Nothing is planned from it.
public struct InFlightRecord: Hashable, Sendable {
    public var changeID: ItemID
    public var id: ItemID
    public var place: Text?
    public var identity: FileIdentity?
    public var digest: Digest?
    /// The change as it was sent (`Change.json`).
    public var change: JSON
    public var sent: Instant

    public init(
        changeID: ItemID, id: ItemID, place: Text?, identity: FileIdentity?, digest: Digest?, change: JSON,
        sent: Instant
    ) {
        self.changeID = changeID
        self.id = id
        self.place = place
        self.identity = identity
        self.digest = digest
        self.change = change
        self.sent = sent
    }
}

/// Something a person should be told once.
public struct Notice: Hashable, Sendable {
    public var time: Instant
    /// The file it is about, relative to the workspace; empty where it is about none.
    public var path: Text
    public var text: Text
    /// The command that takes it back, where there is one.
    public var undo: Text?

    public init(time: Instant, path: Text, text: Text, undo: Text? = nil) {
        self.time = time
        self.path = path
        self.text = text
        self.undo = undo
    }
}
