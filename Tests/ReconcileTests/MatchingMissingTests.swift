import Model
import Testing

@testable import Reconcile

/// What it means that a file isn't there (identity.md, "What is a deletion").
@Suite struct MatchingMissingTests {
    private let task = known("A", "home/a", "text", inode: 1)

    @Test func `a known file that is gone was deleted by the person`() {
        #expect(match([], known: [task]).picture == ["A is gone"])
    }

    @Test(arguments: ["", "home", "home/a"] as [Text])
    func `whatever is unknown suppresses deletion, never causes it`(path: Text) {
        #expect(match([], known: [task]) { $0.unknown = [path] }.picture == ["A is unknown"])
    }

    @Test(arguments: ["hom", "home/b", "homes"] as [Text])
    func `an unknown folder says nothing of its neighbours`(path: Text) {
        #expect(match([], known: [task]) { $0.unknown = [path] }.picture == ["A is gone"])
    }

    @Test func `its id elsewhere while its own path is unknown: the file waits, unless it has the inode`() {
        func picture(_ inode: UInt64) -> [String] {
            match([file("b", "text", id: "A", inode: inode)], known: [task]) { $0.unknown = ["home"] }.picture
        }
        #expect(picture(9) == ["A is unknown", "b waits as A"])
        #expect(picture(1) == ["b is A, renamed from home/a"])
    }

    @Test func `a file that waits in the place of another task takes nothing along`() {
        let result = match([file("b", "text", id: "A")], known: [task, known("B", "b", "two")]) {
            $0.unknown = ["home"]
        }
        #expect(result.picture == ["A is unknown", "b waits as B"])
    }

    @Test func `equal content elsewhere is no rename while the own path is unknown`() {
        let task = known("A", "home/a", "text", line: false)
        let result = match([file("b", "text")], known: [task]) { $0.unknown = ["home"] }
        #expect(result.picture == ["A is unknown", "b is new1, new, without a base"])
    }

    @Test func `under an ignore rule, a symlink or a mount: frozen, with its place`() {
        let result = match([], known: [task]) { $0.notFollowed = { $0 == "home/a" ? "ignored by .otaskignore" : nil } }
        #expect(result.picture == ["A is frozen, place home/a"])
        #expect(result.frozen.map(\.reason) == ["ignored by .otaskignore"])
    }

    @Test func `when the rule goes it is an ordinary case again`() {
        var task = task
        task.frozen = "ignored by .otaskignore"
        #expect(match([file("home/a", "edited", id: "A")], known: [task]).picture == ["home/a is A, the same"])
        #expect(match([], known: [task]).picture == ["A is gone"])
    }

    @Test func `moved out from under an ignore rule: renamed; copied from there: a copy`() {
        func picture(_ inode: UInt64, hidden: Bool) -> [String] {
            match([file("b", "text", id: "A", inode: inode)], known: [task]) {
                $0.notFollowed = { $0.hasPrefix("home/") ? "ignored" : nil }
                $0.locate = { hidden ? Dictionary($0.map { ($0, "tasks/home/a.md") }, uniquingKeysWith: { $1 }) : [:] }
            }.picture
        }
        #expect(picture(1, hidden: false) == ["b is A, renamed from home/a"])
        #expect(picture(9, hidden: false) == ["b is A, renamed from home/a"])
        #expect(picture(9, hidden: true) == ["A is frozen, place home/a", "b is new1, a copy of A, without a base"])
    }

    @Test func `its inode under a name that is no task: no longer followed, nothing is sent`() {
        let result = match([], known: [task]) {
            $0.locate = { _ in [FileIdentity(inode: 1, birth: 1): "tasks/home/a.txt"] }
        }
        #expect(result.picture == ["A is frozen, place none"])
        #expect(result.frozen[0].reason == "its file is now tasks/home/a.txt, which is no task")
    }

    @Test func `once not followed under another name, it stays so when that file goes, and returns with it`() {
        let frozen = known("A", nil, "text", inode: 1, frozen: "its file is now a.txt, which is no task")
        #expect(match([], known: [frozen]).picture == ["A is frozen, place none"])
        #expect(match([file("b", "edited", inode: 1)], known: [frozen]).picture == ["b is A, returned"])
        #expect(match([file("b", "edited", id: "A")], known: [frozen]).picture == ["b is A, returned"])
    }

    @Test func `a hidden file isn't mistaken for a rename by a copy of its content`() {
        let task = known("A", "a", "text", inode: 1, line: false)
        let result = match([file("b", "text", inode: 9)], known: [task]) {
            $0.locate = { _ in [FileIdentity(inode: 1, birth: 1): "a.txt"] }
        }
        #expect(result.picture == ["A is frozen, place none", "b is new1, new, without a base"])
    }

    @Test func `inodes are looked for once, only of missing files, and only when there is a deletion to decide`() {
        var asked: [Set<FileIdentity>] = []
        func run(_ files: [Sighting], _ known: [KnownTask]) {
            asked = []
            _ = match(files, known: known) {
                $0.locate = {
                    asked.append($0)
                    return [:]
                }
            }
        }
        let other = known("B", "b", "two", inode: 2)
        run([file("c", "text", id: "A", inode: 1), clean("b", "two", id: "B", inode: 2)], [task, other])
        #expect(asked.isEmpty)
        run([clean("b", "two", id: "B", inode: 2)], [task, other, known("C", "c", "three", inode: 3)])
        #expect(asked == [[FileIdentity(inode: 1, birth: 1), FileIdentity(inode: 3, birth: 3)]])
    }

    // MARK: A workspace that was copied, restored or carried here

    @Test func `carried here: what is missing is not deleted but laid down again`() {
        #expect(match([], known: [task]) { $0.homeChanged = true }.picture == ["A is laid down again"])
    }

    @Test func `carried here: a file that isn't what the base says has no base`() {
        let files = [file("home/a", "edited", id: "A"), file("b", "two", id: "B")]
        let result = match(files, known: [task, known("B", "b", "two")]) { $0.homeChanged = true }
        #expect(result.picture == ["b is B, the same", "home/a is A, the same, without a base"])
    }

    @Test func `carried here: inodes say nothing`() {
        let result = match([file("b", "other", inode: 1)], known: [known("A", "a", "text", inode: 1, line: false)]) {
            $0.homeChanged = true
        }
        #expect(result.picture == ["A is laid down again", "b is new1, new, without a base"])
    }

    // MARK: Places of the server

    @Test func `a task that a person deleted isn't adopted by a new file at its place`() {
        let result = match(
            [file("x", "text")], known: [known("A", "a", "text, once", inode: 1)], rows: [row("A", "x", "text")])
        #expect(result.picture == ["A is gone", "x is new1, new, without a base"])
    }

    @Test func `a task that isn't followed here isn't adopted by a new file at its place`() {
        let frozen = known("A", nil, "text", frozen: "its file is now a.txt, which is no task")
        #expect(
            match([file("a", "text")], known: [frozen], rows: [row("A", "a", "text")]).picture
                == ["A is frozen, place none", "a is new1, new, without a base"])
    }

    @Test func `a place that differs by case is that place, behind one that is the same`() {
        #expect(
            match([file("Milk", "x")], rows: [row("A", "milk", "x")]).picture == ["Milk is A, adopted, without a base"])
        #expect(
            match([file("Milk", "x"), file("milk", "x")], rows: [row("A", "milk", "x")]).picture
                == ["Milk is new1, new, without a base", "milk is A, adopted, without a base"])
    }

    @Test func `a tombstone's place is wanted by nobody`() {
        let rows = [row("A", "a", "text", deletedAt: "2026-11-03T08:00:00+00:00")]
        #expect(
            match([file("a", "text")], rows: rows) { $0.wanted = [Ids.of("A"): "a"] }.picture == [
                "a is new1, new, without a base"
            ])
    }
}
