import Libraries
import Model
import Reconcile

/// What storing rows of the server found out.
public struct StoredRows: Hashable, Sendable {
    /// The rows that are now in Remote.
    public var stored: Int = 0
    /// Rows of a lower version than Remote has, or of the same version with another change: a late answer, or a server
    /// that was set back. Remote keeps what it had, so that asking a second time says the same.
    public var suspects: [FeedRow] = []
}

/// The Remote tree: the server's rows as last seen, of all tables.
extension Journal {
    /// The server's tasks, tombstones too, without `changed`; those that this `otask` can't read are left out.
    public func remoteTasks() throws -> [ItemID: TaskRow] {
        try wrapped {
            var tasks: [ItemID: TaskRow] = [:]
            try database.forEach("select row from remote where kind = 'tasks'") { row in
                if let task = try Self.task(of: row.value(0)) { tasks[task.id] = task }
            }
            return tasks
        }
    }

    /// Nil where it can't be read as a task. What changed when makes up half of a row, and decides nothing.
    private static func task(of value: SQLValue) throws -> TaskRow? {
        var task = try? TaskRow(json: try json(of: value))
        task?.changed = [:]
        return task
    }

    /// The server's rows of these tasks, those that can be read.
    public func remote(_ ids: some Sequence<ItemID>) throws -> [ItemID: TaskRow] {
        var tasks: [ItemID: TaskRow] = [:]
        for id in ids { tasks[id] = try remoteTask(id) }
        return tasks
    }

    /// The tasks that the server has or had.
    public func remoteIDs() throws -> Set<ItemID> {
        try wrapped { Set(try database.query("select id from remote where kind = 'tasks'").compactMap { $0[0].id }) }
    }

    /// What the server notes of each field of a task: when it was changed last, on which device, in which change.
    public func changed(of id: ItemID) throws -> JSON {
        try wrapped {
            let rows = try database.query("select row from remote where kind = 'tasks' and id = ?", SQLValue(id))
            return try rows.first.flatMap { try Self.json(of: $0[0])["changed"] } ?? [:]
        }
    }

    /// Rows of tasks that this `otask` can't read, and why.
    public func unreadableTasks() throws -> [ItemID: RowError] {
        try wrapped {
            var errors: [ItemID: RowError] = [:]
            let rows = try database.query(
                "select id, row from remote indexed by remote_unreadable where kind = 'tasks' and readable = 0")
            for row in rows {
                guard let id = row[0].id else { continue }
                let json = try Self.json(of: row[1])
                do throws(RowError) { _ = try TaskRow(json: json) } catch { errors[id] = error }
            }
            return errors
        }
    }

    /// The rows of one table: `photos`, `profiles`, or one that this `otask` doesn't know.
    public func remoteRows(of table: Text) throws -> [FeedRow] {
        try wrapped {
            try database.query("select row from remote where kind = ? order by seq", SQLValue(table)).map {
                try Self.row(of: $0[0])
            }
        }
    }

    /// How many live rows one table has; of tasks those that can be read.
    public func liveRows(of table: Text) throws -> Int {
        try wrapped {
            let sql = "select count(*) from remote where kind = ? and deleted = 0 and readable = 1"
            return Int(try database.query(sql, SQLValue(table))[0][0].integer ?? 0)
        }
    }

    /// How many rows Remote has over all tables, and the sum of their `change_seq`, to compare with the last page's.
    public func remoteTotals() throws -> (count: Int64, sum: Text) {
        try wrapped {
            // In two halves: the sum may be beyond 64 bits.
            let row = try database.query(
                """
                select count(*), coalesce(sum(seq / 1000000000), 0), coalesce(sum(seq % 1000000000), 0) from remote
                """)[0]
            let (count, high, low) = (row[0].integer ?? 0, row[1].integer ?? 0, row[2].integer ?? 0)
            let rest = String(low % 1_000_000_000)
            let billions = high + low / 1_000_000_000
            if billions == 0 { return (count, Text(rest)) }
            return (count, Text(String(billions) + String(repeating: "0", count: 9 - rest.utf8.count) + rest))
        }
    }

    /// What both sides say of a task about which they agree, and when the server's row was last changed.
    public func settledTask(_ id: ItemID) throws -> (content: TaskContent, updatedAt: Text?)? {
        try wrapped {
            let rows = try database.query(
                """
                select base, json_extract(row, '$.updated_at') from known join remote on kind = 'tasks' and remote.id = known.id
                where known.id = ?
                """, SQLValue(id))
            guard let row = rows.first, let base = row[0].fields else { return nil }
            return (TaskContent(base), row[1].asText)
        }
    }

    func remoteTask(_ id: ItemID) throws -> TaskRow? {
        try wrapped {
            let rows = try database.query("select row from remote where kind = 'tasks' and id = ?", SQLValue(id))
            guard let row = rows.first else { return nil }
            return try Self.task(of: row[0])
        }
    }

    /// Stores a row by the rule of `StoredRows`; false: a suspect.
    func store(_ row: FeedRow) throws -> Bool {
        try wrapped {
            if let old = try remoteVersion(row.table, row.id) {
                if row.version < old.version { return false }
                if row.version == old.version, try isAnotherChange(row, old.seq) { return false }
            }
            let task = row.table == "tasks" ? try? TaskRow(json: row.json) : nil
            try database.run(
                """
                insert or replace into remote (kind, id, version, seq, deleted, readable, row)
                values (?, ?, ?, ?, ?, ?, ?)
                """,
                SQLValue(row.table), SQLValue(row.id), SQLValue(row.version), SQLValue(row.changeSeq),
                SQLValue(row.deleted), SQLValue(task != nil || row.table != "tasks"), SQLValue(row.json))
            if row.table == "tasks", let known = try known([row.id])[row.id] {
                let settled = Self.isSettled(known, row: task)
                try database.run("update known set settled = ? where id = ?", SQLValue(settled), SQLValue(row.id))
            }
            return true
        }
    }

    /// Whether nothing is to be done about a task as long as its file at `place` is the one of `cleanDigest`: the server's
    /// row is live and says in every field what the base says, and the file lies where the row says.
    static func isSettled(_ task: KnownTask, row: TaskRow?) -> Bool {
        guard let base = task.base, let row, row.deletedAt == nil, let path = row.path else { return false }
        return task.place == path && Names.isSafe(path) && !task.isMoved && task.frozen == nil
            && base.unagreed.isEmpty && base.values == row.fields
    }

    private func remoteVersion(_ table: Text, _ id: ItemID) throws -> (version: Int64, seq: Int64)? {
        let rows = try database.query(
            "select version, seq from remote where kind = ? and id = ?", SQLValue(table), SQLValue(id))
        guard let row = rows.first, let version = row[0].integer, let seq = row[1].integer else { return nil }
        return (version, seq)
    }

    /// Whether a row of the version that Remote has comes from another change: another number, or other bookkeeping.
    private func isAnotherChange(_ row: FeedRow, _ seq: Int64) throws -> Bool {
        if row.changeSeq != seq { return true }
        let stored = try database.query(
            "select row from remote where kind = ? and id = ?", SQLValue(row.table), SQLValue(row.id))
        return try Self.json(of: stored[0][0])["changed"] != row.json["changed"]
    }

    private static func json(of value: SQLValue) throws -> JSON {
        guard let json = value.json else { throw UnreadableRow(reason: "a row of remote can't be read") }
        return json
    }

    private static func row(of value: SQLValue) throws -> FeedRow {
        do { return try FeedRow(json: json(of: value)) } catch let error as RowError {
            throw UnreadableRow(reason: "a row of remote: \(Text(error.description))")
        }
    }
}
