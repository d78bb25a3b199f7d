import Libraries
import Model
import Sync
import Workspace

extension Command {
    /// The keys that `config` knows, for completions.
    static let settingKeys = Setting.all.map(\.key)

    static let config = Command(
        name: "config", summary: "show or change the settings of a workspace", group: .setUp,
        subcommands: [
            Command(
                name: "list", summary: "list every setting, its value, unit and meaning", options: [.json],
                examples: [.init(line: "otask config", meaning: "the same as \"otask config list\"")],
                action: { try $0.listSettings() }),
            Command(
                name: "get", summary: "print the value of a setting", operands: [.key],
                examples: [.init(line: "otask config get ids", meaning: "files or journal")],
                action: { invocation in
                    let setting = try invocation.setting()
                    let config = try Config.load(root: invocation.workspaceRoot())
                    invocation.print(printable(invocation.value(of: setting, in: config)))
                    return .done
                }),
            Command(
                name: "set", summary: "change a setting; comments in the file stay",
                operands: [.key, Operand(name: "VALUE", help: "the new value")],
                examples: [
                    .init(line: "otask config set ids journal", meaning: "never write an id into a task file"),
                    .init(line: "otask config set device laptop", meaning: "the name that other devices see"),
                ],
                action: { try $0.setSetting() }),
        ])
}

extension Operand {
    fileprivate static let key = Operand(name: "KEY", kind: .setting, help: "one of the keys of \"otask config list\"")
}

extension Invocation {
    fileprivate func setting() throws -> Setting {
        let key = arguments.operands[0]
        if let setting = Setting.named(key) { return setting }
        let near = suggestions(for: key, among: Command.settingKeys).map { "did you mean \($0)?" }
        throw Failure.usage(
            "there is no setting \"\(printable(key))\"",
            hints: near.isEmpty ? ["\"otask config list\" shows them"] : near)
    }

    fileprivate func value(of setting: Setting, in config: Config) -> Text {
        config.value(of: setting) ?? (setting == .device ? Text(environment.host) : "")
    }

    fileprivate func listSettings() throws -> ExitCode {
        let config = try Config.load(root: workspaceRoot())
        if wantsJSON {
            let settings = Setting.all.map { setting -> JSON in
                [
                    "key": .string(Text(setting.key)), "value": .string(value(of: setting, in: config)),
                    "default": setting.defaultValue.map { .string($0) } ?? .null,
                    "unit": setting.unit.map { .string(Text($0)) } ?? .null, "set": .bool(config.isSet(setting)),
                    "help": .string(Text(setting.help)),
                ]
            }
            print([
                "format": 1, "settings": .array(settings), "unknown": .array(config.unknownKeys.map { .string($0) }),
            ])
            return .done
        }
        for setting in Setting.all {
            let unit = setting.unit.map { " " + $0 } ?? ""
            let origin = config.isSet(setting) ? "" : style.dim(" (default)")
            print("\(style.bold(setting.key)) = \(printable(value(of: setting, in: config)))\(unit)\(origin)")
            print(style.dim(fold(setting.help, min(environment.width, 100), indent: 4)))
        }
        for key in config.unknownKeys {
            warn("\(Config.path): the key \(printable(key)) means nothing to this version; it is kept")
        }
        return .done
    }

    fileprivate func setSetting() throws -> ExitCode {
        let setting = try setting()
        let root = try workspaceRoot()
        // No run binds the account in between.
        let lock = try WorkspaceLock.acquire(root: OpenFolder(path: root), command: Text(line.name), wait: 10)
        defer { lock.release() }
        var config = try Config.load(root: root)
        do {
            try config.set(setting, to: Text(arguments.operands[1]))
        } catch {
            throw Failure.usage(printable(error.reason), hints: [setting.help])
        }
        if setting == .tasksFolder {
            let folder = config.tasksFolder.isEmpty ? root : root + "/" + config.tasksFolder.string
            guard (try? OpenFolder(path: folder)) != nil else {
                throw Failure.usage(
                    "there is no folder \(printable(folder)), and tasks that are missing would count as deleted",
                    hints: ["move the folder first, then set the key"])
            }
        }
        try config.save(root: root)
        say("\(setting.key) = \(printable(value(of: setting, in: config)))")
        return .done
    }
}
