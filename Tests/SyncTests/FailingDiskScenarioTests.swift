import Libraries
import Model
import Testing
import Workspace

@testable import Sync

/// A disk that fails at one effect on one file, once or for good: that file is a problem, the rest goes on, nothing is lost.
struct FailingDiskScenarioTests {
    /// What a failing call says.
    enum Failing: String, CaseIterable, CustomTestStringConvertible {
        case stage, flush, exchange, keep, place, move, remove, makeFolder
        var testDescription: String { rawValue }

        /// Whether this is the failing effect, on one of the files whose name begins with `bad`.
        func strikes(_ effect: Effect) -> Bool {
            func isBad(_ path: Text) -> Bool { path.lastComponent.hasPrefix("bad") }
            return switch (self, effect) {
            case (.stage, .stage(let path)): isBad(path)
            case (.flush, .flush): true
            case (.exchange, .exchange(let path)): isBad(path)
            case (.keep, .keep(let path)): isBad(path)
            case (.place, .place(let path)): isBad(path)
            case (.move, .move(_, let to)): isBad(to)
            case (.remove, .remove(let path)): isBad(path)
            case (.makeFolder, .makeFolder(let path)): isBad(path)
            default: false
            }
        }
    }

    @Test(arguments: Failing.allCases)
    func `one file that can't be dealt with is told, and nothing else stops`(_ failing: Failing) async throws {
        let pair = try await Pair([
            "bad-edit": "# Bad edit\n\nw1\n", "good-edit": "# Good edit\n\nw2\n", "move": "# Move\n",
            "gone": "# Gone\n",
            "bad-gone": "# Bad gone\n", "good-move": "# Good move\n",
        ])
        let (a, b) = (pair.a, pair.b)
        b.replace("bad-edit", "w1", "w1 w3")
        b.replace("good-edit", "w2", "w2 w4")
        b.move("move", "bad-moved")
        b.move("good-move", "moved")
        b.remove("gone")
        b.remove("bad-gone")
        b.write("bad-new", "# Bad new\n")
        b.write("good-new", "# Good new\n")
        b.write("bad-folder/new", "# In a folder\n")
        try await b.sync()
        a.write("mine", "# Mine\n")
        a.meanwhile { effect in
            if failing.strikes(effect) {
                throw PathProblem(.failed, "tasks/bad", "can't be written: input/output error")
            }
        }
        let report = try await a.sync()
        #expect(report.failure == nil)
        #expect(report.problems.count >= 1)
        #expect(report.problems.allSatisfy { $0.problem.contains("input/output error") })
        #expect(report.sent.tasks == 1)
        if failing != .flush {
            #expect(try a.notes("good-edit") == "w2 w4")
            #expect(a.places.contains("moved") && a.places.contains("good-new") && !a.places.contains("gone"))
        }
        _ = try a.engine().status()
        #expect(try await a.sync().sent.deleted == 0)
        // The disk is in order again.
        a.meanwhile(nil)
        try await pair.settle()
        #expect(try a.notes("bad-edit") == "w1 w3")
        #expect(a.own == b.own)
        #expect(a.own.count == 8)
        #expect(try a.records() == 0)
    }

    @Test(arguments: [Failing.keep, .exchange], [true, false])
    func `a save in the moment of a write that fails halfway is not lost`(_ failing: Failing, _ fails: Bool)
        async throws
    {
        let pair = try await Pair(["bad": "# Bad\n\nw1\n\nmiddle\n\nw2\n"])
        pair.b.replace("bad", "w1", "w1 w3")
        try await pair.b.sync()
        let a = pair.a
        a.meanwhile { effect in
            if case .exchange = effect, failing == .exchange { a.replace("bad", "w2", "w2 w4") }
            if case .putBack = effect, fails { throw PathProblem(.failed, "tasks/bad.md", "input/output error") }
            if case .keep = effect, failing == .keep {
                // Into the file that was displaced, by a program that had it open.
                for name in a.leftovers { Shell.append(a.root + "/tasks/" + name, "w4\n") }
                if fails { throw PathProblem(.failed, "tasks/bad.md", "input/output error") }
            }
        }
        let report = try await a.sync()
        #expect(report.failure == nil)
        a.meanwhile(nil)
        #expect(a.keeps("w4"))
        for _ in 0..<3 {
            pair.world.clock.advance(61)
            try await a.sync()
        }
        #expect(a.keeps("w4"))
        for conflict in try a.engine().status().conflicts { try a.engine().resolve(conflict.id, .mine) }
        try await pair.settle()
        #expect(try pair.b.notes("bad")?.contains("w4") == true)
        #expect(try pair.b.notes("bad")?.contains("w3") == true)
    }

    @Test func `a full disk ends the writing with one line, sending goes on once there is room, nothing is lost`()
        async throws
    {
        let pair = try await Pair(["one": "# One\n\nw1\n", "two": "# Two\n\nw2\n"])
        pair.b.replace("one", "w1", "w3")
        try await pair.b.sync()
        pair.a.replace("two", "w2", "w4")
        pair.a.meanwhile { effect in
            if case .stage(let path) = effect { throw PathProblem(.full, path, "the disk is full") }
        }
        let report = try await pair.a.sync()
        #expect(report.failure?.kind == .diskFull)
        #expect(pair.a.leftovers == [])
        pair.a.meanwhile(nil)
        try await pair.settle()
        #expect(try pair.a.notes("one") == "w3")
        #expect(try pair.b.notes("two") == "w4")
    }

    @Test func `a disk that takes half a minute for each step only takes longer, and what is saved meanwhile stays`()
        async throws
    {
        let files = Dictionary(uniqueKeysWithValues: (0..<6).map { ("t\($0)", "# Task \($0)\n\nfirst\n\nmiddle\n") })
        let pair = try await Pair(files)
        let (a, b, clock) = (pair.a, pair.b, pair.world.clock)
        for number in 0..<5 { b.replace("t\(number)", "first", "theirs") }
        b.move("t5", "slow/t5")
        try await b.sync()
        let saved = Mutex(false)
        a.meanwhile { effect in
            clock.advance(30)
            guard case .exchange = effect,
                saved.withLock({ was in
                    defer { was = true }; return !was
                })
            else { return }
            // Others write while it waits.
            for number in 0..<5 { a.write("t\(number)", (a.read("t\(number)") ?? "") + "\nmine \(number)\n") }
        }
        try await a.sync()
        a.meanwhile(nil)
        try await pair.settle(3)
        for number in 0..<5 {
            for words in ["theirs", "mine \(number)"] { #expect(b.keeps(words) && a.keeps(words), "\(words)") }
        }
        #expect(a.own.contains("slow/t5"))
    }
}
