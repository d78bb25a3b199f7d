import Libraries
import Model
import Testing
import Workspace

@testable import otask

private let header = "workspace: 3f0c9d5e-0f5e-4d0e-9d5c-0f9f4f6f3a10\nserver: .otask/server\n"

@Suite struct `The configuration` {
    @Test func `is read with its defaults`() throws {
        let config = try Config(parsing: Text("# mine\n" + header + "ids: journal  # Zettelkasten\nfolders.tasks: .\n"))
        #expect(config.project == .embedded(directory: ".otask/server"))
        #expect(config.workspace.description == "3f0c9d5e-0f5e-4d0e-9d5c-0f9f4f6f3a10")
        #expect(config.keepsIDsInJournal)
        #expect(config.tasksFolder == "")
        #expect(config.photosFolder == "photos")
        #expect(config.profileFile == "profile.md")
        #expect(config.historyDays == 180)
        #expect(config.device == nil)
        #expect(config.user == nil)
    }

    @Test func `names a Supabase project by its URL and key`() throws {
        let text: Text =
            "workspace: 3f0c9d5e-0f5e-4d0e-9d5c-0f9f4f6f3a10\nproject.url: https://a.supabase.co\nproject.key: k\n"
        #expect(try Config(parsing: text).project == .supabase(url: "https://a.supabase.co", key: "k"))
    }

    @Test(arguments: [
        ("ids: both\n", ".otask/config.yaml:3: ids: \"both\" is not one of files, journal"),
        ("history.keep: 0\n", ".otask/config.yaml:3: history.keep: \"0\" is not a number from 1 to 36500 (days)"),
        (
            "folders.tasks: ../x\n",
            ".otask/config.yaml:3: folders.tasks: \"../x\" is not a path inside the workspace, without \"..\" and names that begin with a dot"
        ),
        ("ids journal\n", ".otask/config.yaml:3: not understood; write key: value"),
        ("ids: [journal]\n", ".otask/config.yaml:3: not understood; write key: value"),
        ("ids: files\nids: files\n", ".otask/config.yaml:4: the key ids stands here a second time"),
        ("ids: files\n  more: 1\n", ".otask/config.yaml:4: a line of its own is expected: key: value"),
        ("user: nobody\n", ".otask/config.yaml: user: nobody is not an id (a UUID)"),
        ("project.url: x\n", ".otask/config.yaml: server and project.url name two projects; keep one"),
    ])
    func `is refused with the line and the rule`(_ lines: String, _ message: String) {
        let error = #expect(throws: ConfigError.self) { try Config(parsing: Text(header + lines)) }
        #expect(error?.description == message)
    }

    @Test func `keeps comments, order, line ends and unknown keys in an edit`() throws {
        let text = "# top\r\n" + header + "\nplugin: x\n  deep: 1\nids: files   # why\r\n# end\n"
        var config = try Config(parsing: Text(text))
        #expect(config.unknownKeys == ["plugin"])
        try config.set(.ids, to: "journal")
        #expect(config.source.string == text.split(separator: "files", maxSplits: 1).joined(separator: "journal"))
        try config.set(.device, to: "Nina's laptop #2")
        #expect(config.source.hasSuffix("# end\ndevice: \"Nina's laptop #2\"\n"))
        #expect(config.device == "Nina's laptop #2")
        let user = ItemID("00000001-0000-4000-8000-000000000000")!
        try config.bind(to: user)
        #expect(config.user == user)
        try config.bind(to: nil)
        #expect(config.user == nil)
        #expect(config.source.hasSuffix("\"Nina's laptop #2\"\n"))
    }

    @Test(arguments: [
        "plain", "a b", "it's", "say \"x\"", "# no comment", "true", "~", "- x", "a: b", "日本", "ends:", "tab\\t",
    ])
    func `reads back what it writes`(_ value: String) throws {
        var config = try Config(parsing: Text(header))
        try config.set(.device, to: Text(value))
        #expect(config.device == Text(value))
        #expect(try Config(parsing: config.source).device == Text(value))
    }

    @Test func `of a new workspace is the template with its identity`() throws {
        let template = try #require(Template.file("workspace/.otask/config.yaml").flatMap { Text(utf8: $0) })
        let config = try Config(
            template: template, workspace: .random(), project: .embedded(directory: "/srv/demo server"),
            settings: ["folders.tasks": "."])
        #expect(config.source.hasPrefix(template))
        #expect(config.project == .embedded(directory: "/srv/demo server"))
        #expect(config.unknownKeys.isEmpty)
    }
}

@Suite struct `otask config` {
    private func workspace() throws -> Shell {
        let shell = try Shell()
        try shell.write(header + "# kept\n", to: "w/.otask/config.yaml")
        return shell
    }

    @Test func `gets and sets a value in the file`() async throws {
        let shell = try workspace()
        #expect(await shell("config", "get", "ids", in: "w") == .init(code: 0, output: "files\n", errors: ""))
        #expect(
            await shell("config", "set", "ids", "journal", in: "w")
                == .init(code: 0, output: "", errors: "ids = journal\n"))
        #expect(try shell.read("w/.otask/config.yaml") == header + "# kept\nids: journal\n")
        #expect(await shell("-C", "w", "config", "get", "ids").output == "journal\n")
        #expect(await shell("config", "get", "device", in: "w").output == "laptop\n")
    }

    @Test func `refuses a bad key or value with exit 64 and leaves the file`() async throws {
        let shell = try workspace()
        let key = await shell("config", "get", "idz", in: "w")
        #expect(key == .init(code: 64, output: "", errors: "otask: there is no setting \"idz\"\n  did you mean ids?\n"))
        let value = await shell("config", "set", "ids", "both", in: "w")
        #expect(value.code == 64)
        #expect(value.errors.hasPrefix("otask: ids: \"both\" is not one of files, journal\n"))
        let folder = await shell("config", "set", "folders.tasks", "nowhere", in: "w")
        #expect(folder.code == 64)
        #expect(folder.errors.contains("tasks that are missing would count as deleted"))
        #expect(try shell.read("w/.otask/config.yaml") == header + "# kept\n")
    }

    @Test func `ends with 65 where the file can't be used`() async throws {
        let shell = try workspace()
        try shell.write(header + "ids: both\n", to: "w/.otask/config.yaml")
        let answer = await shell("config", "list", in: "w")
        #expect(answer.code == 65)
        #expect(answer.errors == "otask: .otask/config.yaml:3: ids: \"both\" is not one of files, journal\n")
    }

    @Test func `lists every setting, and keys that mean nothing`() async throws {
        let shell = try workspace()
        try shell.write(header + "colour: red\n", to: "w/.otask/config.yaml")
        let answer = await shell("config", "--json", in: "w")
        let json = try JSON(parsing: Text(answer.output))
        #expect(json["unknown"] == ["colour"])
        #expect(json["settings"]?.array?.map { $0["key"] } == Setting.all.map { .string(Text($0.key)) })
        #expect(
            await shell("config", in: "w").errors
                == ".otask/config.yaml: the key colour means nothing to this version; it is kept\n")
    }
}
