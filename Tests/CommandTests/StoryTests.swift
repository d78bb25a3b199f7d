import Libraries
import Model
import Testing

@testable import otask

/// Two workspaces, a laptop's and a phone's, that share one embedded server.
private func twoDevices() async throws -> Shell {
    let shell = try Shell(now: Instant(nanoseconds: System.now()))
    for name in ["laptop", "phone"] {
        let answer = await shell("init", name, "--demo", "--server", "server")
        try #require(answer.code == 0, "\(answer)")
    }
    return shell
}

@Suite struct `otask init` {
    @Test func `lays down a workspace, signs in, and says what to type next`() async throws {
        let shell = try Shell()
        let answer = await shell("init", "my tasks", "--demo")
        #expect(answer.code == 0)
        #expect(answer.output == "")
        #expect(
            answer.errors == """
                The workspace my tasks is ready.
                  tasks    my tasks/tasks
                  server   my tasks/.otask/server (embedded)
                  account  demo@example.com, signed in

                Next:
                  cd 'my tasks'
                  otask new "Buy milk"
                  otask sync

                A second device of this account:
                  otask init OTHER --demo --server 'my tasks/.otask/server'

                """)
        #expect(shell.has("my tasks/.otaskignore"))
        #expect((try? OpenFolder(path: shell.directory + "/my tasks/tasks")) != nil)
        #expect(await shell("status", "--exit-code", in: "my tasks").code == 0)
    }

    @Test func `needs --demo`() async throws {
        let shell = try Shell()
        #expect(await shell("init", "x").code == 64)
        #expect((try? OpenFolder(path: shell.directory + "/x")) == nil)
    }

    @Test func `refuses a folder inside a workspace`() async throws {
        let shell = try Shell()
        _ = await shell("init", "w", "--demo")
        let answer = await shell("init", "--demo", in: "w/tasks")
        #expect(answer.code == 64)
        #expect(answer.errors.hasPrefix("otask: . lies inside the workspace .."))
        #expect(await shell("init", "w/tasks/new", "--demo").code == 64)
    }

    @Test func `lays down again what is missing of a workspace`() async throws {
        let shell = try Shell()
        _ = await shell("init", "w", "--demo")
        let config = try shell.read("w/.otask/config.yaml")
        try removeTree(shell.directory + "/w/tasks")
        let answer = await shell("init", "--demo", in: "w")
        #expect(answer.code == 0)
        #expect((try? OpenFolder(path: shell.directory + "/w/tasks")) != nil)
        #expect(try shell.read("w/.otask/config.yaml") == config)
        #expect(await shell("init", "w", "--demo", "--server", "elsewhere").code == 64)
    }

    @Test func `adopts a directory of Markdown files only when it may`() async throws {
        let shell = try Shell()
        try shell.write("# One\n", to: "vault/one.md")
        try shell.write("# Two\n", to: "vault/deep/two.md")
        try shell.write("x", to: "vault/picture.png")
        try shell.write("# Not one\n", to: "vault/.hidden/three.md")

        let asked = await shell("init", "vault", "--demo")
        #expect(asked.code == 64)
        #expect(asked.errors.hasPrefix("2 Markdown files in vault would become tasks.\notask: nothing was changed"))
        #expect(!shell.has("vault/.otask/config.yaml"))

        #expect(await shell("init", "vault", "--demo", isTerminal: true, lines: ["n"]).code == 1)
        #expect(!shell.has("vault/.otask/config.yaml"))

        #expect(await shell("init", "vault", "--demo", isTerminal: true, lines: ["y"]).code == 0)
        #expect(await shell("config", "get", "folders.tasks", in: "vault").output == ".\n")
        #expect(await shell("list", in: "vault").output.split(separator: "\n").count == 2)
        #expect(try shell.read("vault/one.md") == "# One\n")
    }

    @Test func `gives another name to what is there with another meaning`() async throws {
        let shell = try Shell()
        try shell.write("# About me\n", to: "vault/profile.md")
        #expect(await shell("init", "vault", "--demo", "--yes").code == 0)
        #expect(await shell("config", "get", "folders.profile", in: "vault").output == "otask-profile.md\n")
        #expect(await shell("list", "--search", "about", in: "vault").output.contains("About me"))
    }
}

@Suite struct `Two devices` {
    @Test func `see each other's tasks, and merge edits of one task`() async throws {
        let shell = try await twoDevices()
        let new = await shell("new", "Paint the fence", "--notes", "-", in: "laptop", input: "Two coats.\nAsk Nina.\n")
        #expect(new == .init(code: 0, output: "tasks/paint-the-fence.md: saved here and on the server\n", errors: ""))
        try shell.write("# Buy milk\n", to: "laptop/tasks/milk.md")
        #expect(await shell("status", "--short", in: "laptop").output == "Nw tasks/milk.md\n")
        #expect(await shell("push", in: "laptop").output.hasPrefix("sent 1 task · "))

        #expect(await shell("pull", in: "phone").output.hasPrefix("received 2 tasks · "))
        #expect(await shell("done", "fence", in: "phone").output == "done: tasks/paint-the-fence.md\n")
        let text = try shell.read("laptop/tasks/paint-the-fence.md")
        try shell.write(
            text.split(separator: "Two", maxSplits: 1).joined(separator: "Three"), to: "laptop/tasks/paint-the-fence.md"
        )
        for device in ["laptop", "phone", "laptop"] { #expect(await shell("sync", in: device).code == 0) }
        for device in ["laptop", "phone"] {
            let merged = try shell.read("\(device)/tasks/paint-the-fence.md")
            #expect(merged.contains("done: true\n") && merged.contains("Three coats.\n"))
            #expect(
                await shell("status", "--exit-code", "--short", in: device) == .init(code: 0, output: "", errors: ""))
        }
    }

    @Test func `ask a person where both changed one field, with exit 2 until it is resolved`() async throws {
        let shell = try await twoDevices()
        _ = await shell("new", "Paint the fence", in: "laptop")
        _ = await shell("pull", in: "phone")
        let path = "tasks/paint-the-fence.md"
        for (device, title) in [("laptop", "Paint the garden fence"), ("phone", "Paint it green")] {
            let text = try shell.read("\(device)/\(path)")
            try shell.write(
                text.split(separator: "Paint the fence", maxSplits: 1, omittingEmptySubsequences: false)
                    .joined(separator: title), to: "\(device)/\(path)")
        }
        #expect(await shell("sync", in: "laptop").code == 0)
        let sync = await shell("sync", in: "phone")
        #expect(sync.code == 2)
        #expect(sync.output.contains("conflict: \(path) (title)\n"))
        #expect(
            await shell("status", "--exit-code", "--short", in: "phone")
                == .init(code: 2, output: "CC \(path)\n", errors: ""))
        #expect(await shell("status", in: "phone").code == 0)
        #expect(
            await shell("diff", "green", "--server", in: "phone").output == """
                title
                  server: Paint the garden fence
                  here:   Paint it green

                """)
        #expect(await shell("resolve", "green", in: "phone").code == 64)
        let resolved = await shell("resolve", "green", "--theirs", in: "phone")
        #expect(resolved.code == 0)
        #expect(resolved.output == "resolved \(path) (title)\n")
        #expect(await shell("sync", in: "phone").code == 0)
        #expect(await shell("list", in: "phone").output.contains("Paint the garden fence"))
    }

    @Test func `end a conflict in an editor that shows both texts`() async throws {
        let shell = try await twoDevices()
        _ = await shell("new", "Fence", "--notes", "one\ntwo\nthree", in: "laptop")
        _ = await shell("pull", in: "phone")
        for (device, line) in [("laptop", "here"), ("phone", "there")] {
            let text = try shell.read("\(device)/tasks/fence.md")
            try shell.write(
                text.split(separator: "two", maxSplits: 1).joined(separator: line), to: "\(device)/tasks/fence.md")
            _ = await shell("sync", in: device)
        }
        let unedited = await shell("resolve", "fence", "--edit", in: "phone", variables: ["EDITOR": "true"])
        #expect(unedited.code == 2)
        #expect(
            unedited.errors.hasPrefix("otask: tasks/fence.md: the markers are still there, so the conflict stays\n"))
        let kept = try #require(
            unedited.errors.split(separator: "kept in ").last?.split(separator: "/resolve.md").first)
        try removeTree(String(kept))
        try shell.write("sed '/^[<|=>]\\{7\\}/d; /^two$/d' \"$1\" > \"$1.new\" && mv \"$1.new\" \"$1\"\n", to: "editor")
        let editor = ["EDITOR": "sh " + shellQuoted(Text(shell.directory + "/editor"))]
        #expect(await shell("resolve", "fence", "--edit", in: "phone", variables: editor).code == 0)
        #expect(try shell.read("phone/tasks/fence.md").hasSuffix("one\nthere\nhere\nthree\n"))
        #expect(await shell("sync", in: "phone").code == 0)
        #expect(await shell("resolve", "fence", "--edit", in: "phone").code == 64)
    }

    @Test func `go on where the server refuses one task, and show its reason`() async throws {
        let shell = try await twoDevices()
        try shell.write("# " + String(repeating: "x", count: 501) + "\n", to: "laptop/tasks/long.md")
        try shell.write("# Short\n", to: "laptop/tasks/short.md")
        let sync = await shell("sync", in: "laptop")
        #expect(sync.code == 2)
        #expect(sync.output.hasPrefix("sent 1 task · "))
        #expect(sync.output.contains("refused: tasks/long.md"))
        #expect(await shell("changes", in: "laptop").output.contains("refused  tasks/long.md"))
        try shell.write("# Fits\n", to: "laptop/tasks/long.md")
        #expect(await shell("sync", in: "laptop").code == 0)
    }

    @Test func `hold deletions back by the guard with exit 3, and let them through by number`() async throws {
        let shell = try await twoDevices()
        for name in ["a", "b", "c"] { try shell.write("# \(name)\n", to: "laptop/tasks/\(name).md") }
        _ = await shell("sync", in: "laptop")
        for name in ["a", "b", "c"] {
            try OpenFolder(path: shell.directory + "/laptop/tasks").unlink(FileName(name + ".md"))
        }
        let held = await shell("sync", in: "laptop")
        #expect(held.code == 3)
        #expect(held.output.contains("\"otask sync --allow-deletions 3\" lets them through"))
        #expect(await shell("sync", "--background", in: "laptop").code == 0)
        #expect(await shell("sync", "--allow-deletions", "3", in: "laptop").code == 0)
        #expect(await shell("status", "--short", in: "laptop").output == "")
    }

    @Test func `work offline: changes wait, exit 4, and a new task is saved here`() async throws {
        let shell = try await twoDevices()
        #expect(await shell("offline", "on", in: "laptop").output == "offline is simulated\n")
        let new = await shell("new", "Buy milk", in: "laptop")
        #expect(new.code == 0)
        #expect(new.output == "tasks/buy-milk.md: saved here\n")
        let sync = await shell("sync", in: "laptop")
        #expect(sync.code == 4)
        #expect(sync.errors.contains("\"otask offline off\" ends it"))
        #expect(await shell("sync", "--background", in: "laptop").code == 0)
        #expect(await shell("status", in: "laptop").output.hasPrefix("Offline is simulated; "))
        #expect(await shell("list", in: "laptop").output.hasPrefix("* [ ] Buy milk"))
        #expect(await shell("offline", "off", in: "laptop").output == "offline is not simulated\n")
        #expect(await shell("sync", in: "laptop").code == 0)
        #expect(await shell("list", in: "laptop").output.hasPrefix("  [ ] Buy milk"))
    }

    @Test func `take a deletion back until it is sent`() async throws {
        let shell = try await twoDevices()
        _ = await shell("new", "Buy milk", in: "laptop")
        let text = try shell.read("laptop/tasks/buy-milk.md")
        let deleted = await shell("delete", "milk", in: "laptop")
        #expect(deleted.output == "deleted tasks/buy-milk.md\n")
        #expect(deleted.errors.contains("\" brings back what was deleted"))
        #expect(!shell.has("laptop/tasks/buy-milk.md"))
        #expect(await shell("changes", "discard", "tasks/buy-milk.md", in: "laptop").code == 0)
        #expect(try shell.read("laptop/tasks/buy-milk.md") == text)
        #expect(await shell("status", "--short", in: "laptop").output == "")
    }

    @Test func `print a plan without carrying it out`() async throws {
        let shell = try await twoDevices()
        try shell.write("# Buy milk\n", to: "laptop/tasks/milk.md")
        let plan = await shell("sync", "--dry-run", in: "laptop")
        #expect(plan.output.hasPrefix("send new       here -> server tasks/milk.md"))
        #expect(try shell.read("laptop/tasks/milk.md") == "# Buy milk\n")
        #expect(await shell("pull", in: "phone").output.hasPrefix("nothing new on the server"))
        let json = try JSON(parsing: Text(await shell("sync", "-n", "--json", in: "laptop").output))
        #expect(json["plan"]?.array?.first?["action"] == "send_new")
    }

    @Test func `say which tasks an argument can mean, with exit 64`() async throws {
        let shell = try await twoDevices()
        for title in ["Buy milk", "Buy bread"] { _ = await shell("new", title, in: "laptop") }
        let answer = await shell("done", "buy", in: "laptop")
        #expect(answer.code == 64)
        #expect(answer.errors.hasPrefix("otask: \"buy\" can mean 2 tasks; name one:\n"))
        #expect(await shell("show", "bread", "--json", in: "laptop").code == 0)
        #expect(await shell("show", "cheese", in: "laptop").code == 64)
        #expect(await shell("status").errors.contains("is in no workspace"))
    }
}
