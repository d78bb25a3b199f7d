import Libraries
import Model
import Testing

@testable import Sync

/// "Names and places" of files.md on two devices.
struct PlacesScenarioTests {
    @Test func `of two tasks on the server that want one place the one created first has it, the other bears a suffix`()
        async throws
    {
        let pair = try await Pair()
        pair.a.write("same", "# From a\n\nfirst\n")
        pair.b.write("same", "# From b\n\nsecond\n")
        try await pair.a.sync()
        try await pair.settle()
        let second = try #require(try pair.a.tasks().first { $0.key.hasPrefix("same-") })
        #expect(second.key == "same-" + second.value!.description.prefix(4))
        #expect(try pair.a.title("same") == "From a")
        #expect(try pair.b.title("same") == "From a")
        #expect(try pair.b.title(second.key) == "From b")
        // A wanted place that becomes free is taken at the next run.
        pair.a.remove("same")
        try await pair.settle()
        #expect(pair.a.own == ["same"])
        #expect(try pair.b.title("same") == "From b")
    }

    @Test func `names that differ only by case collide, on both devices in the same way`() async throws {
        let pair = try await Pair()
        pair.a.write("Note", "# From a\n")
        pair.b.write("note", "# From b\n")
        try await pair.a.sync()
        try await pair.settle()
        #expect(pair.a.own.count == 2)
        #expect(Set(pair.a.own.map { $0.lowercased() }).count == 2)
        #expect(try pair.a.title("Note") == "From a")
    }

    @Test func `two files here that differ only by case: both stay, the second is a problem with its way out`()
        async throws
    {
        let pair = try await Pair(["note": "# First\n"])
        pair.a.write("Note", "# Second\n")
        let report = try await pair.a.sync()
        #expect(report.problems.map(\.path) == ["tasks/Note.md"])
        #expect(report.problems.first?.problem.contains("rename one of them") == true)
        #expect(report.sent == Tally())
        #expect(pair.a.own == ["Note", "note"])
        pair.a.move("Note", "other")
        try await pair.settle()
        #expect(pair.b.own == ["note", "other"])
    }

    @Test func `a change of case is a move`() async throws {
        let pair = try await Pair(["note": "# Note\n"])
        let id = try pair.a.id("note")
        pair.a.move("note", "Note")
        try await pair.settle()
        #expect(pair.b.own == ["Note"])
        #expect(try pair.b.id("Note") == id)
    }

    @Test func `NFC and NFD of one name are one place, and a change of form is a move`() async throws {
        let pair = try await Pair(["caf\u{E9}": "# Caf\u{E9}\n"])
        let id = try pair.a.id("caf\u{E9}")
        pair.a.move("caf\u{E9}", "cafe\u{301}")
        try await pair.settle()
        #expect(pair.b.own.map { Array($0.utf8) } == [Array("cafe\u{301}".utf8)])
        #expect(try pair.b.id("cafe\u{301}") == id)
    }

    @Test func `a new title moves nothing`() async throws {
        let pair = try await Pair(["one": "# One\n"])
        pair.b.replace("one", "# One", "# Something else")
        try await pair.settle()
        #expect(pair.a.own == ["one"])
        #expect(try pair.a.title("one") == "Something else")
    }

    @Test
    func `a task without path lies at the slug of its title, which is sent as its path, and a new title moves nothing`()
        async throws
    {
        let pair = try await Pair()
        let id = try await pair.a.phoneAdds("Käse & Brot!", notes: "zwei")
        try await pair.settle()
        #expect(pair.a.own == ["käse-brot"])
        #expect(try pair.b.id("käse-brot") == id)
        try await pair.a.phoneEdits(id, [.title: "Only cheese"])
        try await pair.settle()
        #expect(pair.a.own == ["käse-brot"])
        #expect(try pair.b.title("käse-brot") == "Only cheese")
    }

    @Test func `two tasks of a phone with one title have two places, the same on both devices`() async throws {
        let pair = try await Pair(["milk": "# Milk\n\nmine\n"])
        for notes in ["first", "second"] as [Text] { _ = try await pair.a.phoneAdds("Milk", notes: notes) }
        try await pair.settle()
        #expect(pair.a.own.count == 3)
        #expect(try pair.a.notes("milk") == "mine")
    }

    @Test(arguments: [
        "../x", "/etc/passwd", "CON", "a/../b", ".hidden", "a\\b", "nul.txt", "trailing.", "a//b", "x\u{7}y", "",
        String(repeating: "n", count: 300), "home/" + String(repeating: "n", count: 300), "~/x/../../y",
    ])
    func `a bad path from the server falls back to the slug`(_ path: String) async throws {
        let pair = try await Pair()
        let id = try await pair.a.phoneAdds("Some title", path: .string(Text(path)))
        try await pair.settle()
        #expect(pair.a.own == ["some-title"])
        #expect(try pair.b.id("some-title") == id)
        #expect(Set(Shell.entries(pair.a.root)).subtracting([".otask"]) == ["tasks"])
        // It is an ordinary task: edited here, it goes to the server.
        pair.a.replace("some-title", "# Some title", "# Another")
        try await pair.settle()
        #expect(try pair.b.title("some-title") == "Another")
        pair.a.move("some-title", "good")
        try await pair.settle()
        #expect(pair.b.own == ["good"])
    }

    @Test(arguments: ["con", "aux"])
    func `a slug that is a reserved name gets a hyphen and four characters of the id`(_ title: String) async throws {
        let pair = try await Pair()
        let id = try await pair.a.phoneAdds(Text(title.uppercased()))
        try await pair.settle()
        #expect(pair.a.own == ["\(title)-\(id.description.prefix(4))"])
    }

    @Test func `a person's own file with a bad name is a problem with its way out, not sent`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        pair.a.write("con", "# Con\n")
        pair.a.move("one", "sub./one")
        pair.a.write("good", "# Good\n")
        let report = try await pair.a.sync()
        #expect(report.problems.map(\.path) == ["tasks/con.md", "tasks/sub."])
        #expect(report.problems.allSatisfy { $0.problem.contains("rename it") })
        #expect(report.sent.deleted == 0)
        try await pair.b.sync()
        #expect(pair.b.places.contains("good"))
        pair.a.move("con", "fine")
        pair.a.move("sub./one", "two")
        try await pair.settle()
        #expect(pair.b.own == ["fine", "good", "two"])
        #expect(try pair.b.id("two") == id)
    }

    @Test func `moved on both sides: the server's place stands, and a notice says where it was here`() async throws {
        let pair = try await Pair(["one": "# One\n"])
        pair.a.move("one", "from-a")
        pair.b.move("one", "from-b")
        try await pair.a.sync()
        let report = try await pair.b.sync()
        #expect(report.conflicts.isEmpty)
        #expect(pair.b.own == ["from-a"])
        #expect(report.notices.contains { $0.text.contains("from-b.md") && $0.path == "tasks/from-a.md" })
        try await pair.settle()
        #expect(pair.a.own == ["from-a"])
    }

    @Test func `a swap here and an edit there both apply`() async throws {
        let pair = try await Pair(["a": "# A\n\nfirst\n", "b": "# B\n\nsecond\n"])
        pair.a.move("a", "t")
        pair.a.move("b", "a")
        pair.a.move("t", "b")
        pair.b.replace("a", "first", "first edited")
        pair.b.replace("b", "second", "second edited")
        try await pair.b.sync()
        try await pair.settle()
        #expect(try pair.b.readable()["a"] == TaskContent(title: "B", notes: "second edited"))
        #expect(try pair.b.readable()["b"] == TaskContent(title: "A", notes: "first edited"))
    }

    @Test func `a folder renamed here and another way there: each file once, at the server's place`() async throws {
        let files = Dictionary(uniqueKeysWithValues: (1...5).map { ("home/t\($0)", "# Task \($0)\n") })
        let pair = try await Pair(files)
        Shell.rename(pair.a.root + "/tasks/home", pair.a.root + "/tasks/house")
        Shell.rename(pair.b.root + "/tasks/home", pair.b.root + "/tasks/hut")
        try await pair.a.sync()
        try await pair.settle()
        #expect(pair.b.own == (1...5).map { "house/t\($0)" })
        #expect(!Shell.exists(pair.b.root + "/tasks/hut"))
    }

    @Test func `a file here that isn't on the server yet keeps its place until it is`() async throws {
        let pair = try await Pair()
        pair.a.write("same", "# From a\n")
        try await pair.a.sync()
        pair.b.write("same", "# From b\n")
        try await pair.b.run(.pull)
        #expect(try pair.b.title("same") == "From b")
        #expect(pair.b.own.count == 2)
        try await pair.settle()
        #expect(try pair.b.title("same") == "From a")
    }

    @Test func `a file that is no task of ours is never overwritten: the newcomer bears the suffix`() async throws {
        let pair = try await Pair()
        pair.b.write("same", "---\nbroken: [\n---\n# Mine\n")
        pair.a.write("same", "# From a\n")
        try await pair.a.sync()
        let report = try await pair.b.sync()
        #expect(report.problems.map(\.path) == ["tasks/same.md"])
        #expect(pair.b.read("same") == "---\nbroken: [\n---\n# Mine\n")
        let id = try pair.a.id("same")
        #expect(pair.b.own == ["same", "same-\(id.description.prefix(4))"])
        try await pair.b.expectQuiet()
        pair.b.move("same", "broken")
        try await pair.b.sync()
        #expect(pair.b.own == ["broken", "same"])
        try await pair.a.expectQuiet()
        #expect(pair.a.own == ["same"])
    }

    @Test func `mv changes the title only while the title comes from the name`() async throws {
        let pair = try await Pair(["named": "text\n", "headed": "# Headed\n"])
        pair.a.move("named", "renamed")
        pair.a.move("headed", "reheaded")
        try await pair.settle()
        #expect(try pair.b.title("renamed") == "renamed")
        #expect(try pair.b.title("reheaded") == "Headed")
    }

    @Test func `a task titled by its name keeps its title when otask moves it`() async throws {
        let pair = try await Pair(["one": "text\n"])
        pair.b.move("one", "sub/two")
        pair.b.write("sub/two", "---\ntitle: one\n---\ntext\n")
        try await pair.settle()
        #expect(try pair.a.readable()["sub/two"] == TaskContent(title: "one", notes: "text"))
    }

    @Test func `a link is reported, and neither followed nor deleted`() async throws {
        let pair = try await Pair(["home/one": "# One\n", "two": "# Two\n"])
        Shell.rename(pair.a.root + "/tasks/home", pair.world.folder + "/elsewhere")
        Shell.symlink(pair.a.root + "/tasks/home", to: pair.world.folder + "/elsewhere")
        Shell.rename(pair.a.path("two"), pair.world.folder + "/two.md")
        Shell.symlink(pair.a.path("two"), to: pair.world.folder + "/two.md")
        let report = try await pair.a.sync()
        #expect(report.sent.deleted == 0)
        #expect(report.waiting == [])
        #expect(report.problems.map(\.path) == ["tasks/home", "tasks/two.md"])
        try await pair.b.sync()
        #expect(pair.b.own == ["home/one", "two"])
        pair.b.replace("home/one", "# One", "# Edited")
        try await pair.b.sync()
        try await pair.a.sync()
        #expect(Shell.read(pair.world.folder + "/elsewhere/one.md")!.contains("# One"))
        try await pair.a.expectQuiet()
        Shell.remove(pair.a.path("two"))
        Shell.unlink(pair.a.root + "/tasks/home")
        Shell.rename(pair.world.folder + "/elsewhere", pair.a.root + "/tasks/home")
        Shell.rename(pair.world.folder + "/two.md", pair.a.path("two"))
        try await pair.settle()
        #expect(pair.a.own == ["home/one", "two"])
        #expect(try pair.a.title("home/one") == "Edited")
    }

    @Test func `a task open in an editor is left for the next run by background runs`() async throws {
        let pair = try await Pair(["one": "# One\n"])
        pair.b.replace("one", "# One", "# Edited")
        try await pair.b.sync()
        let swap = pair.a.root + "/tasks/.one.md.swp"
        Shell.write(swap, [])
        try await pair.a.sync { $0.background = true }
        #expect(try pair.a.title("one") == "One")
        Shell.unlink(swap)
        pair.world.clock.advance(11)
        try await pair.a.sync { $0.background = true }
        #expect(try pair.a.title("one") == "Edited")
        try await pair.settle()
    }
}
