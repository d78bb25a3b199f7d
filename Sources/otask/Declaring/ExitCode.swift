/// The number with which `otask` ends; scripts rely on it.
struct ExitCode: Equatable, Sendable {
    let number: Int32
    let meaning: String

    static let done = ExitCode(number: 0, meaning: "done; nothing needs a person")
    static let failed = ExitCode(number: 1, meaning: "something failed that no other code names")
    static let needsAttention = ExitCode(
        number: 2, meaning: "done, but conflicts, refused changes or problems remain (status: only with --exit-code)")
    static let guarded = ExitCode(number: 3, meaning: "held by the deletion guard")
    static let unreachable = ExitCode(number: 4, meaning: "the server can't be reached, or offline is simulated")
    static let signedOut = ExitCode(number: 5, meaning: "signed out, or another account's session")
    static let schema = ExitCode(number: 6, meaning: "the server's schema is missing or too old")
    static let usage = ExitCode(number: 64, meaning: "wrong usage")
    static let badData = ExitCode(number: 65, meaning: "a bad file or bad data")
    static let cantCreate = ExitCode(number: 73, meaning: "can't create a file or directory")
    static let busy = ExitCode(number: 75, meaning: "another run holds the workspace")

    static let all = [
        done, failed, needsAttention, guarded, unreachable, signedOut, schema, usage, badData, cantCreate, busy,
    ]
}

/// What ends a command, said in one line for people.
struct Failure: Error, Equatable {
    var code: ExitCode
    /// Lower case, no full stop.
    var message: String
    /// Lines below it: what to do, or what was near.
    var hints: [String] = []

    init(_ code: ExitCode, _ message: String, hints: [String] = []) {
        self.code = code
        self.message = message
        self.hints = hints
    }

    static func usage(_ message: String, hints: [String] = []) -> Failure { Failure(.usage, message, hints: hints) }
}
