import Journal
import Model
import Workspace

/// Saves that undo just what the last pull wrote: they are sent like any edit, and a notice names the way back.
extension Run {
    /// Lays what these saves took away into `.otask/displaced/`, beside what else is in them. One that can't be kept
    /// is told as a problem.
    func keepPulled(_ view: View) throws -> [Notice] {
        try view.undone.sorted { $0.key < $1.key }.compactMap { id, restored in
            guard let task = view.local[id] else { return nil }
            let path = disk.taskFolder.file(of: task.place)
            guard
                case .file(let seen) = disk.scanner(background: false).read(
                    task.place + ".md", in: disk.taskFolder.scanned),
                seen.digest == task.digest, let bytes = seen.bytes
            else { return nil }
            do {
                let name = task.place.lastComponent
                let file = try TaskFile.parse(bytes, name: name, idsInFiles: disk.idsInFiles)
                let edit = TaskEdit(from: file.content, to: TaskContent(restored), id: nil)
                let kept = try keep(file.editing(edit, name: name), id: id)
                return Notice(
                    time: now, path: path, text: "this save took back what the last pull had written here",
                    undo: "cp \(kept) \(path)")
            } catch let problem as TaskFileProblem {
                report.problems.append(
                    ProblemItem(id: id, path: path, problem: Text(problem.message), line: problem.line))
            } catch let problem as PathProblem {
                try met(problem, id)
            }
            return nil
        }
    }

    /// The path of a file in `.otask/displaced/` with these bytes.
    private func keep(_ bytes: [UInt8], id: ItemID) throws -> Text {
        if let kept = try disk.writer.displaced(with: Digest(of: bytes)) { return kept }
        let path = disk.writer.displacedPath(for: bytes)
        _ = try FileActs(journal: journal, disk: disk).lay(path, bytes, id: id)
        return path
    }
}
