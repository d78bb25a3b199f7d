import Libraries
import Model
import Reconcile
import Supabase
import Workspace

extension Option {
    static let demo = Option(
        name: "demo", help: "keep it in step with an embedded server, signed in to its demo account")
    static let serverDirectory = Option(
        name: "server", value: .directory("DIR"),
        help: "where the embedded server lives; workspaces may share it (inside .otask)")
    static let yes = Option(name: "yes", short: "y", help: "don't ask before the Markdown files here become tasks")
}

extension Command {
    static let initialize = Command(
        name: "init", summary: "lay down a workspace", group: .setUp,
        details: [
            "A directory that has Markdown files already is adopted: they become its tasks, where they are. In a "
                + "workspace, what is missing of it is laid down again."
        ],
        options: [.demo, .serverDirectory, .yes],
        operands: [Operand(name: "DIR", kind: .directory, count: .optional, help: "the directory (the current one)")],
        examples: [
            .init(line: "otask init my-tasks --demo", meaning: "a workspace for trying things out"),
            .init(
                line: "otask init phone --demo --server my-tasks/.otask/server",
                meaning: "a second device of the same account"),
        ],
        action: { invocation in
            guard invocation.arguments.has(.demo) else {
                throw Failure.usage("init needs --demo: the embedded server is the only one this version knows")
            }
            return try await Initialization(invocation).run()
        })
}

/// `otask init`: what is there, what it becomes.
private struct Initialization {
    let invocation: Invocation
    /// The workspace to be, absolute.
    let root: String

    init(_ invocation: Invocation) throws {
        self.invocation = invocation
        root = absolute(invocation.arguments.operands.first ?? ".", from: invocation.directory)
    }

    func run() async throws -> ExitCode {
        let enclosing = WorkspaceLocation.find(from: nearestFolder(), environment: [:], configured: { nil })
        if let enclosing, enclosing != root {
            throw Failure.usage(
                "\(shown(root)) lies inside the workspace \(shown(enclosing))",
                hints: ["a folder in it holds tasks like any other; nothing needs to be set up"])
        }
        if enclosing != nil, (try? OpenFile(path: root + "/" + Config.path.string)) != nil { return try await repair() }
        let settings = try adopted()
        let config: Config
        do {
            let folder = try makeFolder(root)
            if try folder.status(".otask") == nil { try folder.makeFolder(".otask") }
            config = try Config(
                template: template(Config.path), workspace: .random(), project: .embedded(directory: serverDirectory()),
                settings: settings)
            try layDown(config)
            try config.save(root: root)
        } catch let error as SystemError {
            throw Failure(.cantCreate, printable(error.description))
        }
        let session = try await connector(config).signInToDemo()
        tell(config, session, "is ready")
        return .done
    }

    /// What is missing of a workspace comes back; what is there stays.
    private func repair() async throws -> ExitCode {
        let config = try Config.load(root: root)
        if let server = invocation.arguments.value(.serverDirectory) {
            let asked = Config.Project.embedded(directory: relative(absolute(server, from: invocation.directory)))
            guard asked == config.project else {
                throw Failure.usage(
                    "this workspace has another server already", hints: ["make a new workspace for that one"])
            }
        }
        do {
            try layDown(config)
        } catch let error as SystemError {
            throw Failure(.cantCreate, printable(error.description))
        }
        let session = try await connector(config).signInToDemo()
        tell(config, session, "was a workspace already; what was missing of it is there again")
        return .done
    }

    /// The visible files of a workspace, where they are missing.
    private func layDown(_ config: Config) throws {
        let folder = try OpenFolder(path: root)
        if !config.tasksFolder.isEmpty { _ = try makeFolder(root + "/" + config.tasksFolder.string) }
        if try folder.status(".otaskignore") == nil {
            try folder.create(".otaskignore").write(template(".otaskignore").utf8)
        }
    }

    private func connector(_ config: Config) -> Connector {
        Connector(
            root: root, config: config, variables: invocation.environment.variables, clock: invocation.environment.clock
        )
    }

    private func template(_ path: Text) -> Text {
        Template.file("workspace/" + path.string).flatMap { Text(utf8: $0) } ?? ""
    }

    /// The server's directory as the configuration has it: relative where it lies in the workspace.
    private func serverDirectory() -> Text {
        guard let given = invocation.arguments.value(.serverDirectory) else { return ".otask/server" }
        return relative(absolute(given, from: invocation.directory))
    }

    private func relative(_ path: String) -> Text {
        let path = Text(path)
        let prefix = Text(root) + "/"
        return path.hasPrefix(prefix) ? Text(Substring(path.utf8.dropFirst(prefix.utf8.count))) : path
    }

    /// The folder where the search for a workspace begins: the directory itself, or what is there above it.
    private func nearestFolder() -> String {
        var path = Text(root)
        while !path.isEmpty, (try? OpenFolder(path: path.string)) == nil { path = path.parent }
        return path.isEmpty ? "/" : path.string
    }

    private func makeFolder(_ path: String) throws(SystemError) -> OpenFolder {
        var folder = try OpenFolder(path: "/")
        for component in Text(path).components where !component.isEmpty {
            let below = Text(folder.path == "/" ? "" : folder.path).string + "/" + component.string
            if let next = try? OpenFolder(path: below) {
                folder = next
            } else {
                try folder.makeFolder(FileName(component.string))
                folder = try OpenFolder(path: below)
            }
        }
        return folder
    }

    private func shown(_ path: String) -> String {
        printable(PathDisplay(root: Text(root), directory: Text(invocation.directory)).shortest(Text(path)))
    }
}

// MARK: - A directory that has Markdown files already

extension Initialization {
    /// The settings with which the files that are there become tasks; none for an empty directory. Asks first.
    private func adopted() throws -> [String: Text] {
        guard let folder = try? OpenFolder(path: root) else { return [:] }
        var settings: [String: Text] = [:]
        let scan = ScannedFolder(path: "", suffix: ".md", keptBytes: 0)
        let rules = IgnoreRules(root: folder)
        let names = NameRules(foldedKey: { Names.foldedKey($0) }, problem: { Names.problem(ofPath: $0) })
        let found = try Scanner(root: folder, rules: rules, names: names, now: invocation.environment.clock)
            .scan(scan, cache: [:])
        guard !found.files.isEmpty else { return [:] }
        if !found.files.allSatisfy({ $0.path.hasPrefix("tasks/") }) { settings["folders.tasks"] = "." }
        try name("photos", .photosFolder, folder, "the folder for photos", &settings)
        try name("profile.md", .profileFile, folder, "the file for the account's profile", &settings)

        let files =
            "\(counted(found.files.count, "Markdown file")) in \(shown(root)) would become \(found.files.count == 1 ? "a task" : "tasks")"
        invocation.warn(files + ".")
        for problem in found.problems { invocation.warn("  left out: \(printable(problem.description))") }
        if invocation.arguments.has(.yes) { return settings }
        guard invocation.environment.inputIsTerminal else {
            throw Failure.usage(
                "nothing was changed",
                hints: ["--yes agrees; .otaskignore, in the syntax of .gitignore, leaves files out"])
        }
        guard let answer = ask("Go on? [y/N] "), ["y", "yes"].contains(answer.lowercased()) else {
            throw Failure(.failed, "nothing was changed")
        }
        return settings
    }

    /// Another name than the usual one, where that is in use.
    private func name(
        _ usual: FileName, _ setting: Setting, _ folder: OpenFolder, _ meaning: String, _ settings: inout [String: Text]
    ) throws {
        guard try folder.status(usual) != nil else { return }
        var proposal = "otask-" + usual.shown
        invocation.warn("\(usual.shown) is there already, so \(meaning) gets another name.")
        if invocation.environment.inputIsTerminal, !invocation.arguments.has(.yes),
            let answer = ask("Name [\(proposal)]: "), !answer.isEmpty
        {
            proposal = answer
        }
        settings[setting.key] = Text(proposal)
    }

    private func ask(_ question: String) -> String? {
        invocation.environment.errors(question)
        return invocation.environment.readLine()
    }

    /// Where things are, and what to type next.
    private func tell(_ config: Config, _ session: Session, _ state: String) {
        var server = ".otask/server"
        if case .embedded(let directory) = config.project { server = absolute(directory.string, from: root) }
        let tasks = config.tasksFolder.isEmpty ? root : root + "/" + config.tasksFolder.string
        invocation.say(
            """
            The workspace \(shown(root)) \(state).
              tasks    \(shown(tasks))
              server   \(shown(server)) (embedded)
              account  \(session.email.map { printable($0) } ?? "anonymous"), signed in
            """)
        var steps = root == invocation.directory ? [] : ["cd \(shellQuoted(Text(shown(root))))"]
        steps += ["otask new \"Buy milk\"", "otask sync"]
        invocation.say("\nNext:\n" + steps.map { "  " + $0 }.joined(separator: "\n"))
        invocation.say(
            "\nA second device of this account:\n  otask init OTHER --demo --server \(shellQuoted(Text(shown(server))))"
        )
    }
}
