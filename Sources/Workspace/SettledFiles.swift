import Libraries
import Model

/// The stat cache of a whole folder, packed, and which of its files are known to need nothing: those of tasks about which
/// both sides agree. A scan passes over these when their stamps are the same, and only counts them.
///
/// It is one array of bytes, a record a file, and a table to find them by: no text and no object of a file's own, so that a
/// hundred thousand files cost some 20 MB and no time, and that the journal can keep it as it is.
public struct SettledFiles: Sendable {
    enum State: UInt8 {
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

    /// Where in a record its parts begin; numbers are in little-endian order. The path is followed by the digest.
    enum Layout {
        static let pathCount = 0
        static let digestCount = 4
        static let flags = 6
        static let state = 7
        static let hash = 8
        static let size = 16
        static let modified = 24
        static let changed = 32
        static let inode = 40
        static let birth = 48
        static let recorded = 56
        /// The task's id, as a text; zeros where it has none.
        static let id = 64
        static let path = id + idCount

        static let idCount = 36
        /// A version and the number of records, before the first of them.
        static let header = 16
        static let version: UInt64 = 1

        static let hasBirth: UInt8 = 1
        static let isDone: UInt8 = 2
    }

    /// The header and all records; each is known by where it begins.
    var bytes = [UInt8](repeating: 0, count: Layout.header)
    private(set) var count = 0
    /// Beginnings of records by the hash of the path, with open addressing; 0: free.
    private var slots: [UInt32] = Array(repeating: 0, count: 64)

    public init() {}

    // MARK: Filling it

    /// Takes in what the cache has of a file. Each path comes once.
    public mutating func add(path: [UInt8], stamp: FileStamp, recorded: Instant, digest: [UInt8]) {
        var hash = PathHash()
        path.withUnsafeBufferPointer { hash.combine($0) }
        let record = bytes.count
        append(UInt32(path.count))
        append(UInt16(digest.count))
        append(stamp.birth == nil ? 0 : Layout.hasBirth)
        append(State.cached.rawValue)
        append(hash.value)
        append(stamp.size)
        append(stamp.modified)
        append(stamp.changed)
        append(stamp.inode)
        append(stamp.birth ?? 0)
        append(recorded.nanoseconds)
        bytes.append(contentsOf: repeatElement(0, count: Layout.idCount))
        bytes.append(contentsOf: path)
        bytes.append(contentsOf: digest)
        makeRoom(for: count + 1)
        place(record)
        count += 1
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func place(_ record: Int) {
        var slot = PathHash.slot(load(record + Layout.hash, UInt64.self), of: slots.count)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(record)
    }

    /// At most half of the slots are taken.
    private mutating func makeRoom(for wanted: Int) {
        if wanted * 2 <= slots.count { return }
        var size = slots.count
        while size < wanted * 2 { size *= 4 }
        slots = Array(repeating: 0, count: size)
        var record = Layout.header
        for _ in 0..<count {
            place(record)
            record = end(record)
        }
    }

    /// A task about which both sides agree, and whose file said so when it had these bytes and this identity.
    /// False where the cache has another file at its place.
    ///
    /// - Parameter id: as a text.
    public mutating func settle(
        place: [UInt8], id: [UInt8], digest: [UInt8], identity: FileIdentity, modified: Int64?, isDone: Bool
    ) -> Bool {
        guard let record = index(ofPlace: place), id.count == Layout.idCount else { return false }
        let stamp = stamp(record)
        guard state(record) == .cached, stamp.inode == identity.inode, stamp.birth == identity.birth,
            stamp.modified == modified, bytes[self.digest(record)].elementsEqual(digest)
        else { return false }
        set(.settled, record)
        if isDone { bytes[record + Layout.flags] |= Layout.isDone }
        let start = record + Layout.id
        bytes.replaceSubrange(start..<start + Layout.idCount, with: id)
        return true
    }

    /// Another task has this place too: which of them the file is, is for the matching to say.
    public mutating func contest(place: [UInt8]) {
        if let record = index(ofPlace: place) { set(.contested, record) }
    }

    // MARK: Keeping it

    /// All of it as bytes, as it is before a scan.
    public func packed() -> [UInt8] {
        var packed = bytes
        packed.withUnsafeMutableBytes {
            $0.storeBytes(of: Layout.version.littleEndian, toByteOffset: 0, as: UInt64.self)
            $0.storeBytes(of: UInt64(count).littleEndian, toByteOffset: 8, as: UInt64.self)
        }
        return packed
    }

    /// Nil where these are not the bytes of `packed`.
    public init?(packed: [UInt8]) {
        guard packed.count >= Layout.header, packed.count <= UInt32.max else { return nil }
        bytes = packed
        let count = load(8, UInt64.self)
        guard load(0, UInt64.self) == Layout.version, count <= UInt64(bytes.count / Layout.path) else { return nil }
        makeRoom(for: Int(count))
        var record = Layout.header
        for _ in 0..<count {
            guard bytes.count - record >= Layout.path, end(record) <= bytes.count,
                bytes[record + Layout.state] <= State.contested.rawValue
            else { return nil }
            place(record)
            record = end(record)
        }
        guard record == bytes.count else { return nil }
        self.count = Int(count)
    }

    // MARK: Records

    private func load<Number: FixedWidthInteger>(_ offset: Int, _ type: Number.Type) -> Number {
        bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
    }

    private func pathCount(_ record: Int) -> Int { Int(load(record + Layout.pathCount, UInt32.self)) }

    private func digest(_ record: Int) -> Range<Int> {
        let start = record + Layout.path + pathCount(record)
        return start..<start + Int(load(record + Layout.digestCount, UInt16.self))
    }

    /// Where the next record begins.
    private func end(_ record: Int) -> Int { digest(record).upperBound }

    private func state(_ record: Int) -> State { State(rawValue: bytes[record + Layout.state])! }
    private mutating func set(_ state: State, _ record: Int) { bytes[record + Layout.state] = state.rawValue }

    private func recorded(_ record: Int) -> Instant {
        Instant(nanoseconds: load(record + Layout.recorded, Int64.self))
    }

    private func stamp(_ record: Int) -> FileStamp {
        let hasBirth = bytes[record + Layout.flags] & Layout.hasBirth != 0
        return FileStamp(
            size: load(record + Layout.size, Int64.self), modified: load(record + Layout.modified, Int64.self),
            changed: load(record + Layout.changed, Int64.self), inode: load(record + Layout.inode, UInt64.self),
            birth: hasBirth ? load(record + Layout.birth, Int64.self) : nil)
    }

    private func path(_ record: Int) -> Text {
        let start = record + Layout.path
        return Text(String(decoding: bytes[start..<start + pathCount(record)], as: UTF8.self))
    }

    private func id(_ record: Int) -> ItemID? {
        let start = record + Layout.id
        return bytes[start] == 0
            ? nil : ItemID(String(decoding: bytes[start..<start + Layout.idCount], as: UTF8.self))
    }

    private func forEachRecord(_ body: (Int) throws -> Void) rethrows {
        var record = Layout.header
        for _ in 0..<count {
            try body(record)
            record = end(record)
        }
    }

    private func forEachSeen(_ body: (Int) throws -> Void) rethrows {
        try forEachRecord { if state($0) == .seen { try body($0) } }
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
        return bytes.withUnsafeBytes { bytes in
            var slot = PathHash.slot(hash.value, of: slots.count)
            while slots[slot] != 0 {
                let record = Int(slots[slot])
                if load(record + Layout.hash, UInt64.self) == hash.value, pathCount(record) == count {
                    let path = UnsafeRawBufferPointer(rebasing: bytes[(record + Layout.path)...].prefix(count))
                    if path.starts(with: first), path.dropFirst(first.count).elementsEqual(second) { return record }
                }
                slot = (slot + 1) & (slots.count - 1)
            }
            return nil
        }
    }

    // MARK: Scanning

    /// Where a file's record begins.
    typealias Index = Int

    func index(of name: ArraySlice<UInt8>, in folder: FolderPath) -> Index? {
        folder.bytes.withUnsafeBufferPointer { bytes in
            name.withUnsafeBufferPointer { index(of: bytes, $0, folder.hash) }
        }
    }

    /// Whether it is a settled file with this stamp, which can be trusted.
    func isAsItWas(_ record: Index, _ stamp: FileStamp) -> Bool {
        state(record) == .settled
            && CachedFile.vouches(self.stamp(record), recorded: recorded(record), for: stamp)
    }

    /// Counts a settled file that is as it was.
    mutating func see(_ record: Index) { set(.seen, record) }

    /// A settled file whose stamp is the cache's, though too young to be trusted.
    func mayBeSame(_ record: Index, _ stamp: FileStamp) -> Bool {
        state(record) == .settled && self.stamp(record) == stamp
    }

    /// Counts a settled file that was read again at this moment and has the digest that it had; false where it hasn't.
    mutating func see(_ record: Index, _ file: SeenFile, at moment: Instant) -> Bool {
        guard mayBeSame(record, file.stamp), bytes[digest(record)].elementsEqual(file.digest.bytes) else {
            return false
        }
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(
                of: moment.nanoseconds.littleEndian, toByteOffset: record + Layout.recorded, as: Int64.self)
        }
        set(.seen, record)
        return true
    }

    func cached(_ record: Index) -> CachedFile {
        CachedFile(
            stamp: stamp(record), recorded: recorded(record), digest: Digest(bytes: Array(bytes[digest(record)])))
    }

    // MARK: After a scan

    /// How many settled files were seen, and how many of them are of tasks that are done.
    public var counts: (files: Int, done: Int) {
        var counts = (files: 0, done: 0)
        forEachSeen { record in
            counts.files += 1
            if bytes[record + Layout.flags] & Layout.isDone != 0 { counts.done += 1 }
        }
        return counts
    }

    /// What the cache has of the files that are not settled or were not seen as they were.
    public func rest() -> [Text: CachedFile] {
        var rest: [Text: CachedFile] = [:]
        forEachRecord { record in
            let state = state(record)
            if state != .seen, state != .awake { rest[path(record)] = cached(record) }
        }
        return rest
    }

    /// Settled tasks whose files were not seen as they were, or are another task's too.
    public func missed() -> [ItemID] {
        var missed: [ItemID] = []
        forEachRecord { record in
            let state = state(record)
            if state == .settled || state == .contested, let id = id(record) { missed.append(id) }
        }
        return missed
    }

    /// The files that were seen, with their tasks.
    public func forEach(_ body: (_ id: ItemID, _ path: Text, _ stamp: FileStamp) throws -> Void) rethrows {
        try forEachSeen { record in if let id = id(record) { try body(id, path(record), stamp(record)) } }
    }

    /// The seen file at this place is looked at with the others after all: as it was seen, without its bytes.
    public mutating func wake(place: Text) -> SeenFile? {
        guard let record = index(ofPlace: place.bytes), state(record) == .seen else { return nil }
        set(.awake, record)
        return SeenFile(path: path(record), stamp: stamp(record), digest: cached(record).digest)
    }

    /// Of those of these files that were seen.
    public func seen(_ identities: Set<FileIdentity>) -> Set<FileIdentity> {
        var found: Set<FileIdentity> = []
        forEachSeen { record in
            if let identity = stamp(record).identity, identities.contains(identity) { found.insert(identity) }
        }
        return found
    }

    /// Hashes of what `key` makes of the paths of all files that were seen.
    func hashes(of key: (Text) -> Text) -> Set<Int> {
        var hashes: Set<Int> = []
        hashes.reserveCapacity(count)
        forEachSeen { hashes.insert(key(path($0)).hashValue) }
        return hashes
    }

    /// Likewise of their places.
    public func placeHashes(of key: (Text) -> Text) -> Set<Int> {
        hashes { key(Text(Substring($0.utf8.dropLast(Self.suffix.count)))) }
    }
}

/// The path of a folder, with a `/` at its end unless it is empty, hashed once for all names in it.
struct FolderPath: Sendable {
    let bytes: [UInt8]
    private(set) var hash = PathHash()

    init(_ path: Text) {
        bytes = path.isEmpty ? [] : path.bytes + [UInt8(ascii: "/")]
        bytes.withUnsafeBufferPointer { hash.combine($0) }
    }
}

/// FNV-1a of 64 bits: a path is hashed once for its folder, and goes on with each name in it.
struct PathHash: Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func combine(_ bytes: UnsafeBufferPointer<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }

    /// Of a table of `count` slots, a power of two.
    static func slot(_ value: UInt64, of count: Int) -> Int {
        Int(truncatingIfNeeded: value ^ value >> 32) & (count - 1)
    }
}
