import Journal
import Model

/// What a background run says in its one line: only what is new since the run before, or waits for a day.
extension Run {
    func news() throws -> [Notice] {
        var news = report.notices.filter { $0.time >= started }
        let conflicts = try journal.conflicts()
        for conflict in report.conflicts where conflicts[conflict.id].map({ $0.since >= started }) ?? false {
            news.append(
                Notice(time: now, path: conflict.path, text: "a conflict: otask diff TASK --server, otask resolve"))
        }
        for refusal in report.refused where refusal.since >= started {
            news.append(Notice(time: now, path: refusal.path, text: "refused: \(refusal.message)"))
        }
        return try news + newProblems() + guardOnceADay()
    }

    /// Problems stay from run to run: they are said when there are others than the last time.
    private func newProblems() throws -> [Notice] {
        let lines = report.problems.map { Text("\($0.path): \($0.problem)") }
        let print = Text(Digest(of: JSON.array(lines.map { .string($0) }).serialized).description)
        if try journal.fact("problems_said") == print { return [] }
        try journal.commit { writer in try writer.put(fact: print, for: "problems_said") }
        return report.problems.map { Notice(time: now, path: $0.path, text: $0.problem) }
    }

    /// The deletion guard is said once, and again daily.
    private func guardOnceADay() throws -> [Notice] {
        let said = try journal.meta().guardSaid
        guard let guarded = report.guarded else {
            if said != nil { try journal.commit { writer in try writer.updateMeta { $0.guardSaid = nil } } }
            return []
        }
        if let said, now - said < 86_400 { return [] }
        try journal.commit { writer in try writer.updateMeta { $0.guardSaid = now } }
        return [
            Notice(
                time: now, path: "",
                text:
                    "\(guarded.count) deletions are held: otask sync --allow-deletions \(guarded.count), or otask changes discard"
            )
        ]
    }
}
