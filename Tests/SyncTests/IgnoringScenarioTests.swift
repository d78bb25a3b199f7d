import Model
import Testing

@testable import Sync

/// "What is a deletion" of identity.md: what is missing and not deleted, and what is.
struct IgnoringScenarioTests {
    private func rules(_ device: Device, _ text: String?) {
        let path = device.root + "/.otaskignore"
        if let text { Shell.write(path, Array(text.utf8)) } else { Shell.unlink(path) }
    }

    @Test func `a task whose file comes under a rule is frozen until the rule goes, and then is a three-way case`()
        async throws
    {
        let pair = try await Pair(["private/one": "# One\n\nfirst\n\nlast\n"])
        let id = try pair.a.id("private/one")
        rules(pair.a, "private/\n")
        let report = try await pair.a.sync()
        #expect(report.sent == Tally())
        #expect(report.waiting == [])
        #expect(try pair.a.engine().status().notFollowed.map(\.path) == ["tasks/private/one.md"])
        // Edited on both sides meanwhile: nothing of it is sent or written.
        pair.a.replace("private/one", "first", "FIRST")
        pair.b.replace("private/one", "last", "LAST")
        try await pair.b.sync()
        let frozen = try await pair.a.sync()
        #expect(frozen.sent == Tally())
        #expect(frozen.received == Tally())
        #expect(pair.a.read("private/one")?.contains("FIRST\n\nlast") == true)
        try await pair.a.expectQuiet()
        rules(pair.a, nil)
        try await pair.settle()
        #expect(try pair.b.id("private/one") == id)
        #expect(try pair.b.notes("private/one") == "FIRST\n\nLAST")
    }

    @Test func `a frozen task deleted elsewhere stays here while the rule stands`() async throws {
        let pair = try await Pair(["private/one": "# One\n"])
        rules(pair.a, "private/\n")
        try await pair.a.sync()
        pair.b.remove("private/one")
        try await pair.b.sync()
        try await pair.a.sync()
        #expect(pair.a.own == ["private/one"])
        try await pair.a.expectQuiet()
        rules(pair.a, nil)
        try await pair.settle()
        #expect(pair.a.own == [])
    }

    @Test func `a file removed while it was under a rule isn't deleted, and is when the rule goes`() async throws {
        let pair = try await Pair(["private/one": "# One\n"])
        rules(pair.a, "private/\n")
        try await pair.a.sync()
        pair.a.remove("private/one")
        let report = try await pair.a.sync()
        #expect(report.sent.deleted == 0)
        try await pair.b.sync()
        #expect(pair.b.own == ["private/one"])
        rules(pair.a, nil)
        try await pair.a.sync()
        try await pair.settle()
        #expect(pair.a.own == pair.b.own)
    }

    @Test func `a file moved under a rule is not followed and not deleted, and moved back is that task`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        rules(pair.a, "private/\n")
        pair.a.move("one", "private/one")
        let report = try await pair.a.sync()
        #expect(report.sent == Tally())
        #expect(try pair.a.engine().status().notFollowed.count == 1)
        #expect(pair.a.own == ["private/one"])
        pair.b.replace("one", "notes", "edited")
        try await pair.b.sync()
        try await pair.a.sync()
        #expect(pair.a.own == ["private/one"])
        try await pair.a.expectQuiet()
        pair.a.move("private/one", "two")
        try await pair.settle()
        #expect(try pair.b.id("two") == id)
        #expect(try pair.b.notes("two") == "edited")
        #expect(pair.b.own == ["two"])
    }

    @Test func `a place under a rule isn't taken: a new task isn't laid down, one that is here stays where it is`()
        async throws
    {
        let pair = try await Pair(["one": "# One\n"])
        rules(pair.b, "private/\n")
        pair.a.write("private/new", "# New\n")
        pair.a.move("one", "private/one")
        try await pair.a.sync()
        let report = try await pair.b.sync()
        #expect(report.failure == nil)
        #expect(pair.b.own == ["one"])
        // The one that isn't laid down is listed with the reason.
        let notFollowed = try pair.b.engine().status().notFollowed
        #expect(notFollowed.map(\.path) == ["tasks/private/new.md"])
        #expect(notFollowed.first?.problem.contains("an ignore rule names its place") == true)
        try await pair.b.expectQuiet()
        pair.b.replace("one", "# One", "# Edited")
        try await pair.b.sync()
        rules(pair.b, nil)
        try await pair.settle()
        #expect(pair.b.own == ["private/new", "private/one"])
        #expect(try pair.a.title("private/one") == "Edited")
    }

    @Test(arguments: [".one.md", "one.txt", "one.md.bak", "one.md~", ".hidden/one.md"])
    func `a file hidden or renamed to what is no task is no longer followed, not deleted`(_ name: String) async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        Shell.rename(pair.a.path("one"), pair.a.root + "/tasks/" + name)
        let report = try await pair.a.sync()
        #expect(report.sent == Tally())
        #expect(report.waiting == [])
        #expect(try pair.a.engine().status().notFollowed.count == 1)
        pair.b.replace("one", "notes", "edited")
        try await pair.b.sync()
        #expect(pair.b.own == ["one"])
        try await pair.a.sync()
        #expect(pair.a.read("one") == nil)
        try await pair.a.expectQuiet()
        Shell.rename(pair.a.root + "/tasks/" + name, pair.a.path("one"))
        try await pair.settle()
        #expect(try pair.a.id("one") == id)
        #expect(try pair.a.notes("one") == "edited")
    }

    @Test
    func `a file elsewhere in the workspace is not followed, and when it goes, the task is no deletion of a place`()
        async throws
    {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        Shell.rename(pair.a.path("one"), pair.a.root + "/one.md")
        try await pair.a.sync()
        try await pair.b.sync()
        #expect(pair.b.own == ["one"])
        // Gone from where it was seen too: nobody knows more than before.
        Shell.unlink(pair.a.root + "/one.md")
        let report = try await pair.a.sync()
        #expect(report.failure == nil)
        try await pair.a.sync()
        try await pair.b.sync()
        #expect(pair.b.own == ["one"])
    }

    @Test(arguments: ["tasks/.trash", ".trash", ".Trash-1000/files", "tasks/.Trash"])
    func `moved to a trash folder is deleted`(_ trash: String) async throws {
        let pair = try await Pair(["one": "# One\n"])
        Shell.rename(pair.a.path("one"), pair.a.root + "/" + trash + "/one.md")
        let report = try await pair.a.sync()
        #expect(report.sent.deleted == 1)
        try await pair.settle()
        #expect(pair.b.own == [])
        // And taken out of it, it is wanted back.
        Shell.rename(pair.a.root + "/" + trash + "/one.md", pair.a.path("one"))
        try await pair.settle()
        #expect(pair.b.own == ["one"])
    }

    @Test func `a file moved out of the workspace is deleted`() async throws {
        let pair = try await Pair(["one": "# One\n"])
        Shell.rename(pair.a.path("one"), pair.world.folder + "/one.md")
        try await pair.settle()
        #expect(pair.b.own == [])
    }

    /// It has two real seconds: no matter of the wire, on which everything takes longer.
    @Test(.enabled(if: !World.isWired))
    func `a file that is missing for a moment, in a background run, is left for the next`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let text = pair.a.read("one")!
        pair.a.remove("one")
        let report = try await pair.a.sync { $0.background = true }
        #expect(report.sent.deleted == 0)
        pair.a.write("one", text.replacing("notes", with: "edited"))
        try await pair.settle()
        #expect(try pair.b.notes("one") == "edited")
    }

    @Test func `a missing file that is there again after 100 ms was only being saved`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let (text, path) = (pair.a.read("one")!.replacing("notes", with: "edited"), pair.a.path("one"))
        pair.a.remove("one")
        pair.a.whileWaiting { Shell.write(path, Array(text.utf8)) }
        let report = try await pair.a.sync()
        #expect(report.sent.deleted == 0)
        pair.a.whileWaiting(nil)
        try await pair.settle()
        #expect(try pair.b.notes("one") == "edited")
    }

    @Test func `while the ignore file can't be read every gone path is unknown`() async throws {
        let pair = try await Pair(["one": "# One\n"])
        Shell.makeFolders(pair.a.root + "/.otaskignore")
        pair.a.remove("one")
        let report = try await pair.a.sync()
        #expect(report.sent.deleted == 0)
        try await pair.b.sync()
        #expect(pair.b.own == ["one"])
        Shell.remove(pair.a.root + "/.otaskignore")
        try await pair.settle()
        #expect(pair.b.own == [])
    }

    #if os(Linux)
        @Test func `a folder that can't be read is unknown, and nothing in it or moved to it is deleted`() async throws
        {
            let pair = try await Pair(["home/one": "# One\n", "two": "# Two\n"])
            pair.a.move("two", "home/two")
            Shell.allow(pair.a.root + "/tasks/home", 0o000)
            for path in ["", "/tasks", "/.otask", "/.otask/config.yaml", "/.otask/journal.sqlite"] {
                Shell.allow(pair.a.root + path, path.hasSuffix("e") || path.hasSuffix("l") ? 0o666 : 0o777)
            }
            Shell.allow(pair.world.folder, 0o777)
            let status = try Shell.withoutPrivileges { try pair.a.engine().status() }
            #expect(status.problems.map(\.path) == ["tasks/home"])
            #expect(status.waiting == [])
            Shell.allow(pair.a.root + "/tasks/home", 0o755)
            try await pair.settle()
            #expect(pair.b.own == ["home/one", "home/two"])
        }
    #endif
}
