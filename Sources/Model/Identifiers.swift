import Libraries

/// The id of a task, photo, user or change: a UUID (RFC 9562), written in lower case. Ordered as its text is.
public struct ItemID: Hashable, Comparable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// Reads `8-4-4-4-12` hexadecimal digits of any case; nil for any other text.
    public init?(_ text: some StringProtocol) {
        var text = String(text)
        guard let id = text.withUTF8({ ItemID(utf8: $0) }) else { return nil }
        self = id
    }

    private init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count == 36 else { return nil }
        var values: (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let value: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            // The first half is 16 digits and the two dashes in them.
            if index < 18 {
                values.0 = values.0 << 4 | UInt64(value)
            } else {
                values.1 = values.1 << 4 | UInt64(value)
            }
        }
        (high, low) = values
    }

    public init?(_ text: Text) { self.init(text.string) }

    /// A random id (version 4) from this generator.
    public init(using generator: inout some RandomNumberGenerator) {
        high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    public static func random() -> ItemID {
        var generator = SystemRandomNumberGenerator()
        return ItemID(using: &generator)
    }

    public var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var index = 0
            for half in [high, low] {
                for shift in stride(from: 60, through: 0, by: -4) {
                    if index == 8 || index == 13 || index == 18 || index == 23 {
                        buffer[index] = UInt8(ascii: "-")
                        index += 1
                    }
                    let digit = UInt8(truncatingIfNeeded: half >> UInt64(shift)) & 15
                    buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                    index += 1
                }
            }
            return index
        }
    }

    public var text: Text { Text(description) }

    public static func < (a: ItemID, b: ItemID) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

/// The SHA-256 of some bytes (FIPS 180-4): 32 bytes.
public struct Digest: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// Lower-case hexadecimal.
    public var description: String {
        let hex = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [hex[Int($0 >> 4)], hex[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// A file as the file system knows it: inode *and* birth time, since a freed inode number is given out again at once.
/// Without a birth time no two files are ever taken for one.
public struct FileIdentity: Hashable, Sendable {
    public let inode: UInt64
    /// Nanoseconds since 1970.
    public let birth: Int64

    public init(inode: UInt64, birth: Int64) {
        self.inode = inode
        self.birth = birth
    }
}

/// What `statx` says of a file, as far as it tells whether the file changed. Times in nanoseconds since 1970.
public struct FileStamp: Hashable, Sendable {
    public var size: Int64
    public var modified: Int64
    public var changed: Int64
    public var inode: UInt64
    /// Nil where the file system keeps none.
    public var birth: Int64?

    public init(size: Int64, modified: Int64, changed: Int64, inode: UInt64, birth: Int64?) {
        self.size = size
        self.modified = modified
        self.changed = changed
        self.inode = inode
        self.birth = birth
    }

    public var identity: FileIdentity? { birth.map { FileIdentity(inode: inode, birth: $0) } }
}

/// A moment, in nanoseconds since 1970-01-01T00:00:00Z.
public struct Instant: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    public init(seconds: Int64) { nanoseconds = seconds * 1_000_000_000 }

    public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }
    /// Seconds from `b` to `a`.
    public static func - (a: Instant, b: Instant) -> Double { Double(a.nanoseconds - b.nanoseconds) / 1e9 }
    public static func + (a: Instant, seconds: Double) -> Instant {
        Instant(nanoseconds: a.nanoseconds + Int64(seconds * 1e9))
    }
}

extension Digest {
    public init(of bytes: some Sequence<UInt8>) { self.init(bytes: sha256(bytes)) }
}
