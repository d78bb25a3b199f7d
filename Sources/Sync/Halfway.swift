import Journal
import Model
import Workspace

/// A task whose file lies at a temporary name, because its move was stopped or something got into its way.
struct Halfway {
    let id: ItemID
    /// Where the journal has it.
    let place: Text
    let move: Move
}

extension Looker {
    /// What moves under way mean for a look: a task that arrived is at its new place, though the journal doesn't have that yet,
    /// and one that is halfway is not missing.
    func onTheWay(_ state: JournalState) -> (state: JournalState, halfway: [Halfway]) {
        var state = state
        var halfway: [Halfway] = []
        for record in state.moves {
            guard let place = state.known[record.id]?.place else { continue }
            switch disk.writer.progress(of: record.move) {
            case .arrived:
                state.known[record.id]?.place = disk.taskFolder.place(of: record.move.to)
                state.known[record.id]?.isMoved = false
            case .halfway: halfway.append(Halfway(id: record.id, place: place, move: record.move))
            case .neither: break
            }
        }
        return (state, halfway)
    }
}

extension Seen {
    /// Nothing is concluded about what lies at a temporary name.
    mutating func add(_ halfway: [Halfway], in folder: TaskFolder) {
        for task in halfway {
            unknown.append(task.place)
            problems.append(
                ProblemItem(
                    id: task.id, path: folder.file(of: task.place),
                    problem: """
                        it is on its way to \(task.move.to), for now as \(task.move.temporary.lastComponent): `otask sync` goes on \
                        with it, once its folder can be written and nothing else has that name
                        """, line: nil))
        }
    }
}

extension Seen {
    /// The missing files in whose place no folder stands: one that does says nothing about its task, and is told.
    mutating func passingFolders(_ missing: [Text], _ scanner: Scanner, _ folder: TaskFolder) -> [Text] {
        missing.filter { path in
            guard case .problem(let problem) = scanner.read(path, in: folder.scanned), problem.kind == .special else {
                return true
            }
            notFollowed[path] = problem.text
            problems.append(
                ProblemItem(id: nil, path: folder.inWorkspace(path), problem: problem.text, line: nil))
            return false
        }
    }
}

extension View {
    /// Nothing of these tasks is sent, written or noted.
    mutating func leaveAside(_ tasks: Set<ItemID>) {
        for id in tasks {
            known[id] = state.known[id]
            local[id] = nil
            plans[id] = nil
            wentBack.remove(id)
            undone[id] = nil
        }
        absorptions.removeAll { tasks.contains($0.id) }
    }
}
