import CSystem

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What the operating system refused.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `errno`.
    public let code: Int32
    /// Whose: a path or one name of it.
    public let path: String
    /// Which call: `open`, `rename`, …
    public let call: String

    public init(code: Int32, path: String, call: String) {
        self.code = code
        self.path = path
        self.call = call
    }

    /// What happened, in the system's words, lower case.
    public var reason: String {
        let text = String(cString: strerror(code))
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    public var description: String { "\(path): \(reason) (\(call))" }

    public var isMissing: Bool { code == ENOENT }
    public var exists: Bool { code == EEXIST || code == ENOTEMPTY }
    /// A symlink or something else stands where a folder was expected (`O_NOFOLLOW`, `O_DIRECTORY`).
    public var isNoFolder: Bool { code == ENOTDIR || code == ELOOP }
    public var isSymlink: Bool { code == ELOOP }
    public var isOtherDevice: Bool { code == EXDEV }
    public var isFull: Bool { code == ENOSPC || code == EDQUOT }
    public var isNameTooLong: Bool { code == ENAMETOOLONG }
    public var isDenied: Bool { code == EACCES || code == EPERM || code == EROFS }
    /// The file system has no such operation.
    public var isUnsupported: Bool { code == EINVAL || code == ENOSYS || code == EOPNOTSUPP || code == ENOTSUP }
    /// A lock is held by another process.
    public var wouldBlock: Bool { code == EWOULDBLOCK }

    static func last(_ call: String, _ path: String) -> SystemError { SystemError(code: errno, path: path, call: call) }
}

/// Clock, host and processes.
public enum System {
    /// Nanoseconds since 1970.
    public static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Waits; a signal doesn't cut it short.
    @Sendable public static func sleep(_ seconds: Double) {
        guard seconds > 0 else { return }
        var left = timespec(tv_sec: Int(seconds), tv_nsec: Int(seconds.truncatingRemainder(dividingBy: 1) * 1e9))
        var time = left
        while nanosleep(&time, &left) != 0, errno == EINTR { time = left }
    }

    public static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The home folder of this process's user as the password database has it, for where no variable says it (cron).
    public static func homeFolder() -> String? {
        var buffer = [CChar](repeating: 0, count: 16_384)
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found) == 0, let home = found?.pointee.pw_dir else {
            return nil
        }
        let path = String(cString: home)
        return path.hasPrefix("/") ? path : nil
    }

    /// An id that stays with this installation of the system; nil where it has none.
    public static func machineID() -> String? {
        #if canImport(Darwin)
            var buffer = [CChar](repeating: 0, count: 37)
            guard otask_machine_uuid(&buffer) == 0 else { return nil }
            return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        #else
            for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
                guard let file = try? OpenFile(path: path), let bytes = try? file.read(limit: 4096) else { continue }
                let id = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
                if !id.isEmpty { return id }
            }
            return nil
        #endif
    }

    public static func processID() -> Int32 { getpid() }

    /// Whether a process of this number runs on this host, whoever's it is.
    @Sendable public static func isAlive(_ process: Int32) -> Bool {
        process > 0 && (kill(process, 0) == 0 || errno == EPERM)
    }

    /// The folder this process stands in, absolute.
    public static func currentFolder() throws(SystemError) -> String {
        guard let path = getcwd(nil, 0) else { throw .last("getcwd", ".") }
        defer { free(path) }
        return String(cString: path)
    }

    /// A new folder with a random name, for this user only.
    public static func makeTemporaryFolder(prefix: String = "/tmp/otask-") throws(SystemError) -> String {
        var template = Array((prefix + "XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw .last("mkdtemp", prefix) }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Unforeseeable bytes from the system's generator.
    public static func randomBytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
