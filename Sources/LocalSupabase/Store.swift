import Libraries
import Model

/// The database: tables, rows as they are kept, and transactions. What a write does beyond keeping the row is in
/// `Write`.
final class Store: Sendable {
    let database: SQLite

    init(directory: String?) throws {
        if let directory {
            try PrivateFile.makeDirectory(directory)
            database = try SQLite(path: Self.file(in: directory))
            try database.execute("pragma journal_mode = wal; pragma synchronous = normal")
        } else {
            database = try SQLite(path: ":memory:")
        }
        try database.transaction { try database.execute(Store.schema) }
    }

    static func file(in directory: String) -> String { directory + "/server.sqlite" }

    /// Tables of this server's own; `restore` goes through them.
    static let names = [
        "meta", "users", "sessions", "refresh_tokens", "tasks", "photos", "profiles", "applied_changes",
        "released_objects",
    ]

    private static let schema = """
        create table if not exists meta (key text primary key, value) without rowid;
        create table if not exists users (
            id text primary key, email text unique, salt blob, password blob, identity_id text, metadata text not null,
            created_at integer not null, updated_at integer not null, last_sign_in_at integer not null);
        create table if not exists sessions (
            id text primary key, user_id text not null, method text not null, created_at integer not null);
        create index if not exists sessions_of_user on sessions (user_id);
        create table if not exists refresh_tokens (
            token text primary key, session_id text not null, parent text, created_at integer not null,
            used_at integer);
        create index if not exists refresh_tokens_of_session on refresh_tokens (session_id);
        create table if not exists tasks (
            id text primary key, user_id text not null, title text not null, notes text not null,
            done integer not null, path text, properties text not null, created_at integer not null,
            updated_at integer, deleted_at integer, version integer, change_seq integer, allowed integer,
            changed text);
        create unique index if not exists tasks_feed on tasks (user_id, change_seq);
        create table if not exists photos (
            id text primary key, user_id text not null, task_id text not null, name text not null, object_path text,
            bytes integer, content_type text, sha256 text, deleted_with_task integer, created_at integer not null,
            updated_at integer, deleted_at integer, version integer, change_seq integer, allowed integer,
            changed text, unique (user_id, object_path));
        create unique index if not exists photos_feed on photos (user_id, change_seq);
        create index if not exists photos_of_task on photos (task_id);
        create table if not exists profiles (
            id text primary key, username text unique, full_name text, website text, avatar_url text,
            created_at integer not null, updated_at integer, deleted_at integer, version integer, change_seq integer,
            allowed integer, changed text);
        create table if not exists applied_changes (
            user_id text not null, change_id text not null, id text not null, version integer not null,
            applied_at integer not null, primary key (user_id, change_id)) without rowid;
        create table if not exists released_objects (
            user_id text not null, path text not null, sha256 text, bytes integer, released_at integer not null,
            collected_at integer, primary key (user_id, path)) without rowid;
        """

    /// Runs `body` in one transaction that only reads: all its queries see one state.
    func read<Result>(_ body: () throws -> Result) throws -> Result {
        try database.run("begin")
        defer { _ = try? database.run("commit") }
        return try body()
    }

    /// Runs `body` in one transaction that writes for `user`. Writers of all processes take turns, so the order of
    /// `change_seq` is the order of commits.
    func write<Result>(user: String, now: Int64, _ body: (Write) throws -> Result) throws -> Result {
        try database.transaction {
            let write = Write(store: self, user: user, now: now, sequence: try lastSequence())
            let result = try body(write)
            try setMeta("change_seq", .integer(write.sequence))
            return result
        }
    }

    /// The row of this id, whoever owns it.
    func row(_ table: Table, id: String) throws -> Row? {
        try database.query(table.selectByID, .text(id)).first.map { Row(table: table, values: $0) }
    }

    /// Rows by a condition of our own, in its order.
    func rows(_ table: Table, _ condition: String, _ values: [SQLValue]) throws -> [Row] {
        try database.query("select \(table.list) from \(table.name) where \(condition)", values)
            .map { Row(table: table, values: $0) }
    }

    func meta(_ key: String) throws -> SQLValue? {
        try database.query("select value from meta where key = ?", .text(key)).first?[0]
    }

    func setMeta(_ key: String, _ value: SQLValue) throws {
        try database.run("insert or replace into meta values (?, ?)", .text(key), value)
    }

    private func lastSequence() throws -> Int64 { try meta("change_seq")?.integer ?? 0 }
}

extension Store {
    /// Makes keys and the demo account, where the database is new. The publishable key.
    func prepare(demo: LocalSupabase.Account, now: Int64, random: RandomSource) throws -> String {
        if let key = try meta("publishable_key")?.text { return key }
        let salt = random.bytes(16)
        let password = Password.derive(demo.password, salt: salt)
        return try write(user: "", now: now) { write in
            // Another process may have been faster.
            if let key = try meta("publishable_key")?.text { return key }
            let key = "sb_publishable_\(random.letters(22))_\(random.letters(8))"
            try setMeta("publishable_key", .text(key))
            try setMeta("jwt_secret", .blob(random.bytes(32)))
            let user = User(
                id: random.newID(), email: demo.email, salt: salt, password: password, identity: random.newID(),
                metadata: [:], createdAt: now, updatedAt: now, lastSignInAt: now)
            try write.addUser(user)
            return key
        }
    }

    func deleteUser(_ id: String) throws {
        try database.transaction {
            try database.run(
                "delete from refresh_tokens where session_id in (select id from sessions where user_id = ?)", .text(id))
            for table in ["sessions", "tasks", "photos", "applied_changes", "released_objects"] {
                try database.run("delete from \(table) where user_id = ?", .text(id))
            }
            for table in ["profiles", "users"] { try database.run("delete from \(table) where id = ?", .text(id)) }
        }
    }

    func backUp(to path: String) throws {
        try database.run("vacuum into ?", .text(path))
    }

    func restore(from path: String) throws {
        try database.run("attach ? as backup", .text(path))
        defer { _ = try? database.run("detach backup") }
        try database.transaction {
            for name in Store.names {
                try database.run("delete from main.\(name)")
                try database.run("insert into main.\(name) select * from backup.\(name)")
            }
        }
    }
}
