import Libraries
import Model

/// A state of the workspace's files in the history.
public struct Revision: Hashable, Sendable, CustomStringConvertible {
    let id: GitID

    init(_ id: GitID) { self.id = id }

    /// - Parameter text: 40 hexadecimal digits; nil for anything else.
    public init?(_ text: Text) {
        guard let id = GitID(text.string) else { return nil }
        self.id = id
    }

    public var text: Text { Text(id.description) }
    public var description: String { id.description }
    /// As people type it: the first ten digits.
    public var short: Text { Text(String(id.description.prefix(10))) }
}

/// How a state came about. It is the message of its commit: a line for people, and a line for each fact.
public struct HistoryEntry: Hashable, Sendable {
    public enum Kind: String, Sendable {
        /// What people did with tools of their own, as a run found it.
        case found
        /// What a command did here that a person gave.
        case command
        /// What a run brought from the server, and the ids that it wrote.
        case server
        /// The state with which a quarter's repository begins: nothing was done.
        case begin
    }

    public var kind: Kind
    /// The command whose run recorded it, as typed, without its operands.
    public var command: Text
    /// It ran by itself: cron, or the rest of a run that was stopped.
    public var background: Bool
    public var device: Text
    /// Kept to the second.
    public var time: Instant
    /// For an undo or a redo: the state that was taken back.
    public var undoes: Revision?

    public init(
        kind: Kind, command: Text, background: Bool = false, device: Text, time: Instant, undoes: Revision? = nil
    ) {
        self.kind = kind
        self.command = command
        self.background = background
        self.device = device
        self.time = time
        self.undoes = undoes
    }
}

/// Which task a path belongs to, where the file itself doesn't say so.
struct PathIDs: Hashable {
    /// In this state.
    var now: [Text: ItemID] = [:]
    /// In the one before.
    var before: [Text: ItemID] = [:]
}

/// What a commit's message says.
struct Message {
    var summary: Text
    var entry: HistoryEntry
    var ids = PathIDs()
    /// The last state of the repository before this one.
    var continues: Revision?

    var text: String {
        var lines = ["Kind: \(entry.kind.rawValue)", "Command: \(escaped(entry.command))"]
        if entry.background { lines.append("Background: yes") }
        lines.append("Device: \(escaped(entry.device))")
        if let undoes = entry.undoes { lines.append("Undoes: \(undoes)") }
        if let continues { lines.append("Continues: \(continues)") }
        for (path, id) in ids.now.sorted(by: { $0.key < $1.key }) { lines.append("Task: \(id) \(escaped(path))") }
        for (path, id) in ids.before.sorted(by: { $0.key < $1.key }) { lines.append("Was: \(id) \(escaped(path))") }
        return escaped(summary) + "\n\n" + lines.joined(separator: "\n") + "\n"
    }

    /// Nil where it isn't ours: somebody committed with a tool of their own.
    init?(_ text: String, time: Int64) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        summary = Text(unescaped(lines.first ?? ""))
        entry = HistoryEntry(kind: .found, command: "", device: "", time: Instant(seconds: time))
        var hasKind = false
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            switch line[..<colon] {
            case "Kind":
                guard let kind = HistoryEntry.Kind(rawValue: String(value)) else { return nil }
                entry.kind = kind
                hasKind = true
            case "Command": entry.command = Text(unescaped(value))
            case "Background": entry.background = value == "yes"
            case "Device": entry.device = Text(unescaped(value))
            case "Undoes": entry.undoes = Revision(Text(value))
            case "Continues": continues = Revision(Text(value))
            case "Task": if let (id, path) = Self.owner(value) { ids.now[path] = id }
            case "Was": if let (id, path) = Self.owner(value) { ids.before[path] = id }
            default: break
            }
        }
        if !hasKind { return nil }
    }

    init(summary: Text, entry: HistoryEntry, ids: PathIDs = PathIDs(), continues: Revision? = nil) {
        self.summary = summary
        self.entry = entry
        self.ids = ids
        self.continues = continues
    }

    private static func owner(_ value: Substring) -> (ItemID, Text)? {
        guard let blank = value.firstIndex(of: " "), let id = ItemID(String(value[..<blank])) else { return nil }
        return (id, Text(unescaped(value[value.index(after: blank)...])))
    }
}

/// On one line: control characters and `%` as `%` and two hexadecimal digits.
private func escaped(_ text: Text) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
        if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "%") {
            bytes += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
        } else {
            bytes.append(byte)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

private func unescaped(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), rest.count >= 2,
            let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
        {
            bytes.append(code)
            rest = rest.dropFirst(2)
        } else {
            bytes.append(byte)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}
