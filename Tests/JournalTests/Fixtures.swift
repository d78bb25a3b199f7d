import Libraries
import Model
import Testing

@testable import Journal

let now = Instant(seconds: 1_796_000_000)

/// Runs `body` with the path of a journal in a folder of its own, which is removed afterwards.
func withPath(_ body: (Text) throws -> Void) throws {
    let path = try System.makeTemporaryFolder(prefix: "/tmp/otask-journal-")
    defer {
        if let folder = try? OpenFolder(path: path), let parent = try? OpenFolder(path: "/tmp") {
            for entry in (try? folder.entries()) ?? [] { try? folder.unlink(entry.name) }
            try? parent.removeFolder(FileName(Text(path).lastComponent.string))
        }
    }
    try body(Text(path).appending("journal.sqlite"))
}

/// Runs `body` with a new journal.
func withJournal(_ body: (Journal) throws -> Void) throws {
    try withPath { try body(Journal.open(path: $0, now: now).journal) }
}

/// The id that ends with this number.
func id(_ number: Int) -> ItemID {
    let digits = String(number)
    return ItemID("00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits)!
}

func digest(_ text: Text) -> Digest { Digest(of: text.utf8) }

/// A row of a table as the feed gives it.
func row(
    _ number: Int, table: Text = "tasks", version: Int64 = 1, seq: Int64 = 1, title: Text = "Paint the fence",
    path: Text? = "fence", deleted: Bool = false, change: Int = 900
) throws -> FeedRow {
    let task = TaskRow(
        id: id(number), userID: id(1), content: TaskContent(title: title, notes: "Two coats.", properties: ["due": 1]),
        path: path, createdAt: "2026-11-30T10:00:00+00:00", updatedAt: "2026-11-30T10:00:00+00:00",
        deletedAt: deleted ? "2026-11-30T10:00:00+00:00" : nil, version: version, changeSeq: seq,
        changed: ["title": ["2026-11-30T10:00:00+00:00", "laptop", .string(id(change).text)]])
    var members = task.json.object ?? [:]
    members["table"] = .string(table)
    return try FeedRow(json: .object(members))
}

func page(_ rows: [FeedRow], next: Int64) throws -> FeedPage {
    try FeedPage(
        json: [
            "rows": .array(rows.map(\.json)), "next": .integer(next), "more": false, "user_id": .string(id(1).text),
            "schema_version": 3, "server_time": "2026-11-30T10:00:00+00:00", "applied": [], "behind": false,
            "total": nil, "sum": nil,
        ], since: 0)
}

/// The names of the files beside the journal.
func names(beside path: Text) throws -> Set<String> {
    Set(try OpenFolder(path: path.parent.string).entries().compactMap(\.name.string))
}

func bytes(of path: Text) throws -> [UInt8] { try OpenFile(path: path.string).read() }

func overwrite(_ path: Text, with bytes: [UInt8]) throws {
    let file = try OpenFolder(path: path.parent.string).openOrCreate(FileName(path.lastComponent.string))
    try file.truncate()
    try file.write(bytes)
}
