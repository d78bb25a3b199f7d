import Libraries
import Model
import Testing

@testable import Workspace

@Suite struct WorkspaceLockTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func acquire(_ command: Text, wait: Double = 0, sleep: (Double) -> Void = { _ in }) throws -> WorkspaceLock
    {
        try WorkspaceLock.acquire(root: scratch.root, command: command, wait: wait, sleep: sleep)
    }

    @Test func `a second run learns who holds the lock, and leaves`() throws {
        let lock = try acquire("sync")
        let busy = #expect(throws: WorkspaceLock.Busy.self) {
            try acquire("push") { _ in Issue.record("it doesn't wait") }
        }
        #expect(busy?.holder == "sync (process \(System.processID()))")
        lock.release()
        _ = try acquire("push")
    }

    @Test func `a run that waits takes the lock once it is free`() throws {
        let lock = try acquire("sync")
        var pauses = 0
        let second = try acquire("push", wait: 10) { _ in
            pauses += 1
            if pauses == 3 { lock.release() }
        }
        #expect(pauses == 3)
        second.release()
    }

    @Test func `it waits no longer than it was told`() throws {
        let lock = try acquire("sync")
        var waited = 0.0
        #expect(throws: WorkspaceLock.Busy.self) { try acquire("push", wait: 1) { waited += $0 } }
        #expect(waited >= 1 && waited < 1.1)
        lock.release()
    }

    @Test func `what a lock that is gone left in the file decides nothing`() throws {
        try scratch.write(".otask/lock", "sync (process 1), a text that is longer than the next one will be")
        let lock = try acquire("push")
        #expect(scratch.read(".otask/lock") == "push (process \(System.processID()))")
        lock.release()
    }

    @Test func `a workspace without .otask has no lock`() throws {
        try scratch.root.removeFolder(".otask")
        #expect(throws: PathProblem.self) { try acquire("sync") }
    }
}

@Suite struct WorkspaceLocationTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func find(_ directory: String, _ environment: [String: String] = [:], configured: String? = nil) -> String?
    {
        WorkspaceLocation.find(from: directory, environment: environment) { configured }
    }

    @Test func `the nearest folder upward that has .otask is the workspace`() throws {
        try scratch.write("tasks/home/a.md", "one")
        #expect(find(scratch.path + "/tasks/home", ["OTASK_DIR": "/elsewhere"], configured: "/default") == scratch.path)
        #expect(find(scratch.path) == scratch.path)
        try scratch.root.folder("tasks").makeFolder(".otask")
        #expect(find(scratch.path + "/tasks/home") == scratch.path + "/tasks")
    }

    @Test func `a file of that name is no workspace`() throws {
        try scratch.write("tasks/.otask", "")
        #expect(find(scratch.path + "/tasks") == scratch.path)
    }

    @Test func `then OTASK_DIR, then the default of the user's configuration`() throws {
        try scratch.root.removeFolder(".otask")
        #expect(find(scratch.path, ["OTASK_DIR": "/elsewhere"], configured: "/default") == "/elsewhere")
        #expect(find(scratch.path, ["OTASK_DIR": ""], configured: "/default") == "/default")
        #expect(find(scratch.path) == nil)
    }

    @Test func `the way up ends at a mount`() {
        let sights: [String: WorkspaceLocation.Sight] = [
            "/": .init(device: 1, hasWorkspace: true), "/mnt": .init(device: 2, hasWorkspace: false),
            "/mnt/a": .init(device: 2, hasWorkspace: false), "/home": .init(device: 1, hasWorkspace: false),
        ]
        #expect(WorkspaceLocation.upward(from: "/mnt/a") { sights[$0] } == nil)
        #expect(WorkspaceLocation.upward(from: "/home") { sights[$0] } == "/")
    }
}
