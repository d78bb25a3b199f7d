import Model
import Testing

@testable import Reconcile

/// Each row of the table in identity.md.
@Suite struct MatchingTests {
    @Test func `known id, same path: that task`() {
        let result = match([file("a", "edited", id: "A", inode: 9)], known: [known("A", "a", "text", inode: 1)])
        #expect(result.picture == ["a is A, the same"])
        #expect(match([clean("a", "text", id: "A")], known: [known("A", "a", "text")]).picture == ["a is A, the same"])
    }

    @Test func `known id, new path, and the old path is gone: renamed`() {
        let result = match([file("b", "edited", id: "A", inode: 9)], known: [known("A", "a", "text", inode: 1)])
        #expect(result.picture == ["b is A, renamed from a"])
        #expect(result.notices.map(\.text) == ["renamed from a.md"])
    }

    @Test func `known id, new path, and the old path holds another task's id: a swap of two files is two renames`() {
        let result = match(
            [file("a", "two", id: "B", inode: 2), file("b", "one", id: "A", inode: 1)],
            known: [known("A", "a", "one", inode: 1), known("B", "b", "two", inode: 2)])
        #expect(result.picture == ["a is B, renamed from b", "b is A, renamed from a"])
    }

    @Test
    func `known id at a new path with the journal's inode, the old path without id: renamed, and the other is new`() {
        let result = match(
            [file("a", "other", inode: 9), file("b", "text", id: "A", inode: 1)],
            known: [known("A", "a", "text", inode: 1)])
        #expect(result.picture == ["a is new1, new, without a base", "b is A, renamed from a"])
    }

    @Test
    func `known id at a new path with another inode, the old path without id: the old keeps the id, the new is a copy`()
    {
        let result = match(
            [file("a", "text", inode: 1), file("b", "text", id: "A", inode: 9)],
            known: [known("A", "a", "text", inode: 1, beforeID: true)])
        #expect(
            result.picture == [
                "a is A, older, against the text before its id", "b is new1, a copy of A, without a base",
            ])
    }

    @Test func `known id, and the old path still holds it: a copy, which becomes a new task`() {
        let result = match(
            [clean("b", "text", id: "A", inode: 1), file("a", "text", id: "A", inode: 9)],
            known: [known("A", "b", "text", inode: 1)])
        #expect(result.picture == ["a is new1, a copy of A, without a base", "b is A, the same"])
        #expect(result.notices.map(\.text) == ["copied from b.md"])
    }

    @Test func `neither at the old path: the same inode, else the first by name`() {
        let files = [file("b", "text", id: "A", inode: 8), file("c", "text", id: "A", inode: 1)]
        #expect(
            match(files, known: [known("A", "a", "text", inode: 1)]).picture
                == ["b is new1, a copy of A, without a base", "c is A, renamed from a"])
        #expect(
            match(files, known: [known("A", "a", "text", inode: 7)]).picture
                == ["b is A, renamed from a", "c is new1, a copy of A, without a base"])
    }

    @Test func `known path, its file bearing the id of a task that still has its own file: edited by copying over it`()
    {
        let result = match(
            [clean("a", "one", id: "A"), file("b", "one", id: "A")],
            known: [known("A", "a", "one"), known("B", "b", "two")])
        #expect(result.picture == ["a is A, the same", "b is B, copied over with A"])
    }

    @Test
    func `unless this is that task's former path: an edit of that task, and the overwritten one is laid down again`() {
        let result = match(
            [clean("new", "one", id: "A"), file("old", "one, edited", id: "A")],
            known: [known("A", "new", "one"), known("B", "old", "two")]
        ) { $0.former = [former("A", "old")] }
        #expect(
            result.picture
                == [
                    "B is laid down again", "new is A, the same",
                    "old is A, at its former place, against its former text",
                ])
    }

    @Test func `a file that appears at a former path with that task's id is an edit of that task`() {
        let result = match(
            [clean("new", "one", id: "A"), file("old", "one, edited", id: "A")], known: [known("A", "new", "one")]
        ) { $0.former = [former("A", "old")] }
        #expect(
            result.picture == ["new is A, the same", "old is A, at its former place, against its former text"])
    }

    @Test func `a file moved back to its former path is renamed`() {
        let result = match([file("old", "one", id: "A")], known: [known("A", "new", "one")]) {
            $0.former = [former("A", "old")]
        }
        #expect(result.picture == ["old is A, renamed from new"])
    }

    @Test
    func `known path, and an id that neither the journal nor the server knows: the id was changed, the file waits`() {
        let result = match([file("a", "text", id: "C")], known: [known("A", "a", "text")])
        #expect(result.picture == ["a waits as A"])
        #expect(result.problems[0].text.hasPrefix("the id was changed"))
    }

    @Test func `no id, path known: that task, an ordinary edit where the file never had its line`() {
        let result = match([file("a", "edited", inode: 9)], known: [known("A", "a", "text", inode: 1, line: false)])
        #expect(result.picture == ["a is A, the same"])
    }

    @Test func `no id, path known: if the file had its id line, an edit of what it held when the line was written`() {
        let result = match([file("a", "edited")], known: [known("A", "a", "text", beforeID: true)])
        #expect(result.picture == ["a is A, older, against the text before its id"])
        #expect(match([file("a", "edited")], known: [known("A", "a", "text")]).picture == ["a is A, the same"])
    }

    @Test(arguments: [("text", 9), ("edited", 1)] as [(String, UInt64)])
    func `no id, unknown path, one known path gone, and the same content or inode: renamed`(text: String, inode: UInt64)
    {
        let result = match([file("b", text, inode: inode)], known: [known("A", "a", "text", inode: 1, line: false)])
        #expect(result.picture == ["b is A, renamed from a"])
    }

    @Test func `no id, unknown path, and a task on the server wants that place: equal title and notes: that task`() {
        let result = match([file("a", "text")], rows: [row("A", "a", "text")])
        #expect(result.picture == ["a is A, adopted, without a base"])
    }

    @Test func `different: on the first sync a conflict of that task without a base, later a new task`() {
        let first = match([file("a", "mine")], rows: [row("A", "a", "theirs")]) { $0.firstSync = true }
        #expect(first.picture == ["a is A, contested, without a base"])
        let later = match([file("a", "mine")], rows: [row("A", "a", "theirs")])
        #expect(later.picture == ["a is new1, new, without a base"])
    }

    @Test func `no id, unknown path, nothing else: a new task`() {
        #expect(match([file("a", "text")]).picture == ["a is new1, new, without a base"])
    }

    @Test func `unknown id, the server has a live row of it in this account: that task, without a base`() {
        let result = match([file("b", "mine", id: "A")], rows: [row("A", "a", "theirs")])
        #expect(result.picture == ["b is A, adopted, without a base"])
    }

    @Test func `unknown id, the server has none: created with it`() {
        #expect(match([file("a", "text", id: "A")]).picture == ["a is A, new, without a base"])
    }

    @Test func `unknown id, the server has it for another account: a copy from elsewhere: a new id, and a notice`() {
        let result = match([file("a", "text", id: "A")]) { $0.takenElsewhere = [Ids.of("A")] }
        #expect(result.picture == ["a is new1, from elsewhere, without a base"])
        #expect(result.notices.map(\.place) == ["a"])
    }

    @Test(arguments: [nil, "2026-11-03T08:00:00+00:00"] as [Text?])
    func `the id of a task whose file this device once had and saw go: wanted back`(deletedAt: Text?) {
        let rows = deletedAt.map { [row("A", "a", "text", deletedAt: $0)] } ?? []
        let result = match([file("b", "text", id: "A")], rows: rows) { $0.gone = [Ids.of("A")] }
        #expect(result.picture == ["b is A, wanted back, without a base"])
    }

    @Test func `a file that went and came back while its task was revived elsewhere is that task, without a base`() {
        let result = match([file("b", "text", id: "A")], rows: [row("A", "a", "text")]) { $0.gone = [Ids.of("A")] }
        #expect(result.picture == ["b is A, adopted, without a base"])
    }

    @Test(arguments: ["text", "mine"])
    func `an id that is a tombstone and has no base here is that deleted task, whatever the file says`(_ text: String) {
        let result = match(
            [file("a", text, id: "A")], rows: [row("A", "a", "text", deletedAt: "2026-11-03T08:00:00+00:00")])
        #expect(result.picture == ["a is A, deleted, without a base"])
    }

    @Test func `one unknown id in several files: the file at the server's path for it, else the first by name`() {
        let files = [file("a", "text", id: "A"), file("b", "text", id: "A")]
        #expect(
            match(files, rows: [row("A", "b", "text")]).picture
                == ["a is new1, a copy of A, without a base", "b is A, adopted, without a base"])
        #expect(
            match(files).picture == ["a is A, new, without a base", "b is new1, a copy of A, without a base"])
    }
}
