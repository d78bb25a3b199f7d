import Testing

@testable import Libraries

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite final class SystemTests {
    let path: String
    let folder: OpenFolder

    init() throws {
        path = try System.makeTemporaryFolder()
        folder = try OpenFolder(path: path)
    }

    deinit {
        for entry in (try? folder.entries()) ?? [] {
            try? folder.unlink(entry.name)
            try? folder.removeFolder(entry.name)
        }
        rmdir(path)
    }

    private func write(_ name: FileName, _ text: String) throws {
        let file = try folder.openOrCreate(name)
        try file.truncate()
        try file.write(text.utf8)
    }

    /// What the system refused; nil where it didn't.
    private func refusal(_ body: () throws -> some Any) -> SystemError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? SystemError
        }
    }

    private func read(_ name: FileName) throws -> String {
        String(decoding: try folder.open(name).read(), as: UTF8.self)
    }

    @Test(arguments: ["", ".", "..", "a/b", "/etc", "a\0b"])
    func `a name that would lead elsewhere is refused`(_ name: String) throws {
        try write("a", "one")
        let error = #expect(throws: SystemError.self) { try folder.open(FileName(name)) }
        #expect(error?.code == EINVAL)
        #expect(throws: SystemError.self) { try folder.rename("a", to: folder, FileName(name)) }
        #expect(throws: SystemError.self) { try folder.unlink(FileName(name)) }
        #expect(try read("a") == "one")
    }

    @Test func `no symlink is followed, neither to a file nor to a folder`() throws {
        try write("a", "one")
        try folder.makeSymlink("link", to: "a")
        try folder.makeSymlink("home", to: "/tmp")
        #expect(refusal { try folder.open("link") }?.isSymlink == true)
        #expect(refusal { try folder.openOrCreate("link") }?.isSymlink == true)
        #expect(refusal { try folder.folder("home") }?.isNoFolder == true)
        #expect(refusal { try folder.folder(at: "home/x") }?.isNoFolder == true)
        #expect(try folder.status("link")?.kind == .symlink)
        #expect(try folder.readLink("link") == Array("a".utf8))
    }

    @Test func `a pipe is opened without waiting for its other end`() throws {
        try folder.makePipe("pipe")
        #expect(try folder.open("pipe").status().kind == .special)
    }

    @Test func `every name is listed, also one that is not UTF-8`() throws {
        let odd = FileName(bytes: [0x61, 0xFF])
        _ = try folder.create(odd)
        _ = try folder.create("two\nlines")
        try folder.makeFolder("home")
        let entries = try folder.entries().sorted { $0.name < $1.name }
        #expect(entries.map(\.name) == [odd, "home", "two\nlines"].sorted())
        #expect(odd.string == nil)
        #expect(odd.shown == "a\u{FFFD}")
        #expect(entries.filter { $0.kind == .folder }.map(\.name) == ["home"])
    }

    @Test func `status tells size, times, inode, mode and links`() throws {
        let before = System.now() - 50_000_000
        try write("a", "four")
        try folder.setMode("a", 0o640)
        try folder.link("a", to: folder, "b")
        let status = try #require(try folder.status("a"))
        #expect(status.kind == .file && status.size == 4 && status.mode == 0o640 && status.linkCount == 2)
        #expect(status.modified >= before && status.modified <= System.now())
        #expect(status.birth.map { $0 >= before } ?? true)
        #expect(try folder.status("b")?.inode == status.inode)
        #expect(try folder.status().device == status.device)
        #expect(try folder.status("missing") == nil)
    }

    @Test func `a large file is read whole, and up to a limit`() throws {
        let text = String(repeating: "0123456789", count: 60_000)
        try write("a", text)
        #expect(try read("a") == text)
        #expect(try folder.open("a").read(limit: 262_145).count == 262_145)
        #expect(try folder.open("a").read(limit: 4) == Array("0123".utf8))
        let digest = FileDigest()
        try folder.open("a").readChunks {
            digest.update($0)
            return true
        }
        #expect(digest.finish() == sha256(text.utf8))
    }

    @Test func `two names change places in one step`() throws {
        try write("a", "one")
        try write("b", "two")
        try folder.exchange("a", with: folder, "b")
        #expect(try read("a") == "two")
        #expect(try read("b") == "one")
        #expect(refusal { try folder.exchange("a", with: folder, "c") }?.isMissing == true)
    }

    @Test(arguments: [RenameSupport.full, .links, .plain])
    func `a move overwrites nothing, whatever the file system can`(_ support: RenameSupport) throws {
        try write("a", "one")
        try write("b", "two")
        let error = #expect(throws: SystemError.self) { try folder.move("a", to: folder, "b", support: support) }
        #expect(error?.exists == true)
        #expect(try read("a") == "one")
        #expect(try read("b") == "two")
        try folder.move("a", to: folder, "c", support: support)
        #expect(try read("c") == "one")
        #expect(try folder.status("a") == nil)
        #expect(try folder.status("c")?.linkCount == 1)
    }

    @Test func `descriptors are not inherited by children`() throws {
        let file = try folder.create("a")
        for descriptor in [file.descriptor, folder.descriptor] {
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        }
    }

    @Test func `a lock is held by one at a time and dies with its value`() throws {
        _ = try folder.create("lock")
        var first: OpenFile? = try folder.openOrCreate("lock")
        let second = try folder.openOrCreate("lock")
        #expect(try first?.tryLock() == true)
        #expect(try second.tryLock() == false)
        first = nil
        #expect(try second.tryLock())
    }

    @Test func `processes are told alive from dead`() {
        #expect(System.isAlive(getpid()))
        #expect(System.isAlive(1))
        #expect(!System.isAlive(0))
        #expect(!System.isAlive(-1))
        #expect(!System.isAlive(.max))
    }

    @Test func `errors are written for people`() {
        let error = #expect(throws: SystemError.self) { try folder.open("missing") }
        #expect(error?.description == path + "/missing: no such file or directory (open)")
    }

    @Test func `the host has a name and random bytes differ`() {
        #expect(!System.hostName().isEmpty)
        #expect(System.randomBytes(16) != System.randomBytes(16))
    }

    #if os(Linux)
        @Test func `mode, owner, ACL and extended attributes are copied`() throws {
            try write("old", "one")
            try folder.setMode("old", 0o750)
            // One more user (65534) may read: posix_acl_xattr, version 2, then tag, permissions and id of each entry.
            let list: [(UInt8, UInt8, [UInt8])] = [
                (0x01, 7, [255, 255, 255, 255]), (0x02, 4, [0xFE, 0xFF, 0, 0]), (0x04, 5, [255, 255, 255, 255]),
                (0x10, 5, [255, 255, 255, 255]), (0x20, 0, [255, 255, 255, 255]),
            ]
            let acl: [UInt8] = [2, 0, 0, 0] + list.flatMap { [$0.0, 0, $0.1, 0] + $0.2 }
            try #require(setxattr(path + "/old", "system.posix_acl_access", acl, acl.count, 0) == 0)
            try #require(setxattr(path + "/old", "user.colour", [1, 2, 3], 3, 0) == 0)
            if geteuid() == 0 { try #require(chown(path + "/old", 65534, 65534) == 0) }

            let new = try folder.create("new", mode: 0o600)
            try new.copyMetadata(of: folder.open("old"))
            var value = [UInt8](repeating: 0, count: 100)
            #expect(getxattr(path + "/new", "user.colour", &value, 100) == 3)
            #expect(getxattr(path + "/new", "system.posix_acl_access", &value, 100) == acl.count)
            #expect(value.starts(with: acl))
            #expect(try folder.status("new")?.mode == 0o750)
            var status = stat()
            #expect(stat(path + "/new", &status) == 0)
            #expect(status.st_uid == (geteuid() == 0 ? 65534 : geteuid()))
        }
    #endif
}

#if os(Linux)
    @_silgen_name("setxattr")
    private func setxattr(
        _ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, _ value: UnsafeRawPointer, _ size: Int,
        _ flags: Int32
    ) -> Int32

    @_silgen_name("getxattr")
    private func getxattr(
        _ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, _ value: UnsafeMutableRawPointer, _ size: Int
    ) -> Int
#endif
