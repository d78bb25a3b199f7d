import Libraries
import Model
import Testing

@testable import otask

/// The program itself, as a user starts it.
@Suite struct `The built program` {
    /// The repository.
    private static let root = absolute("../../..", from: #filePath)
    /// `make test` names the release; by itself it is the one that was built with the tests.
    private static let program = Console.variables()["OTASK"] ?? root + "/.build/debug/otask"

    @Test func `plays the demo: two devices, a merge, a conflict and a refusal`() throws {
        let shell = try Shell()
        let demo = shellQuoted(Text(Self.root + "/template/demo.sh"))
        let place = shellQuoted(Text(shell.directory))
        let log = shellQuoted(Text(shell.directory + "/log"))
        let line = "HOME=\(place) XDG_STATE_HOME=\(place)/state TMPDIR=\(place) </dev/null >\(log) 2>&1 \(demo)"
        let status = try Console.run(editor: line, path: Self.program)
        let text = try shell.read("log")
        #expect(status == 0, "\(text)")
        #expect(text.contains("conflict: tasks/fence.md (title)"))
        #expect(text.contains("refused: tasks/long.md: title is longer than 500 characters [23514]"))
    }

    @Test func `ends with the number of what happened`() throws {
        let shell = try Shell()
        let quiet = "HOME=\(shellQuoted(Text(shell.directory))) >/dev/null 2>&1 \(shellQuoted(Text(Self.program)))"
        #expect(try Console.run(editor: quiet, path: "version") == 0)
        #expect(try Console.run(editor: quiet, path: "frobnicate") == 64)
        #expect(try Console.run(editor: quiet + " -C \(shellQuoted(Text(shell.directory)))", path: "status") == 64)
    }
}
