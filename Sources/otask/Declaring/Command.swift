/// A command as a value: what it is called, what it takes and what it does. Parsing, help, completions and the manual
/// page are all made from it, so that they can't disagree.
struct Command: Sendable {
    typealias Action = @Sendable (Invocation) async throws -> ExitCode

    /// The headings of `otask help`, in their order.
    enum Group: String, CaseIterable, Sendable {
        case setUp = "Set-up"
        case sync = "Sync"
        case tasks = "Tasks"
        case history = "History"
        case other = "More"
    }

    struct Example: Sendable {
        let line: String
        let meaning: String
    }

    let name: String
    /// One line, lower case, without a full stop.
    let summary: String
    var group: Group = .other
    /// Paragraphs of the help text.
    var details: [String] = []
    var options: [Option] = []
    var operands: [Operand] = []
    var examples: [Example] = []
    var subcommands: [Command] = []
    /// What runs; a command that only has subcommands runs the first of them.
    var action: Action = { _ in .done }

    /// What every command takes.
    static let globalOptions: [Option] = [.directory, .color, .quiet, .help]

    /// The options that may stand behind this command's name.
    var allOptions: [Option] { options + Self.globalOptions }

    func subcommand(_ name: String) -> Command? { subcommands.first { $0.name == name } }
}

/// An option of a command, `--name` or `-s`.
struct Option: Sendable {
    enum Value: Sendable {
        /// It stands alone.
        case none
        case text(String)
        case directory(String)
        case number(String, ClosedRange<Int>)
        case choice([String])
    }

    let name: String
    var short: Character?
    var value: Value = .none
    /// One sentence without a full stop.
    let help: String

    var takesValue: Bool { if case .none = value { false } else { true } }

    /// The word that stands for its value in help.
    var placeholder: String? {
        switch value {
        case .none: nil
        case .text(let name), .directory(let name), .number(let name, _): name
        case .choice(let choices): choices.joined(separator: "|")
        }
    }

    /// `-C DIR`, `--color WHEN`, `-q, --quiet`, as help shows it.
    var spelling: String {
        let names = [short.map { "-\($0)" }, name.count > 1 ? "--" + name : nil].compactMap(\.self)
        return names.joined(separator: ", ") + (placeholder.map { " " + $0 } ?? "")
    }

    /// How a message names it.
    var flag: String { name.count > 1 ? "--" + name : "-" + name }
}

extension Option {
    static let directory = Option(
        name: "C", short: "C", value: .directory("DIR"), help: "run as if otask was started in DIR")
    static let color = Option(
        name: "color", value: .choice(["auto", "always", "never"]),
        help: "colour: auto (on a terminal, unless NO_COLOR is set), always or never")
    static let quiet = Option(name: "quiet", short: "q", help: "print only what was asked for, and what is wrong")
    static let help = Option(name: "help", short: "h", help: "show this help")
    static let json = Option(name: "json", help: "print one JSON document")
}

/// An argument without a name.
struct Operand: Sendable {
    enum Kind: Sendable {
        case task
        case directory
        case text
        case choice([String])
        case setting
        case command
    }

    enum Count: Sendable { case one, optional, some, any }

    let name: String
    var kind: Kind = .text
    var count: Count = .one
    let help: String

    /// `TASK`, `[DIR]`, `TASK...`, as a usage line shows it.
    var usage: String {
        switch count {
        case .one: name
        case .optional: "[\(name)]"
        case .some: "\(name)..."
        case .any: "[\(name)...]"
        }
    }

    static let task = Operand(
        name: "TASK", kind: .task, help: "a path, a unique part of a title, or the start of an id")
    static let tasks = Operand(
        name: "TASK", kind: .task, count: .some, help: "a path, a unique part of a title, or the start of an id")
}
