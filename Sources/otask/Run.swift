import Libraries
import Model

/// Runs one command line; the number that the process ends with.
func run(arguments: [String], environment: CommandEnvironment) async -> Int32 {
    var environment = environment
    let root = Command.root
    let plainErrors = Style(choice: nil, variables: environment.variables, isTerminal: environment.errorsAreTerminal)
    do {
        let line = try root.parse(arguments)
        let choice = line.arguments.value(.color)
        let style = Style(choice: choice, variables: environment.variables, isTerminal: environment.outputIsTerminal)
        let messageStyle = Style(
            choice: choice, variables: environment.variables, isTerminal: environment.errorsAreTerminal)
        if line.arguments.has(.help) || line.path.count == 1 {
            environment.output(line.help(width: environment.width, style: style))
            return ExitCode.done.number
        }
        if let directory = line.arguments.value(.directory) {
            environment.directory = absolute(directory, from: environment.directory)
            guard (try? OpenFolder(path: environment.directory)) != nil else {
                throw Failure.usage("-C: there is no directory \(printable(directory))")
            }
        }
        let invocation = Invocation(
            line: line, root: root, environment: environment, style: style, messageStyle: messageStyle)
        return try await line.command.action(invocation).number
    } catch let failure as Failure {
        environment.errors(failure.text(plainErrors))
        return failure.code.number
    } catch {
        let failure = Failure(error)
        environment.errors(failure.text(plainErrors))
        return failure.code.number
    }
}

extension Failure {
    func text(_ style: Style) -> String {
        ([style.red("otask:") + " " + message] + hints.map { "  " + $0 }).joined(separator: "\n") + "\n"
    }
}

/// A path as the file system takes it, whatever directory it was typed in: `.` and empty components go, `..` takes one
/// back (by name: links on the way are not followed).
func absolute(_ path: String, from directory: String) -> String {
    var components: [Text] = path.utf8.first == UInt8(ascii: "/") ? [] : Text(directory).components
    for component in Text(path).components {
        switch component {
        case "", ".": continue
        case "..": _ = components.popLast()
        default: components.append(component)
        }
    }
    return "/" + components.filter { !$0.isEmpty }.map(\.string).joined(separator: "/")
}

extension CommandEnvironment {
    /// What this process was given.
    static func ofProcess() -> CommandEnvironment {
        let variables = Console.variables()
        return CommandEnvironment(
            directory: (try? System.currentFolder()) ?? "/", variables: variables,
            readInput: { Console.readInput() }, readLine: { Swift.readLine() }, readSecret: { Console.readSecret() },
            untilAskedToEnd: { await Signals.untilAskedToEnd() },
            output: { Console.write($0, to: .output) }, errors: { Console.write($0, to: .errors) },
            inputIsTerminal: Console.isTerminal(.input), outputIsTerminal: Console.isTerminal(.output),
            errorsAreTerminal: Console.isTerminal(.errors),
            width: Console.width(of: .output) ?? variables["COLUMNS"].flatMap { Int($0) } ?? 80,
            clock: { Instant(nanoseconds: System.now()) }, host: System.hostName())
    }
}
