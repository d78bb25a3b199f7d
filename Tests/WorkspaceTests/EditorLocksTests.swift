import Libraries
import Model
import Testing

@testable import Workspace

@Suite struct EditorLocksTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.write("tasks/a.md", "one")
    }

    /// On the host `here`, where only process 42 runs.
    private func editor() -> EditorLocks.Editor? {
        EditorLocks(root: scratch.root, host: "here.example.org", isAlive: { $0 == 42 }).openInEditor("tasks/a.md")
    }

    private func writeSwap(_ name: String = ".a.md.swp", process: UInt8, host: String) throws {
        var block = Array("b0VIM 9.0".utf8) + [0, 0, 0]
        block += [0, 16, 0, 0] + [0, 0, 0, 0] + [0, 0, 0, 0] + [process, 0, 0, 0]
        block += Array("user".utf8) + [UInt8](repeating: 0, count: 36)
        block += Array(host.utf8) + [UInt8](repeating: 0, count: 40 - host.utf8.count)
        let (folder, swap) = try scratch.spot("tasks/" + Text(name))
        try folder.openOrCreate(swap).write(block + Array("a.md".utf8))
    }

    @Test func `a file without a lock is open nowhere`() throws {
        try scratch.write("tasks/.b.md.swp", "b0")
        #expect(editor() == nil)
    }

    @Test(arguments: zip([UInt8(42), 43], [true, false]))
    func `vim's swap file counts while its process is alive on this host`(
        _ process: UInt8, _ isOpen: Bool
    ) throws {
        let expected: EditorLocks.Editor? = isOpen ? .vim : nil
        try writeSwap(process: process, host: "here")
        #expect(editor() == expected)
        try scratch.remove("tasks/.a.md.swp")
        try writeSwap(".a.md.swo", process: process, host: "here.example.org")
        #expect(editor() == expected)
    }

    @Test func `a swap file of another host counts for a day`() throws {
        try writeSwap(process: 43, host: "elsewhere")
        #expect(editor() == .vim)
        try scratch.age("tasks/.a.md.swp", 23 * 3600)
        #expect(editor() == .vim)
        try scratch.age("tasks/.a.md.swp", 25 * 3600)
        #expect(editor() == nil)
    }

    @Test(
        arguments: zip(
            ["me@here.42", "me@here.example.org.42:1700000000", "me@here.43", "me@elsewhere.43"],
            [true, true, false, true]))
    func `emacs's lock is a symlink that names user, host and process`(_ target: String, _ isOpen: Bool) throws {
        try scratch.root.folder("tasks").makeSymlink(".#a.md", to: target)
        #expect(editor() == (isOpen ? .emacs : nil))
    }

    @Test func `LibreOffice's lock names no process and counts for a day`() throws {
        try scratch.write("tasks/.~lock.a.md#", ",me,here,01.12.2026 10:00,file:///x;")
        #expect(editor() == .libreOffice)
        try scratch.age("tasks/.~lock.a.md#", 25 * 3600)
        #expect(editor() == nil)
    }
}
