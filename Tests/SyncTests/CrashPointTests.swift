import Model
import Testing
import Workspace

@testable import Sync

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Law 5: a process that dies after any effect leaves facts from which the next run goes on. Every operation is stopped
/// after each of its effects; the next sync ends as if nothing had happened, and another one does nothing.
struct CrashPointTests {
    @Test(arguments: CrashScenario.all)
    func `stopped after any effect, it ends as if it had not been`(_ scenario: CrashScenario) async throws {
        let (effects, whole, written) = try await scenario.play()
        #expect(effects > 0)
        let untouched = scenario.mayNotHappen ? try await scenario.withoutAct.play().outcome : whole
        for point in 0..<effects {
            // What tidies up is stopped as well, sooner or later: with `OTASK_CRASHES=2` after each of its effects.
            for second in Self.stopsTwice && scenario.again == nil ? (0..<effects).map(Optional.some) : [nil] {
                let outcome = try await scenario.play(stoppedAfter: point, andAgain: second, keeping: written)
                #expect(outcome == whole || outcome == untouched, "\(scenario.name), stopped after \(point)")
            }
        }
    }

    private static let stopsTwice = getenv("OTASK_CRASHES").map { String(cString: $0) } == "2"
}

extension CrashScenario {
    var withoutAct: CrashScenario {
        var scenario = self
        scenario.act = { _ in }
        return scenario
    }

    static let two = ["one": "# One\n\nw1\n", "two": "# Two\n\nw2\n"]

    static let all = here + elsewhere + both + places + commands + wholes

    // MARK: What a person did here

    static let here: [CrashScenario] = [
        CrashScenario(name: "new files", files: two) { a in
            a.write("three", "# Three\n\nw3\n")
            a.write("home/four", "---\ncolour: w4\n---\nw5\n")
        },
        CrashScenario(name: "new files, pushed", files: two, arrange: { a in a.write("three", "# Three\n\nw3\n") }) {
            try await $0.run(.push)
        },
        CrashScenario(name: "new file that is moved before the answer is known", files: two) { a in
            a.write("three", "w3\n")
            a.intercept { request, server in
                let answer = try await server(request)
                if calls("push_changes")(request) { a.move("three", "moved") }
                return answer
            }
            try await a.run(.push)
            a.intercept(nil)
        },
        CrashScenario(name: "new files, ids in the journal", files: two, settings: ["ids": "journal"]) { a in
            a.write("three", "# Three\n\nw3\n")
            a.replace("one", "w1", "w1 w4")
        },
        CrashScenario(name: "edits", files: two) { a in
            a.replace("one", "w1", "w1 w3")
            a.replace("two", "# Two", "# Zwei")
        },
        CrashScenario(name: "rename", files: two) { a in a.move("one", "sub/uno") },
        CrashScenario(name: "rename of a file titled by its name", files: ["one": "w1\n", "two": "w2\n"]) { a in
            a.move("one", "uno")
        },
        CrashScenario(name: "folder renamed", files: ["home/one": "# One\n\nw1\n", "home/two": "# Two\n\nw2\n"]) { a in
            Shell.rename(a.root + "/tasks/home", a.root + "/tasks/house")
        },
        CrashScenario(name: "names swapped", files: two) { a in
            a.move("one", "t")
            a.move("two", "one")
            a.move("t", "two")
        },
        CrashScenario(name: "deletion", files: two, deletes: true) { $0.remove("one") },
        CrashScenario(name: "copy", files: two) { a in
            a.copy("one", "copy")
            a.write("copy", (a.read("copy") ?? "") + "\nw3\n")
        },
        CrashScenario(name: "removed, and put back later", files: two, deletes: true) { a in
            let text = a.read("one") ?? ""
            a.remove("one")
            try await a.sync()
            a.write("one", text)
        },
        CrashScenario(name: "saved without its id", files: two) { a in
            let text = a.withoutID("one")
            a.saveByRename("one", text + "\nw3\n")
        },
    ]

    // MARK: What happened elsewhere

    static let elsewhere: [CrashScenario] = [
        CrashScenario(name: "pull of new tasks", files: two) { a in
            _ = try await a.phoneAdds("Three", notes: "w3")
            _ = try await a.phoneAdds("Four", notes: "w4", path: "home/four")
        },
        CrashScenario(
            name: "pull of a new task, pulled", files: two,
            arrange: { a in _ = try await a.phoneAdds("Three", notes: "w3", path: "three") }
        ) { try await $0.run(.pull) },
        CrashScenario(name: "pull of edits", files: two) { a in
            try await a.phoneEdits(a.id("one"), [.title: "Eins", .notes: "w3"])
            try await a.phoneEdits(a.id("two"), [.done: true, .property("colour"): "w4"])
        },
        CrashScenario(name: "pull of a rename", files: two) { a in
            try await a.phoneEdits(a.id("one"), [.path: "sub/uno"])
        },
        CrashScenario(name: "pull of a rename and an edit", files: ["one": "w1\n", "two": "w2\n"]) { a in
            try await a.phoneEdits(a.id("one"), [.path: "sub/uno", .notes: "w1 w3"])
        },
        CrashScenario(name: "pull of a change of case", files: two) { a in
            try await a.phoneEdits(a.id("one"), [.path: "ONE"])
        },
        CrashScenario(name: "pull of a folder's rename", files: ["home/one": "# One\n\nw1\n", "home/two": "w2\n"]) {
            a in
            try await a.phoneEdits(a.id("home/one"), [.path: "house/one"])
            try await a.phoneEdits(a.id("home/two"), [.path: "house/two"])
        },
        CrashScenario(name: "pull of a swap", files: ["one": "w1\n", "two": "w2\n"]) { a in
            let (one, two) = (try a.id("one"), try a.id("two"))
            try await a.phoneEdits(one, [.path: "two"])
            try await a.phoneEdits(two, [.path: "one"])
        },
        CrashScenario(name: "pull of a chain of three", files: two.merging(["three": "w3\n"]) { $1 }) { a in
            let ids = try ["one", "two", "three"].map { try a.id($0) }
            try await a.phoneEdits(ids[0], [.path: "two"])
            try await a.phoneEdits(ids[1], [.path: "three"])
            try await a.phoneEdits(ids[2], [.path: "one"])
        },
        CrashScenario(name: "pull of a deletion", files: two, deletes: true) { a in
            try await a.phoneDeletes(a.id("one"))
        },
        CrashScenario(name: "pull of a deletion, a folder with it", files: ["home/one": "w1\n", "two": "w2\n"]) { a in
            try await a.phoneDeletes(a.id("home/one"))
        },
    ]

    // MARK: What happened on both sides

    static let both: [CrashScenario] = [
        CrashScenario(name: "edits of different fields", files: two) { a in
            try await a.phoneEdits(a.id("one"), [.title: "Eins"])
            a.replace("one", "w1", "w1 w3")
        },
        CrashScenario(name: "edits of the notes that merge", files: ["one": "# One\n\nw1\n\nmiddle\n\nw2\n"]) { a in
            try await a.phoneEdits(a.id("one"), [.notes: "w1 w3\n\nmiddle\n\nw2"])
            a.replace("one", "w2", "w2 w4")
        },
        CrashScenario(
            name: "a conflict", files: two, endsWith: ["tasks/one.md"],
            arrange: { a in
                try await a.phoneEdits(a.id("one"), [.notes: "w3"])
                a.replace("one", "w1", "w1 w4")
            }),
        CrashScenario(name: "deleted here, edited elsewhere", files: two, deletes: true) { a in
            try await a.phoneEdits(a.id("one"), [.notes: "w3"])
            a.remove("one")
        },
        CrashScenario(name: "edited here, deleted elsewhere", files: two) { a in
            try await a.phoneDeletes(a.id("one"))
            a.replace("one", "w1", "w1 w3")
        },
        CrashScenario(name: "deleted on both sides", files: two, deletes: true) { a in
            try await a.phoneDeletes(a.id("one"))
            a.remove("one")
        },
        CrashScenario(name: "moved on both sides", files: two) { a in
            try await a.phoneEdits(a.id("one"), [.path: "theirs"])
            a.move("one", "mine")
        },
        CrashScenario(name: "moved here, deleted elsewhere", files: two) { a in
            try await a.phoneDeletes(a.id("one"))
            a.move("one", "mine")
        },
    ]

    // MARK: Places

    static let places: [CrashScenario] = [
        CrashScenario(name: "two tasks that want one place", files: two) { a in
            _ = try await a.phoneAdds("Three", notes: "w3", path: "same")
            a.write("same", "# Four\n\nw4\n")
        },
        CrashScenario(name: "a place that becomes free", files: two, deletes: true) { a in
            _ = try await a.phoneAdds("Three", notes: "w3", path: "one")
            try await a.sync()
            a.remove("one")
        },
        CrashScenario(name: "a save under an old name", files: two) { a in
            let text = a.read("one") ?? ""
            try await a.phoneEdits(a.id("one"), [.path: "uno"])
            try await a.sync()
            a.write("one", text + "\nw3\n")
        },
        CrashScenario(name: "a save into a file that was replaced", files: two) { a in
            try await a.phoneEdits(a.id("one"), [.title: "Eins"])
            let file = Shell.openToAppend(a.path("one"))
            try await a.sync()
            Shell.append(file, "\nw3\n")
            Shell.closeFile(file)
            a.world.clock.advance(61)
        },
        CrashScenario(name: "a save into a file that was removed", files: two, deletes: true) { a in
            try await a.phoneDeletes(a.id("one"))
            let file = Shell.openToAppend(a.path("one"))
            try await a.sync()
            Shell.append(file, "\nw3\n")
            Shell.closeFile(file)
            a.world.clock.advance(61)
        },
    ]

    // MARK: Commands

    static let commands: [CrashScenario] = [
        CrashScenario(
            name: "a task created", files: two, mayNotHappen: true,
            act: { _ = try $0.engine().create(TaskContent(title: "Three", notes: "w3")) }),
        CrashScenario(
            name: "a task edited", files: two, mayNotHappen: true,
            act: { a in
                let task = try #require(try a.engine().tasks().first { $0.path == "tasks/one.md" })
                try a.engine().edit([task], TaskEdit(notes: "w3"))
            }),
        CrashScenario(
            name: "a task deleted by name", files: two, deletes: true, mayNotHappen: true,
            act: { a in
                guard let task = try a.engine().tasks().first(where: { $0.path == "tasks/one.md" }) else { return }
                try a.engine().delete([task])
            }),
        conflict("mine") { id, a in try a.engine().resolve(id, .mine) },
        conflict("theirs") { id, a in try a.engine().resolve(id, .theirs) },
        CrashScenario(
            name: "a waiting edit and move discarded", files: two,
            arrange: { a in
                a.replace("one", "w1", "w1 w3")
                a.move("one", "sub/uno")
            }, act: { a in try discard("tasks/sub/uno.md", a) }, again: { a in try discard("tasks/sub/uno.md", a) }),
        CrashScenario(
            name: "a waiting deletion discarded", files: two, deletes: true, arrange: { $0.remove("one") },
            act: { a in try discard("tasks/one.md", a) }, again: { a in try discard("tasks/one.md", a) }),
        CrashScenario(
            name: "a waiting new file discarded", files: two, arrange: { $0.write("three", "# Three\n\nw3\n") },
            act: { a in try discard("tasks/three.md", a) }, again: { a in try discard("tasks/three.md", a) }),
        CrashScenario(
            name: "a refused edit dismissed", files: two,
            arrange: { a in
                a.replace("one", "# One", "# " + String(repeating: "x", count: 501))
                try await a.sync()
            }, act: { a in try dismiss("tasks/one.md", a) }, again: { a in try dismiss("tasks/one.md", a) }),
    ]

    private static func conflict(_ name: String, _ resolve: @escaping @Sendable (ItemID, Device) throws -> Void)
        -> CrashScenario
    {
        let act: Step = { a in
            for conflict in try a.engine().status().conflicts { try resolve(conflict.id, a) }
        }
        return CrashScenario(
            name: "a conflict resolved with \(name)", files: two,
            arrange: { a in
                try await a.phoneEdits(a.id("one"), [.notes: "w3"])
                a.replace("one", "w1", "w1 w4")
                try await a.sync()
            }, act: act, again: act)
    }

    private static func discard(_ path: Text, _ a: Device) throws {
        guard try a.engine().status().waiting.contains(where: { $0.path == path }) else { return }
        _ = try a.engine().discard([path])
    }

    private static func dismiss(_ path: Text, _ a: Device) throws {
        guard try a.engine().status().refused.contains(where: { $0.path == path }) else { return }
        _ = try a.engine().dismiss([path], remove: false)
    }

    // MARK: Whole workspaces

    static let three = ["one": "# One\n\nw1\n", "two": "# Two\n\nw2\n", "three": "# Three\n\nw3\n"]

    static let wholes: [CrashScenario] = [
        CrashScenario(name: "first push") { a in
            a.write("one", "w1\n")
            a.write("home/two", "# Two\n\nw2\n")
        },
        CrashScenario(name: "first pull of many") { a in
            for number in 1...18 {
                _ = try await a.phoneAdds(
                    Text("Task \(number)"), notes: Text("w\(number)"), path: .string(Text("home/t\(number)")))
            }
        },
        CrashScenario(name: "first sync with files on both sides") { a in
            _ = try await a.phoneAdds("One", notes: "w1", path: "one")
            _ = try await a.phoneAdds("Two", notes: "w2", path: "two")
            a.write("one", "# One\n\nw1\n")
            a.write("three", "# Three\n\nw3\n")
        },
        CrashScenario(name: "journal rebuilt", files: two) { a in
            for suffix in ["", "-wal", "-shm"] { Shell.unlink(a.root + "/.otask/journal.sqlite" + suffix) }
            a.write("three", "# Three\n\nw3\n")
        },
        CrashScenario(name: "copied to another machine", files: two) { a in
            a.machine.withLock { $0 = "other" }
            a.remove("one")
            a.write("three", "# Three\n\nw3\n")
        },
        CrashScenario(
            name: "server set back", files: two, endsWith: ["tasks/two.md"],
            arrange: { a in
                let backup = a.world.folder + "/backup"
                try await a.world.server.backUp(to: backup)
                a.write("three", "# Three\n\nw3\n")
                a.replace("two", "# Two", "# Zwei")
                try await a.sync()
                try await a.world.server.restore(from: backup)
            }),
        CrashScenario(
            name: "deletions that are allowed", files: three, deletes: true,
            arrange: { a in
                for place in a.places { a.remove(place) }
                try await a.sync()
            },
            act: { a in
                let count = try await a.sync().guarded?.count
                try await a.sync { $0.allowDeletions = count }
            }),
        CrashScenario(
            name: "deletions elsewhere that are allowed", files: three, deletes: true,
            arrange: { a in
                for place in a.places { try await a.phoneDeletes(a.id(place)) }
                try await a.sync()
            },
            act: { a in
                let count = try await a.sync().guarded?.count
                try await a.sync { $0.allowDeletions = count }
            }),
    ]
}

extension Text {
    fileprivate var json: JSON { .string(self) }
}
