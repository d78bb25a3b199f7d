import Libraries
import Model

/// A point where a write touches the disk. The one seam for faults: `Effects` is asked before each.
public enum Effect: Hashable, Sendable {
    case makeFolder(Text)
    case stage(Text)
    case flush
    case exchange(Text)
    case putBack(Text)
    case place(Text)
    case move(from: Text, to: Text)
    case remove(Text)
    /// A displaced file goes to `.otask/displaced/`.
    case keep(Text)
    /// A temporary, displaced or empty thing of otask's own is deleted.
    case discard(Text)
    /// A state goes into the history.
    case record
}

/// Called before each effect; what it throws ends the call, unchanged, and the effect doesn't happen.
public struct Effects: Sendable {
    public let check: @Sendable (Effect) throws -> Void

    public init(_ check: @escaping @Sendable (Effect) throws -> Void) { self.check = check }

    public static let none = Effects { _ in }
}

/// A temporary file with the new content, beside its target. Paths are relative to the workspace.
public struct Staged: Hashable, Sendable {
    public var temporary: Text
    public var target: Text
    public var digest: Digest
    public var stamp: FileStamp

    /// The record for the journal, before `exchange`.
    public func replacing(_ expected: Digest, item: ItemID?) -> PendingWrite {
        PendingWrite(
            kind: .replace, temporary: temporary, target: target, digest: digest, expected: expected, item: item)
    }

    /// The record for the journal, before `place`.
    public func placing(item: ItemID?) -> PendingWrite {
        PendingWrite(kind: .place, temporary: temporary, target: target, digest: digest, expected: nil, item: item)
    }
}

/// A write under way, for the journal, so that the next run can tell how far it came (`FileWriter.recover`).
public struct PendingWrite: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable { case replace, place, remove }

    public var kind: Kind
    /// The temporary file; for a removal, where the removed file goes.
    public var temporary: Text
    public var target: Text
    /// What was put into the temporary file; nil for a removal.
    public var digest: Digest?
    /// What the target is expected to hold; nil for a new file.
    public var expected: Digest?
    public var item: ItemID?

    public init(kind: Kind, temporary: Text, target: Text, digest: Digest?, expected: Digest?, item: ItemID?) {
        self.kind = kind
        self.temporary = temporary
        self.target = target
        self.digest = digest
        self.expected = expected
        self.item = item
    }
}

/// A file that otask displaced or removed, kept for a while in case a program still had it open.
public struct Displaced: Hashable, Sendable {
    /// Relative to the workspace: `.otask/displaced/<digest>.<nanoseconds>.<random>`, or beside the target on another device.
    public var path: Text
    /// Where it was.
    public var target: Text
    /// What it held when it was displaced.
    public var digest: Digest
    public var at: Instant

    public init(path: Text, target: Text, digest: Digest, at: Instant) {
        self.path = path
        self.target = target
        self.digest = digest
        self.at = at
    }

    /// `<digest>.<nanoseconds>.<random>`: found by content, and old ones by their name.
    static func name(_ digest: Digest, at: Instant, random: UInt64) -> Text {
        "\(digest).\(at.nanoseconds).\(String(random & 0xFFFF_FFFF, radix: 16))"
    }

    /// When a file of this name was displaced; nil for other names.
    static func date(ofName name: Text) -> Instant? {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count == 64 else { return nil }
        return Int64(Substring(parts[1])).map(Instant.init(nanoseconds:))
    }
}
