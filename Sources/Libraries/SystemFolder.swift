import CSystem

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An open folder. Names are looked up in it, one component at a time, and no symlink is followed.
public final class OpenFolder: Sendable {
    let descriptor: Int32
    /// For messages.
    public let path: String

    private init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Opens a folder by its path, following symlinks: the person says where their workspace is.
    public convenience init(path: String) throws(SystemError) {
        let descriptor = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("open", path) }
        self.init(descriptor: descriptor, path: path)
    }

    deinit { close(descriptor) }

    private func shown(_ name: FileName) -> String { path + "/" + name.shown }

    /// A folder in this one. A symlink or a file there is an error (`isNoFolder`).
    public func folder(_ name: FileName) throws(SystemError) -> OpenFolder {
        let opened = try name.withPointer("open") { pointer throws(SystemError) in
            openat(descriptor, pointer, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        }
        guard opened >= 0 else { throw .last("open", shown(name)) }
        return OpenFolder(descriptor: opened, path: shown(name))
    }

    /// The folder at a relative path, by each of its components; an empty path or `.` is this one.
    public func folder(at path: String) throws(SystemError) -> OpenFolder {
        if path.utf8.isEmpty || path == "." { return self }
        var folder = self
        for component in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            folder = try folder.folder(FileName(String(Substring(component))))
        }
        return folder
    }

    public struct Entry: Hashable, Sendable {
        public let name: FileName
        /// Nil where the file system doesn't tell without a stat.
        public let kind: FileKind?
    }

    /// Everything in it but `.` and `..`, in no order.
    public func entries() throws(SystemError) -> [Entry] {
        var entries: [Entry] = []
        try forEachEntry { name, kind in entries.append(Entry(name: FileName(bytes: name), kind: kind)) }
        return entries
    }

    /// Calls with each name but `.` and `..`, and what the folder says of it.
    func forEachEntry(_ body: (UnsafeRawBufferPointer, FileKind?) -> Void) throws(SystemError) {
        // A descriptor of its own: a directory stream moves the position of the one it has.
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw .last("open", path) }
        guard let stream = fdopendir(copy) else {
            defer { close(copy) }
            throw .last("open", path)
        }
        defer { closedir(stream) }
        let dot = UInt8(ascii: ".")
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw .last("list", path) }
                return
            }
            let kind = Self.kind(entry.pointee.d_type)
            withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                let length = strlen(bytes.assumingMemoryBound(to: CChar.self).baseAddress!)
                if bytes[0] == dot, length == 1 || length == 2 && bytes[1] == dot { return }
                body(UnsafeRawBufferPointer(rebasing: bytes[..<length]), kind)
            }
        }
    }

    private static func kind(_ type: UInt8) -> FileKind? {
        switch Int(type) {
        case Int(DT_REG): .file
        case Int(DT_DIR): .folder
        case Int(DT_LNK): .symlink
        case Int(DT_UNKNOWN): nil
        default: .special
        }
    }

    /// What is at `name`, itself (a symlink, not where it leads); nil where nothing is.
    public func status(_ name: FileName) throws(SystemError) -> FileStatus? {
        try name.withPointer("stat") { pointer throws(SystemError) in
            if let status = FileStatus.of(descriptor, pointer) { return status }
            if errno == ENOENT { return nil }
            throw .last("stat", shown(name))
        }
    }

    public func status() throws(SystemError) -> FileStatus {
        guard let status = FileStatus.of(descriptor, "") else { throw .last("stat", path) }
        return status
    }

    /// Opens a file for reading. Doesn't wait on a pipe; a symlink is an error (`isSymlink`).
    public func open(_ name: FileName) throws(SystemError) -> OpenFile {
        try open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)
    }

    /// Creates a file that wasn't there (`exists` otherwise), for writing and reading.
    public func create(_ name: FileName, mode: UInt32 = 0o666) throws(SystemError) -> OpenFile {
        try open(name, O_RDWR | O_CREAT | O_EXCL, mode)
    }

    /// Opens a file for writing and reading, creating it where it is missing.
    public func openOrCreate(_ name: FileName, mode: UInt32 = 0o666) throws(SystemError) -> OpenFile {
        try open(name, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, mode)
    }

    private func open(_ name: FileName, _ flags: Int32, _ mode: UInt32) throws(SystemError) -> OpenFile {
        let opened = try name.withPointer("open") { pointer throws(SystemError) in
            openat(descriptor, pointer, flags | O_NOFOLLOW | O_CLOEXEC, mode_t(mode))
        }
        guard opened >= 0 else { throw .last("open", shown(name)) }
        return OpenFile(descriptor: opened, path: shown(name))
    }

    /// Where a symlink leads, as bytes.
    public func readLink(_ name: FileName) throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = try name.withPointer("readlink") { pointer throws(SystemError) in
            buffer.withUnsafeMutableBytes {
                readlinkat(descriptor, pointer, $0.assumingMemoryBound(to: CChar.self).baseAddress!, $0.count)
            }
        }
        guard count >= 0 else { throw .last("readlink", shown(name)) }
        return Array(buffer[..<count])
    }

    /// Whether this user may write the file at `name`.
    public func isWritable(_ name: FileName) throws(SystemError) -> Bool {
        try name.withPointer("access") { pointer throws(SystemError) in
            if faccessat(descriptor, pointer, W_OK, AT_EACCESS) == 0 { return true }
            if errno == EACCES || errno == EROFS || errno == EPERM { return false }
            throw .last("access", shown(name))
        }
    }

    public func makeFolder(_ name: FileName) throws(SystemError) {
        try call("mkdir", name) { mkdirat(descriptor, $0, 0o777) }
    }

    /// Removes the name of a file.
    public func unlink(_ name: FileName) throws(SystemError) {
        try call("unlink", name) { unlinkat(descriptor, $0, 0) }
    }

    /// Removes an empty folder (`exists` where it is not empty).
    public func removeFolder(_ name: FileName) throws(SystemError) {
        try call("rmdir", name) { unlinkat(descriptor, $0, AT_REMOVEDIR) }
    }

    /// Gives a file a second name, where there is none (`exists` otherwise).
    public func link(_ name: FileName, to folder: OpenFolder, _ newName: FileName) throws(SystemError) {
        try call("link", name, newName) { linkat(descriptor, $0, folder.descriptor, $1, 0) }
    }

    /// A symlink, for what `target` says.
    public func makeSymlink(_ name: FileName, to target: String) throws(SystemError) {
        try call("symlink", name) { symlinkat(target, descriptor, $0) }
    }

    public func makePipe(_ name: FileName) throws(SystemError) {
        try call("mkfifo", name) { mkfifoat(descriptor, $0, 0o600) }
    }

    public func setMode(_ mode: UInt32) throws(SystemError) {
        guard fchmod(descriptor, mode_t(mode)) == 0 else { throw .last("chmod", path) }
    }

    public func setMode(_ name: FileName, _ mode: UInt32) throws(SystemError) {
        try call("chmod", name) { fchmodat(descriptor, $0, mode_t(mode), 0) }
    }

    /// Renames over what is there.
    public func rename(_ name: FileName, to folder: OpenFolder, _ newName: FileName) throws(SystemError) {
        try call("rename", name, newName) { renameat(descriptor, $0, folder.descriptor, $1) }
    }

    /// Lets two names change places, in one step; `isUnsupported` where the file system can't.
    public func exchange(_ name: FileName, with folder: OpenFolder, _ other: FileName) throws(SystemError) {
        try call("exchange", name, other) {
            otask_rename(descriptor, $0, folder.descriptor, $1, OTASK_RENAME_EXCHANGE)
        }
    }

    /// Renames where nothing is (`exists` otherwise). Where the file system has no such rename: by `link` and `unlink`;
    /// without hard links over an empty file made just for this.
    public func move(
        _ name: FileName, to folder: OpenFolder, _ newName: FileName, support: RenameSupport = .full
    ) throws(SystemError) {
        if support == .full {
            do throws(SystemError) {
                return try call("rename", name, newName) {
                    otask_rename(descriptor, $0, folder.descriptor, $1, OTASK_RENAME_NOREPLACE)
                }
            } catch { if !error.isUnsupported { throw error } }
        }
        if support != .plain {
            do throws(SystemError) {
                try link(name, to: folder, newName)
                return try unlink(name)
            } catch { if !error.isUnsupported && error.code != EPERM { throw error } }
        }
        _ = try folder.create(newName)
        try rename(name, to: folder, newName)
    }

    /// Makes the names in it durable.
    public func sync() throws(SystemError) {
        guard otask_sync(descriptor) == 0 else { throw .last("fsync", path) }
    }

    /// Makes everything on its file system durable.
    public func syncFileSystem() throws(SystemError) {
        guard otask_sync_file_system(descriptor) == 0 else { throw .last("syncfs", path) }
    }

    private func call(
        _ call: String, _ name: FileName, _ body: (UnsafePointer<CChar>) -> Int32
    ) throws(SystemError) {
        try name.withPointer(call) { pointer throws(SystemError) in
            if body(pointer) != 0 { throw .last(call, shown(name)) }
        }
    }

    private func call(
        _ call: String, _ name: FileName, _ other: FileName,
        _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
    ) throws(SystemError) {
        try name.withPointer(call) { first throws(SystemError) in
            try other.withPointer(call) { second throws(SystemError) in
                if body(first, second) != 0 { throw .last(call, shown(name)) }
            }
        }
    }
}

/// How much of renaming is used: what the file system may offer, or less of it.
public enum RenameSupport: Hashable, Sendable {
    /// Exchange and no-replace.
    case full
    /// Hard links only.
    case links
    /// Neither.
    case plain
}
