import Model

/// One key of `.otask/config.yaml` that a person may set: the table behind `otask config`.
public struct Setting: Sendable, Equatable {
    /// What values it takes.
    public enum Kind: Sendable, Equatable {
        case choice([Text])
        /// One line, at most so many bytes.
        case text(maximum: Int)
        /// A path inside the workspace; `.` only where the workspace itself will do.
        case path(allowsRoot: Bool)
        case number(ClosedRange<Int>)
    }

    public let key: String
    public let kind: Kind
    public let defaultValue: Text?
    public let unit: String?
    public let help: String

    public static let ids = Setting(
        key: "ids", kind: .choice(["files", "journal"]), defaultValue: "files", unit: nil,
        help: "where a task's id is kept: in its file, or in the journal only (the file is never touched for it)")
    public static let device = Setting(
        key: "device", kind: .text(maximum: 64), defaultValue: nil, unit: nil,
        help: "the name of this device in what other devices see; without it the computer's name")
    public static let tasksFolder = Setting(
        key: "folders.tasks", kind: .path(allowsRoot: true), defaultValue: "tasks", unit: nil,
        help: "the folder of the tasks; \".\" is the workspace itself")
    public static let photosFolder = Setting(
        key: "folders.photos", kind: .path(allowsRoot: false), defaultValue: "photos", unit: nil,
        help: "the folder of the photos; nothing in it is a task")
    public static let profileFile = Setting(
        key: "folders.profile", kind: .path(allowsRoot: false), defaultValue: "profile.md", unit: nil,
        help: "the file of the account's profile; it is never a task")
    public static let historyKeep = Setting(
        key: "history.keep", kind: .number(1...36_500), defaultValue: "180", unit: "days",
        help: "how long earlier states of the files are kept")

    /// In the order in which they are listed.
    public static let all = [ids, device, tasksFolder, photosFolder, profileFile, historyKeep]

    /// The setting of this key.
    public static func named(_ key: String) -> Setting? { all.first { $0.key == key } }

    /// The value as it is kept, or an error that says which values it takes.
    func check(_ value: Text, line: Int?) throws(ConfigError) -> Text {
        func refuse(_ rule: String) -> ConfigError { ConfigError("\(key): \"\(value)\" is not \(rule)", line: line) }
        guard !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { throw refuse("one line of plain text") }
        switch kind {
        case .choice(let choices):
            guard choices.contains(value) else {
                throw refuse("one of " + choices.map(\.string).joined(separator: ", "))
            }
            return value
        case .text(let maximum):
            guard !value.isEmpty, value.utf8.count <= maximum else { throw refuse("a text of 1 to \(maximum) bytes") }
            return value
        case .number(let range):
            guard let number = Int(value.string), range.contains(number) else {
                throw refuse(
                    "a number from \(range.lowerBound) to \(range.upperBound)" + (unit.map { " (\($0))" } ?? ""))
            }
            return Text(String(number))
        case .path(let allowsRoot):
            if allowsRoot, value == "." { return value }
            let trimmed = value.hasSuffix("/") ? Text(value.string.dropLast()) : value
            let rule = "a path inside the workspace, without \"..\" and names that begin with a dot"
            guard trimmed.components.allSatisfy({ !$0.isEmpty && !$0.hasPrefix(".") }) else { throw refuse(rule) }
            return trimmed
        }
    }
}
