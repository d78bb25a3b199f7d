import Libraries
import Model

/// What a row must be. Limits hold for the columns that a write changes: a row that was there before a limit stays.
extension Write {
    func checkNulls(_ row: Row) throws {
        for position in row.table.content where row.values[position].isNull && !row.table.columns[position].nullable {
            throw RestError(
                "23502",
                "null value in column \"\(row.table.columns[position].name)\" of relation \"\(row.table.name)\""
                    + " violates not-null constraint")
        }
    }

    func checkLimits(_ row: Row, of columns: [Int]) throws {
        for position in columns {
            guard let text = row.values[position].text else { continue }
            let name = row.table.columns[position].name
            if let broken = brokenLimit(of: name, text, in: row) { throw RestError("23514", broken) }
        }
        if row.table === Table.photos, row["object_path"].isNull {
            throw RestError("23514", "object_path is missing")
        }
    }

    /// Says which limit the text breaks; nil for a text that fits.
    private func brokenLimit(of column: String, _ text: String, in row: Row) -> String? {
        switch column {
        case "title":
            if text.utf8.isEmpty { return "title is empty" }
            if text.unicodeScalars.count > 500 { return "title is longer than 500 characters" }
            if text.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) { return "title has more than one line" }
            let ends = [text.utf8.first, text.utf8.last]
            if ends.contains(where: { $0 == 0x20 || $0 == 0x09 }) { return "title begins or ends with a blank" }
        case "notes":
            if text.utf8.count > 1_000_000 { return "notes are longer than 1000000 bytes" }
        case "path":
            if text.utf8.count > 1024 { return "path is longer than 1024 bytes" }
        case "properties":
            return brokenLimit(ofProperties: text)
        case "name":
            if text.utf8.isEmpty { return "name is empty" }
            if text.utf8.count > 255 { return "name is longer than 255 bytes" }
        case "object_path":
            if !text.hasPrefix(row.owner + "/") { return "object_path does not begin with the user's id" }
        case "username":
            if text.unicodeScalars.count < 3 { return "username is shorter than 3 characters" }
        default: break
        }
        return nil
    }

    private func brokenLimit(ofProperties text: String) -> String? {
        let properties = JSON(kept: text)
        guard let members = properties.object else { return "properties must be an object" }
        if text.utf8.count > 65_536 { return "properties are larger than 64 KiB" }
        if properties.depth > 32 { return "properties are nested deeper than 32 levels" }
        for key: Text in ["id", "done", "title"] where members[key] != nil {
            return "properties can't have the key \(key)"
        }
        return nil
    }

    /// Foreign keys to `auth.users`.
    func checkOwner(_ row: Row) throws {
        if try store.database.query("select 1 from users where id = ?", .text(row.owner)).isEmpty {
            throw RestError.foreignKey(row.table, row.table.owner)
        }
    }

    /// What holds between rows, checked and kept up once a row is written.
    func after(_ old: Row?, _ new: Row) throws {
        guard new.table === Table.photos else { return }
        if !new.isTombstone {
            let task = try store.row(.tasks, id: new["task_id"].text!)
            guard let task, task.owner == new.owner else { throw RestError.foreignKey(.photos, "task_id") }
            if task.isTombstone { throw RestError("OT001", "the task of this photo is deleted") }
        }
        let before = old.flatMap { $0.isTombstone ? nil : $0["object_path"].text }
        let after = new.isTombstone ? nil : new["object_path"].text
        if before == after { return }
        if let before {
            try store.database.run(
                "insert or replace into released_objects values (?, ?, ?, ?, ?, null)", .text(new.owner),
                .text(before), old!["sha256"], old!["bytes"], .integer(now))
        }
        if let after {
            if try isCollected(after, of: new.owner) {
                throw RestError("OT002", "the object \(after) was removed; upload it under a new path")
            }
            try store.database.run(
                "delete from released_objects where user_id = ? and path = ?", .text(new.owner), .text(after))
        }
    }

    /// Whether the object of this path was handed out for removal.
    func isCollected(_ path: String, of owner: String) throws -> Bool {
        try !store.database.query(
            "select 1 from released_objects where user_id = ? and path = ? and collected_at is not null",
            .text(owner), .text(path)
        ).isEmpty
    }
}

extension RestError {
    static func foreignKey(_ table: Table, _ column: String) -> RestError {
        RestError(
            "23503",
            "insert or update on table \"\(table.name)\" violates foreign key constraint"
                + " \"\(table.name)_\(column)_fkey\"")
    }

    static func rowSecurity(_ table: Table, using: Bool = false) -> RestError {
        let clause = using ? " (USING expression)" : ""
        return RestError("42501", "new row violates row-level security policy\(clause) for table \"\(table.name)\"")
    }
}
