import Model
import Testing

@testable import Sync

/// A damaged journal is set aside and rebuilt from the files and a full pull: nothing is lost or doubled.
struct JournalLossScenarioTests {
    enum Damage: CaseIterable { case header, pages, lastPages, cut, removed }

    private func damage(_ device: Device, _ damage: Damage) {
        let path = device.root + "/.otask/journal.sqlite"
        var bytes = Shell.read(path)!
        Shell.remove(path + "-wal")
        Shell.remove(path + "-shm")
        switch damage {
        case .header: for index in 0..<100 { bytes[index] = 0x55 }
        case .pages: for index in 4_096..<bytes.count { bytes[index] = 0xAA }
        case .lastPages: for index in (bytes.count / 8_192 * 4_096)..<bytes.count { bytes[index] = 0xAA }
        case .cut: bytes = Array(bytes.prefix(bytes.count / 3))
        case .removed: return Shell.remove(path)
        }
        Shell.write(path, bytes)
    }

    /// As many runs as it takes to notice the damage.
    private func recover(_ device: Device) async throws -> RunReport {
        do { return try await device.sync() } catch { return try await device.sync() }
    }

    @Test(arguments: Damage.allCases)
    func `unsent deletions come back, unsent edits are kept, and the run says so`(_ kind: Damage) async throws {
        let (_, a, b) = try await World.withTwo([
            "same": "# Same\n", "edited": "# Edited\n\nnotes\n", "removed": "# Removed\n", "moved": "# Moved\n",
            "theirs": "# Theirs\n\nnotes\n",
        ])
        b.replace("theirs", "notes", "newer")
        try await b.sync()
        a.replace("edited", "notes", "my edit")
        a.remove("removed")
        a.move("moved", "sub/moved")
        a.write("new", "# New\n")
        damage(a, kind)
        let report = try await recover(a)
        #expect(report.failure == nil)
        if kind != .removed {
            #expect(report.notices.contains { $0.text.string.contains("damaged") })
            #expect(Shell.entries(a.root + "/.otask").contains { $0.contains("damaged") })
        }
        #expect(Set(report.conflicts.map(\.path)) == ["tasks/edited.md", "tasks/theirs.md"])
        #expect(try a.contents()["edited"]?.notes == "my edit")
        #expect(a.places.contains("removed"))
        for conflict in report.conflicts {
            try a.engine().resolve(conflict.id, conflict.path == "tasks/edited.md" ? .mine : .theirs)
        }
        try await settle(a, b)
        let contents = try b.contents()
        #expect(contents.count == 6)
        #expect(contents["edited"]?.notes == "my edit")
        #expect(contents["theirs"]?.notes == "newer")
        #expect(contents["new"]?.title == "New")
        #expect(contents.values.filter { $0.title == "Moved" }.count == 1)
    }

    @Test func `what others deleted meanwhile goes, and what was edited here is told to a person`() async throws {
        let (_, a, b) = try await World.withTwo([
            "gone": "# Gone\n", "edited": "# Edited\n\nnotes\n", "keep": "# Keep\n", "more": "# More\n",
            "last": "# Last\n",
        ])
        b.remove("gone")
        b.remove("edited")
        try await b.sync()
        a.replace("edited", "notes", "my edit")
        damage(a, .header)
        let report = try await recover(a)
        #expect(a.read("edited")?.contains("my edit") == true)
        #expect(report.problems.map(\.path) == ["tasks/edited.md"])
        #expect(a.places == ["edited", "keep", "last", "more"])
        _ = try a.engine().retry(["tasks/edited.md"])
        try await settle(a, b)
        #expect(try b.contents()["edited"]?.notes == "my edit")
    }

    @Test func `an insert whose answer was lost with the journal is not doubled once its id is in the file`()
        async throws
    {
        let (world, a, b) = try await World.withTwo()
        a.write("one", "# One\n")
        try await a.sync()
        #expect(a.read("one")?.contains("id:") == true)
        damage(a, .removed)
        a.replace("one", "# One", "# Eins")
        let report = try await recover(a)
        for conflict in report.conflicts { try a.engine().resolve(conflict.id, .mine) }
        try await settle(a, b)
        #expect(try await RestClient(world).titles() == ["Eins"])
    }

    @Test func `the workspace stays bound to its account when the journal is lost`() async throws {
        let (world, a, _) = try await World.withTwo(["one": "# One\n"])
        let other = try await RestClient.ofSomebodyElse(world)
        damage(a, .removed)
        let token = other.session.accessToken.string
        a.intercept { request, server in
            var request = request
            request.headers["authorization"] = "Bearer " + token
            return try await server(request)
        }
        #expect(try await a.sync().failure?.kind == .otherAccount)
        #expect(try await other.titles() == [])
    }
}
