import CSystem

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An open file. It is not inherited by children and closes when the value goes away.
public final class OpenFile: Sendable {
    let descriptor: Int32
    /// For messages.
    public let path: String

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Opens a file for reading by its path, following symlinks.
    public convenience init(path: String) throws(SystemError) {
        let descriptor = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .last("open", path) }
        self.init(descriptor: descriptor, path: path)
    }

    deinit { close(descriptor) }

    public func status() throws(SystemError) -> FileStatus {
        guard let status = FileStatus.of(descriptor, "") else { throw .last("stat", path) }
        return status
    }

    /// Reads from the start to the end, or the first `limit` bytes.
    public func read(limit: Int = .max) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        try readChunks { chunk in
            bytes.append(contentsOf: chunk.prefix(limit - bytes.count))
            return bytes.count < limit
        }
        return bytes
    }

    /// Reads from the start, at most 256 KiB at a time, until `body` says false.
    public func readChunks(_ body: (ArraySlice<UInt8>) -> Bool) throws(SystemError) {
        let size = try status().size
        // One byte more than the file has, so that its end is seen in the same call.
        var buffer = [UInt8](repeating: 0, count: Int(min(max(size, 0) + 1, 262_144)))
        var offset: Int64 = 0
        while true {
            let count = pread(descriptor, &buffer, buffer.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last("read", path) }
            if count == 0 { return }
            offset += Int64(count)
            if !body(buffer[..<count]) || (count < buffer.count && offset >= size) { return }
        }
    }

    /// Writes all of it at the current position.
    public func write(_ bytes: some Collection<UInt8>) throws(SystemError) {
        let bytes = Array(bytes)
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                #if canImport(Darwin)
                    Darwin.write(descriptor, $0.baseAddress! + written, bytes.count - written)
                #else
                    Glibc.write(descriptor, $0.baseAddress! + written, bytes.count - written)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last("write", path) }
            written += count
        }
    }

    /// Empties the file and goes to its start.
    public func truncate() throws(SystemError) {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw .last("truncate", path) }
    }

    /// Makes the content durable.
    public func sync() throws(SystemError) {
        guard otask_sync(descriptor) == 0 else { throw .last("fsync", path) }
    }

    /// Makes everything on the file's file system durable.
    public func syncFileSystem() throws(SystemError) {
        guard otask_sync_file_system(descriptor) == 0 else { throw .last("syncfs", path) }
    }

    /// Takes owner, mode, ACL and extended attributes of `other`, as far as this user may.
    public func copyMetadata(of other: OpenFile) throws(SystemError) {
        guard otask_copy_metadata(other.descriptor, descriptor) == 0 else { throw .last("copy attributes", path) }
    }

    /// Sets access and modification time, in nanoseconds since 1970.
    public func setModified(_ nanoseconds: Int64) throws(SystemError) {
        let time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        guard futimens(descriptor, [time, time]) == 0 else { throw .last("set times", path) }
    }

    /// Takes the advisory lock (`flock`) if nobody has it; it dies with the descriptor.
    public func tryLock() throws(SystemError) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw .last("lock", path) }
        }
        return true
    }

    public func unlock() { flock(descriptor, LOCK_UN) }
}
