import Libraries
import Model
import Reconcile

/// A TASK argument that names no task, or several.
public struct TaskLookupError: Error, Sendable {
    public var argument: Text
    /// Those it could mean; empty: none.
    public var candidates: [TaskSummary]
    /// Near misses of a mistyped one.
    public var suggestions: [TaskSummary]
}

/// Which task an argument means: a path, a unique part of a title, or the start of an id.
public struct TaskLookup: Sendable {
    let tasks: [TaskSummary]
    /// Where the workspace's directory is, and the person, both absolute.
    let root: Text
    let directory: Text
    let taskFolder: Text

    /// The one task that `argument` means. Throws `TaskLookupError`.
    public func find(_ argument: Text) throws(TaskLookupError) -> TaskSummary {
        let paths = Set(spellings(of: argument))
        if let task = tasks.first(where: { paths.contains($0.path) }) { return task }
        let folded = UnicodeText.folded(argument.string)
        let exact = tasks.filter { UnicodeText.folded($0.title.string) == folded }
        if exact.count == 1 { return exact[0] }
        let byID = argument.utf8.count >= 4 ? tasks.filter { $0.id?.description.hasPrefix(folded) ?? false } : []
        let byTitle = tasks.filter { UnicodeText.folded($0.title.string).contains(folded) }
        let candidates = exact.isEmpty ? byID + byTitle.filter { task in !byID.contains(task) } : exact
        if candidates.count == 1 { return candidates[0] }
        throw TaskLookupError(
            argument: argument, candidates: candidates, suggestions: candidates.isEmpty ? near(folded) : [])
    }

    /// The paths in the workspace that an argument can stand for, the nearest first.
    private func spellings(of argument: Text) -> [Text] {
        let absolute = argument.hasPrefix("/") ? argument : directory.appending(argument)
        var paths: [Text] = []
        if let path = Self.normal(absolute), path.hasPrefix(root + "/") {
            paths.append(Text(Substring(path.utf8.dropFirst(root.utf8.count + 1))))
        }
        paths.append(argument)
        paths.append(taskFolder.appending(argument))
        return paths.flatMap { [$0, $0 + ".md"] }
    }

    /// A path without `.` and `..`; nil where it leads out of the root directory.
    private static func normal(_ path: Text) -> Text? {
        var parts: [Text] = []
        for part in path.components.dropFirst() where !part.isEmpty && part != "." {
            if part != ".." {
                parts.append(part)
            } else if parts.popLast() == nil {
                return nil
            }
        }
        return parts.reduce("") { $0 + "/" + $1 }
    }

    /// Tasks whose title or name is at most a third of its length away.
    private func near(_ folded: String) -> [TaskSummary] {
        let limit = max(1, folded.count / 3)
        return tasks.map { task -> (TaskSummary, Int) in
            let name = task.path.lastComponent.withoutMarkdownSuffix
            let distance = min(
                editDistance(folded, UnicodeText.folded(task.title.string)),
                editDistance(folded, UnicodeText.folded(name.string)))
            return (task, distance)
        }.filter { $0.1 <= limit }.sorted { ($0.1, $0.0.path) < ($1.1, $1.0.path) }.prefix(3).map(\.0)
    }
}

extension Engine {
    /// The tasks here, to be found by path (seen from `directory`, absolute), part of a title or start of an id.
    public func lookup(from directory: Text) throws -> TaskLookup {
        TaskLookup(tasks: try tasks(), root: root, directory: directory, taskFolder: disk.taskFolder.path)
    }
}
