import Model
import Testing

@testable import Sync

/// The table of identity.md, seen through sync: which file is which task here, and what the other device has afterwards.
struct IdentityScenarioTests {
    @Test func `a known id at a new path, the old path gone, is renamed`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        pair.a.move("one", "sub/two")
        try await pair.settle()
        #expect(pair.b.own == ["sub/two"])
        #expect(try pair.b.id("sub/two") == id)
    }

    @Test func `a file that was renamed and edited at once is the same task`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        pair.a.move("one", "two")
        pair.a.replace("two", "notes", "other notes")
        try await pair.settle()
        #expect(pair.b.own == ["two"])
        #expect(try pair.b.id("two") == id)
        #expect(try pair.b.notes("two") == "other notes")
    }

    @Test func `renamed here and edited there, both apply`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        pair.a.move("one", "two")
        pair.b.replace("one", "notes", "other notes")
        try await pair.settle()
        #expect(pair.b.own == ["two"])
        #expect(try pair.a.notes("two") == "other notes")
    }

    @Test func `chains and cycles of names are renames`() async throws {
        let pair = try await Pair(["a": "# A\n", "b": "# B\n", "c": "# C\n", "d": "# D\n", "e": "# E\n"])
        let ids = try pair.a.tasks()
        // a → b → c → a, and d → e → f.
        pair.a.move("c", "t")
        pair.a.move("b", "c")
        pair.a.move("a", "b")
        pair.a.move("t", "a")
        pair.a.move("e", "f")
        pair.a.move("d", "e")
        try await pair.settle()
        #expect(pair.b.own == ["a", "b", "c", "e", "f"])
        for (new, old) in ["a": "c", "b": "a", "c": "b", "e": "d", "f": "e"] {
            #expect(try pair.b.tasks()[new] == ids[old])
        }
    }

    @Test func `a swap made on both devices at once stays a swap`() async throws {
        let pair = try await Pair(["a": "# A\n", "b": "# B\n"])
        let ids = try pair.a.tasks()
        for device in [pair.a, pair.b] {
            device.move("a", "t")
            device.move("b", "a")
            device.move("t", "b")
        }
        try await pair.settle()
        #expect(try pair.b.tasks()["a"] == ids["b"])
        #expect(try pair.b.tasks()["b"] == ids["a"])
    }

    @Test func `a folder of thirty files that gets another name is thirty renames`() async throws {
        let files = Dictionary(uniqueKeysWithValues: (1...30).map { ("home/t\($0)", "# Task \($0)\n") })
        let pair = try await Pair(files)
        let ids = try pair.a.tasks()
        Shell.rename(pair.a.root + "/tasks/home", pair.a.root + "/tasks/house")
        let report = try await pair.a.sync()
        #expect(report.guarded == nil)
        #expect(report.sent.deleted == 0)
        try await pair.settle()
        #expect(pair.b.own.count == 30)
        for number in 1...30 { #expect(try pair.b.tasks()["house/t\(number)"] == ids["home/t\(number)"]) }
        #expect(!Shell.exists(pair.b.root + "/tasks/home"))
    }

    @Test func `the old path holding a file without id, the inode moved: renamed, and the other is new`() async throws {
        let pair = try await Pair(["one": "# One\n"])
        let id = try pair.a.id("one")
        pair.a.move("one", "two")
        pair.a.write("one", "# Another\n")
        try await pair.settle()
        #expect(pair.b.own == ["one", "two"])
        #expect(try pair.b.id("two") == id)
        #expect(try pair.b.title("one") == "Another")
    }

    @Test func `the old path holding a file without id, another inode: the old path keeps the id, the other is a copy`()
        async throws
    {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        pair.a.copy("one", "two")
        pair.a.write("one", "# One\n\nother notes\n")
        try await pair.settle()
        #expect(try pair.b.id("one") == id)
        #expect(try pair.b.id("two") != id)
        #expect(try pair.b.notes("one") == "other notes")
        #expect(try pair.b.notes("two") == "notes")
    }

    @Test func `a copy becomes a new task with an id of its own`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        pair.a.copy("one", "two")
        pair.a.copy("one", "three")
        pair.a.replace("three", "notes", "third")
        let report = try await pair.a.sync()
        #expect(report.notices.contains { $0.text.contains("copied from one.md") })
        try await pair.settle()
        #expect(try pair.b.id("one") == id)
        #expect(Set(try pair.b.tasks().values).count == 3 + Pair.others.count)
        #expect(try pair.b.notes("two") == "notes")
        #expect(try pair.b.notes("three") == "third")
        #expect(!(pair.a.read("two") ?? "").contains(id.description))
    }

    @Test func `copied, and the old one renamed: the one with the inode is the task`() async throws {
        let pair = try await Pair(["one": "# One\n"])
        let id = try pair.a.id("one")
        pair.a.copy("one", "a-copy")
        pair.a.move("one", "two")
        try await pair.settle()
        #expect(pair.b.own == ["a-copy", "two"])
        #expect(try pair.b.id("two") == id)
    }

    @Test func `a file copied over another is an edit of that one, whose id line is put back`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n", "two": "# Two\n\nsecond\n"])
        let ids = try pair.a.tasks()
        pair.a.copy("one", "two")
        try await pair.settle()
        #expect(try pair.b.tasks() == ids)
        #expect(try pair.b.notes("two") == "first")
        #expect(pair.a.read("two")?.contains(ids["two"]!!.description) == true)
    }

    @Test func `a file moved over another is renamed, and the other is deleted`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n", "two": "# Two\n\nsecond\n"])
        let id = try pair.a.id("one")
        pair.a.move("one", "two")
        try await pair.settle()
        #expect(pair.b.own == ["two"])
        #expect(try pair.b.id("two") == id)
        #expect(try pair.b.notes("two") == "first")
        #expect(pair.b.keeps("second"))
    }

    @Test func `a file moved over another that was edited there meanwhile: the edit wins`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n", "two": "# Two\n\nsecond\n"])
        let ids = try pair.a.tasks()
        pair.a.move("one", "two")
        pair.b.replace("two", "second", "second edited")
        try await pair.b.sync()
        try await pair.settle()
        #expect(Set(try pair.a.tasks().values) == Set(ids.values))
        #expect(try pair.a.readable().values.contains { $0.notes == "second edited" })
        #expect(try pair.a.readable().values.contains { $0.notes == "first" })
    }

    @Test func `an id that nobody knows at a known path is a problem, and holds nothing up`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n", "two": "# Two\n\nsecond\n"])
        let id = try pair.a.id("one")
        let other = ItemID.random()
        pair.a.replace("one", id.description, other.description)
        pair.a.replace("two", "second", "second edited")
        let report = try await pair.a.sync()
        #expect(report.problems.map(\.path) == ["tasks/one.md"])
        #expect(report.problems.first?.problem.contains("the id was changed") == true)
        try await pair.b.sync()
        #expect(try pair.b.notes("two") == "second edited")
        #expect(try pair.b.id("one") == id)
        pair.a.replace("one", other.description, id.description)
        try await pair.settle()
        #expect(try pair.b.id("one") == id)
    }

    @Test func `an id line that was removed is put back, and what was edited is sent`() async throws {
        let pair = try await Pair(["one": "---\ntags: [a]\n---\n# One\n\nfirst\n"])
        let id = try pair.a.id("one")
        // A second sync: the line was seen in the file.
        try await pair.a.sync()
        pair.a.write("one", pair.a.withoutID("one").replacing("first", with: "edited"))
        try await pair.settle()
        #expect(try pair.b.id("one") == id)
        #expect(try pair.b.notes("one") == "edited")
        #expect(pair.a.read("one")?.contains(id.description) == true)
    }

    @Test func `no id, an unknown path, one known path gone, and the same inode: renamed`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n"])
        let id = try pair.a.id("one")
        pair.a.move("one", "two")
        pair.a.write("two", "# One\n\nfirst\n\nmore\n")
        try await pair.settle()
        #expect(pair.b.own == ["two"])
        #expect(try pair.b.id("two") == id)
        #expect(try pair.b.notes("two") == "first\n\nmore")
    }

    @Test
    func `a first sync takes an equal file at the server's place for the task, and a different one is its conflict`()
        async throws
    {
        let pair = try await Pair(["equal": "# Equal\n\nnotes\n", "different": "# Different\n\nnotes\n"])
        let ids = try pair.a.tasks()
        let c = try await pair.world.device("c")
        c.write("equal", "# Equal\n\nnotes\n")
        c.write("different", "# Different\n\nother notes\n")
        c.write("mine", "# Mine\n")
        let report = try await c.sync()
        #expect(report.conflicts.map(\.path) == ["tasks/different.md"])
        #expect(report.conflicts.first?.fields == [.notes])
        #expect(try c.id("equal") == ids["equal"])
        #expect(try c.id("different") == ids["different"])
        #expect(try c.notes("different") == "other notes")
        try c.engine().resolve(try c.id("different"), .mine)
        try await c.sync()
        try await pair.settle()
        #expect(pair.a.own == ["different", "equal", "mine"])
        #expect(try pair.a.notes("different") == "other notes")
        #expect(try c.tasks() == pair.a.tasks())
        try await c.expectQuiet()
    }

    @Test func `later an equal file at the server's place is that task, and a different one is a new task`()
        async throws
    {
        let pair = try await Pair()
        pair.b.write("equal", "# Equal\n\nnotes\n")
        pair.b.write("different", "# Different\n\nnotes\n")
        try await pair.b.sync()
        pair.a.write("equal", "# Equal\n\nnotes\n")
        pair.a.write("different", "# Different\n\nother notes\n")
        let report = try await pair.a.sync()
        #expect(report.conflicts.isEmpty)
        try await pair.settle()
        #expect(try pair.a.id("equal") == pair.b.id("equal"))
        #expect(pair.a.own.count == 3)
        #expect(try Set(pair.a.readable().values.map(\.notes)).isSuperset(of: ["notes", "other notes"]))
    }

    @Test func `an unknown id with a live row of this account is that task, without a base`() async throws {
        let pair = try await Pair(["one": "# One\n\nfirst\n", "two": "# Two\n\nsecond\n"])
        let ids = try pair.a.tasks()
        let c = try await pair.world.device("c")
        c.write("one", pair.a.read("one")!)
        c.write("moved/two", pair.a.read("two")!.replacing("second", with: "other"))
        let report = try await c.sync()
        #expect(report.conflicts.map(\.fields) == [[.notes]])
        #expect(try c.id("one") == ids["one"])
        let id = try #require(ids["two"] ?? nil)
        try c.engine().resolve(id, .theirs)
        try await c.sync()
        try await pair.settle()
        #expect(try c.readable() == pair.a.readable())
        #expect(try c.tasks() == pair.a.tasks())
        #expect(try pair.a.readable().values.contains { $0.notes == "second" })
    }

    @Test func `an unknown id that the server has none for is the new task's id`() async throws {
        let pair = try await Pair()
        let id = ItemID.random()
        pair.a.write("one", "---\nid: \(id.description.uppercased())\n---\n# One\n")
        try await pair.settle()
        #expect(try pair.b.id("one") == id)
    }

    @Test func `one unknown id in several files: the first by name has it, the others are copies`() async throws {
        let pair = try await Pair()
        let id = ItemID.random()
        for name in ["c", "a", "b"] { pair.a.write(name, "---\nid: \(id)\n---\n# Task \(name)\n") }
        try await pair.settle()
        #expect(try pair.b.id("a") == id)
        #expect(pair.b.own == ["a", "b", "c"])
        #expect(Set(try pair.b.tasks().values).count == 3 + Pair.others.count)
        #expect(try pair.b.title("c") == "Task c")
    }

    @Test func `one unknown id in several files: the file at the server's place has it`() async throws {
        let pair = try await Pair(["two": "# Two\n"])
        let id = try pair.a.id("two")
        let c = try await pair.world.device("c")
        for name in ["one", "two", "three"] { c.write(name, pair.a.read("two")!) }
        try await c.sync()
        try await pair.settle()
        #expect(try c.id("two") == id)
        #expect(pair.a.own == ["one", "three", "two"])
        #expect(try c.tasks() == pair.a.tasks())
    }

    @Test func `an id of another account is a copy from elsewhere: a new id, and a notice`() async throws {
        let pair = try await Pair()
        let stranger = try await pair.world.stranger("stranger")
        stranger.write("theirs", "# Theirs\n")
        try await stranger.sync()
        let id = try stranger.id("theirs")
        pair.a.write("one", stranger.read("theirs")!)
        pair.a.write("two", "# Two\n")
        let report = try await pair.a.sync()
        #expect(report.notices.contains { $0.text.contains("another account") })
        try await pair.settle()
        #expect(try pair.b.id("one") != id)
        #expect(pair.b.own == ["one", "two"])
        #expect(try pair.b.title("one") == "Theirs")
        try await stranger.expectQuiet()
    }

    @Test func `a file put back after its deletion was synced is wanted back with its id`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        let text = pair.a.read("one")!
        pair.a.remove("one")
        try await pair.settle()
        #expect(pair.b.own == [])
        pair.a.write("back", text)
        try await pair.settle()
        #expect(pair.b.own == ["back"])
        #expect(try pair.b.id("back") == id)
        #expect(try pair.b.notes("back") == "notes")
    }

    @Test func `a file put back on the device that took the deletion is wanted back too`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        let text = pair.b.read("one")!
        pair.a.remove("one")
        try await pair.settle()
        pair.b.write("one", text.replacing("notes", with: "more notes"))
        try await pair.settle()
        #expect(try pair.a.id("one") == id)
        #expect(try pair.a.notes("one") == "more notes")
    }

    @Test func `a tombstone's id on a file equal to its text: the deletion is carried out`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let text = pair.a.read("one")!
        pair.a.remove("one")
        try await pair.settle()
        let c = try await pair.world.device("c")
        c.write("one", text)
        try await c.sync()
        #expect(c.own == [])
        #expect(c.keeps("notes"))
        try await c.expectQuiet()
        try await pair.settle()
    }

    @Test(arguments: ["retry", "rm"])
    func `a tombstone's id on a file that says something else is a problem that names the day`(_ way: String)
        async throws
    {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        let text = pair.a.read("one")!
        pair.a.remove("one")
        try await pair.settle()
        let c = try await pair.world.device("c")
        c.write("one", text.replacing("notes", with: "other notes"))
        let report = try await c.sync()
        #expect(report.problems.map(\.path) == ["tasks/one.md"])
        #expect(report.problems.first?.problem.contains("was deleted on 20") == true)
        #expect(report.sent == Tally())
        #expect(c.own == ["one"])
        if way == "retry" {
            #expect(try c.engine().retry(["tasks/one.md"]) == ["tasks/one.md"])
        } else {
            c.remove("one")
        }
        try await c.sync()
        try await c.expectQuiet()
        try await pair.settle()
        #expect(try c.tasks() == pair.a.tasks())
        if way == "retry" {
            #expect(try pair.a.id("one") == id)
            #expect(try pair.a.notes("one") == "other notes")
        } else {
            #expect(pair.a.own == [])
        }
    }

    @Test func `deleted there and renamed here: the deletion wins`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        pair.b.remove("one")
        try await pair.b.sync()
        pair.a.move("one", "two")
        try await pair.settle()
        #expect(pair.a.own == [])
        #expect(pair.a.keeps("notes"))
    }

    @Test func `deleted there, renamed and edited here: the edit wins, with the same id`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        pair.b.remove("one")
        try await pair.b.sync()
        pair.a.move("one", "two")
        pair.a.replace("two", "notes", "edited")
        try await pair.settle()
        #expect(pair.b.own == ["two"])
        #expect(try pair.b.id("two") == id)
        #expect(try pair.b.notes("two") == "edited")
    }

    // MARK: Editors

    @Test func `an editor that saves by renaming a new file over the old one edits`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        pair.a.saveByRename("one", pair.a.read("one")!.replacing("notes", with: "edited"))
        try await pair.settle()
        #expect(try pair.b.id("one") == id)
        #expect(try pair.b.notes("one") == "edited")
    }

    @Test func `an editor that moves the old file to a backup name first edits`() async throws {
        let pair = try await Pair(["one": "# One\n\nnotes\n"])
        let id = try pair.a.id("one")
        let text = pair.a.read("one")!
        Shell.rename(pair.a.path("one"), pair.a.path("one") + "~")
        pair.a.write("one", text.replacing("notes", with: "edited"))
        try await pair.settle()
        #expect(try pair.b.id("one") == id)
        #expect(try pair.b.notes("one") == "edited")
        #expect(pair.b.own == ["one"])
    }

    @Test func `sed -i over all files is an edit of each`() async throws {
        let pair = try await Pair(["one": "# One\n\nred\n", "two": "# Two\n\nred\n", "three": "# Three\n\nblue\n"])
        let ids = try pair.a.tasks()
        for place in pair.a.places { pair.a.saveByRename(place, pair.a.read(place)!.replacing("red", with: "green")) }
        let report = try await pair.a.sync()
        #expect(report.sent.tasks == 2)
        try await pair.settle()
        #expect(try pair.b.tasks() == ids)
        #expect(try pair.b.notes("two") == "green")
    }

    // MARK: Carried elsewhere

    @Test(arguments: ["folder", "machine"])
    func `in a copied workspace nothing missing is deleted, equal agrees, different conflicts`(_ what: String)
        async throws
    {
        let pair = try await Pair([
            "one": "# One\n\nfirst\n", "two": "# Two\n\nsecond\n", "three": "# Three\n\nthird\n",
        ])
        let ids = try pair.a.tasks()
        let c: Device
        if what == "folder" {
            Shell.copyFolder(pair.a.root, pair.world.folder + "/c")
            c = try await pair.world.device("c", isThere: true)
        } else {
            c = pair.a
            c.machine.withLock { $0 = "another" }
        }
        c.remove("one")
        c.replace("two", "second", "other")
        c.write("new", "# New\n")
        let report = try await c.sync()
        #expect(report.sent.deleted == 0)
        #expect(report.conflicts.map(\.fields) == [[.notes]])
        #expect(try c.id("one") == ids["one"])
        #expect(try c.notes("one") == "first")
        #expect(report.notices.contains { $0.text.contains("laid down again") || $0.text.contains("carried") })
        try c.engine().resolve(try c.id("two"), .mine)
        try await c.sync()
        try await pair.settle()
        #expect(pair.b.own == ["new", "one", "three", "two"])
        #expect(try pair.b.notes("two") == "other")
        #expect(try c.tasks() == pair.b.tasks())
        // From now on a missing file is deleted again.
        c.remove("one")
        try await c.sync()
        try await pair.settle()
        #expect(pair.b.own == ["new", "three", "two"])
    }

    // MARK: ids: journal

    @Test func `with ids in the journal no id is ever written, and renames, swaps and edits are followed`() async throws
    {
        let pair = try await Pair(
            ["a": "# A\n\nfirst\n", "b": "# B\n\nsecond\n", "c": "# C\n", "z": "---\nid: 202411301530\n---\n# Z\n"],
            settings: ["ids": "journal"])
        let ids = try pair.a.tasks()
        #expect(ids.values.allSatisfy { $0 != nil })
        pair.a.move("a", "t")
        pair.a.move("b", "a")
        pair.a.move("t", "b")
        pair.a.move("c", "sub/c2")
        pair.a.replace("z", "# Z", "# Zed")
        pair.a.copy("b", "copy")
        try await pair.settle()
        #expect(try pair.b.tasks()["a"] == ids["b"])
        #expect(try pair.b.tasks()["b"] == ids["a"])
        #expect(try pair.b.tasks()["sub/c2"] == ids["c"])
        #expect(try pair.b.tasks()["z"] == ids["z"])
        #expect(pair.b.own == ["a", "b", "copy", "sub/c2", "z"])
        #expect(try pair.b.title("z") == "Zed")
        for device in [pair.a, pair.b] {
            for place in device.places where place != "z" { #expect(device.read(place)?.contains("id:") == false) }
        }
        #expect(pair.a.read("z") == "---\nid: 202411301530\n---\n# Zed\n")
    }

    @Test func `with ids in the journal a file with the same content is a rename, unless several had it`() async throws
    {
        let pair = try await Pair(
            ["a": "# A\n\nfirst\n", "x": "same\n", "y": "same\n"], settings: ["ids": "journal"])
        let id = try pair.a.id("a")
        pair.a.copy("a", "b")
        pair.a.remove("a")
        try await pair.settle()
        #expect(pair.b.own == ["b", "x", "y"])
        #expect(try pair.b.id("b") == id)
    }

    @Test func `with ids in the journal a file saved anew and moved over is an edit`() async throws {
        let pair = try await Pair(["a": "# A\n\nfirst\n"], settings: ["ids": "journal"])
        let id = try pair.a.id("a")
        pair.a.saveByRename("a", "# A\n\nedited\n")
        pair.b.replace("a", "# A", "# B")
        try await pair.settle()
        #expect(try pair.b.id("a") == id)
        #expect(try pair.b.readable()["a"] == TaskContent(title: "B", notes: "edited"))
    }
}

extension Text {
    func contains(_ part: String) -> Bool { bytes.contains(part) }
}
