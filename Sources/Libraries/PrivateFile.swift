#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

// Inside the type below, `read` and `write` are its own.
private func readSome(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int { read(descriptor, &buffer, buffer.count) }
private func writeSome(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Int {
    bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
}

/// A call of the system that failed.
public struct PrivateFileError: Error, Hashable, CustomStringConvertible {
    public let path: String
    public let reason: String

    init(_ path: String, code: Int32) {
        self.path = path
        reason = String(cString: strerror(code))
    }

    init(_ path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    public var description: String { "\(path): \(reason)" }
}

/// Small files that only their owner may read: secrets. No symbolic link is followed in the last component of a path.
public enum PrivateFile {
    /// More than this is no file of ours.
    private static let maximumSize = 1 << 20

    /// Makes a directory of mode 0700, and those above it; one that is there already is made private.
    public static func makeDirectory(_ path: String) throws(PrivateFileError) {
        var index = path.startIndex
        while let slash = path[index...].dropFirst().firstIndex(of: "/") {
            mkdir(String(path[..<slash]), 0o700)
            index = slash
        }
        // What matters is whether the last one is there afterwards.
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw PrivateFileError(path, code: errno) }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw PrivateFileError(path, code: errno) }
        defer { close(descriptor) }
        if fchmod(descriptor, 0o700) != 0 { throw PrivateFileError(path, code: errno) }
    }

    /// The bytes of a file; nil where there is none.
    public static func read(_ path: String) throws(PrivateFileError) -> [UInt8]? {
        // O_NONBLOCK: a FIFO in this place must not hang the process.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw PrivateFileError(path, code: errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw PrivateFileError(path, code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw PrivateFileError(path, reason: "not a regular file") }
        guard status.st_uid == geteuid() else { throw PrivateFileError(path, reason: "belongs to another user") }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = readSome(descriptor, &buffer)
            if count < 0 {
                if errno == EINTR { continue }
                throw PrivateFileError(path, code: errno)
            }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            if bytes.count > maximumSize { throw PrivateFileError(path, reason: "too large for what it should be") }
        }
    }

    /// Writes a file of mode 0600 in one step: whoever reads sees the old bytes or the new ones, after a crash too.
    /// `temporary` is a path in the same directory that nothing else uses; what a crash left there is removed.
    public static func write(_ bytes: [UInt8], to path: String, temporary: String) throws(PrivateFileError) {
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PrivateFileError(temporary, code: errno) }
        var failure = writeAll(bytes, descriptor)
        if failure == nil, fsync(descriptor) != 0 { failure = errno }
        if close(descriptor) != 0, failure == nil { failure = errno }
        if failure == nil, rename(temporary, path) != 0 { failure = errno }
        if let failure {
            unlink(temporary)
            throw PrivateFileError(path, code: failure)
        }
        try syncParent(of: path)
    }

    /// Removes a file; one that isn't there is removed already.
    public static func remove(_ path: String) throws(PrivateFileError) {
        if unlink(path) != 0, errno != ENOENT { throw PrivateFileError(path, code: errno) }
        try syncParent(of: path)
    }

    /// The names in a directory, in no order; none where there is no directory.
    public static func names(in directory: String) throws(PrivateFileError) -> [String] {
        guard let stream = opendir(directory) else {
            if errno == ENOENT { return [] }
            throw PrivateFileError(directory, code: errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func writeAll(_ bytes: [UInt8], _ descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = writeSome(descriptor, rest)
            if count < 0 {
                if errno == EINTR { continue }
                return errno
            }
            rest = rest.dropFirst(count)
        }
        return nil
    }

    private static func syncParent(of path: String) throws(PrivateFileError) {
        let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let descriptor = open(parent.isEmpty ? "/" : parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PrivateFileError(parent, code: errno) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw PrivateFileError(parent, code: errno) }
    }
}

/// An exclusive `flock` on a file of mode 0600, which dies with its process. Also excludes others in this process.
public struct FileLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock of the file at `path`, which is made where it is missing and stays; nil while another holds it.
    public static func take(_ path: String) throws(PrivateFileError) -> FileLock? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PrivateFileError(path, code: errno) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK { return nil }
            throw PrivateFileError(path, code: code)
        }
        return FileLock(descriptor: descriptor)
    }

    /// To be called once.
    public func release() { close(descriptor) }
}
