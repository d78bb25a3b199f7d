import Model

/// A file and the task it is.
public struct Matched: Hashable, Sendable {
    public var id: ItemID
    public var kind: MatchKind
    /// What its text is merged against.
    public var ground: MergeGround
    /// Its reading may be a `problem`: the file is this task's, and waits.
    public var sighting: Sighting

    public var place: Text { sighting.place }
}

/// How a file came to be a task. Wherever the id in the file isn't the item's, the right one is to be written there.
public enum MatchKind: Hashable, Sendable {
    /// The task that was at this path. Also an id reserved for a new file that is not on the server yet.
    case same
    case renamed(from: Text)
    /// A task that had no file here (not followed, or not laid down) has one again.
    case returned
    /// The path's task, edited by copying another task's file over it: the id line is put back.
    case copiedOver(with: ItemID)
    /// Saved without the id line it had: older than that line (`MergeGround.beforeID`).
    case older
    /// An edit of a task by an editor that had the old name. The task's own file is another item.
    case formerPlace
    /// A live task of the server that had no file here: agreed as far as it is equal.
    case adopted
    /// Likewise, at the first sync, by its place alone: title or notes differ.
    case contested
    /// This device saw its file go, or a command laid it down again: revived with its id.
    case wantedBack
    /// A new task: with the id in the file where there is one that is free, else with a new one.
    case new
    /// A new task, with a new id, whose file bears the id of another.
    case copy(of: ItemID)
    /// A new task, with a new id, whose file bears an id of another account.
    case fromElsewhere
    /// Deleted on the server, and this device never had it: where the file is equal to what was deleted, the deletion is
    /// carried out, under the guard; else a person decides.
    case deleted
}

/// What a file's text is merged against.
public enum MergeGround: Hashable, Sendable {
    /// `KnownTask.base`.
    case base
    /// `KnownTask.beforeID`.
    case beforeID
    /// `FormerPlace.values`.
    case former(FormerPlace)
    /// Nothing: equal fields agree, different ones conflict.
    case none
}

/// A file that waits, or a word about one.
public struct MatchRemark: Hashable, Sendable {
    public var place: Text
    /// The task that the file is or may be: of a file that waits, the known task of its path where that is at no other,
    /// else the one whose id it bears.
    public var id: ItemID?
    public var text: Text
}

/// A known task that isn't followed here: nothing of it is sent or written.
public struct Frozen: Hashable, Sendable {
    public var id: ItemID
    public var reason: Text
    /// The place to keep for it; nil once its file has another name, which is no task.
    public var place: Text?
}

/// Which file is which task. Each sighting is in `items`, `problems` or `unmatched`, once; each known task that had a file
/// is in `items`, `problems`, `gone`, `laidDownAgain`, `unknown` or `frozen`, once (`formerPlace` apart).
public struct Matching: Equatable, Sendable {
    /// In order of place, like all lists of files here; those of tasks are in order of id.
    public var items: [Matched] = []
    /// Deleted by the person.
    public var gone: [ItemID] = []
    /// Missing, but not deleted: the workspace was carried here, or an editor with an old name wrote over the file.
    public var laidDownAgain: [ItemID] = []
    /// Not seen, and nothing may be concluded.
    public var unknown: [ItemID] = []
    public var frozen: [Frozen] = []
    /// Files that wait because of their id.
    public var problems: [MatchRemark] = []
    /// Files that can't be read and are no known task.
    public var unmatched: [Text] = []
    /// What the matching decided, said once.
    public var notices: [MatchRemark] = []

    public init() {}

    /// Works it out: rule by rule in the order of `Matcher`.
    public init(_ input: MatchInput) {
        var matcher = Matcher(input)
        matcher.run()
        self = matcher.result
    }
}
