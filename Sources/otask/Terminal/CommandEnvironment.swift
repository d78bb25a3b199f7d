import Libraries
import Model

/// Everything that a command meets outside its arguments. The tests make their own; the program makes one from its
/// process.
struct CommandEnvironment: Sendable {
    /// The working directory, absolute.
    var directory: String
    /// The environment's variables.
    var variables: [String: String]
    /// The rest of standard input.
    var readInput: @Sendable () -> [UInt8]
    /// A line of standard input without its end; nil at the end.
    var readLine: @Sendable () -> String?
    /// A line typed at the terminal without being shown.
    var readSecret: @Sendable () -> String?
    /// Returns when somebody asks the program to end.
    var untilAskedToEnd: @Sendable () async -> Void
    var output: @Sendable (String) -> Void
    var errors: @Sendable (String) -> Void
    var inputIsTerminal: Bool
    var outputIsTerminal: Bool
    var errorsAreTerminal: Bool
    /// The columns of the terminal.
    var width: Int
    var clock: @Sendable () -> Instant
    /// The computer's name.
    var host: String
}

/// A command that runs: what was asked, and the ways to answer.
struct Invocation: Sendable {
    let line: ParsedLine
    /// The root of all commands, for help and completions.
    let root: Command
    let environment: CommandEnvironment
    let style: Style
    /// For messages, which may go elsewhere than data.
    let messageStyle: Style

    var arguments: Arguments { line.arguments }
    var isQuiet: Bool { arguments.has(.quiet) }
    var wantsJSON: Bool { arguments.has(.json) }
    /// The directory that `-C` names, else the working directory; absolute.
    var directory: String { environment.directory }

    /// Data: what the command was asked for.
    func print(_ text: String) { environment.output(text.hasSuffix("\n") || text.isEmpty ? text : text + "\n") }

    func print(_ json: JSON) { environment.output(json.pretty + "\n") }

    /// A message that `--quiet` leaves out.
    func say(_ text: String) { if !isQuiet { warn(text) } }

    /// A message for people.
    func warn(_ text: String) { environment.errors(text + "\n") }
}
