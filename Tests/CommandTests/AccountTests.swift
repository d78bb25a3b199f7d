import Libraries
import Model
import Testing

@testable import otask

/// A workspace of the embedded server that nobody is signed in to, and that belongs to nobody yet.
private func unboundWorkspace() async throws -> Shell {
    let shell = try Shell(now: Instant(nanoseconds: System.now()))
    try #require(await shell("init", "w", "--demo").code == 0)
    try #require(await shell("logout", in: "w").code == 0)
    return shell
}

@Suite struct `otask login` {
    @Test func `by password signs in, and the workspace then syncs`() async throws {
        let shell = try await unboundWorkspace()
        #expect(await shell("sync", in: "w").code == 5)
        let answer = await shell(
            "login", "--email", "demo@example.com", "--password", in: "w", lines: ["otask-demo"])
        #expect(answer.code == 0)
        #expect(answer.errors.hasPrefix("Signed in as demo@example.com."))
        #expect(await shell("new", "Buy milk", in: "w").code == 0)
        #expect(await shell("sync", in: "w").code == 0)
    }

    @Test func `asks for the password on a terminal`() async throws {
        let shell = try await unboundWorkspace()
        let answer = await shell(
            "login", "--email", "demo@example.com", "--password", in: "w", isTerminal: true, lines: ["otask-demo"])
        #expect(answer.errors.hasPrefix("Password of demo@example.com: "))
        #expect(answer.code == 0)
    }

    @Test func `with a wrong password is refused in the server's words, and keeps nothing`() async throws {
        let shell = try await unboundWorkspace()
        let answer = await shell("login", "--email", "demo@example.com", "--password", in: "w", lines: ["wrong"])
        #expect(answer == .init(code: 5, output: "", errors: "otask: no account has this address and password\n"))
        #expect(await shell("whoami", in: "w").code == 5)
    }

    @Test func `anonymously makes one account, not two`() async throws {
        let shell = try await unboundWorkspace()
        let first = await shell("login", "--anonymous", in: "w")
        #expect(first.code == 0)
        #expect(first.errors.hasPrefix("Signed in as anonymous user "))
        let again = await shell("login", "--anonymous", in: "w")
        #expect(again.code == 0)
        #expect(again.errors.hasPrefix("Signed in already, as anonymous user "))

        #expect(await shell("sync", in: "w").code == 0)
        let bound = await shell("login", "--anonymous", in: "w")
        #expect(bound.code == 5)
        #expect(bound.errors.contains("this workspace belongs to anonymous user "))
    }

    @Test func `to another account than the workspace's is refused with both names, and the session stays`()
        async throws
    {
        let shell = try await unboundWorkspace()
        _ = await shell("login", "--anonymous", in: "w")
        try #require(await shell("sync", in: "w").code == 0)
        let answer = await shell(
            "login", "--email", "demo@example.com", "--password", in: "w", lines: ["otask-demo"])
        #expect(answer.code == 5)
        #expect(answer.errors.contains("belongs to anonymous user "))
        #expect(answer.errors.contains("not to demo@example.com"))
        #expect(await shell("sync", in: "w").code == 0)
    }

    @Test(arguments: [
        (["login"], "say who signs in"), (["login", "--email", "a@example.com"], "--email needs --password"),
        (["login", "--email", "a@example.com", "--password"], "no password was given"),
        (["login", "--email", "a@example.com", "--anonymous"], "two ways to sign in"),
    ]) func `says what is missing`(words: [String], error: String) async throws {
        let shell = try await unboundWorkspace()
        let answer = await shell(words, in: "w")
        #expect(answer.code == 64)
        #expect(answer.errors.contains(error))
    }

    @Test func `puts the session outside the workspace, for its owner alone, and says nothing of it`() async throws {
        let shell = try await unboundWorkspace()
        let answers = [
            await shell(
                "login", "--email", "demo@example.com", "--password", "--verbose", in: "w", lines: ["otask-demo"]),
            await shell("sync", "--verbose", in: "w"), await shell("whoami", "--json", in: "w"),
            await shell("status", "--json", in: "w"), await shell("config", "list", "--json", in: "w"),
        ]
        let folder = try OpenFolder(path: shell.directory + "/state/otask/sessions")
        let names = try folder.entries().map(\.name).filter { $0.shown.hasSuffix(".json") }
        #expect(names.count == 1)
        let name = try #require(names.first)
        #expect(try folder.status(name)?.mode == 0o600)
        let session = try JSON(parsing: folder.open(name).read())
        let secrets = ["access_token", "refresh_token"].compactMap { session[Text($0)]?.text?.string } + ["otask-demo"]
        #expect(secrets.count == 3)
        let config = try shell.read("w/.otask/config.yaml")
        for text in answers.flatMap({ [$0.output, $0.errors] }) + [config] {
            for secret in secrets { #expect(!text.contains(secret)) }
        }
        #expect(answers[1].errors.contains("POST /rest/v1/rpc/pull_changes: 200, "))
    }

    @Test func `is found by a program with another environment`() async throws {
        let shell = try await unboundWorkspace()
        _ = await shell("login", "--anonymous", in: "w")
        let bare = ["HOME": "/nowhere", "XDG_STATE_HOME": ""]
        #expect(await shell("sync", "--background", in: "w", variables: bare).code == 0)
        #expect(await shell("whoami", in: "w", variables: bare).code == 0)
    }
}

@Suite struct `otask logout` {
    @Test func `ends the session; the tasks stay and sync after the next sign-in`() async throws {
        let shell = try Shell(now: Instant(nanoseconds: System.now()))
        try #require(await shell("init", "w", "--demo").code == 0)
        _ = await shell("new", "Buy milk", in: "w")
        _ = await shell("sync", in: "w")
        try shell.write("# Call Nina\n", to: "w/tasks/call.md")
        #expect(await shell("logout", in: "w").errors == "Signed out demo@example.com.\n")
        #expect(await shell("logout", in: "w").errors == "Nobody is signed in here.\n")

        let refused = await shell("sync", in: "w")
        #expect(refused.code == 5)
        #expect(refused.errors.contains("otask login"))
        #expect(try shell.read("w/tasks/call.md") == "# Call Nina\n")

        _ = await shell("login", "--email", "demo@example.com", "--password", in: "w", lines: ["otask-demo"])
        #expect(await shell("sync", in: "w").code == 0)
        #expect(try shell.read("w/tasks/call.md").contains("id: "))
    }
}

@Suite struct `otask server setup` {
    /// Where the repository's own copy lies.
    private static let template = Text(#filePath).parent.parent.parent + "/template/"

    @Test func `has every file of the project, byte for byte`() throws {
        var files: [String] = []
        func list(_ folder: OpenFolder, _ path: String) throws {
            for entry in try folder.entries() {
                let below = path + "/" + entry.name.shown
                if try folder.status(entry.name)?.kind == .folder {
                    try list(folder.folder(entry.name), below)
                } else {
                    files.append(below)
                }
            }
        }
        try list(OpenFolder(path: (Self.template + "supabase").string), "supabase")
        #expect(Template.paths.filter { $0.hasPrefix("supabase/") }.sorted() == files.sorted())
        for file in files {
            #expect(Template.file(file) == (try OpenFile(path: (Self.template + Text(file)).string).read()), "\(file)")
        }
    }

    @Test func `prints the migration alone`() async throws {
        let answer = try await Shell()("server", "setup")
        #expect(answer.code == 0)
        #expect(answer.output.hasPrefix("-- otask: "))
        #expect(answer.output.hasSuffix("commit;\n"))
    }

    @Test func `writes the project, a second time nothing, and never over a file that says something else`()
        async throws
    {
        let shell = try Shell()
        #expect(await shell("server", "setup", "new/place").code == 0)
        let config = try shell.read("new/place/supabase/config.toml")
        #expect(await shell("server", "setup", "new/place").errors.contains("0 files written"))
        try shell.write("mine\n", to: "new/place/supabase/config.toml")
        let answer = await shell("server", "setup", "new/place")
        #expect(answer.code == 73)
        #expect(answer.errors.contains("supabase/config.toml"))
        #expect(try shell.read("new/place/supabase/config.toml") == "mine\n")
        #expect(config.hasPrefix("# The Supabase project"))
    }
}
