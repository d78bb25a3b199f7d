import Libraries
import Model

/// The configuration of a workspace, `.otask/config.yaml`: which workspace this is, which project it belongs to, and
/// what a person set.
///
/// The file is YAML of one shape: `key: value` lines with dotted keys, comments and blank lines. An edit replaces the
/// value of one line and leaves every other byte. No secret is in it.
public struct Config: Sendable, Equatable {
    /// Where the file lies in a workspace.
    public static let path: Text = ".otask/config.yaml"

    /// What a workspace is kept in step with.
    public enum Project: Sendable, Equatable {
        /// A Supabase project: its URL and its publishable key.
        case supabase(url: Text, key: Text)
        /// The embedded server kept in this directory: absolute, or relative to the workspace.
        case embedded(directory: Text)
    }

    /// The text of the file.
    public private(set) var source: Text
    /// The marker: the workspace that the journal must belong to.
    public private(set) var workspace: ItemID
    public private(set) var project: Project
    /// The account that this workspace belongs to, once it was bound to one.
    public private(set) var user: ItemID?
    /// Where the session of this workspace lies, so that a program with another environment, as cron's, finds it.
    public private(set) var session: Text?
    /// Keys that mean nothing to this version; they stay in the file.
    public private(set) var unknownKeys: [Text]
    private var values: [String: Text]

    /// Reads the text of a configuration file.
    public init(parsing source: Text) throws(ConfigError) {
        let lines = try ConfigLine.read(source)
        var values: [String: Text] = [:]
        var unknown: [Text] = []
        for line in lines {
            guard let value = line.value else { continue }
            let key = line.key.string
            if Self.identityKeys.contains(key) {
                values[key] = value
            } else if let setting = Setting.named(key) {
                values[key] = try setting.check(value, line: line.number)
            } else {
                unknown.append(line.key)
            }
        }
        func id(_ key: String) throws(ConfigError) -> ItemID? {
            guard let text = values[key] else { return nil }
            guard let id = ItemID(text) else { throw ConfigError("\(key): \(text) is not an id (a UUID)") }
            return id
        }
        guard let workspace = try id("workspace") else {
            throw ConfigError("the key workspace, this workspace's id, is missing")
        }
        switch (values["project.url"], values["project.key"], values["server"]) {
        case (let url?, let key?, nil): project = .supabase(url: url, key: key)
        case (nil, nil, let directory?): project = .embedded(directory: directory)
        case (nil, nil, nil): throw ConfigError("neither project.url nor server says which project this belongs to")
        case (_, _, nil): throw ConfigError("project.url and project.key belong together; one is missing")
        case (_, _, _?): throw ConfigError("server and project.url name two projects; keep one")
        }
        self.source = source
        self.workspace = workspace
        self.user = try id("user")
        self.session = values["session"]
        self.unknownKeys = unknown
        self.values = values
    }

    /// The configuration of a new workspace: `template` with its identity and these settings filled in.
    public init(template: Text, workspace: ItemID, project: Project, settings: [String: Text]) throws(ConfigError) {
        var text = try ConfigLine.setting("workspace", to: workspace.text, in: template)
        switch project {
        case .supabase(let url, let key):
            text = try ConfigLine.setting("project.url", to: url, in: text)
            text = try ConfigLine.setting("project.key", to: key, in: text)
        case .embedded(let directory):
            text = try ConfigLine.setting("server", to: directory, in: text)
        }
        for key in settings.keys.sorted() { text = try ConfigLine.setting(Text(key), to: settings[key], in: text) }
        try self.init(parsing: text)
    }

    private static let identityKeys: Set<String> = [
        "workspace", "project.url", "project.key", "server", "user", "session",
    ]

    /// The value of a setting: what the file says, else the default; nil where it has no default of its own.
    public func value(of setting: Setting) -> Text? { values[setting.key] ?? setting.defaultValue }

    /// Whether the file sets it.
    public func isSet(_ setting: Setting) -> Bool { values[setting.key] != nil }

    /// Sets a setting in the text of the file.
    public mutating func set(_ setting: Setting, to value: Text) throws(ConfigError) {
        let checked = try setting.check(value, line: nil)
        try self = Config(parsing: ConfigLine.setting(Text(setting.key), to: checked, in: source))
    }

    /// Notes where the workspace's session lies; nil forgets it.
    public mutating func keep(session: Text?) throws(ConfigError) {
        try self = Config(parsing: ConfigLine.setting("session", to: session, in: source))
    }

    /// Binds the workspace to an account; nil unbinds it.
    public mutating func bind(to user: ItemID?) throws(ConfigError) {
        try self = Config(parsing: ConfigLine.setting("user", to: user?.text, in: source))
    }
}

extension Config {
    /// The folder of the tasks, relative to the workspace; empty where the workspace itself is.
    public var tasksFolder: Text { folder(.tasksFolder) }
    /// The folder of the photos, relative to the workspace.
    public var photosFolder: Text { folder(.photosFolder) }
    /// The file of the account's profile, relative to the workspace.
    public var profileFile: Text { folder(.profileFile) }
    /// Ids stay in the journal and are never written into files.
    public var keepsIDsInJournal: Bool { value(of: .ids) == "journal" }
    /// The name of this device in what others see; nil: the computer's own name.
    public var device: Text? { value(of: .device) }
    /// How long old states are kept, in days.
    public var historyDays: Int { value(of: .historyKeep).flatMap { Int($0.string) } ?? 180 }

    private func folder(_ setting: Setting) -> Text {
        let value = value(of: setting) ?? ""
        return value == "." ? "" : value
    }
}

/// A configuration that can't be used, for people.
public struct ConfigError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Counted from 1; nil where it is about no line.
    public var line: Int?
    public var reason: String

    public init(_ reason: String, line: Int? = nil) {
        self.reason = reason
        self.line = line
    }

    public var description: String { Config.path.string + (line.map { ":\($0)" } ?? "") + ": " + reason }
}
