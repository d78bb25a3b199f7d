import CSystem

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// One component of a path, as the file system has it: bytes, which need not be UTF-8.
public struct FileName: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    /// With a NUL at the end, as the system calls want it.
    let terminated: [UInt8]

    public init(_ string: String) { terminated = Array(string.utf8) + [0] }
    public init(stringLiteral value: String) { self.init(value) }
    public init(bytes: some Sequence<UInt8>) { terminated = Array(bytes) + [0] }
    init(terminated: [UInt8]) { self.terminated = terminated }

    public var bytes: ArraySlice<UInt8> { terminated.dropLast() }
    /// The name as text; nil where it is not UTF-8.
    public var string: String? { String(validating: bytes, as: UTF8.self) }
    /// For people: what is not UTF-8 becomes U+FFFD.
    public var shown: String { String(decoding: bytes, as: UTF8.self) }

    public static func < (a: FileName, b: FileName) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }

    /// Calls with the C string. A name that is empty, `.`, `..`, or has `/` or NUL in it would lead elsewhere: `EINVAL`.
    func withPointer<Result>(
        _ call: String, _ body: (UnsafePointer<CChar>) throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        let slash = UInt8(ascii: "/")
        let dot = UInt8(ascii: ".")
        guard !bytes.isEmpty, bytes != [dot], bytes != [dot, dot], !bytes.contains(where: { $0 == slash || $0 == 0 })
        else { throw SystemError(code: EINVAL, path: shown, call: call) }
        var outcome: Swift.Result<Result, SystemError>?
        terminated.withUnsafeBytes { buffer in
            let pointer = buffer.assumingMemoryBound(to: CChar.self).baseAddress!
            do throws(SystemError) { outcome = .success(try body(pointer)) } catch { outcome = .failure(error) }
        }
        return try outcome!.get()
    }
}

public enum FileKind: Hashable, Sendable {
    case file
    case folder
    case symlink
    /// A pipe, socket or device.
    case special

    init(mode: UInt32) {
        switch mode & UInt32(S_IFMT) {
        case UInt32(S_IFREG): self = .file
        case UInt32(S_IFDIR): self = .folder
        case UInt32(S_IFLNK): self = .symlink
        default: self = .special
        }
    }
}

/// What `statx` says of a file. Times in nanoseconds since 1970.
public struct FileStatus: Hashable, Sendable {
    public let kind: FileKind
    public let size: Int64
    public let modified: Int64
    public let changed: Int64
    public let inode: UInt64
    /// Nil where the file system keeps none.
    public let birth: Int64?
    /// Comparable only while the system runs.
    public let device: UInt64
    /// Permission bits, 12 of them.
    public let mode: UInt32
    public let linkCount: Int

    init(_ status: otask_status) {
        kind = FileKind(mode: status.mode)
        size = status.size
        modified = status.modified
        changed = status.changed
        inode = status.inode
        birth = status.has_birth != 0 ? status.birth : nil
        device = status.device
        mode = status.mode & 0o7777
        linkCount = Int(status.links)
    }

    static func of(_ descriptor: Int32, _ name: UnsafePointer<CChar>) -> FileStatus? {
        var status = otask_status()
        return otask_status(descriptor, name, &status) == 0 ? FileStatus(status) : nil
    }
}
