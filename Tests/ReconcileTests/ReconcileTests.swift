import Model
import Testing

@testable import Reconcile

/// sync.md, "Whole items", row by row.
struct ReconcileTests {
    static let id = ItemID("3f0c9d5e-0f5e-4d0e-9d5c-0f9f4f6f3a10")!
    static let text = TaskContent(title: "A", notes: "n")
    static let base = Base(values: row(text).fields)

    static func row(_ content: TaskContent, path: Text? = "a", deleted: Bool = false, allowed: Bool = false) -> TaskRow
    {
        TaskRow(
            id: id, userID: id, content: content, path: path, createdAt: "2026-01-01T00:00:00+00:00",
            updatedAt: "2026-01-01T00:00:00+00:00", deletedAt: deleted ? "2026-02-01T00:00:00+00:00" : nil, version: 3,
            changeSeq: 9, allowed: allowed, changed: [:])
    }

    struct Case: CustomTestStringConvertible {
        var says: String
        var base: Base? = ReconcileTests.base
        var local: TaskState.Local
        var remote: TaskState.Remote
        var wantedBack = false
        var action: TaskPlan.Action
        var fields: [Field: FieldOutcome] = [:]
        var testDescription: String { says }
    }

    static let same = TaskState.Local.present(text, path: "a")
    static let edited = TaskState.Local.present(TaskContent(title: "B", notes: "n"), path: "a")
    static let renamed = TaskState.Local.present(text, path: "b")
    static let live = TaskState.Remote.live(row(text))
    static let editedThere = TaskState.Remote.live(row(TaskContent(title: "C", notes: "n")))
    static let movedThere = TaskState.Remote.live(row(text, path: "c"))
    static let tombstone = TaskState.Remote.tombstone(row(text, deleted: true))

    @Test(arguments: [
        Case(says: "new here: insert", base: nil, local: edited, remote: .none, action: .insert),
        Case(says: "new there: write the file", base: nil, local: .none, remote: live, action: .layDown),
        Case(says: "deleted, unchanged: send the deletion", local: .deleted, remote: live, action: .sendDeletion),
        Case(says: "deleted, edited there: the edit wins", local: .deleted, remote: editedThere, action: .bringBack),
        Case(
            says: "deleted, moved there: a rename is no edit", local: .deleted, remote: movedThere,
            action: .sendDeletion),
        Case(
            says: "edited, deleted there: revived", local: edited, remote: tombstone, action: .revive,
            fields: [.title: .send("B")]),
        Case(
            says: "unchanged, deleted there: the file goes", local: same, remote: tombstone,
            action: .removeFile(allowed: false)),
        Case(
            says: "renamed, deleted there: the deletion wins", local: renamed, remote: tombstone,
            action: .removeFile(allowed: false)),
        Case(says: "deleted on both sides: agreed", local: .deleted, remote: tombstone, action: .forget),
        Case(
            says: "renamed here, edited there: both apply", local: renamed, remote: editedThere, action: .merge,
            fields: [.path: .send("b"), .title: .write("C")]),
        Case(says: "nothing known of the file: nothing", local: .unknown, remote: editedThere, action: .nothing),
        Case(says: "a vanished server row deletes nothing", local: same, remote: .none, action: .insert),
        Case(
            says: "gone here and never on the server: forgotten", base: nil, local: .deleted, remote: .none,
            action: .forget),
        Case(
            says: "a tombstone with the file's text and no base: the deletion is carried out", base: nil, local: same,
            remote: tombstone, action: .removeFile(allowed: false)),
        Case(
            says: "a tombstone with another text and no base: a person decides", base: nil, local: edited,
            remote: tombstone, action: .deletedElsewhere(on: "2026-02-01T00:00:00+00:00")),
        Case(
            says: "wanted back: revived with the same text too", base: nil, local: same, remote: tombstone,
            wantedBack: true, action: .revive,
            fields: [.title: .send("A"), .notes: .send("n"), .done: .send(false), .path: .send("a")]),
        Case(
            says: "a new version alone is nothing", local: same, remote: live, action: .merge),
        Case(
            says: "no base: equal agrees, different is a conflict", base: nil, local: edited, remote: live,
            action: .merge,
            fields: [
                .title: .conflict, .notes: .agreed("n"), .done: .agreed(false), .path: .agreed("a"),
            ]),
    ])
    func `a task is decided as a whole`(_ row: Case) {
        let state = TaskState(
            id: Self.id, base: row.base, local: row.local, remote: row.remote, wantedBack: row.wantedBack)
        #expect(reconcile(state) == TaskPlan(id: Self.id, action: row.action, fields: row.fields))
    }

    @Test func `an allowed deletion is taken without asking`() {
        let remote = TaskState.Remote.tombstone(Self.row(Self.text, deleted: true, allowed: true))
        let state = TaskState(id: Self.id, base: Self.base, local: Self.same, remote: remote)
        #expect(reconcile(state).action == .removeFile(allowed: true))
    }

    @Test func `a merge moves the base to the server's value, so that the rest is an ordinary change`() {
        let base = Base(values: Self.row(TaskContent(title: "A", notes: "one\n\ntwo")).fields)
        let remote = Self.row(TaskContent(title: "A", notes: "one\n\nTWO"))
        let local = TaskState.Local.present(TaskContent(title: "A", notes: "ONE\n\ntwo"), path: "a")
        let plan = reconcile(TaskState(id: Self.id, base: base, local: local, remote: .live(remote)))
        #expect(plan.writes == [.notes: "ONE\n\nTWO"])
        let moved = plan.baseWithWritten(base)
        let after = TaskState.Local.present(TaskContent(title: "A", notes: "ONE\n\nTWO"), path: "a")
        let next = reconcile(TaskState(id: Self.id, base: moved, local: after, remote: .live(remote)))
        #expect(next.fields == [.notes: .send("ONE\n\nTWO")])
    }

    @Test func `without a base, what differs stays unagreed until a person decides`() {
        let remote = Self.row(TaskContent(title: "B", notes: "n"))
        let plan = reconcile(TaskState(id: Self.id, base: nil, local: Self.same, remote: .live(remote)))
        let base = plan.baseWithAgreed(nil)
        #expect(base?.unagreed == [.title])
        let again = reconcile(TaskState(id: Self.id, base: base, local: Self.same, remote: .live(remote)))
        #expect(again.fields == [.title: .conflict])
    }
}
