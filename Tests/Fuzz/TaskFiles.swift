import Model
import Workspace

/// Any bytes are a task file or a problem; an edit of nothing leaves every byte; an edited file says what it said, with
/// the change, and can be edited back.
@Sendable func taskFile(_ bytes: [UInt8]) {
    guard let file = try? TaskFile.parse(bytes, name: "name", idsInFiles: true) else { return }
    let content = file.content
    let same = TaskEdit(
        title: content.title, notes: content.notes, done: content.done, properties: content.properties)
    require((try? file.editing(TaskEdit(), name: "name")) == bytes, "an edit of nothing leaves every byte")
    require((try? file.editing(same, name: "name")) == bytes, "an edit to what it says leaves every byte")

    let edits: [(TaskEdit, (inout TaskContent) -> Void)] = [
        (TaskEdit(done: !content.done), { $0.done.toggle() }),
        (TaskEdit(title: "# another: title"), { $0.title = "# another: title" }),
        (TaskEdit(notes: "other\n\n---\nnotes"), { $0.notes = "other\n\n---\nnotes" }),
        (TaskEdit(properties: ["due": "2026-01-01"]), { $0.properties["due"] = "2026-01-01" }),
        (TaskEdit(removed: Set(content.properties.keys)), { $0.properties = [:] }),
    ]
    for (edit, change) in edits {
        // A file that can't take an edit is a problem, which is told; it is never a wrong file.
        guard let edited = try? file.editing(edit, name: "name") else { continue }
        var expected = content
        change(&expected)
        guard let after = try? TaskFile.parse(edited, name: "name", idsInFiles: true) else {
            fatalError("an edited file is a task file")
        }
        require(after.content == expected, "an edited file says what it said, with the change: \(edit)")
        require(after.idLine == file.idLine, "an edit leaves the id")
    }
}
