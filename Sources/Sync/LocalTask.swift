import Model
import Reconcile
import Workspace

/// A task as this disk has it.
struct LocalTask: Sendable {
    let id: ItemID
    /// In the task folder, without `.md`.
    let place: Text
    /// What `path` is on this side (files.md, "Names and places").
    let path: JSON
    /// What the task says here: the file, and what was merged into it from a save under an old name.
    var content: TaskContent
    let kind: MatchKind
    let stamp: FileStamp
    let digest: Digest
    /// What the file itself says.
    let fileContent: TaskContent
    /// The file has this task's id line.
    let hasIDLine: Bool
}

/// Text of a task that isn't in its file: saved under its old name, or into a file that had been displaced.
struct Absorption: Sendable {
    enum Source: Sendable {
        /// A file in the task folder, which goes once its text is merged.
        case file(place: Text, digest: Digest)
        /// A file in `.otask/displaced/`.
        case displaced(path: Text)
    }

    let id: ItemID
    let content: TaskContent
    /// What the editor had started from.
    let ground: FieldValues
    let source: Source
}

extension Absorption {
    /// The task's text with this edit merged in, and the base that makes what clashes a conflict instead of a choice.
    func merged(into content: TaskContent, base: Base?) -> (content: TaskContent, base: Base?) {
        var values = content.fields
        var base = base
        let edit = self.content.fields
        for field in Set(values.keys).union(edit.keys).union(ground.keys) where field != .path {
            switch mergeField(field, base: .agreed(ground[field]), local: edit[field], remote: values[field]) {
            case .send(let value): values[field] = value
            case .merged(let value, _): values[field] = value
            case .conflict:
                values[field] = edit[field]
                base?.agree(field, ground[field])
            case .same, .agreed, .write: break
            }
        }
        return (TaskContent(values), base)
    }
}
