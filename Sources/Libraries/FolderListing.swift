import CSystem

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Everything in a folder, with what `statx` says of it: two arrays, however many files there are.
public struct FolderListing: Sendable {
    public struct Entry: Sendable {
        fileprivate let start: Int
        fileprivate let count: Int
        /// As the folder says it; nil where the file system doesn't tell without a stat.
        public let kind: FileKind?
        /// Nil where it was not asked for, or could not be had.
        public fileprivate(set) var status: FileStatus?
        /// `errno` of a stat that failed; 0 where none did.
        public fileprivate(set) var failure: Int32 = 0
        /// It was gone when it was asked for.
        public var isMissing: Bool { failure == ENOENT }
    }

    /// Every name with a NUL behind it.
    private var names: [UInt8] = []
    public private(set) var entries: [Entry] = []

    /// The name's bytes, which need not be UTF-8.
    public func bytes(of entry: Entry) -> ArraySlice<UInt8> { names[entry.start..<entry.start + entry.count] }

    public func name(of entry: Entry) -> FileName { FileName(bytes: bytes(of: entry)) }

    fileprivate mutating func append(_ name: UnsafeRawBufferPointer, _ kind: FileKind?) {
        entries.append(Entry(start: names.count, count: name.count, kind: kind))
        names.append(contentsOf: name)
        names.append(0)
    }

    /// Removes the entries for which `body` says so, and frees the memory of a listing of which nothing is left.
    public mutating func removeAll(where body: (_ name: ArraySlice<UInt8>, Entry) -> Bool) {
        entries = entries.filter { !body(bytes(of: $0), $0) }
        if entries.isEmpty { names = [] }
    }

    fileprivate mutating func readStatus(of index: Int, in descriptor: Int32) {
        let start = entries[index].start
        var failure: Int32 = 0
        let status = names.withUnsafeBytes { bytes in
            let pointer = bytes.baseAddress!.advanced(by: start).assumingMemoryBound(to: CChar.self)
            let status = FileStatus.of(descriptor, pointer)
            if status == nil { failure = errno }
            return status
        }
        entries[index].status = status
        entries[index].failure = failure
    }
}

extension OpenFolder {
    /// Lists the folder, in no order, without `.` and `..`. Names that begin with a dot are not asked for, nor files
    /// without this suffix.
    public func listing(statsOf suffix: [UInt8]) throws(SystemError) -> FolderListing {
        let dot = UInt8(ascii: ".")
        var listing = FolderListing()
        try forEachEntry { name, kind in
            listing.append(name, kind)
            guard name.first != dot else { return }
            let isWanted =
                kind != .file || name.count >= suffix.count && name.suffix(suffix.count).elementsEqual(suffix)
            if isWanted { listing.readStatus(of: listing.entries.count - 1, in: descriptor) }
        }
        return listing
    }
}
