import Model
import Testing
import Workspace

@testable import Sync

/// Moves that can't be finished: what lies at a temporary name is a task on its way, never a missing one.
struct HalfwayScenarioTests {
    /// What stands in the way of a file that is halfway to `two`.
    enum Obstacle: String, CaseIterable, CustomTestStringConvertible {
        case folder, file, link
        var testDescription: String { rawValue }

        func stand(at path: String) {
            switch self {
            case .folder: Shell.makeFolders(path)
            case .file: Shell.write(path, Array("# In the way\n".utf8))
            case .link: Shell.symlink(path, to: "/nowhere")
            }
        }
    }

    /// A swap that was decided elsewhere, with something put in the way of the file that is halfway.
    private func swapped(_ obstacle: Obstacle) async throws -> Pair {
        let pair = try await Pair(["one": "# One\n\nw1\n", "two": "# Two\n\nw2\n"])
        let (one, two) = (try pair.a.id("one"), try pair.a.id("two"))
        try await pair.b.phoneEdits(one, [.path: "two"])
        try await pair.b.phoneEdits(two, [.path: "one"])
        let a = pair.a
        a.meanwhile { effect in
            guard case .move(let from, let to) = effect, from.lastComponent.hasPrefix(".otask-tmp-") else { return }
            let path = a.root + "/" + to.string
            if ["one.md", "two.md"].contains(to.lastComponent), !Shell.exists(path) { obstacle.stand(at: path) }
        }
        return pair
    }

    @Test(arguments: Obstacle.allCases)
    func `a swap with something in its way ends with both files under names of their own`(_ obstacle: Obstacle)
        async throws
    {
        let pair = try await swapped(obstacle)
        try await pair.a.sync()
        pair.a.meanwhile(nil)
        #expect(pair.a.leftovers == [])
        #expect(Set(try pair.a.readable().values.map(\.title)).isSuperset(of: ["One", "Two"]))
        #expect(try pair.a.engine().status().waiting.filter { $0.change == .deleted } == [])
        try await pair.a.sync()
        #expect(pair.a.leftovers == [])
        #expect(try await pair.a.rows().count == Pair.others.count + (obstacle == .file ? 3 : 2))
        // Out of the way, each is where the server has it.
        for place in ["one", "two"] where Shell.isFolder(pair.a.path(place)) { Shell.remove(pair.a.path(place)) }
        if obstacle == .link {
            for place in ["one", "two"] where Shell.read(pair.a.path(place)) == nil { pair.a.remove(place) }
        }
        if obstacle == .file {
            let stranger = try #require(try pair.a.readable().first { $0.value.title == "In the way" }?.key)
            pair.a.move(stranger, "stranger")
        }
        // A name that was left lately isn't given out at once.
        pair.world.clock.advance(3_700)
        try await pair.settle()
        #expect(try pair.a.title("one") == "Two")
        #expect(try pair.a.title("two") == "One")
    }

    @Test(arguments: Obstacle.allCases)
    func `a swap that was stopped halfway, with something in its way since, converges`(_ obstacle: Obstacle)
        async throws
    {
        let pair = try await swapped(obstacle)
        let a = pair.a
        // Stopped with one file at its temporary name.
        a.meanwhile { effect in
            if case .move(let from, _) = effect, from.lastComponent.hasPrefix(".otask-tmp-") { throw Crash() }
        }
        await #expect(throws: Crash.self) { try await a.sync() }
        a.meanwhile(nil)
        #expect(a.leftovers.count == 1)
        // Readers see a task on its way, and nothing that is missing.
        let status = try a.engine().status()
        #expect(status.waiting == [])
        #expect(status.counts.tasks == Pair.others.count + 1)
        for place in ["one", "two"] where !Shell.exists(a.path(place)) { obstacle.stand(at: a.path(place)) }
        let report = try await a.sync()
        #expect(report.failure == nil)
        #expect(report.sent.deleted == 0)
        #expect(a.leftovers == [])
        #expect(Set(try a.readable().values.map(\.title)).isSuperset(of: ["One", "Two"]))
        #expect(try a.records() == 0)
        try await a.expectQuiet()
    }

    @Test func `where its folder can't be written it stays halfway, is told, counts as unknown, and goes on later`()
        async throws
    {
        let pair = try await swapped(.folder)
        let a = pair.a
        a.meanwhile { effect in
            if case .move(let from, _) = effect, from.lastComponent.hasPrefix(".otask-tmp-") {
                Shell.makeFolders(a.root + "/tasks/keep")
                throw PathProblem(.readOnly, from, "can't be written")
            }
        }
        let report = try await a.sync()
        #expect(report.failure == nil)
        #expect(report.problems.count == 1)
        #expect(a.leftovers.count == 1)
        // Neither this run nor the next, nor a reader, takes it for deleted, or lays it down a second time.
        for report in [try await a.sync(), try await a.sync()] {
            #expect(report.problems.count == 1)
            #expect(report.sent == Tally())
            #expect(report.received == Tally())
            #expect(report.waiting == [])
        }
        #expect(try a.engine().status().waiting == [])
        #expect(try a.engine().status().problems.count == 1)
        a.meanwhile(nil)
        try await pair.settle()
        #expect(try a.title("one") == "Two")
        #expect(try a.title("two") == "One")
    }
}
