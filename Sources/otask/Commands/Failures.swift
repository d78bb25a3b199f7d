import Libraries
import Model
import Supabase
import Sync
import Workspace

extension Failure {
    /// Any error as a person is told it.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let failure as RunFailure: self.init(failure)
        case let error as TaskLookupError: self.init(error)
        case let error as ConfigError: self.init(.badData, printable(error.description))
        case let busy as WorkspaceLock.Busy:
            let holder = busy.holder.isEmpty ? "" : " (\(printable(busy.holder)))"
            self.init(.busy, "another run holds this workspace\(holder)", hints: ["--wait SECONDS waits longer for it"])
        case let problem as PathProblem: self.init(.failed, printable(problem.description))
        case let problem as TaskFileProblem:
            self.init(.badData, printable(problem.message) + (problem.line.map { " (line \($0))" } ?? ""))
        case let error as AuthError: self.init(error)
        case let error as ServiceError: self.init(RunFailure(error))
        default: self.init(.failed, printable(String(describing: error)))
        }
    }

    private init(_ error: AuthError) {
        let code: ExitCode =
            switch error {
            case .unreachable, .passing: .unreachable
            case .sessionEnded, .refused: .signedOut
            case .garbled: .failed
            }
        self.init(code, printable(error.description))
    }

    init(_ failure: RunFailure) {
        let hints: [String] =
            switch failure.kind {
            case .offline: ["\"otask offline off\" ends it"]
            case .unreachable: ["changes wait here and go out with the next sync"]
            default: []
            }
        self.init(failure.kind.exitCode, printable(failure.text), hints: hints)
    }

    private init(_ error: TaskLookupError) {
        let name = "\"" + printable(error.argument) + "\""
        func lines(_ tasks: [TaskSummary]) -> [String] {
            let shown = tasks.prefix(8).map { task in
                "\(printable(task.path))  \(printable(task.title))"
                    + (task.id.map { "  [\($0.description.prefix(8))]" } ?? "")
            }
            return shown + (tasks.count > 8 ? ["and \(tasks.count - 8) more"] : [])
        }
        if !error.candidates.isEmpty {
            self = .usage(
                "\(name) can mean \(counted(error.candidates.count, "task")); name one:", hints: lines(error.candidates)
            )
        } else if !error.suggestions.isEmpty {
            self = .usage("there is no task \(name); did you mean:", hints: lines(error.suggestions))
        } else {
            self = .usage("there is no task \(name)", hints: ["\"otask list\" shows the open ones"])
        }
    }
}
