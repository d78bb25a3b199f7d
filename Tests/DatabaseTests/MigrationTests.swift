import Model
import PostgreSQL
import Testing

@Suite("The migration")
struct MigrationTests {
    static let ann = "11111111-1111-4111-8111-111111111111"
    static let bob = "22222222-2222-4222-8222-222222222222"

    static let tutorial = Template("tutorial", on: .empty) { connect in
        try connect("postgres").script(try readFile("Tests/Database/tutorial.sql"))
    }
    static let phone = Template("phone", on: .empty) { connect in
        try connect("postgres").script(try readFile("Tests/Database/phone.sql"))
    }
    static let oldDefaults = Template("old_defaults", on: .empty) { connect in
        try connect("postgres").script(try readFile("Tests/Database/old_defaults.sql"))
    }

    private func migrated(_ template: Template) throws -> Database {
        let database = try Cluster.shared().makeDatabase(template)
        try migrate(database.connect(as: "postgres"))
        return database
    }

    @Test("a second run changes nothing", arguments: [Template.empty, tutorial, phone, oldDefaults])
    func twice(_ template: Template) throws {
        let database = try migrated(template)
        let admin = try database.connect(as: "supabase_admin")
        let before = try Self.picture(admin)
        try migrate(database.connect(as: "postgres"))
        #expect(try Self.picture(admin) == before)
        #expect(before.count > 100)
    }

    @Test("the rights are the same whatever a project grants by default")
    func defaults() throws {
        let rights = """
            select 'table', relname, coalesce(array(select a::text from unnest(relacl) a order by 1)::text, '') from pg_class where relnamespace = 'public'::regnamespace
                and relkind in ('r', 'S') and relname not in ('log')
            union all select 'function', proname, has_function_privilege('anon', oid, 'execute')::text from pg_proc
            where pronamespace in ('public'::regnamespace, 'otask'::regnamespace) order by 1, 2, 3
            """
        let plain = try migrated(.empty).connect(as: "postgres")
        let old = try migrated(Self.oldDefaults).connect(as: "postgres")
        let granted = try old.run(rights).rows
        #expect(granted.allSatisfy { $0[2].text?.contains("anon") == false && $0[2].text != "true" })
        #expect(try plain.run(rights).rows == granted)
    }

    @Test("a project that followed the tutorial keeps its profiles, and its calls go on working")
    func tutorialProject() throws {
        let database = try migrated(Self.tutorial)
        let ann = try database.client(Self.ann)
        let columns = "id, username, website, avatar_url, full_name"
        #expect(try ann.run("select \(columns) from public.profiles where id = $1", Self.ann).rows[0][4].text == "Ann")
        try ann.run(
            """
            insert into public.profiles (id, username, website, updated_at) values ($1, 'ann', 'https://a.example', now())
            on conflict (id) do update set username = excluded.username, website = excluded.website,
                updated_at = excluded.updated_at
            """, Self.ann)
        try ann.run("update public.profiles set full_name = 'Ann B.' where id = $1", Self.ann)
        #expect(
            try ann.run("select username, full_name from public.profiles").rows.map { $0.map(\.text) }
                == [["ann", "Ann B."]])
        try ann.run(
            "insert into storage.objects (bucket_id, name, owner, owner_id) values ('avatars', '0.5.png', $1, $2)",
            Self.ann, Self.ann)
        #expect(try ann.run("select name from storage.objects").count == 1)

        // Everybody saw everything before.
        let bob = try database.client(Self.bob)
        #expect(try bob.run("select full_name from public.profiles").rows.map { $0[0].text } == ["Bob"])
        #expect(try bob.run("select name from storage.objects").count == 0)
        #expect(throws: PostgreSQLError.self) { try database.client(nil).run("select * from public.profiles") }

        let carl = try database.addUser("carl")
        #expect(try database.client(carl).run("select id from public.profiles").rows.map { $0[0].text } == [carl])
        #expect(try database.client(carl).pull(since: 0)["total"] == 1)
        try database.client(carl).push([Self.insert("t", change: 1)])
        #expect(try ann.pull(since: 0)["total"] == 1)
    }

    @Test("a phone's tasks stay as they are, and both users see and edit only their own")
    func phoneProject() throws {
        let database = try migrated(Self.phone)
        let admin = try database.connect(as: "supabase_admin")
        #expect(try admin.run("select count(*) from public.log").first == "0")
        let rows = "select title, notes, done, version, deleted_at from public.tasks order by id"
        #expect(
            try admin.run(rows).rows.map { $0.map(\.text) } == [
                ["Buy milk", "", "f", "1", nil], ["", "no title", "f", "1", nil],
                [" padded ", "of bob", "t", "1", nil],
                ["of nobody", "", "f", "1", nil],
            ])
        let (ann, bob) = (try database.client(Self.ann), try database.client(Self.bob))
        #expect(
            try ann.run("select title from public.tasks order by title").rows.map { $0[0].text } == ["", "Buy milk"])
        #expect(try bob.run("select title from public.tasks").rows.map { $0[0].text } == [" padded "])
        #expect(try ann.pull(since: 0)["rows"]!.array!.count == 4)
        #expect(try bob.pull(since: 0)["rows"]!.array!.count == 2)

        // A misfit can be ticked; the app's own column moves no version.
        #expect(try bob.run("update public.tasks set done = false where title = ' padded '").count == 1)
        #expect(
            try ann.run("update public.tasks set priority = 3 where title = 'Buy milk' returning version").first == "1")
        #expect(
            try ann.run("update public.tasks set notes = 'x' where title = 'Buy milk' returning version").first == "2")
        #expect(try ann.run("update public.tasks set notes = 'x' where title = ' padded '").count == 0)

        // The owner's account can go, with what belongs to it.
        try database.connect(as: "postgres").run("delete from auth.users where id = $1", Self.ann)
        #expect(try admin.run("select count(*) from public.tasks").first == "2")
    }

    @Test("a phone app that knows nothing of tombstones never shows or revives a deleted task")
    func phoneApp() throws {
        let database = try migrated(Self.phone)
        let ann = try database.client(Self.ann)
        let (milk, other) = ("aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002")
        try ann.run("insert into public.tasks (title) values ('new'), ('newer')")
        // The whole row as the app once read it, sent back by a merge.
        let stale = """
            insert into public.tasks (id, user_id, title, notes, done, priority, created_at, updated_at, deleted_at)
            values ($1, $2, 'Buy milk', '', false, 1, '2020-01-01', '2020-01-01', null)
            on conflict (id) do update set user_id = excluded.user_id, title = excluded.title, notes = excluded.notes,
                done = excluded.done, priority = excluded.priority, created_at = excluded.created_at,
                updated_at = excluded.updated_at, deleted_at = excluded.deleted_at
            """
        #expect(try ann.run(stale, milk, Self.ann).count == 1)
        #expect(try ann.run("delete from public.tasks where id = $1", milk).count == 0)
        let open = "select title from public.tasks where not done order by title"
        #expect(try ann.run(open).rows.map { $0[0].text } == ["", "new", "newer"])
        #expect(try ann.run("select name from public.photos").count == 0)
        #expect(try ann.run("update public.tasks set done = true where id = $1", milk).count == 0)
        #expect(try ann.run("update public.tasks set done = true where done = false").count == 3)
        try ann.run(stale, milk, Self.ann)
        try ann.run("delete from public.tasks where title like 'new%'")
        #expect(try ann.run("select id from public.tasks").rows.map { $0[0].text } == [other])
        let deleted = try ann.pull(since: 0)["rows"]!.array!.filter { $0["deleted_at"]?.isNull == false }
        #expect(deleted.count == 4)
    }

    @Test("it stops where a column has another type, and changes nothing")
    func misfit() throws {
        let database = try Cluster.shared().makeDatabase(.empty)
        let owner = try database.connect(as: "postgres")
        try owner.run("create table public.tasks (id uuid primary key, user_id uuid, title text, done integer)")
        let error = #expect(throws: PostgreSQLError.self) { try migrate(owner) }
        #expect(
            error?.message
                == "public.tasks.done is integer, otask needs boolean: rename it or change its type, then run this again"
        )
        try owner.run("rollback")
        #expect(
            try owner.run("select to_regclass('public.photos'), to_regnamespace('otask')").rows[0].allSatisfy(\.isNull))
    }

    static func insert(_ title: String, change: Int) -> JSON {
        let number = String(1_000_000_000_000 + change).dropFirst()
        return [
            "change_id": .string(Text("c0000000-0000-4000-8000-\(number)")), "table": "tasks", "op": "upsert",
            "id": .string(Text("a0000000-0000-4000-8000-\(number)")), "base_version": nil, "device": "laptop",
            "fields": ["title": .string(Text(title))],
        ]
    }

    /// Everything that the migration could change: definitions, rights and rows.
    private static func picture(_ connection: Connection) throws -> [String] {
        try connection.run(
            """
            select 'column ' || attrelid::regclass || ' ' || attname || ' ' || format_type(atttypid, atttypmod) || attnotnull
                || coalesce(pg_get_expr(adbin, adrelid), '')
            from pg_attribute join pg_class c on c.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
            where relnamespace in ('public'::regnamespace, 'otask'::regnamespace) and attnum > 0
            union all select 'table ' || relname || relrowsecurity || coalesce(array(select a::text from unnest(relacl) a order by 1)::text, '') from pg_class
            where relnamespace in ('public'::regnamespace, 'otask'::regnamespace)
            union all select 'constraint ' || conrelid::regclass || conname || pg_get_constraintdef(oid) from pg_constraint
            where connamespace in ('public'::regnamespace, 'otask'::regnamespace)
            union all select 'trigger ' || pg_get_triggerdef(oid) || tgenabled::text from pg_trigger where not tgisinternal
            union all select 'policy ' || to_json(p) from pg_policies p
            union all select 'function ' || pg_get_functiondef(oid) || coalesce(array(select a::text from unnest(proacl) a order by 1)::text, '') from pg_proc
            where pronamespace in ('public'::regnamespace, 'otask'::regnamespace)
            union all select 'publication ' || tablename from pg_publication_tables
            union all select 'row ' || to_json(t) from public.tasks t union all select 'row ' || to_json(p) from public.photos p
            union all select 'row ' || to_json(p) from public.profiles p union all select 'row ' || to_json(b) from storage.buckets b
            union all select 'row ' || to_json(s) from otask.settings s order by 1
            """
        ).rows.map { $0[0].text! }
    }
}

extension Template: CustomStringConvertible {
    var description: String { name }
}
