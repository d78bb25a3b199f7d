import Model

/// A file in the task folder, as the scanner saw it.
public struct Sighting: Hashable, Sendable {
    /// Its path in the task folder, without `.md`.
    public var place: Text
    public var stamp: FileStamp
    /// Of all its bytes.
    public var digest: Digest
    public var reading: Reading

    public init(place: Text, stamp: FileStamp, digest: Digest, reading: Reading) {
        self.place = place
        self.stamp = stamp
        self.digest = digest
        self.reading = reading
    }
}

/// What a file says.
public enum Reading: Hashable, Sendable {
    /// The known file at its place, byte for byte as the base says (`KnownTask.cleanDigest`): not parsed.
    case clean
    case task(id: ItemID?, TaskContent)
    /// It can't be read as a task, which is reported elsewhere. It still is at its path; `id` where that line could be read.
    case problem(id: ItemID?)
}

/// All that decides which file is which task.
public struct MatchInput {
    public var sightings: [Sighting]
    public var known: [ItemID: KnownTask]
    /// The Remote tree, tombstones too.
    public var remote: (ItemID) -> TaskRow?
    /// `Places.assign` of the live rows.
    public var wanted: [ItemID: Text]
    /// Former places that are still kept (a day).
    public var former: [FormerPlace]
    /// Ids whose file this device once had and saw go, or that `restore` or `undo` noted before laying a file down.
    public var gone: Set<ItemID>
    /// Ids that another account has: an insert was answered 23505 and no row.
    public var takenElsewhere: Set<ItemID>
    /// Paths of which nothing may be concluded, nor of what lies in them: a folder that can't be read, a file whose `stat`
    /// failed, one that went missing within two seconds. The empty path is all of the task folder.
    public var unknown: [Text]
    /// Why a place isn't scanned though a file may be there: an ignore rule, a symlink, another device. Nil: it is scanned.
    public var notFollowed: (Text) -> Text?
    /// Looks for files under every name in the workspace (ignored, hidden, not `.md`; not in a trash folder): their paths
    /// for a person. Called at most once, and only when there is a deletion to decide.
    public var locate: (Set<FileIdentity>) -> [FileIdentity: Text]
    /// No sync of this workspace was completed yet.
    public var firstSync: Bool
    /// The workspace was copied, restored or carried here: inodes say nothing, and nothing missing was deleted.
    public var homeChanged: Bool
    /// False with `config set ids journal`: id lines are not read.
    public var idsInFiles: Bool
    public var newID: () -> ItemID

    public init(
        sightings: [Sighting], known: [ItemID: KnownTask], remote: @escaping (ItemID) -> TaskRow?,
        wanted: [ItemID: Text] = [:], former: [FormerPlace] = [], gone: Set<ItemID> = [],
        takenElsewhere: Set<ItemID> = [], unknown: [Text] = [], notFollowed: @escaping (Text) -> Text? = { _ in nil },
        locate: @escaping (Set<FileIdentity>) -> [FileIdentity: Text] = { _ in [:] }, firstSync: Bool = false,
        homeChanged: Bool = false, idsInFiles: Bool = true, newID: @escaping () -> ItemID
    ) {
        self.sightings = sightings
        self.known = known
        self.remote = remote
        self.wanted = wanted
        self.former = former
        self.gone = gone
        self.takenElsewhere = takenElsewhere
        self.unknown = unknown
        self.notFollowed = notFollowed
        self.locate = locate
        self.firstSync = firstSync
        self.homeChanged = homeChanged
        self.idsInFiles = idsInFiles
        self.newID = newID
    }
}
