import Model
import Testing

@testable import Sync

/// What runs in the background say, and what `status` lists without anybody having asked.
struct NewsScenarioTests {
    @Test func `a background run says a conflict once`() async throws {
        let world = try World()
        let a = try await world.device("a")
        let b = try await world.device("b")
        a.write("one", "# One\n\nline\n")
        try await a.sync()
        try await b.sync()
        a.replace("one", "line", "from a")
        b.replace("one", "line", "from b")
        try await a.sync()
        world.clock.advance(60)
        let first = try await b.sync { $0.background = true }
        #expect(first.news.map(\.path) == ["tasks/one.md"])
        let second = try await b.sync { $0.background = true }
        #expect(second.news.isEmpty)
        #expect(second.conflicts.count == 1)
    }

    @Test func `a background run never goes past the guard, says so once, and again daily`() async throws {
        let world = try World()
        let a = try await world.device("a")
        for number in 1...3 { a.write("t\(number)", "# Task \(number)\n") }
        try await a.sync()
        for number in 1...3 { a.remove("t\(number)") }
        world.clock.advance(60)
        let first = try await a.sync { $0.background = true }
        #expect(first.guarded?.count == 3)
        #expect(first.news.count == 1)
        world.clock.advance(3_600)
        #expect(try await a.sync { $0.background = true }.news.isEmpty)
        world.clock.advance(86_400)
        #expect(try await a.sync { $0.background = true }.news.count == 1)
        #expect(try await a.sync { $0.background = true }.sent.deleted == 0)
    }

    @Test func `a background run says a problem when it is new`() async throws {
        let world = try World()
        let a = try await world.device("a")
        a.write("bad", "---\ndone: [\n---\n")
        world.clock.advance(60)
        #expect(try await a.sync { $0.background = true }.news.map(\.path) == ["tasks/bad.md"])
        #expect(try await a.sync { $0.background = true }.news.isEmpty)
    }

    @Test func `a task that isn't laid down because of a rule is listed as not followed`() async throws {
        let world = try World()
        let a = try await world.device("a")
        let b = try await world.device("b")
        Shell.write(b.root + "/.otaskignore", Array("private/\n".utf8))
        a.write("private/diary", "# Diary\n")
        try await a.sync()
        try await b.sync()
        #expect(b.places.isEmpty)
        #expect(try b.engine().status().notFollowed.map(\.path) == ["tasks/private/diary.md"])
    }

    @Test(arguments: ["one.", "CON", "nul.txt"])
    func `a person's own file with a name that is unsafe elsewhere is a problem with its way out, not sent`(
        _ place: String
    ) async throws {
        let world = try World()
        let a = try await world.device("a")
        a.write(place, "# One\n")
        a.write("good", "# Good\n")
        let report = try await a.sync()
        #expect(report.problems.map(\.path) == ["tasks/\(Text(place)).md"])
        #expect(report.sent.tasks == 1)
    }

    @Test func `an edit of what was refused is sent`() async throws {
        let world = try World()
        let a = try await world.device("a")
        a.write("one", "# One\n\nnotes\n")
        try await a.sync()
        let long = String(repeating: "x", count: 501)
        a.replace("one", "# One", "# \(long)")
        try await a.sync()
        a.replace("one", "# \(long)", "# Short")
        let report = try await a.sync()
        #expect(report.refused.isEmpty)
        #expect(report.sent.tasks == 1)
    }
}
