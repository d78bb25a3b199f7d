import Model
import Testing

@testable import Reconcile

/// files.md, "Stale buffers": a save that undoes just the hunks of the last pull.
struct StaleBufferTests {
    private let before: FieldValues = [.title: "T", .notes: "a\n\nb\n\nc", .done: false]
    private let after: FieldValues = [.title: "T", .notes: "a\n\nb\n\nC", .done: true]

    @Test(
        arguments: [
            // All of it undone; what else is new stays.
            ("T", "a\n\nb\n\nc", false, "a\n\nb\n\nC"),
            ("Other", "A\n\nb\n\nc", false, "A\n\nb\n\nC"),
            // Nothing, or not all of it.
            ("T", "a\n\nb\n\nC", true, nil),
            ("T", "a\n\nb\n\nC", false, nil),
            ("T", "a\n\nb\n\nc", true, nil),
            // The line says something new.
            ("T", "a\n\nb\n\nnew", false, nil),
        ] as [(String, String, Bool, String?)])
    func `only a save that takes back every hunk of the pull undoes it, and the hunks are put back beside its edits`(
        _ title: String, _ notes: String, _ done: Bool, _ restored: String?
    ) {
        let saved: FieldValues = [.title: .string(Text(title)), .notes: .string(Text(notes)), .done: .bool(done)]
        let values = StaleBuffer.restoring(saved, before: before, after: after)
        #expect(values?[.notes] == restored.map { .string(Text($0)) })
        #expect(values?[.done] == restored.map { _ in true })
        #expect(values?[.title] == restored.map { _ in .string(Text(title)) })
    }

    @Test func `a key that the pull added and the save lacks is put back`() {
        let key = Field.property("due")
        let saved: FieldValues = [.title: "T"]
        #expect(StaleBuffer.restoring(saved, before: saved, after: [.title: "T", key: "monday"])?[key] == "monday")
        #expect(StaleBuffer.restoring(saved, before: saved, after: saved) == nil)
    }
}
