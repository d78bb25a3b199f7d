import Libraries
import Model
import Workspace

/// A move by `otask` that is under way, in the journal before its first rename.
public struct MoveRecord: Hashable, Sendable {
    public var id: ItemID
    public var move: Move
    /// The new id of a photo that becomes one of its own with this move.
    public var newID: ItemID?

    public init(id: ItemID, move: Move, newID: ItemID? = nil) {
        self.id = id
        self.move = move
        self.newID = newID
    }
}

/// A displaced or removed file, and what it is looked at again for.
public struct DisplacedRecord: Hashable, Sendable {
    public var displaced: Displaced
    /// The task or photo whose file it was; nil where it was none.
    public var id: ItemID?
    /// What the displaced file of a task said: bytes that come meanwhile are merged as an edit of it.
    public var values: FieldValues?

    public init(displaced: Displaced, id: ItemID? = nil, values: FieldValues? = nil) {
        self.displaced = displaced
        self.id = id
        self.values = values
    }
}

/// A file of which the history doesn't have what it is now; every other file that the stat cache knows, it has.
public struct UnrecordedFile: Hashable, Sendable {
    public enum Origin: Hashable, Sendable {
        /// `otask` wrote, moved or removed it.
        case own
        /// It was being saved while it was to be recorded, or the history couldn't be written.
        case found
    }

    /// Relative to the workspace.
    public var path: Text
    public var origin: Origin
    /// The task whose file it was.
    public var oldID: ItemID?
    /// The task whose file it became.
    public var newID: ItemID?

    public init(path: Text, origin: Origin, oldID: ItemID? = nil, newID: ItemID? = nil) {
        self.path = path
        self.origin = origin
        self.oldID = oldID
        self.newID = newID
    }
}

/// Deletions that went through at once, for the guard.
public struct DeletionCount: Hashable, Sendable {
    public var at: Instant
    /// `tasks` or `photos`.
    public var table: Text
    public var count: Int

    public init(at: Instant, table: Text, count: Int) {
        self.at = at
        self.table = table
        self.count = count
    }
}

/// An entry of the stat cache with its path.
struct CacheEntry: Stored {
    static let table = Table("files", "path, size, modified, changed, inode, birth, recorded, digest")

    let path: Text
    let file: CachedFile

    init(path: Text, file: CachedFile) {
        self.path = path
        self.file = file
    }

    var columns: [SQLValue] {
        let stamp = file.stamp
        return [
            SQLValue(path), SQLValue(stamp.size), SQLValue(stamp.modified), SQLValue(stamp.changed),
            SQLValue(inode: stamp.inode), SQLValue(stamp.birth), SQLValue(file.recorded), SQLValue(file.digest),
        ]
    }

    init(_ row: inout RowReader) throws {
        path = try row.text()
        let stamp = FileStamp(
            size: try row.integer(), modified: try row.integer(), changed: try row.integer(),
            inode: UInt64(bitPattern: try row.integer()), birth: try row.optional(\.integer))
        file = CachedFile(stamp: stamp, recorded: try row.instant(), digest: try row.digest())
    }
}

extension PendingWrite: Stored {
    static let table = Table("pending_writes", "temporary, kind, target, digest, expected, item")

    var columns: [SQLValue] {
        [
            SQLValue(temporary), SQLValue(kind.rawValue), SQLValue(target), SQLValue(digest), SQLValue(expected),
            SQLValue(item),
        ]
    }

    init(_ row: inout RowReader) throws {
        let temporary = try row.text()
        let kind = try row.required { $0.text.flatMap(Kind.init(rawValue:)) }
        self.init(
            kind: kind, temporary: temporary, target: try row.text(), digest: try row.optionalDigest(),
            expected: try row.optionalDigest(), item: try row.optionalID())
    }
}

extension MoveRecord: Stored {
    static let table = Table("moves", #""from", id, temporary, "to", inode, birth, new_id"#)

    var columns: [SQLValue] {
        [
            SQLValue(move.from), SQLValue(id), SQLValue(move.temporary), SQLValue(move.to),
            SQLValue(inode: move.inode), SQLValue(move.birth), SQLValue(newID),
        ]
    }

    init(_ row: inout RowReader) throws {
        let from = try row.text()
        id = try row.id()
        let temporary = try row.text()
        move = Move(
            from: from, to: try row.text(), temporary: temporary, inode: UInt64(bitPattern: try row.integer()),
            birth: try row.optional(\.integer))
        newID = try row.optionalID()
    }
}

extension DisplacedRecord: Stored {
    static let table = Table("displaced", #"path, target, digest, at, id, "values""#)

    var columns: [SQLValue] {
        [
            SQLValue(displaced.path), SQLValue(displaced.target), SQLValue(displaced.digest), SQLValue(displaced.at),
            SQLValue(id), SQLValue(values),
        ]
    }

    init(_ row: inout RowReader) throws {
        displaced = Displaced(
            path: try row.text(), target: try row.text(), digest: try row.digest(), at: try row.instant())
        id = try row.optionalID()
        values = try row.optionalFields()
    }
}

extension UnrecordedFile: Stored {
    static let table = Table("unrecorded", "path, own, old_id, new_id")

    var columns: [SQLValue] { [SQLValue(path), SQLValue(origin == .own), SQLValue(oldID), SQLValue(newID)] }

    init(_ row: inout RowReader) throws {
        self.init(
            path: try row.text(), origin: try row.flag() ? .own : .found, oldID: try row.optionalID(),
            newID: try row.optionalID())
    }
}

extension DeletionCount: Stored {
    static let table = Table("recent_deletions", "at, kind, count")

    var columns: [SQLValue] { [SQLValue(at), SQLValue(table), SQLValue(Int64(count))] }

    init(_ row: inout RowReader) throws {
        self.init(at: try row.instant(), table: try row.text(), count: Int(try row.integer()))
    }
}
