import Libraries
import Model

/// `push_changes`: applies each change in a savepoint of its own and answers in order (sync.md, *The feed*).
struct Push {
    let write: Write
    /// Versions of the items that changes *applied in this call* left behind. A repeat is not among them: another
    /// writer may have been in between.
    private var versions: [ItemID: Int64] = [:]
    /// Items whose last change in this call was not applied.
    private var failed: Set<ItemID> = []

    init(write: Write) { self.write = write }

    /// The answer, as JSON.
    static func run(_ changes: JSON?, store: Store, user: String, now: Int64) throws -> [UInt8] {
        guard let changes = changes?.array else { throw RestError("22023", "changes must be an array") }
        return try store.write(user: user, now: now) { write in
            try write.requireProfile()
            var push = Push(write: write)
            var out: [UInt8] = [UInt8(ascii: "[")]
            for (index, change) in changes.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                try push.answer(change, into: &out)
            }
            out.append(UInt8(ascii: "]"))
            return out
        }
    }

    private enum Outcome {
        case applied(Row?)
        case conflict(Row?, RestError?)
        case refused(RestError)
        case held
    }

    private mutating func answer(_ json: JSON, into out: inout [UInt8]) throws {
        let outcome = try outcome(of: json)
        func text(_ text: String?) -> [UInt8] { (text.map { JSON.string(Text($0)) } ?? .null).serialized }
        var status: String
        var error: RestError?
        var row: Row?
        switch outcome {
        case .applied(let now): (status, row) = ("applied", now)
        case .conflict(let now, let reason): (status, row, error) = ("conflict", now, reason)
        case .refused(let reason): (status, error) = ("refused", reason)
        case .held: status = "held"
        }
        out.append(contentsOf: "{\"change_id\":".utf8)
        out.append(contentsOf: (json["change_id"] ?? .null).serialized)
        out.append(contentsOf: ",\"status\":\"\(status)\",\"code\":".utf8)
        out.append(contentsOf: text(error?.code))
        out.append(contentsOf: ",\"message\":".utf8)
        out.append(contentsOf: text(error?.message))
        out.append(contentsOf: ",\"row\":".utf8)
        if let row { row.write(into: &out) } else { out.append(contentsOf: "null".utf8) }
        out.append(UInt8(ascii: "}"))
    }

    /// Applies one change, or finds out why not; then nothing of it is left.
    private mutating func outcome(of json: JSON) throws -> Outcome {
        let database = write.store.database
        try database.run("savepoint change")
        do {
            let outcome = try outcome(of: PushedChange(json))
            try database.run("release change")
            return outcome
        } catch let error as RestError where error.concernsOneChange {
            try database.run("rollback to change")
            try database.run("release change")
            if let id = json["id"]?.text.flatMap({ ItemID($0) }) { failed.insert(id) }
            return error.code.hasPrefix("OT") ? .conflict(try row(named: json), error) : .refused(error)
        }
    }

    private mutating func outcome(of change: PushedChange) throws -> Outcome {
        if let row = try repeated(change) { return .applied(row) }
        let outcome = try apply(change)
        try remember(change, outcome)
        return outcome
    }

    /// The row as it now stands of a change that was applied before.
    private func repeated(_ change: PushedChange) throws -> Row? {
        let applied = try write.store.database.query(
            "select id from applied_changes where user_id = ? and change_id = ?", .text(write.user),
            .text(change.changeID.description))
        guard let id = applied.first?[0].text else { return nil }
        return try write.store.row(change.table, id: id)
    }

    private mutating func remember(_ change: PushedChange, _ outcome: Outcome) throws {
        guard case .applied(let row?) = outcome else {
            failed.insert(change.id)
            return
        }
        failed.remove(change.id)
        versions[change.id] = row.version
        try write.store.database.run(
            "insert into applied_changes values (?, ?, ?, ?, ?)", .text(write.user),
            .text(change.changeID.description), .text(row.id), .integer(row.version), .integer(write.now))
    }

    /// The caller's row that a change names.
    private func row(named json: JSON) throws -> Row? {
        guard let table = json["table"]?.text.flatMap({ Table.named($0.string) }),
            let id = json["id"]?.text.flatMap({ ItemID($0) })
        else { return nil }
        return try write.store.row(table, id: id.description).flatMap { $0.owner == write.user ? $0 : nil }
    }

    private func apply(_ change: PushedChange) throws -> Outcome {
        let found = try write.store.row(change.table, id: change.id.description)
        let row = found.flatMap { $0.owner == write.user ? $0 : nil }
        let base = versions[change.id] ?? change.baseVersion
        if change.table === Table.photos, case .upsert = change.operation {
            let task = try change.values.first { $0.column == "task_id" }?.value() ?? row?["task_id"]
            if let task = task?.text.flatMap({ ItemID($0) }), failed.contains(task) { return .held }
        }
        guard let base else {
            if found != nil, row == nil { throw RestError("23505", "the id is taken") }
            if row != nil { return .conflict(row, nil) }
            guard case .upsert = change.operation else { return .conflict(nil, nil) }
            return .applied(try write.insert(change.newRow(user: write.user, now: write.now)))
        }
        guard let row, row.version == base else { return .conflict(row, nil) }
        switch change.operation {
        case .upsert:
            let revived = try write.update(row, to: change.applied(to: row), by: change.origin, revives: true)
            return .applied(revived)
        case .delete(let allowed, let seen):
            return try delete(row, change, allowed: allowed, seen: seen)
        }
    }

    private func delete(_ row: Row, _ change: PushedChange, allowed: Bool, seen: Int64?) throws -> Outcome {
        if row.table === Table.profiles {
            throw RestError("42501", "a profile can't be deleted")
        }
        if row.isTombstone { return .applied(row) }
        if row.table === Table.tasks, let seen {
            let newer = try write.store.database.query(
                "select 1 from photos where user_id = ? and task_id = ? and deleted_at is null and change_seq > ?",
                .text(row.owner), .text(row.id), .integer(seen))
            if !newer.isEmpty { return .conflict(row, nil) }
        }
        return .applied(try write.delete(row, by: change.origin, allowed: allowed))
    }
}

extension Write {
    /// A token outlives its account; without this every change of a deleted account would look refused.
    func requireProfile() throws { try store.requireProfile(of: user) }
}

extension Store {
    func requireProfile(of user: String) throws {
        if try database.query("select 1 from profiles where id = ?", .text(user)).isEmpty {
            throw RestError("OT003", "the account is gone")
        }
    }
}
