import Libraries
import Model

/// The functions under `/rest/v1/rpc` (server.md, *Functions*).
struct Functions {
    let store: Store
    let user: String
    let now: Int64

    static let schemaVersion = 1

    /// What a function is called with, and whether it writes.
    struct Signature {
        let name: String
        var required: [Text] = []
        var optional: [Text] = []
        var writes = false
        let run: @Sendable (Functions, [Text: JSON]) throws -> [UInt8]
    }

    static let all: [Signature] = [
        Signature(name: "pull_changes", required: ["since"], optional: ["max_rows", "max_bytes", "in_flight"]) {
            try Pull($1).run(store: $0.store, user: $0.user, now: $0.now)
        },
        Signature(name: "push_changes", required: ["changes"], writes: true) {
            try Push.run($1["changes"], store: $0.store, user: $0.user, now: $0.now)
        },
        Signature(name: "mark_all_done", writes: true) { functions, _ in try functions.markAllDone().serialized },
        Signature(name: "task_counts") { functions, _ in try functions.counts().serialized },
        Signature(name: "otask_schema_version") { _, _ in JSON.integer(schemaVersion).serialized },
        Signature(name: "collect_released", required: ["max"], writes: true) {
            try $0.collectReleased($1["max"]).serialized
        },
        // For the database's own job alone: nobody who signs in may run it.
        Signature(name: "purge_tombstones", writes: true) { _, _ in
            throw RestError("42501", "permission denied for function purge_tombstones")
        },
    ]

    /// The function that takes just these arguments.
    static func named(_ name: String, arguments: Set<Text>) throws(RestError) -> Signature {
        if let found = all.first(where: { $0.name == name }), arguments.isSuperset(of: found.required),
            arguments.isSubset(of: found.required + found.optional)
        {
            return found
        }
        let names = arguments.sorted().map(\.string).joined(separator: ", ")
        let given = arguments.isEmpty ? "without parameters" : "with parameters \(names)"
        let signature = arguments.isEmpty ? " without parameters" : "(\(names))"
        throw RestError(
            "PGRST202", "Could not find the function public.\(name)\(signature) in the schema cache",
            details: "Searched for the function public.\(name) \(given) or with a single unnamed json/jsonb parameter,"
                + " but no matches were found in the schema cache.")
    }

    /// Ticks every open task; how many there were. For clients without files.
    private func markAllDone() throws -> JSON {
        try store.write(user: user, now: now) { write in
            let open = try store.rows(
                .tasks, "user_id = ? and deleted_at is null and done = 0 order by change_seq", [.text(user)])
            for row in open {
                var done = row
                done["done"] = 1
                _ = try write.update(row, to: done, by: .plain)
            }
            return .integer(open.count)
        }
    }

    private func counts() throws -> JSON {
        let counts = try store.database.query(
            """
            select (select count(*) from tasks where user_id = ?1 and deleted_at is null and done = 0),
                (select count(*) from tasks where user_id = ?1 and deleted_at is null and done = 1),
                (select count(*) from photos where user_id = ?1 and deleted_at is null),
                (select ifnull(sum(bytes), 0) from photos where user_id = ?1 and deleted_at is null)
            """, .text(user))[0].map { JSON.integer($0.integer!) }
        return ["open": counts[0], "done": counts[1], "photos": counts[2], "bytes": counts[3]]
    }

    /// The paths of objects that were let go 30 days ago and that no live row names: the caller removes them. They
    /// stay marked, so that no row ever names one again (photos.md).
    private func collectReleased(_ max: JSON?) throws -> JSON {
        let limit = try ColumnType.bigint.value(of: max ?? .null)
        return try store.write(user: user, now: now) { _ in
            let paths = try store.database.query(
                """
                update released_objects set collected_at = ?1 where user_id = ?2 and path in (
                    select path from released_objects where user_id = ?2 and collected_at is null
                        and released_at < ?3 and path not in (
                            select object_path from photos where user_id = ?2 and deleted_at is null
                                and object_path is not null)
                        order by released_at limit ifnull(?4, -1))
                returning path
                """, .integer(now), .text(user), .integer(now - Store.days(30)), limit)
            return .array(paths.map { .string(Text($0[0].text!)) })
        }
    }
}

extension Store {
    /// That many days in microseconds.
    static func days(_ days: Int64) -> Int64 { days * 86_400_000_000 }

    /// Takes the texts out of tombstones older than 180 days, and forgets changes that were applied before that.
    func purgeTombstones(now: Int64) throws -> Int {
        let before = now - Store.days(180)
        return try write(user: "", now: now) { write in
            try database.run("delete from applied_changes where applied_at < ?", .integer(before))
            let old = try [Table.tasks, .photos].flatMap {
                try rows($0, "deleted_at < ? order by change_seq", [.integer(before)])
            }
            return try old.filter { try write.empty($0) }.count
        }
    }
}
