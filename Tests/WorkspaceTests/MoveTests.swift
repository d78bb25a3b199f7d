import Libraries
import Model
import Testing

@testable import Workspace

private func folded(_ path: Text) -> Text { Text(path.string.lowercased()) }

private func move(_ from: Text, _ to: Text) -> Move {
    Move(from: from, to: to, temporary: "t-" + from, inode: 1, birth: nil)
}

@Suite struct MovePlanTests {
    struct Case: Sendable {
        var moves: [Move]
        var steps: [String]
    }

    @Test(arguments: [
        Case(moves: [], steps: []),
        Case(moves: [move("a", "b")], steps: ["a>b"]),
        Case(moves: [move("a", "b"), move("b", "c")], steps: ["b>c", "a>b"]),
        Case(moves: [move("a", "b"), move("b", "c"), move("c", "d")], steps: ["c>d", "b>c", "a>b"]),
        Case(moves: [move("a", "b"), move("b", "a")], steps: ["a>t-a", "b>a", "t-a>b"]),
        Case(moves: [move("a", "b"), move("b", "c"), move("c", "a")], steps: ["a>t-a", "c>a", "b>c", "t-a>b"]),
        Case(moves: [move("a", "A")], steps: ["a>t-a", "t-a>A"]),
        Case(moves: [move("a", "B"), move("b", "a")], steps: ["a>t-a", "b>a", "t-a>B"]),
        Case(moves: [move("a", "A"), move("b", "a")], steps: ["a>t-a", "t-a>A", "b>a"]),
        Case(moves: [move("x", "y"), move("a", "b"), move("b", "a")], steps: ["x>y", "a>t-a", "b>a", "t-a>b"]),
    ])
    func `moves are put in an order in which no file stands in another's way`(_ test: Case) {
        #expect(MovePlan.order(test.moves, foldedKey: folded).map { "\($0.from)>\($0.to)" } == test.steps)
    }
}

@Suite struct MoveTests {
    private struct Crash: Error {}

    let scratch: Scratch
    let writer: FileWriter

    init() throws {
        scratch = try Scratch()
        writer = FileWriter(root: scratch.root)
    }

    private func plan(_ pairs: [(Text, Text)]) throws -> [Move] {
        try pairs.map { try #require(try writer.planMove(from: $0.0, to: $0.1)) }
    }

    private func areMoved(_ results: [MoveResult]) -> Bool {
        results.allSatisfy { if case .moved = $0 { true } else { false } }
    }

    @Test(arguments: [RenameSupport.full, .links, .plain])
    func `a file moves into a new folder`(_ support: RenameSupport) throws {
        let writer = FileWriter(root: scratch.root, support: support)
        try scratch.write("tasks/a.md", "one")
        let results = try writer.move(plan([("tasks/a.md", "tasks/home/b.md")]), foldedKey: folded)
        #expect(try results == [.moved(#require(try scratch.status("tasks/home/b.md")).stamp)])
        #expect(scratch.read("tasks/home/b.md") == "one")
        #expect(try scratch.names("tasks") == ["home"])
    }

    @Test func `swaps, chains and changes of case go through`() throws {
        for name in ["a", "b", "c", "d", "e"] { try scratch.write(Text("tasks/\(name).md"), name) }
        let moves = try plan([
            ("tasks/a.md", "tasks/b.md"), ("tasks/b.md", "tasks/a.md"), ("tasks/c.md", "tasks/d.md"),
            ("tasks/d.md", "tasks/x/d.md"), ("tasks/e.md", "tasks/E.md"),
        ])
        #expect(areMoved(try writer.move(moves, foldedKey: folded)))
        #expect(try scratch.names("tasks") == ["E.md", "a.md", "b.md", "d.md", "x"])
        let texts = ["a", "b", "d", "x/d", "E"].map { scratch.read(Text("tasks/\($0).md")) }
        #expect(texts == ["b", "a", "c", "d", "e"])
    }

    @Test func `moves that were cut short at any step are finished by the same records`() throws {
        for number in 0... {
            for name in ["a", "b", "c"] { try scratch.write(Text("tasks/\(name).md"), name) }
            let moves = try plan([
                ("tasks/a.md", "tasks/b.md"), ("tasks/b.md", "tasks/a.md"), ("tasks/c.md", "tasks/C.md"),
            ])
            let counter = Counter()
            let effects = Effects { _ in if counter.next() == number { throw Crash() } }
            var isOver = true
            do {
                _ = try FileWriter(root: scratch.root, effects: effects).move(moves, foldedKey: folded)
            } catch is Crash {
                isOver = false
            }
            #expect(areMoved(try writer.move(moves, foldedKey: folded)), "cut at \(number)")
            #expect(try scratch.names("tasks") == ["C.md", "a.md", "b.md"])
            #expect(["a", "b", "C"].map { scratch.read(Text("tasks/\($0).md")) } == ["b", "a", "c"])
            try scratch.remove("tasks/C.md")
            if isOver { break }
        }
    }

    private final class Counter: @unchecked Sendable {
        private var count = -1
        func next() -> Int {
            count += 1
            return count
        }
    }

    @Test func `a move onto another file doesn't happen, nor one that waits for it`() throws {
        for name in ["a", "b", "c", "d"] { try scratch.write(Text("tasks/\(name).md"), name) }
        let moves = try plan([
            ("tasks/a.md", "tasks/b.md"), ("tasks/b.md", "tasks/c.md"), ("tasks/d.md", "tasks/e.md"),
        ])
        let results = try writer.move(moves, foldedKey: folded)
        #expect(results[0] == .occupied && results[1] == .occupied)
        #expect(areMoved([results[2]]))
        #expect(["a", "b", "c", "e"].map { scratch.read(Text("tasks/\($0).md")) } == ["a", "b", "c", "d"])
    }

    @Test func `a file that comes into the way in the middle of a swap isn't overwritten`() throws {
        for name in ["a", "b"] { try scratch.write(Text("tasks/\(name).md"), name) }
        let moves = try plan([("tasks/a.md", "tasks/b.md"), ("tasks/b.md", "tasks/a.md")])
        let effects = Effects { [scratch] effect in
            if effect == .move(from: moves[0].temporary, to: "tasks/b.md") { try scratch.write("tasks/b.md", "theirs") }
        }
        let results = try FileWriter(root: scratch.root, effects: effects).move(moves, foldedKey: folded)
        #expect(results[0] == .occupied)
        #expect(scratch.read("tasks/b.md") == "theirs")
        #expect(scratch.read("tasks/a.md") == "b")
        #expect(scratch.read(moves[0].temporary) == "a", "the record finishes it once there is room")
        try scratch.remove("tasks/b.md")
        #expect(areMoved(try writer.move(moves, foldedKey: folded)))
        #expect(scratch.read("tasks/b.md") == "a")
    }

    @Test func `another file at the old path is not taken for the one that moves`() throws {
        try scratch.write("tasks/a.md", "one")
        let moves = try plan([("tasks/a.md", "tasks/b.md")])
        try scratch.remove("tasks/a.md")
        try scratch.write("tasks/a.md", "another")
        #expect(try writer.move(moves, foldedKey: folded) == [.missing])
        #expect(scratch.read("tasks/a.md") == "another")
    }

    @Test func `a move that fails is a problem of its own, and the others go on`() throws {
        for name in ["a", "b"] { try scratch.write(Text("tasks/\(name).md"), name) }
        let long = Text("tasks/" + String(repeating: "n", count: 260))
        let results = try writer.move(plan([("tasks/a.md", long), ("tasks/b.md", "tasks/c.md")]), foldedKey: folded)
        guard case .problem(let problem) = results[0] else { throw Crash() }
        #expect(problem.kind == .nameTooLong)
        #expect(areMoved([results[1]]))
        #expect(scratch.read("tasks/a.md") == "a")
    }
}
