import Libraries
import Model
import Reconcile
import Supabase
import Workspace

extension Option {
    fileprivate static let url = Option(
        name: "url", value: .text("URL"), help: "the address of a Supabase project: https://abcd.supabase.co")
    fileprivate static let key = Option(
        name: "key", value: .text("KEY"), help: "its publishable key (sb_publishable_..., or the legacy anon key)")
    fileprivate static let demo = Option(
        name: "demo", help: "keep it in step with an embedded server, signed in to its demo account")
    fileprivate static let serverDirectory = Option(
        name: "server", value: .directory("DIR|URL"),
        help:
            "where the embedded server lives, which workspaces may share (inside .otask), or the address of a running \"otask serve\""
    )
    fileprivate static let yes = Option(
        name: "yes", short: "y", help: "don't ask before the Markdown files here become tasks")
}

extension Command {
    static let initialize = Command(
        name: "init", summary: "lay down a workspace", group: .setUp,
        details: [
            "A directory that has Markdown files already is adopted: they become its tasks, where they are. In a "
                + "workspace, what is missing of it is laid down again.",
            "With --url nobody is signed in: that is for \"otask login\". \"otask server setup\" has what the project's "
                + "database needs.",
        ],
        options: [.url, .key, .demo, .serverDirectory, .yes, .verbose],
        operands: [Operand(name: "DIR", kind: .directory, count: .optional, help: "the directory (the current one)")],
        examples: [
            .init(
                line: "otask init my-tasks --url https://abcd.supabase.co --key sb_publishable_...",
                meaning: "a workspace for a Supabase project"),
            .init(line: "otask init my-tasks --demo", meaning: "a workspace for trying things out"),
            .init(
                line: "otask init phone --demo --server my-tasks/.otask/server",
                meaning: "a second device of the same account"),
            .init(
                line: "otask init tablet --demo --server http://127.0.0.1:54321",
                meaning: "the same with a running \"otask serve\""),
        ],
        action: { try await Initialization($0).run() })
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
        let target = try await target()
        let settings = try adopted()
        var config: Config
        do {
            let folder = try makeFolders(root)
            if try folder.status(".otask") == nil { try folder.makeFolder(".otask") }
            config = try Config(
                template: template(Config.path), workspace: .random(), project: target.project,
                settings: settings)
            try layDown(config)
            try config.save(root: root)
        } catch let error as SystemError {
            throw Failure(.cantCreate, printable(error.description))
        }
        return try await finish(&config, target, "is ready")
    }

    /// What the workspace is to be kept in step with.
    private struct Target {
        var project: Config.Project
        /// Who signs in at once; nil: nobody.
        var demo: Demo?
        /// What the project answered, where it was asked.
        var check: ProjectCheck?

        enum Demo {
            case embedded
            case account(email: Text, password: Text)
        }
    }

    private func target() async throws -> Target {
        let arguments = invocation.arguments
        let server = arguments.value(.serverDirectory)
        switch (arguments.value(.url), arguments.value(.key), arguments.has(.demo)) {
        case (let url?, let key?, false):
            guard server == nil else { throw Failure.usage("--server goes with --demo") }
            let project: Project
            do throws(ProjectError) {
                project = try Project(url: Text(url), publishableKey: Text(key))
            } catch {
                throw Failure.usage(printable(error.description))
            }
            let check = await check(project)
            if case .keyRefused(let reason) = check.state {
                throw Failure.usage(
                    "the project doesn't take this key: \(printable(reason))",
                    hints: ["its publishable key stands in its settings, under API Keys"])
            }
            return Target(project: .supabase(url: project.url, key: project.publishableKey), check: check)
        case (_?, nil, false):
            throw Failure.usage(
                "--key is missing", hints: ["the project's publishable key stands in its settings, under API Keys"])
        case (nil, _?, false): throw Failure.usage("--url is missing: the address of the project that the key is of")
        case (nil, nil, true):
            guard let server, server.hasPrefix("http://") || server.hasPrefix("https://") else {
                return Target(project: .embedded(directory: serverDirectory()), demo: .embedded)
            }
            return try await running(server)
        case (nil, nil, false):
            throw Failure.usage(
                "init needs a project: --url URL --key KEY, or --demo",
                hints: ["\"otask help init\" shows both; --demo needs no account and no network"])
        default: throw Failure.usage("--demo brings its own server: leave --url and --key out")
        }
    }

    /// A running `otask serve`, which tells its key and its demo account.
    private func running(_ url: String) async throws -> Target {
        let project: Project
        do throws(ProjectError) {
            // The key isn't known yet, and is needed for nothing before it is.
            project = try Project(url: Text(url), publishableKey: "unknown")
        } catch {
            throw Failure.usage(printable(error.description))
        }
        let answer: HTTPResponse
        do throws(TransportError) {
            answer = try await transport(project).send(HTTPRequest(method: "GET", target: "/"))
        } catch {
            throw Failure(.unreachable, "no server answers at \(printable(url)): \(printable(error.description))")
        }
        guard answer.status == 200, let json = try? JSON(parsing: answer.body), let key = json["publishable_key"]?.text,
            let email = json["demo"]?["email"]?.text, let password = json["demo"]?["password"]?.text
        else {
            throw Failure.usage(
                "what answers at \(printable(url)) is no \"otask serve\"",
                hints: ["a Supabase project is given with --url and --key, without --demo"])
        }
        return Target(
            project: .supabase(url: project.url, key: key), demo: .account(email: email, password: password))
    }

    private func check(_ project: Project) async -> ProjectCheck {
        await ProjectCheck.run(project, transport: transport(project), now: invocation.now)
    }

    private func transport(_ project: Project) -> any Transport {
        let transport = HTTPTransport(
            project: project, agent: "otask/\(programVersion)", environment: invocation.environment.variables)
        return invocation.requestLog.map { LoggedTransport(transport, now: invocation.environment.clock, log: $0) }
            ?? transport
    }

    /// Signs in where the server has a demo account, and says where things are.
    private func finish(_ config: inout Config, _ target: Target, _ state: String) async throws -> ExitCode {
        let connector = invocation.connector(root, config)
        var session: Session?
        switch target.demo {
        case .embedded: session = try await connector.signInToDemo()
        case .account(let email, let password):
            session = try await connector.auth().signIn(email: email, password: password)
        case nil: break
        }
        if let session {
            if let user = config.user, user != session.userID {
                throw Failure(.signedOut, "this workspace belongs to another account than the server's demo account")
            }
            try config.keep(session: await connector.keep(session))
            try config.save(root: root)
        }
        return tell(config, session, target.check, state)
    }

    /// What is missing of a workspace comes back; what is there stays.
    private func repair() async throws -> ExitCode {
        var config = try Config.load(root: root)
        let arguments = invocation.arguments
        var target: Target
        if arguments.value(.url) == nil, arguments.value(.key) == nil, arguments.value(.serverDirectory) == nil {
            target = Target(project: config.project)
            if case .embedded = config.project { target.demo = .embedded }
        } else {
            target = try await self.target()
            guard target.project == config.project else {
                throw Failure.usage(
                    "this workspace has another server already", hints: ["make a new workspace for that one"])
            }
        }
        do {
            try layDown(config)
        } catch let error as SystemError {
            throw Failure(.cantCreate, printable(error.description))
        }
        return try await finish(&config, target, "was a workspace already; what was missing of it is there again")
    }

    /// The visible files of a workspace, where they are missing.
    private func layDown(_ config: Config) throws {
        let folder = try OpenFolder(path: root)
        if !config.tasksFolder.isEmpty { _ = try makeFolders(root + "/" + config.tasksFolder.string) }
        if try folder.status(".otaskignore") == nil {
            try folder.create(".otaskignore").write(template(".otaskignore").utf8)
        }
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
    private func tell(_ config: Config, _ session: Session?, _ check: ProjectCheck?, _ state: String) -> ExitCode {
        let server: String
        switch config.project {
        case .embedded(let directory): server = shown(absolute(directory.string, from: root)) + " (embedded)"
        case .supabase(let url, _): server = printable(url)
        }
        let tasks = config.tasksFolder.isEmpty ? root : root + "/" + config.tasksFolder.string
        let account = session.map { accountName($0) + ", signed in" } ?? "nobody is signed in yet"
        invocation.say(
            """
            The workspace \(shown(root)) \(state).
              tasks    \(shown(tasks))
              server   \(server)
              account  \(account)
            """)
        let trouble = trouble(check)
        if let trouble { invocation.environment.errors(trouble.text(invocation.messageStyle)) }

        var steps = root == invocation.directory ? [] : ["cd \(shellQuoted(Text(shown(root))))"]
        if trouble?.code == .schema { steps.append("otask server setup") }
        if session == nil {
            steps.append("otask login --email ADDRESS --password")
            if check?.allowsAnonymous == true { steps[steps.count - 1] += "     (or --anonymous)" }
        }
        steps += ["otask new \"Buy milk\"", "otask sync"]
        invocation.say("\nNext:\n" + steps.map { "  " + $0 }.joined(separator: "\n"))
        if session != nil {
            let place: String
            switch config.project {
            case .embedded(let directory): place = shown(absolute(directory.string, from: root))
            case .supabase(let url, _): place = url.string
            }
            invocation.say(
                "\nA second device of this account:\n  otask init OTHER --demo --server \(shellQuoted(Text(place)))")
        }
        return trouble?.code ?? .done
    }

    /// What a person has to know about the project; nil: all is well, or it wasn't asked.
    private func trouble(_ check: ProjectCheck?) -> Failure? {
        switch check?.state {
        case nil, .ready, .keyRefused: nil
        case .schemaMissing:
            Failure(
                .schema, "the project isn't set up for otask yet",
                hints: ["\"otask server setup\" has what its database needs"])
        case .unreachable(let reason):
            Failure(
                .unreachable, "the project can't be reached: \(printable(reason))",
                hints: ["the workspace works without it; changes wait"])
        case .noProject(let reason):
            Failure(
                .unreachable, "what answers there is no Supabase project (\(printable(reason)))",
                hints: ["is the address right?"])
        }
    }
}
