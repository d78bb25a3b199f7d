import Model
import Testing

@testable import Reconcile

/// What people and their editors do, several rows of the table at once.
@Suite struct MatchingCombinationTests {
    @Test func `a chain of renames`() {
        let result = match(
            [file("b", "one", id: "A", inode: 1), file("c", "two", id: "B", inode: 2)],
            known: [known("A", "a", "one", inode: 1), known("B", "b", "two", inode: 2)])
        #expect(result.picture == ["b is A, renamed from a", "c is B, renamed from b"])
    }

    @Test(arguments: [true, false])
    func `a folder renamed with fifty files, all of one content`(line: Bool) {
        let text = TaskContent(title: "same")
        var tasks: [KnownTask] = []
        var files: [Sighting] = []
        for number in 1...50 {
            let id = Ids.new(number)
            var task = KnownTask(id: id, place: Text("old/\(number)"), base: Base(values: text.fields), hasIDLine: line)
            var seen = file(Text("new/\(number)"), "same", inode: UInt64(number))
            seen.reading = .task(id: line ? id : nil, text)
            task.identity = seen.stamp.identity
            task.cleanDigest = seen.digest
            tasks.append(task)
            files.append(seen)
        }
        let result = match(files, known: tasks)
        #expect(Set(result.items.map { $0.kind == .renamed(from: "old/" + $0.place.lastComponent) }) == [true])
        #expect(result.items.map(\.id).sorted() == tasks.map(\.id))
        #expect(result.gone.isEmpty)
    }

    @Test func `a copy, then an edit of the original`() {
        let result = match(
            [file("a", "edited", id: "A", inode: 9), file("b", "text", id: "A", inode: 8)],
            known: [known("A", "a", "text", inode: 1)])
        #expect(result.picture == ["a is A, the same", "b is new1, a copy of A, without a base"])
    }

    @Test func `moved over another: renamed, and the other is deleted`() {
        let result = match(
            [file("b", "one", id: "A", inode: 1)],
            known: [known("A", "a", "one", inode: 1), known("B", "b", "two", inode: 2)])
        #expect(result.picture == ["B is gone", "b is A, renamed from a"])
    }

    @Test func `moved over another whose file was moved aside to a name that is no task: nothing is deleted`() {
        let result = match(
            [file("b", "one", id: "A", inode: 1)],
            known: [known("A", "a", "one", inode: 1), known("B", "b", "two", inode: 2)]
        ) { $0.locate = { _ in [FileIdentity(inode: 2, birth: 2): "b.txt"] } }
        #expect(result.picture == ["B is frozen, place none", "b is A, renamed from a"])
    }

    @Test func `removed, and a new file with the same inode number but another birth: a deletion and a new task`() {
        let result = match(
            [file("b", "other", inode: 1, birth: 77)], known: [known("A", "a", "text", inode: 1, line: false)])
        #expect(result.picture == ["A is gone", "b is new1, new, without a base"])
    }

    @Test func `without a birth time only equal content counts`() {
        var task = known("A", "a", "text", line: false)
        task.identity = nil
        #expect(match([file("b", "edited")], known: [task]).picture == ["A is gone", "b is new1, new, without a base"])
        #expect(match([file("b", "text")], known: [task]).picture == ["b is A, renamed from a"])
    }

    @Test func `where several gone paths had the same content, content pairs none of them`() {
        let result = match(
            [file("c", "same")], known: [known("A", "a", "same", line: false), known("B", "b", "same", line: false)])
        #expect(result.picture == ["A is gone", "B is gone", "c is new1, new, without a base"])
    }

    @Test func `several new files with the content of one gone path: the first by name is the task`() {
        let result = match([file("c", "same"), file("b", "same")], known: [known("A", "a", "same", line: false)])
        #expect(result.picture == ["b is A, renamed from a", "c is new1, new, without a base"])
    }

    @Test func `an editor's save by rename, a new inode at the same path`() {
        for id in ["A" as Character, nil] {
            let result = match([file("a", "edited", id: id, inode: 9)], known: [known("A", "a", "text", inode: 1)])
            #expect(result.picture == ["a is A, the same"])
        }
    }

    @Test func `a file without id, renamed and edited with a new inode: a new task and a deletion`() {
        let result = match([file("b", "edited", inode: 9)], known: [known("A", "a", "text", inode: 1, line: false)])
        #expect(result.picture == ["A is gone", "b is new1, new, without a base"])
    }

    @Test func `a renamed file that lost its id line is merged with the text before its id`() {
        let result = match([file("b", "edited", inode: 1)], known: [known("A", "a", "text", inode: 1, beforeID: true)])
        #expect(result.picture == ["b is A, renamed from a, against the text before its id"])
    }

    @Test func `a copy made while the original was renamed`() {
        let result = match(
            [file("b", "text", id: "A", inode: 9), file("c", "text", id: "A", inode: 1)],
            known: [known("A", "a", "text", inode: 1)])
        #expect(result.picture == ["b is new1, a copy of A, without a base", "c is A, renamed from a"])
        #expect(result.notices.map(\.text) == ["copied from c.md", "renamed from a.md"])
    }

    @Test func `copied over another and then renamed: the other keeps its path`() {
        // Inodes say nothing: the original was saved by rename since.
        let result = match(
            [file("b", "one", id: "A"), file("c", "one", id: "A")],
            known: [known("A", "a", "one", inode: 1), known("B", "b", "two", inode: 2)])
        #expect(result.picture == ["b is B, copied over with A", "c is A, renamed from a"])
    }

    @Test func `copied to three places, one of them over another task`() {
        let result = match(
            [
                clean("a", "one", id: "A"), file("b", "one", id: "A"), file("c", "one", id: "A"),
                file("d", "one", id: "A"),
            ],
            known: [known("A", "a", "one"), known("C", "c", "three")])
        #expect(
            result.picture == [
                "a is A, the same", "b is new1, a copy of A, without a base", "c is C, copied over with A",
                "d is new2, a copy of A, without a base",
            ])
    }

    @Test func `a hard link with the id is a copy, the known path keeps it`() {
        let result = match(
            [file("a", "text", id: "A", inode: 1), file("b", "text", id: "A", inode: 1)],
            known: [known("A", "b", "text", inode: 1)])
        #expect(result.picture == ["a is new1, a copy of A, without a base", "b is A, the same"])
    }

    @Test func `ids are read in any case`() {
        let upper = ItemID(Ids.of("A").description.uppercased())
        #expect(upper == Ids.of("A"))
        var seen = file("b", "text", id: "A")
        seen.reading = .task(id: upper, TaskContent(title: "text"))
        #expect(match([seen], known: [known("A", "a", "text")]).picture == ["b is A, renamed from a"])
    }

    @Test func `moved away, and a new task with its own id at the old path`() {
        for id in ["A" as Character, nil] {
            let result = match(
                [file("a", "fresh", id: "C", inode: 9), file("b", "text", id: id, inode: 1)],
                known: [known("A", "a", "text", inode: 1, line: id != nil)])
            #expect(result.picture == ["a is C, new, without a base", "b is A, renamed from a"])
        }
    }

    @Test func `a change of case is a rename`() {
        #expect(
            match([file("Milk", "x", id: "A")], known: [known("A", "milk", "x")]).picture == [
                "Milk is A, renamed from milk"
            ])
    }

    @Test func `another task's live row under a known path: it was moved over`() {
        let result = match([file("a", "two", id: "B")], known: [known("A", "a", "one")], rows: [row("B", "b", "two")])
        #expect(result.picture == ["A is gone", "a is B, adopted, without a base"])
    }

    @Test func `the id of a tombstone under a known path waits, and takes nothing along`() {
        let rows = [row("B", "b", "two", deletedAt: "2026-11-03T08:00:00+00:00")]
        #expect(
            match([file("a", "two", id: "B")], known: [known("A", "a", "one")], rows: rows).picture == ["a waits as A"])
    }

    @Test func `of several former places with its id, the task's own new name is the rename`() {
        let result = match(
            [file("old", "stale", id: "A"), file("z", "text", id: "A")], known: [known("A", "new", "text")]
        ) { $0.former = [former("A", "old")] }
        #expect(
            result.picture == ["old is A, at its former place, against its former text", "z is A, renamed from new"])
    }

    // MARK: Files that can't be read

    @Test func `a file whose id line can't be read keeps the identity of its path`() {
        #expect(match([broken("a")], known: [known("A", "a", "text")]).picture == ["a is A, the same"])
    }

    @Test func `a file that can't be read is present: renamed by its id or inode, and never gone`() {
        #expect(match([broken("b", id: "A")], known: [known("A", "a", "text")]).picture == ["b is A, renamed from a"])
        #expect(
            match([broken("b", inode: 1)], known: [known("A", "a", "text", inode: 1)]).picture == [
                "b is A, renamed from a"
            ])
    }

    @Test func `a file that can't be read and is no known task is none yet`() {
        let result = match(
            [broken("a"), broken("b", id: "C"), clean("d", "x", id: "D"), broken("e", id: "D")],
            known: [known("D", "d", "x")])
        #expect(result.picture == ["a is no task yet", "b is no task yet", "d is D, the same", "e is no task yet"])
        #expect(result.notices.isEmpty)
    }

    // MARK: Ids kept in the journal alone

    private func journal(_ files: [Sighting], _ known: [KnownTask]) -> [String] {
        match(files, known: known) { $0.idsInFiles = false }.picture
    }

    @Test func `ids in the journal: an id line isn't read`() {
        #expect(
            journal([file("a", "edited", id: "C"), file("b", "two", id: "A")], [known("A", "a", "text", line: false)])
                == ["a is A, the same", "b is new1, new, without a base"])
    }

    @Test func `ids in the journal: by path, then inode, then content`() {
        let tasks = [known("A", "a", "one", inode: 1, line: false), known("B", "b", "two", inode: 2, line: false)]
        #expect(
            journal([file("a", "edited", inode: 9), file("c", "edited too", inode: 2)], tasks)
                == ["a is A, the same", "c is B, renamed from b"])
        #expect(
            journal([file("c", "two", inode: 8), file("d", "one", inode: 2)], tasks)
                == ["A is gone", "c is new1, new, without a base", "d is B, renamed from b"])
        #expect(
            journal([file("c", "two", inode: 8), file("d", "one", inode: 9)], tasks)
                == ["c is B, renamed from b", "d is A, renamed from a"])
    }

    @Test func `ids in the journal: a swap and a chain are seen by their inodes`() {
        let tasks = [known("A", "a", "one", inode: 1, line: false), known("B", "b", "two", inode: 2, line: false)]
        #expect(
            journal([file("a", "two", inode: 2), file("b", "one", inode: 1)], tasks)
                == ["a is B, renamed from b", "b is A, renamed from a"])
        #expect(
            journal([file("b", "one", inode: 1), file("c", "two", inode: 2)], tasks)
                == ["b is A, renamed from a", "c is B, renamed from b"])
    }

    @Test func `ids in the journal: a new text moved over a task's file is an edit of it`() {
        let tasks = [known("A", "a", "one", inode: 1, line: false), known("B", "b", "two", inode: 2, line: false)]
        #expect(journal([file("a", "two", inode: 2)], tasks) == ["B is gone", "a is A, the same"])
    }

    // MARK: Ids reserved for new files

    @Test func `a reserved id stays with its file by path, and beats an id line in it`() {
        let result = match(
            [clean("a", "text", id: "A"), file("b", "text", id: "A")],
            known: [known("A", "a", "text"), known("B", "b", "text", reserved: true)])
        #expect(result.picture == ["a is A, the same", "b is B, the same, without a base"])
    }

    @Test func `a reserved id stays with its file by inode, and beats an id line in it`() {
        let result = match(
            [clean("a", "text", id: "A"), file("c", "text", id: "A", inode: 2)],
            known: [known("A", "a", "text"), known("B", "b", "text", inode: 2, reserved: true)])
        #expect(result.picture == ["a is A, the same", "c is B, renamed from b, without a base"])
    }

    @Test func `a known task moved over the file of a reserved id is renamed`() {
        let result = match(
            [file("b", "text", id: "A", inode: 1)],
            known: [known("A", "a", "text", inode: 1), known("B", "b", "new", inode: 2, reserved: true)])
        #expect(result.picture == ["B is gone", "b is A, renamed from a"])
    }
}
