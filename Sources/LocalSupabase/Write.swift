import Libraries
import Model

/// Who writes: a plain client, or `push_changes` with a change that has an id and a device.
struct Origin {
    var device: SQLValue = .null
    var change: SQLValue = .null

    static let plain = Origin()
}

/// One transaction that writes for one user. Its methods are what the triggers do (server.md, *Triggers*): every row
/// that is written goes through them.
final class Write {
    let store: Store
    let user: String
    let now: Int64
    /// The last number that was drawn.
    private(set) var sequence: Int64

    init(store: Store, user: String, now: Int64, sequence: Int64) {
        self.store = store
        self.user = user
        self.now = now
        self.sequence = sequence
    }

    /// Writes a new row, whose columns all have values but those of the bookkeeping.
    func insert(_ row: Row) throws -> Row {
        var row = row
        row["deleted_at"] = .null
        row["allowed"] = 0
        row["version"] = 0
        row["changed"] = "{}"
        if row.table === Table.photos { row["deleted_with_task"] = 0 }
        stamp(&row)
        try checkLimits(row, of: row.table.content)
        try checkNulls(row)
        try keep(row, row.table.insert)
        try checkOwner(row)
        try after(nil, row)
        return row
    }

    /// Writes what `new` says in the content columns; all else is put back. A row that says the same stays as it is,
    /// unless it is a tombstone and `revives`.
    func update(_ old: Row, to new: Row, by origin: Origin, revives: Bool = false) throws -> Row {
        var row = old
        for position in row.table.content { row.values[position] = new.values[position] }
        let changes = row.changes(since: old)
        guard !changes.isEmpty || (revives && old.isTombstone) else { return old }
        var checked = changes
        if old.isTombstone {
            row["deleted_at"] = .null
            row["allowed"] = 0
            if row.table === Table.photos { row["deleted_with_task"] = 0 }
            // A purged tombstone has no title, name or path any more.
            let emptied = ["title", "name", "object_path"].compactMap { old.table.positions[$0] }
            checked += emptied.filter { !changes.contains($0) }
        }
        try checkNulls(row)
        try checkLimits(row, of: checked)
        stamp(&row)
        note(changes, from: old, in: &row, by: origin)
        try keep(row, row.table.update)
        try after(old, row)
        if old.isTombstone, row.table === Table.tasks { try reviveTakenPhotos(of: row, by: origin) }
        return row
    }

    /// Makes a tombstone of a live row, and of the photos of a task. `allowed`: by a deletion that other devices take
    /// without asking.
    func delete(_ old: Row, by origin: Origin, allowed: Bool = false, withTask: Bool = false) throws -> Row {
        var row = old
        row["deleted_at"] = .integer(now)
        row["allowed"] = SQLValue(allowed)
        if row.table === Table.photos { row["deleted_with_task"] = SQLValue(withTask) }
        stamp(&row)
        note([], from: old, in: &row, by: origin)
        try keep(row, row.table.update)
        try after(old, row)
        if row.table === Table.tasks {
            let photos = try store.rows(
                .photos, "user_id = ? and task_id = ? and deleted_at is null order by change_seq",
                [.text(row.owner), .text(row.id)])
            for photo in photos { _ = try delete(photo, by: origin, allowed: allowed, withTask: true) }
        }
        return row
    }

    /// Takes the texts out of an old tombstone. It stays one.
    func empty(_ old: Row) throws -> Bool {
        var row = old
        let values: [(String, SQLValue)] =
            old.table === Table.tasks
            ? [("title", ""), ("notes", ""), ("path", .null), ("properties", "{}")]
            : [("name", ""), ("object_path", .null)]
        for (column, value) in values { row[column] = value }
        let changes = row.changes(since: old)
        if changes.isEmpty { return false }
        stamp(&row)
        note(changes, from: old, in: &row, by: .plain)
        try keep(row, row.table.update)
        return true
    }

    /// Adds an account, and its profile as the trigger on `auth.users` does.
    func addUser(_ user: User) throws {
        try user.insert(into: store.database)
        var profile = Row(table: .profiles, values: Table.profiles.columns.map { _ in .null })
        profile["id"] = .text(user.id)
        profile["created_at"] = .integer(now)
        _ = try insert(profile)
    }

    /// The photos that the task's deletion took come back, but for those whose object was removed since.
    private func reviveTakenPhotos(of task: Row, by origin: Origin) throws {
        let photos = try store.rows(
            .photos,
            "user_id = ? and task_id = ? and deleted_at is not null and deleted_with_task = 1 order by change_seq",
            [.text(task.owner), .text(task.id)])
        for photo in photos {
            guard let path = photo["object_path"].text, try !isCollected(path, of: task.owner) else { continue }
            _ = try update(photo, to: photo, by: origin, revives: true)
        }
    }

    private func stamp(_ row: inout Row) {
        sequence += 1
        row["updated_at"] = .integer(now)
        row["version"] = .integer(row.version + 1)
        row["change_seq"] = .integer(sequence)
    }

    /// Notes in `changed` when, by which device and in which change these columns changed; an own key for itself, and
    /// `deleted_at` where the row was deleted or revived.
    private func note(_ columns: [Int], from old: Row, in row: inout Row, by origin: Origin) {
        var names: [Text] = []
        for column in columns.map({ old.table.columns[$0] }) {
            if column.type == .jsonb {
                let before = JSON(kept: old[column.name].text!).object ?? [:]
                let after = JSON(kept: row[column.name].text!).object ?? [:]
                for key in Set(before.keys).union(after.keys) where before[key] != after[key] {
                    names.append(Text(column.name + ".") + key)
                }
            } else {
                names.append(Text(column.name))
            }
        }
        if old.isTombstone != row.isTombstone { names.append("deleted_at") }
        func text(_ value: SQLValue) -> JSON { value.text.map { .string(Text($0)) } ?? .null }
        let entry: JSON = [.string(Text(Timestamp.rest(now))), text(origin.device), text(origin.change)]
        var changed = JSON(kept: old["changed"].text!).object ?? [:]
        for name in names { changed[name] = entry }
        row["changed"] = .text(JSON.object(changed).serializedText.string)
    }

    private func keep(_ row: Row, _ sql: String) throws {
        do {
            try store.database.run(sql, row.values)
        } catch {
            guard error.isDuplicate else { throw error }
            throw RestError(
                "23505", "duplicate key value violates unique constraint \"\(error.constraint(of: row.table))\"")
        }
    }
}

extension SQLiteError {
    /// `SQLITE_CONSTRAINT_PRIMARYKEY` or `SQLITE_CONSTRAINT_UNIQUE`.
    fileprivate var isDuplicate: Bool { code == 1555 || code == 2067 }

    /// The constraint's name as PostgreSQL makes it, from the columns that SQLite's message ends with.
    fileprivate func constraint(of table: Table) -> String {
        if code == 1555 || message.hasSuffix(table.name + ".id") { return table.name + "_pkey" }
        let columns = message.split(separator: " ").compactMap { $0.split(separator: ".").last }
            .map { $0.filter { $0 != "," } }.filter { table.positions[$0] != nil }
        return ([table.name] + columns + ["key"]).joined(separator: "_")
    }
}
