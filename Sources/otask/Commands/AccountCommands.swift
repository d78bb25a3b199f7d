import Libraries
import Model
import Supabase
import Workspace

extension Option {
    fileprivate static let email = Option(name: "email", value: .text("ADDRESS"), help: "the address of the account")
    fileprivate static let password = Option(
        name: "password", help: "ask for the password; without a terminal, a line of standard input is it")
    fileprivate static let anonymous = Option(name: "anonymous", help: "make a new anonymous account")
    fileprivate static let everywhere = Option(name: "everywhere", help: "end the sessions of all devices")
}

extension Command {
    static let login = Command(
        name: "login", summary: "sign in to the project of this workspace", group: .setUp,
        details: [
            "The session is kept outside the workspace, for this user of the computer alone. The first exchange binds the "
                + "workspace to the account: from then on it syncs with no other."
        ],
        options: [.email, .password, .anonymous, .verbose],
        examples: [
            .init(line: "otask login --email nina@example.com --password", meaning: "asks for the password"),
            .init(line: "otask login --email nina@example.com --password < secret", meaning: "reads it from a file"),
            .init(line: "otask login --anonymous", meaning: "an account without an address, for this device"),
        ],
        action: { try await $0.login() })

    static let logout = Command(
        name: "logout", summary: "end the session of this device", group: .setUp,
        details: ["Tasks and waiting changes stay here; they are synced after the next sign-in to the same account."],
        options: [.everywhere, .verbose],
        examples: [
            .init(line: "otask logout", meaning: "this device alone"),
            .init(line: "otask logout --everywhere", meaning: "all devices of the account"),
        ],
        action: { try await $0.logout() })

    static let whoami = Command(
        name: "whoami", summary: "show the account and the project of this workspace", group: .setUp, options: [.json],
        examples: [.init(line: "otask whoami", meaning: "account, project, and until when the session's token lasts")],
        action: { try $0.showAccount() })
}

extension Invocation {
    /// The way to the project of the workspace at `root`; `--verbose` tells of every request.
    func connector(_ root: String, _ config: Config) -> Connector {
        Connector(
            root: root, config: config, variables: environment.variables, clock: environment.clock, log: requestLog)
    }

    /// Where the lines about requests go; nil: nobody asked for them.
    var requestLog: (@Sendable (String) -> Void)? {
        guard arguments.has(.verbose) else { return nil }
        return { [errors = environment.errors] line in errors("  " + printable(line) + "\n") }
    }

    fileprivate func login() async throws -> ExitCode {
        let root = try workspaceRoot()
        let config = try Config.load(root: root)
        let connector = connector(root, config)
        let session: Session
        switch (arguments.value(.email), arguments.has(.anonymous)) {
        case (let email?, false):
            guard arguments.has(.password) else {
                throw Failure.usage(
                    "--email needs --password", hints: ["otask login --email \(shellQuoted(Text(email))) --password"])
            }
            let password = try password(of: email)
            session = try await connector.auth().signIn(email: Text(email), password: Text(password))
        case (nil, true):
            if let answer = try alreadyThere(connector) { return answer }
            session = try await connector.auth().signUpAnonymously()
        case (nil, false):
            throw Failure.usage("say who signs in", hints: ["--email ADDRESS --password, or --anonymous"])
        default:
            throw Failure.usage("--email and --anonymous are two ways to sign in; choose one")
        }
        try await keep(session, connector)
        say("Signed in as \(accountName(session)).\n\nNext:\n  otask sync")
        return .done
    }

    /// A second anonymous account would be one that nobody can ever leave, with the first one's tasks out of reach.
    private func alreadyThere(_ connector: Connector) throws -> ExitCode? {
        if let user = connector.config.user {
            throw Failure(
                .signedOut, "this workspace belongs to \(try name(of: user, connector)); a new account has other tasks",
                hints: ["\"otask init DIR\" makes a workspace for a new account"])
        }
        guard let account = connector.signedIn, let session = try connector.session(of: account) else { return nil }
        say("Signed in already, as \(accountName(session)).")
        return .done
    }

    private func password(of email: String) throws -> String {
        let line: String?
        if environment.inputIsTerminal {
            environment.errors("Password of \(printable(email)): ")
            line = environment.readSecret()
        } else {
            line = environment.readLine()
        }
        guard let line, !line.isEmpty else { throw Failure.usage("no password was given") }
        return line
    }

    /// Keeps the session, unless the workspace belongs to somebody else.
    private func keep(_ session: Session, _ connector: Connector) async throws {
        // No run binds the account in between.
        let lock = try WorkspaceLock.acquire(root: OpenFolder(path: connector.root), command: Text(line.name), wait: 10)
        defer { lock.release() }
        var config = try Config.load(root: connector.root)
        if let user = config.user, user != session.userID {
            try? await connector.auth().signOut(session, everywhere: false)
            throw Failure(
                .signedOut,
                "this workspace belongs to \(try name(of: user, connector)), not to \(accountName(session)): "
                    + "nothing was synced, and nobody was signed out",
                hints: ["\"otask init DIR\" makes a workspace for the other account"])
        }
        try config.keep(session: await connector.keep(session))
        try config.save(root: connector.root)
    }

    /// How messages name the account that a workspace belongs to.
    private func name(of user: ItemID, _ connector: Connector) throws -> String {
        try connector.session(of: user).map(accountName) ?? "the account \(user)"
    }

    fileprivate func logout() async throws -> ExitCode {
        let root = try workspaceRoot()
        let config = try Config.load(root: root)
        let connector = connector(root, config)
        guard let account = connector.signedIn, let session = try connector.session(of: account) else {
            say("Nobody is signed in here.")
            return .done
        }
        try await connector.keeper(of: account).end(everywhere: arguments.has(.everywhere))
        say("Signed out \(accountName(session))\(arguments.has(.everywhere) ? ", everywhere" : "").")
        if session.isAnonymous {
            warn("The account was anonymous: nobody can sign in to it again. Its tasks stay in this workspace.")
        }
        return .done
    }

    fileprivate func showAccount() throws -> ExitCode {
        let root = try workspaceRoot()
        let config = try Config.load(root: root)
        let connector = connector(root, config)
        let account = connector.signedIn
        let session = try account.flatMap { try connector.session(of: $0) }
        var project = ""
        switch config.project {
        case .supabase(let url, _): project = url.string
        case .embedded(let directory): project = absolute(directory.string, from: root)
        }
        if wantsJSON {
            print([
                "format": 1, "project": .string(Text(project)),
                "user_id": account.map { .string($0.text) } ?? .null,
                "email": session?.email.map { .string($0) } ?? .null,
                "anonymous": session.map { .bool($0.isAnonymous) } ?? .null, "signed_in": .bool(session != nil),
                "bound": .bool(config.user != nil),
                "token_expires_at": session.map { .string(Text(Instant(seconds: $0.expiresAt).rfc3339)) } ?? .null,
            ])
        } else if let session {
            print("\(accountName(session)) at \(printable(project))")
            print(style.dim("account \(session.userID); the session renews itself"))
        } else {
            let whose = account.map { "this workspace belongs to the account \($0) at " } ?? "nobody is signed in at "
            print(whose + printable(project))
        }
        return session == nil ? .signedOut : .done
    }
}

/// How messages name who is signed in.
func accountName(_ session: Session) -> String {
    session.email.map { printable($0) } ?? "anonymous user \(session.userID)"
}
