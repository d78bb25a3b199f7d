import Libraries
import Model

/// The stat cache of a whole folder, packed, and which of its files are known to need nothing: those of tasks about which
/// both sides agree. A scan passes over these when their stamps are the same, and only counts them.
///
/// It holds bytes and numbers in a few arrays, no text and no object of a file's own, so that a hundred thousand files cost
/// some 20 MB and no time.
public struct SettledFiles: Sendable {
    fileprivate enum State: UInt8 {
        /// Only cached: the scan looks at it as at any file.
        case cached
        /// A settled task's, as long as its stamp is the same.
        case settled
        /// Of two tasks that have one place.
        case contested
        /// A settled task's, and seen with the same stamp.
        case seen
        /// A settled task's that is looked at all the same.
        case awake
    }

    fileprivate struct Entry {
        /// Of the path in `bytes`; the digest follows it.
        var start: Int
        var count: Int32
        var digestCount: Int32
        /// Of the path.
        var hash: UInt64
        var stamp: FileStamp
        var recorded: Instant
        var state: State = .cached
        var isDone = false
        /// Where the task's id begins in `ids`; -1: it has none.
        var id: Int = -1

        var digest: Range<Int> { (start + Int(count))..<(start + Int(count) + Int(digestCount)) }
    }

    private var bytes: [UInt8] = []
    /// The settled tasks' ids, as texts.
    private var ids: [UInt8] = []
    private var entries: [Entry] = []
    /// Indexes of `entries` plus one by the hash of the path, with open addressing; 0: free.
    private var slots: [UInt32] = Array(repeating: 0, count: 64)

    public init() {}

    // MARK: Filling it

    /// Takes in what the cache has of a file. Each path comes once.
    public mutating func add(path: [UInt8], stamp: FileStamp, recorded: Instant, digest: [UInt8]) {
        if entries.count * 2 >= slots.count { grow() }
        var hash = PathHash()
        path.withUnsafeBufferPointer { hash.combine($0) }
        entries.append(
            Entry(
                start: bytes.count, count: Int32(path.count), digestCount: Int32(digest.count), hash: hash.value,
                stamp: stamp, recorded: recorded))
        bytes.append(contentsOf: path)
        bytes.append(contentsOf: digest)
        place(entries.count - 1)
    }

    private mutating func place(_ index: Int) {
        var slot = PathHash.slot(entries[index].hash, of: slots.count)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(index + 1)
    }

    private mutating func grow() {
        slots = Array(repeating: 0, count: slots.count * 4)
        entries.reserveCapacity(slots.count / 2)
        for index in entries.indices { place(index) }
    }

    /// A task about which both sides agree, and whose file said so when it had these bytes and this identity.
    /// False where the cache has another file at its place.
    ///
    /// - Parameter id: as a text.
    public mutating func settle(
        place: [UInt8], id: [UInt8], digest: [UInt8], identity: FileIdentity, modified: Int64?, isDone: Bool
    ) -> Bool {
        guard let index = index(ofPlace: place) else { return false }
        let entry = entries[index]
        guard entry.state == .cached, entry.stamp.inode == identity.inode, entry.stamp.birth == identity.birth,
            entry.stamp.modified == modified, bytes[entry.digest].elementsEqual(digest)
        else { return false }
        entries[index].state = .settled
        entries[index].isDone = isDone
        entries[index].id = ids.count
        ids.append(contentsOf: id)
        return true
    }

    /// Another task has this place too: which of them the file is, is for the matching to say.
    public mutating func contest(place: [UInt8]) {
        if let index = index(ofPlace: place) { entries[index].state = .contested }
    }

    private func index(ofPlace place: [UInt8]) -> Int? {
        place.withUnsafeBufferPointer { place in
            Self.suffix.withUnsafeBufferPointer { suffix in
                var hash = PathHash()
                hash.combine(place)
                return index(of: place, suffix, hash)
            }
        }
    }

    private static let suffix = Array(".md".utf8)

    /// The file whose path is these two parts, of which the first hashes to `hash`.
    private func index(
        of first: UnsafeBufferPointer<UInt8>, _ second: UnsafeBufferPointer<UInt8>, _ hash: PathHash
    ) -> Int? {
        var hash = hash
        hash.combine(second)
        let count = first.count + second.count
        return bytes.withUnsafeBufferPointer { bytes in
            var slot = PathHash.slot(hash.value, of: slots.count)
            while slots[slot] != 0 {
                let index = Int(slots[slot]) - 1
                if entries[index].hash == hash.value, entries[index].count == count {
                    let path = bytes[entries[index].start..<entries[index].start + count]
                    if path.starts(with: first), path.dropFirst(first.count).elementsEqual(second) { return index }
                }
                slot = (slot + 1) & (slots.count - 1)
            }
            return nil
        }
    }

    // MARK: Scanning

    /// The file `name` in the folder whose path, with a `/` at its end unless it is empty, is `folder` and hashes to `hash`.
    func index(of name: ArraySlice<UInt8>, in folder: [UInt8], _ hash: PathHash) -> Int? {
        folder.withUnsafeBufferPointer { folder in name.withUnsafeBufferPointer { index(of: folder, $0, hash) } }
    }

    /// Counts a settled file that is as it was; false where it has to be looked at.
    mutating func see(_ index: Int, _ stamp: FileStamp) -> Bool {
        guard entries[index].state == .settled,
            CachedFile.vouches(entries[index].stamp, recorded: entries[index].recorded, for: stamp)
        else { return false }
        entries[index].state = .seen
        return true
    }

    /// A settled file whose stamp is the cache's, though too young to be trusted.
    func mayBeSame(_ index: Int, _ stamp: FileStamp) -> Bool {
        entries[index].state == .settled && entries[index].stamp == stamp
    }

    /// Counts a settled file that was read again at this moment and has the digest that it had; false where it hasn't.
    mutating func see(_ index: Int, _ file: SeenFile, at moment: Instant) -> Bool {
        guard mayBeSame(index, file.stamp), bytes[entries[index].digest].elementsEqual(file.digest.bytes) else {
            return false
        }
        entries[index].recorded = moment
        entries[index].state = .seen
        return true
    }

    func cached(_ index: Int) -> CachedFile {
        let entry = entries[index]
        return CachedFile(
            stamp: entry.stamp, recorded: entry.recorded, digest: Digest(bytes: Array(bytes[entry.digest])))
    }

    private func path(_ entry: Entry) -> Text {
        Text(String(decoding: bytes[entry.start..<entry.start + Int(entry.count)], as: UTF8.self))
    }

    private func id(_ entry: Entry) -> ItemID? {
        entry.id < 0 ? nil : ItemID(String(decoding: ids[entry.id..<entry.id + 36], as: UTF8.self))
    }

    // MARK: After a scan

    /// How many settled files were seen, and how many of them are of tasks that are done.
    public var counts: (files: Int, done: Int) {
        var counts = (files: 0, done: 0)
        for entry in entries where entry.state == .seen {
            counts.files += 1
            if entry.isDone { counts.done += 1 }
        }
        return counts
    }

    /// What the cache has of the files that are not settled or were not seen as they were.
    public func rest() -> [Text: CachedFile] {
        var rest: [Text: CachedFile] = [:]
        for (index, entry) in entries.enumerated() where entry.state != .seen && entry.state != .awake {
            rest[path(entry)] = cached(index)
        }
        return rest
    }

    /// Settled tasks whose files were not seen as they were, or are another task's too.
    public func missed() -> [ItemID] {
        entries.compactMap { $0.state == .settled || $0.state == .contested ? id($0) : nil }
    }

    /// The files that were seen, with their tasks.
    public func forEach(_ body: (_ id: ItemID, _ path: Text, _ stamp: FileStamp) throws -> Void) rethrows {
        for entry in entries where entry.state == .seen {
            if let id = id(entry) { try body(id, path(entry), entry.stamp) }
        }
    }

    /// The seen file at this place is looked at with the others after all: as it was seen, without its bytes.
    public mutating func wake(place: Text) -> SeenFile? {
        guard let index = index(ofPlace: place.bytes), entries[index].state == .seen else { return nil }
        entries[index].state = .awake
        return SeenFile(path: path(entries[index]), stamp: entries[index].stamp, digest: cached(index).digest)
    }

    /// Of those of these files that were seen.
    public func seen(_ identities: Set<FileIdentity>) -> Set<FileIdentity> {
        var found: Set<FileIdentity> = []
        for entry in entries where entry.state == .seen {
            if let identity = entry.stamp.identity, identities.contains(identity) { found.insert(identity) }
        }
        return found
    }

    /// Hashes of what `key` makes of the paths of all files that were seen.
    func hashes(of key: (Text) -> Text) -> Set<Int> {
        var hashes: Set<Int> = []
        hashes.reserveCapacity(entries.count)
        for entry in entries where entry.state == .seen { hashes.insert(key(path(entry)).hashValue) }
        return hashes
    }

    /// Likewise of their places.
    public func placeHashes(of key: (Text) -> Text) -> Set<Int> {
        hashes { key(Text(Substring($0.utf8.dropLast(Self.suffix.count)))) }
    }
}

/// FNV-1a of 64 bits: a path is hashed once for its folder, and goes on with each name in it.
struct PathHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func combine(_ bytes: UnsafeBufferPointer<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }

    /// Of a table of `count` slots, a power of two.
    static func slot(_ value: UInt64, of count: Int) -> Int {
        Int(truncatingIfNeeded: value ^ value >> 32) & (count - 1)
    }
}
