import Model
import PostgreSQL

/// A database of a test's own; it goes with the server.
final class Database: Sendable {
    let cluster: Cluster
    let name: String

    init(cluster: Cluster, name: String) {
        self.cluster = cluster
        self.name = name
    }

    func connect(as role: String) throws -> Connection { try cluster.connect(name, as: role) }

    /// Makes an account as the Auth server does; answers its id.
    @discardableResult
    func addUser(_ name: String) throws -> String {
        let auth = try connect(as: "supabase_admin")
        let sql = "insert into auth.users (id, email) values (gen_random_uuid(), $1) returning id"
        return try auth.transaction {
            try auth.run("set local role supabase_auth_admin")
            return try auth.run(sql, "\(name)@example.com").first!
        }
    }

    /// A connection as PostgREST opens one, for requests of the user `id`; nil: without a session.
    func client(_ id: String?) throws -> Client { Client(try connect(as: "authenticator"), user: id) }
}

/// A client's way to the database: each request is a transaction with the caller's role and claims, as PostgREST runs
/// it.
final class Client {
    let connection: Connection
    let user: String?

    init(_ connection: Connection, user: String?) {
        self.connection = connection
        self.user = user
    }

    /// Runs `body` as one request.
    func request<Result>(readOnly: Bool = false, _ body: (Connection) throws -> Result) throws -> Result {
        try connection.transaction {
            try connection.run("set transaction \(readOnly ? "read only" : "read write")")
            let role = user == nil ? "anon" : "authenticated"
            var claims: [Text: JSON] = ["role": .string(Text(role))]
            if let user { claims["sub"] = .string(Text(user)) }
            try connection.run(
                """
                select set_config('role', $1, true), set_config('request.jwt.claims', $2, true),
                    set_config('search_path', '"public", "public", "extensions"', true)
                """, role, JSON.object(claims).serializedText.string)
            return try body(connection)
        }
    }

    /// Runs one statement as one request.
    @discardableResult
    func run(_ sql: String, _ parameters: String?...) throws -> Answer {
        try request { try $0.run(sql, parameters: parameters) }
    }

    /// `push_changes` with these changes; its answer, a list.
    @discardableResult
    func push(_ changes: [JSON]) throws -> [JSON] {
        let text = JSON.array(changes).serializedText.string
        return try JSON(parsing: Text(run("select public.push_changes($1)", text).first!)).array!
    }

    /// `pull_changes` after `cursor`; one page.
    func pull(since cursor: Int64, maxRows: Int = 1_000) throws -> JSON {
        try request(readOnly: true) {
            let sql = "select public.pull_changes(since => $1, max_rows => $2)"
            return try JSON(parsing: Text($0.run(sql, String(cursor), String(maxRows)).first!))
        }
    }
}
