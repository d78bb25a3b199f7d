import Testing

@testable import Model

struct FeedTests {
    static let user: JSON = "11111111-1111-4111-8111-111111111111"

    static let task: [Text: JSON] = [
        "table": "tasks", "id": "22222222-2222-4222-8222-222222222222", "user_id": user, "title": "Buy milk",
        "notes": "two\nlitres", "done": false, "path": "Errands/Buy milk", "properties": ["tags": ["a"]],
        "created_at": "2026-11-30T10:00:00.123456+00:00", "updated_at": "2026-11-30T10:00:01+00:00",
        "deleted_at": nil, "version": 3, "change_seq": 17, "allowed": false,
        "changed": ["title": ["2026-11-30T10:00:01+00:00", "laptop", nil]],
    ]

    static func task(_ changes: [Text: JSON]) -> JSON { .object(task.merging(changes) { $1 }) }

    static func page(_ changes: [Text: JSON]) -> JSON {
        let page: [Text: JSON] = [
            "rows": [], "next": 5, "more": false, "user_id": user, "schema_version": 1,
            "server_time": "2026-11-30T10:00:00+00:00", "applied": [], "behind": false, "total": 0, "sum": "0",
        ]
        return .object(page.merging(changes) { $1 })
    }

    @Test func `a row of tasks is read, and written as it was`() throws {
        let row = try TaskRow(json: .object(Self.task))
        #expect(row.content == TaskContent(title: "Buy milk", notes: "two\nlitres", properties: ["tags": ["a"]]))
        #expect(row.createdAt == "2026-11-30T10:00:00.123456+00:00")
        #expect(row.deletedAt == nil)
        #expect(row.json == .object(Self.task))
        #expect(row.fields[.path] == "Errands/Buy milk")
        #expect(row.fields[.property("tags")] == ["a"])
    }

    @Test func `a row without a path has no such field`() throws {
        let row = try TaskRow(json: Self.task(["path": nil]))
        #expect(row.path == nil)
        #expect(row.fields[.path] == nil)
        #expect(row.json["path"] == .null)
    }

    @Test func `a null title is empty, and so is what an app's own table may leave null`() throws {
        let row = try TaskRow(json: Self.task(["title": nil, "notes": nil, "done": nil, "properties": nil]))
        #expect(row.content == TaskContent(title: ""))
    }

    @Test func `own keys that the front matter takes for something else are passed over`() throws {
        let row = try TaskRow(
            json: Self.task(["properties": ["id": 1, "done": true, "title": "x", "Title": "kept", "path": "kept"]]))
        #expect(row.content.properties == ["Title": "kept", "path": "kept"])
    }

    @Test(arguments: [
        ("", ""), ("a", "a"), ("a\n", "a"), ("a\r\nb", "a\nb"), ("a\rb", "a\nb"), ("a\r\r\nb", "a\n\nb"),
        ("a\n\r\n\r", "a"), ("\n", ""), ("\r", ""), ("\na", "\na"), ("a \n \n", "a \n "),
        ("é\r\nü\u{2028}", "é\nü\u{2028}"),
    ])
    func `notes have LF, and no line end at the very end`(notes: String, normalized: String) throws {
        #expect(TaskContent.normalizedNotes(Text(notes)) == Text(normalized))
        let row = try TaskRow(json: Self.task(["notes": .string(Text(notes))]))
        #expect(row.content.notes == Text(normalized))
    }

    @Test(arguments: task.keys.filter { $0 != "table" }.sorted())
    func `a row without one of its columns is no row`(column: Text) {
        var members = Self.task
        members[column] = nil as JSON?
        #expect(throws: RowError.self) { try TaskRow(json: .object(members)) }
    }

    @Test(arguments: task.keys.filter { $0 != "table" }.sorted())
    func `a column of another type is named`(column: Text) {
        let odd: JSON = column == "done" || column == "allowed" ? "yes" : true
        do {
            _ = try TaskRow(json: Self.task([column: odd]))
            Issue.record("it was taken")
        } catch {
            #expect(error.member == "tasks." + column)
        }
    }

    @Test(arguments: [nil, [], "x", 1] as [JSON])
    func `what is no object is no row`(json: JSON) {
        #expect(throws: RowError.self) { try TaskRow(json: json) }
        #expect(throws: RowError.self) { try FeedRow(json: json) }
        #expect(throws: RowError.self) { try FeedPage(json: json, since: 0) }
        #expect(throws: RowError.self) { try ChangeAnswer(json: json) }
        #expect(throws: RowError.self) { try Change(json: json) }
    }

    @Test func `a page holds rows of every table, unknown ones too, and tombstones`() throws {
        let rows: [JSON] = [
            Self.task(["change_seq": 6]), Self.task(["change_seq": 8, "deleted_at": "2026-11-30T10:00:00+00:00"]),
            Self.task(["table": "habits", "change_seq": 9]),
            Self.task(["table": "profiles", "id": Self.user, "user_id": nil, "change_seq": 11]),
        ]
        let page = try FeedPage(
            json: Self.page(["rows": .array(rows), "next": 11, "more": true, "total": nil, "sum": nil]), since: 5)
        #expect(page.rows.map(\.table) == ["tasks", "tasks", "habits", "profiles"])
        #expect(page.rows.map(\.deleted) == [false, true, false, false])
        #expect(page.rows.map(\.json) == rows)
        #expect(page.total == nil)
        #expect(page.next == 11)
    }

    @Test func `a row of another user is dropped, and the cursor passes it`() throws {
        let other: JSON = "33333333-3333-4333-8333-333333333333"
        let rows: [JSON] = [
            Self.task(["change_seq": 6, "user_id": other]), Self.task(["change_seq": 7]),
            Self.task(["change_seq": 8, "user_id": nil]),
            Self.task(["change_seq": 9, "table": "profiles", "id": other, "user_id": Self.user]),
        ]
        let page = try FeedPage(json: Self.page(["rows": .array(rows), "next": 9]), since: 5)
        #expect(page.rows.map(\.changeSeq) == [7])
        #expect(page.next == 9)
    }

    @Test func `a page that repeats, skips or ends nowhere is no page`() {
        let row = Self.task(["change_seq": 6])
        let pages: [[Text: JSON]] = [
            ["rows": [row, row], "next": 6], ["rows": [row], "next": 7], ["rows": [row], "next": 5],
            ["rows": [Self.task(["change_seq": 5])]], ["rows": [], "more": true], ["next": 4], ["next": 6],
            ["applied": ["x"]], ["applied": [1]], ["total": "0"], ["sum": 0], ["user_id": "me"], ["next": 5.asText],
        ]
        for page in pages { #expect(throws: RowError.self) { try FeedPage(json: Self.page(page), since: 5) } }
    }

    @Test func `the last page carries how many rows there are, and a sum beyond 64 bits`() throws {
        let page = try FeedPage(
            json: Self.page(["total": 12, "sum": "92233720368547758070", "behind": true]), since: 5)
        #expect(page.total == 12)
        #expect(page.sum == "92233720368547758070")
        #expect(page.behind)
    }
}

extension Int {
    fileprivate var asText: JSON { .string(Text(String(self))) }
}

struct ChangeTests {
    static let change = Change(
        changeID: ItemID("44444444-4444-4444-8444-444444444444")!, device: "laptop", operation: .upsert,
        id: ItemID("55555555-5555-4555-8555-555555555555")!, baseVersion: 3,
        fields: [.title: "Buy milk", .done: true, .property("tags"): ["a"], .property("title"): "odd"],
        removed: ["due"])

    @Test func `a change goes over the wire with own keys apart from fields`() {
        #expect(
            Self.change.json == [
                "change_id": "44444444-4444-4444-8444-444444444444", "device": "laptop", "table": "tasks",
                "op": "upsert", "id": "55555555-5555-4555-8555-555555555555", "base_version": 3,
                "fields": ["title": "Buy milk", "done": true], "properties": ["tags": ["a"], "title": "odd"],
                "removed": ["due"], "allowed": false, "seen": nil,
            ])
    }

    @Test func `a change is read back as it was written`() throws {
        var deletion = Self.change
        deletion.operation = .delete
        deletion.fields = [:]
        deletion.baseVersion = nil
        deletion.allowed = true
        deletion.seen = 17
        var photo = Self.change
        photo.table = "photos"
        photo.fields = [:]
        photo.columns = ["name": "a.jpg", "path": "not a field here", "bytes": 12]
        for change in [Self.change, deletion, photo] {
            #expect(try Change(json: JSON(parsing: change.json.serialized)) == change)
        }
    }

    @Test func `an unknown operation is no change`() {
        guard case .object(var members) = Self.change.json else { return }
        members["op"] = "merge"
        #expect(throws: RowError.self) { try Change(json: .object(members)) }
    }

    @Test(arguments: ["applied", "conflict", "refused", "held"])
    func `an answer has one of four states`(status: String) throws {
        let answer = try ChangeAnswer(
            json: [
                "change_id": "44444444-4444-4444-8444-444444444444", "status": .string(Text(status)), "code": "23514",
                "message": "too long", "row": ["id": 1],
            ])
        #expect(answer.status.rawValue == status)
        #expect(answer.code == "23514")
        #expect(answer.row == ["id": 1])
    }

    @Test(arguments: ["status", "code", "message", "row", "change_id"] as [Text])
    func `an answer without one of its members is none`(member: Text) {
        var members: [Text: JSON] = [
            "change_id": "44444444-4444-4444-8444-444444444444", "status": "applied", "code": nil, "message": nil,
            "row": nil,
        ]
        #expect(throws: Never.self) { try ChangeAnswer(json: .object(members)) }
        members[member] = nil as JSON?
        #expect(throws: RowError.self) { try ChangeAnswer(json: .object(members)) }
    }
}
