import Model
import Reconcile
import Workspace

extension View {
    /// Rows of the server that can't become files are told, and nothing is decided from those that can't be read.
    mutating func tellBadRows(_ folder: TaskFolder, idsInFiles: Bool) {
        for (id, error) in state.unreadable {
            known[id] = state.known[id]
            plans[id] = nil
            let place = known[id]?.place ?? id.text
            problems.append(
                ProblemItem(
                    id: id, path: folder.file(of: place),
                    problem: """
                        the server's row of this task can't be read (\(Text(error.description))), so it stays as it is here: mend \
                        the row, or update otask
                        """, line: nil))
        }
        for plan in plans.values {
            guard let row = remote[plan.id], plan.action.laysDown || !plan.writes.isEmpty else { continue }
            let place = place(of: plan.id)
            do {
                _ = try TaskFile.render(
                    row.content.titled(place), id: idsInFiles ? plan.id : nil, name: place.lastComponent)
            } catch {
                problems.append(.unwritable(error, id: plan.id, path: folder.file(of: place)))
            }
        }
    }
}

extension TaskPlan.Action {
    /// A file comes to be by it.
    var laysDown: Bool { self == .layDown || self == .bringBack }
}

extension TaskContent {
    /// No file says an empty title: one is titled by its name, and that is sent.
    func titled(_ place: Text) -> TaskContent {
        var content = self
        if content.title.isEmpty { content.title = place.lastComponent }
        return content
    }
}

extension ProblemItem {
    /// What the server has can't stand in a file.
    static func unwritable(_ problem: TaskFileProblem, id: ItemID, path: Text) -> ProblemItem {
        ProblemItem(
            id: id, path: path,
            problem: """
                the server's text can't be written into a file (\(Text(problem.message))), so it stays as it is here: correct it where \
                it was written
                """, line: nil)
    }
}
