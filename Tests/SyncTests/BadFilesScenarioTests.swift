import Model
import Testing

@testable import Sync

/// Files that can't be read as tasks, or aren't files at all: each gets one line with its way out, nothing else stops, nothing is lost.
struct BadFilesScenarioTests {
    enum Bad: String, CaseIterable, CustomTestStringConvertible {
        case brokenYAML, list, repeatedKey, anchor, alias, tag, numberKey, nulInKey, nulInValue, badDone, listTitle,
            bomb
        case latin1, nul, twoMegabytes, empty, blank
        case folder, link, danglingLink, linkToOutside, pipe

        var testDescription: String { rawValue }

        private var text: String? {
            switch self {
            case .brokenYAML: "---\na: [1\n---\n# T\n"
            case .list: "---\n- a\n---\n# T\n"
            case .repeatedKey: "---\na: 1\na: 2\n---\n# T\n"
            case .anchor: "---\na: &x 1\n---\n# T\n"
            case .alias: "---\na: &x 1\nb: *x\n---\n# T\n"
            case .tag: "---\na: !!python/object x\n---\n# T\n"
            case .numberKey: "---\n1: x\n---\n# T\n"
            case .nulInKey: "---\n\"a\\0b\": 1\n---\n# T\n"
            case .nulInValue: "---\na: \"x\\0y\"\n---\n# T\n"
            case .badDone: "---\ndone: maybe\n---\n# T\n"
            case .listTitle: "---\ntitle: [a]\n---\n"
            case .bomb: "---\na: " + String(repeating: "[", count: 50_000) + "\n---\n# T\n"
            case .nul: "# a\u{0}b\n"
            case .twoMegabytes: "# big\n" + String(repeating: "x", count: 2_000_000)
            case .empty: ""
            case .blank: " \n\n"
            default: nil
            }
        }

        func make(_ path: String, outside: String) {
            Shell.unlink(path)
            switch self {
            case .latin1: Shell.write(path, [0x23, 0x20, 0xE9, 0x0A])
            case .folder: Shell.makeFolders(path + "/sub")
            case .link: Shell.symlink(path, to: "good.md")
            case .danglingLink: Shell.symlink(path, to: "/nowhere")
            case .linkToOutside: Shell.symlink(path, to: outside)
            case .pipe: Shell.makePipe(path)
            default: Shell.write(path, Array(text!.utf8))
            }
        }
    }

    @Test(arguments: Bad.allCases)
    func `a known file that turns bad waits with one line, and its task stays as it is`(_ bad: Bad) async throws {
        let pair = try await Pair(["known": "# Known\n\nw1\n"])
        let (a, path) = (pair.a, pair.a.path("known"))
        let outside = pair.world.folder + "/outside"
        Shell.write(outside, Array("theirs\n".utf8))
        let text = try #require(Shell.read(path))
        bad.make(path, outside: outside)
        let held = Shell.isFolder(path) ? nil : bad == .pipe ? nil : Shell.read(path)
        a.write("good", "# Good\n")
        try await pair.b.phoneEdits(pair.b.id("known"), [.notes: "w2"])
        for _ in 0..<3 {
            // A missing file isn't looked at a second time later.
            pair.world.clock.advance(10)
            let status = try a.engine().status()
            #expect(status.problems.map(\.path) == ["tasks/known.md"])
            #expect(status.waiting.filter { $0.path != "tasks/good.md" } == [])
            let report = try await a.sync()
            #expect(report.failure == nil)
            #expect(report.sent.deleted == 0)
            #expect(report.problems.map(\.path) == ["tasks/known.md"])
            #expect(report.problems.allSatisfy { !$0.problem.string.contains("\n") && !$0.problem.isEmpty })
        }
        #expect(Shell.read(outside) == Array("theirs\n".utf8))
        if let held { #expect(Shell.read(path) == held) }
        try await pair.b.sync()
        #expect(pair.b.own == ["good", "known"])
        // Put right, it takes what came meanwhile.
        Shell.remove(path)
        Shell.write(path, text)
        try await pair.settle()
        #expect(try a.notes("known") == "w2")
    }

    @Test(arguments: Bad.allCases)
    func `a new bad file is told and left alone, and a task of the server gets another name`(_ bad: Bad) async throws {
        let pair = try await Pair(["one": "# One\n"])
        let a = pair.a
        bad.make(a.path("bad"), outside: "/etc/hostname")
        let id = try await pair.b.phoneAdds("Task", notes: "w1", path: "bad")
        a.write("good", "# Good\n")
        for _ in 0..<2 {
            pair.world.clock.advance(10)
            let report = try await a.sync()
            #expect(report.failure == nil)
            // A folder may be called so.
            #expect(report.problems.map(\.path) == (bad == .folder ? [] : ["tasks/bad.md"]))
        }
        #expect(try a.notes("bad-\(id.description.prefix(4))") == "w1")
        Shell.remove(a.path("bad"))
        try await pair.settle()
        #expect(a.own == ["bad", "good", "one"])
    }
}
