#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Plain file operations, as a person's programs do them: not through what is tested.
enum Shell {
    static func write(_ path: String, _ bytes: [UInt8]) {
        makeFolders(parent(path))
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        precondition(file >= 0, "\(path) can't be opened: \(errno)")
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Self.write(file, $0.baseAddress, $0.count) }
            precondition(count > 0)
            rest = rest.dropFirst(count)
        }
        close(file)
    }

    static func append(_ path: String, _ text: String) {
        write(path, (read(path) ?? []) + Array(text.utf8))
    }

    private static func write(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
            Glibc.write(file, bytes, count)
        #else
            Darwin.write(file, bytes, count)
        #endif
    }

    static func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = readSome(file, &buffer)
            if count <= 0 { return all }
            all += buffer[..<count]
        }
    }

    private static func readSome(_ file: Int32, _ buffer: inout [UInt8]) -> Int {
        let size = buffer.count
        return buffer.withUnsafeMutableBytes { bytes in
            #if canImport(Glibc)
                Glibc.read(file, bytes.baseAddress, size)
            #else
                Darwin.read(file, bytes.baseAddress, size)
            #endif
        }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func makeFolders(_ path: String) {
        if exists(path) || path.isEmpty { return }
        makeFolders(parent(path))
        mkdir(path, 0o755)
    }

    static func rename(_ from: String, _ to: String) {
        makeFolders(parent(to))
        #if canImport(Glibc)
            _ = Glibc.rename(from, to)
        #else
            _ = Darwin.rename(from, to)
        #endif
    }

    static func unlink(_ path: String) {
        #if canImport(Glibc)
            _ = Glibc.unlink(path)
        #else
            _ = Darwin.unlink(path)
        #endif
    }

    /// Sets the time of a file's last change, in seconds since 1970.
    static func setTime(_ path: String, _ seconds: Int) {
        let time = timeval(tv_sec: seconds, tv_usec: 0)
        utimes(path, [time, time])
    }

    static func parent(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return String(path[..<slash])
    }

    static func entries(_ path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Relative paths of all files below a folder.
    static func files(below path: String) -> [String] {
        entries(path).flatMap { name -> [String] in
            isFolder(path + "/" + name) ? files(below: path + "/" + name).map { name + "/" + $0 } : [name]
        }
    }

    static func remove(_ path: String) {
        if isFolder(path) {
            for name in entries(path) { remove(path + "/" + name) }
            rmdir(path)
        } else {
            unlink(path)
        }
    }
}
