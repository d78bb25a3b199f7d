/// What the journal knows of one task on this device, the remote row apart.
public struct KnownTask: Hashable, Sendable {
    public let id: ItemID
    /// Where `otask` last put or saw its file; nil where it has none here.
    public var place: Text?
    /// A person moved the file to `place`, which the server doesn't know yet: its path is a change of this side. Else the
    /// path is the base's, wherever the file lies (a suffix or slug is never taken for a rename).
    public var isMoved: Bool
    /// The file at `place`, when it was last verified.
    public var identity: FileIdentity?
    /// The file with these bytes at `place` says what `base` says; nil while it says something else.
    public var cleanDigest: Digest?
    /// The time of the file's last change when it was last verified, in nanoseconds since 1970: a changed file with an
    /// older one went back in time.
    public var modified: Int64?
    /// Nil until the server is known to have the task: an id that was only reserved for a new file.
    public var base: Base?
    /// The file had its `id` line when it was last seen.
    public var hasIDLine: Bool
    /// What the file held when the id line was written into it, until a person saves it with that line, at most a week.
    public var beforeID: EarlierText?
    /// What the file held before the last write by a pull.
    public var beforePull: EarlierText?
    /// Why this task is not followed here: a rule ignores its file, or it lies under a name that is no task.
    public var frozen: Text?

    public init(
        id: ItemID, place: Text?, isMoved: Bool = false, identity: FileIdentity? = nil, cleanDigest: Digest? = nil,
        modified: Int64? = nil, base: Base? = nil,
        hasIDLine: Bool = false, beforeID: EarlierText? = nil, beforePull: EarlierText? = nil, frozen: Text? = nil
    ) {
        self.id = id
        self.place = place
        self.isMoved = isMoved
        self.identity = identity
        self.cleanDigest = cleanDigest
        self.modified = modified
        self.base = base
        self.hasIDLine = hasIDLine
        self.beforeID = beforeID
        self.beforePull = beforePull
        self.frozen = frozen
    }
}

/// An earlier state of a task's text, against which a save from a stale buffer is merged.
public struct EarlierText: Hashable, Sendable {
    /// Title, notes, done and own keys; no path.
    public var values: FieldValues
    public var since: Instant

    public init(values: FieldValues, since: Instant) {
        self.values = values
        self.since = since
    }
}

/// A path that `otask` moved a task away from, kept a day: an editor may still save there.
public struct FormerPlace: Hashable, Sendable {
    public var place: Text
    public var id: ItemID
    public var since: Instant
    /// What the file held when it was moved away.
    public var values: FieldValues
    /// A person had changed the file within the hour before: the path isn't given to another task until `since` + 1 h.
    public var wasEditedLately: Bool

    public init(place: Text, id: ItemID, since: Instant, values: FieldValues, wasEditedLately: Bool) {
        self.place = place
        self.id = id
        self.since = since
        self.values = values
        self.wasEditedLately = wasEditedLately
    }
}
