import Model
import Testing

@testable import Reconcile

/// sync.md, "One field", row by row.
struct FieldMergeTests {
    struct Case: CustomTestStringConvertible {
        var says: String
        var field: Field
        var base: BaseValue
        var local: JSON?
        var remote: JSON?
        var outcome: FieldOutcome
        var testDescription: String { says }
    }

    static let tags = Field.property("tags")

    @Test(arguments: [
        Case(says: "a a a: nothing", field: .title, base: .agreed("a"), local: "a", remote: "a", outcome: .same),
        Case(says: "a b a: send b", field: .title, base: .agreed("a"), local: "b", remote: "a", outcome: .send("b")),
        Case(says: "a a b: write b", field: .title, base: .agreed("a"), local: "a", remote: "b", outcome: .write("b")),
        Case(says: "a b b: agreed", field: .title, base: .agreed("a"), local: "b", remote: "b", outcome: .agreed("b")),
        Case(says: "a b c: a conflict", field: .title, base: .agreed("a"), local: "b", remote: "c", outcome: .conflict),
        Case(
            says: "no base, equal: agreed", field: .done, base: .unagreed, local: true, remote: true,
            outcome: .agreed(true)),
        Case(
            says: "no base, different: a conflict", field: .done, base: .unagreed, local: true, remote: false,
            outcome: .conflict),
        Case(
            says: "a removed own key is sent as absent", field: tags, base: .agreed(1), local: nil, remote: 1,
            outcome: .send(nil)),
        Case(
            says: "a key removed on the server is removed here", field: tags, base: .agreed(1), local: 1, remote: nil,
            outcome: .write(nil)),
        Case(
            says: "null is a value, not absence", field: tags, base: .agreed(nil), local: .null, remote: nil,
            outcome: .send(.null)),
        Case(
            says: "numbers agree by value", field: tags, base: .agreed(1), local: .number("1.50"),
            remote: .number("1.5"),
            outcome: .agreed(.number("1.50"))),
        Case(
            says: "different paragraphs of the notes are merged", field: .notes, base: .agreed("one\n\ntwo"),
            local: "ONE\n\ntwo", remote: "one\n\nTWO", outcome: .merged("ONE\n\nTWO", remote: "one\n\nTWO")),
        Case(
            says: "the same line of the notes is a conflict", field: .notes, base: .agreed("one"), local: "mine",
            remote: "theirs", outcome: .conflict),
        Case(
            says: "notes that hold the server's change already need no writing", field: .notes,
            base: .agreed("a\nb\nc"), local: "a\nb\nc\nd", remote: "a\nb\nc\nd", outcome: .agreed("a\nb\nc\nd")),
        Case(
            says: "a merge that the file holds already is sent", field: .notes, base: .agreed("one\n\ntwo"),
            local: "ONE\n\nTWO", remote: "one\n\nTWO", outcome: .send("ONE\n\nTWO")),
        Case(
            says: "an empty base merges one-sided notes", field: .notes, base: .agreed(""), local: "mine", remote: "",
            outcome: .send("mine")),
        Case(
            says: "NFC and NFD are two texts", field: .title, base: .agreed("\u{E9}"), local: "e\u{301}",
            remote: "\u{E9}", outcome: .send("e\u{301}")),
        Case(
            says: "moved on both sides: the server's place stands", field: .path, base: .agreed("a"), local: "b",
            remote: "c", outcome: .write("c")),
        Case(
            says: "no base: the server's place stands", field: .path, base: .unagreed, local: "b", remote: "c",
            outcome: .write("c")),
        Case(
            says: "a task that nobody placed takes its place here", field: .path, base: .agreed(.null), local: "b",
            remote: .null, outcome: .send("b")),
    ])
    func `one field is decided from base, local and remote`(_ row: Case) {
        #expect(mergeField(row.field, base: row.base, local: row.local, remote: row.remote) == row.outcome)
    }

    struct ListCase: CustomTestStringConvertible {
        var says: String
        var base: JSON?
        var local: JSON
        var remote: JSON
        var outcome: FieldOutcome
        var testDescription: String { says }
    }

    @Test(arguments: [
        ListCase(
            says: "the server's list without what was removed here, then what was added here", base: ["a", "b", "c"],
            local: ["b", "c", "mine"], remote: ["c", "a", "b", "theirs"],
            outcome: .merged(["c", "b", "theirs", "mine"], remote: ["c", "a", "b", "theirs"])),
        ListCase(
            says: "what both added stands once", base: ["a"], local: ["a", "x"], remote: ["a", "y", "x"],
            outcome: .write(["a", "y", "x"])),
        ListCase(
            says: "a list that holds the server's change already is sent", base: ["a"], local: ["a", "t", "m"],
            remote: ["a", "t"], outcome: .send(["a", "t", "m"])),
        ListCase(
            says: "both added the key: the empty list is the base", base: nil, local: ["a"], remote: ["b"],
            outcome: .merged(["b", "a"], remote: ["b"])),
        ListCase(
            says: "a repeated value is no set", base: ["a"], local: ["a", "a"], remote: ["b"], outcome: .conflict),
        ListCase(
            says: "a nested value is no set", base: ["a"], local: ["a", ["n"]], remote: ["b"], outcome: .conflict),
        ListCase(
            says: "a list against a text is a conflict", base: ["a"], local: ["b"], remote: "b", outcome: .conflict),
    ])
    func `lists that both sides changed merge as sets`(_ row: ListCase) {
        let outcome = mergeField(
            Self.tags, base: .agreed(row.base), local: row.local, remote: row.remote)
        #expect(outcome == row.outcome)
    }

    @Test func `a list that only one side changed keeps its order and repeats`() {
        let outcome = mergeField(Self.tags, base: .agreed(["a", "b"]), local: ["b", "a", "a"], remote: ["a", "b"])
        #expect(outcome == .send(["b", "a", "a"]))
    }

    @Test func `without a base lists are no sets`() {
        #expect(mergeField(Self.tags, base: .unagreed, local: ["a"], remote: ["b"]) == .conflict)
    }

    @Test func `both adding a paragraph at the end is a conflict`() {
        #expect(mergeField(.notes, base: .agreed("a"), local: "a\nmine", remote: "a\ntheirs") == .conflict)
    }
}
