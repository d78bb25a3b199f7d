import Libraries
import PostgreSQL

/// A PostgreSQL server of the test process's own, started with the first test that wants it and gone with the process.
final class Cluster: Sendable {
    private static let started = Result { try Cluster() }

    /// The folder of the server's socket.
    let folder: String
    private let state = Mutex(State())

    private struct State {
        var templates: [String: Result<Void, any Error>] = [:]
        var databases = 0
        var idle: [Database] = []
    }

    /// The one server of this process.
    static func shared() throws -> Cluster { try started.get() }

    private init() throws {
        let child = try Child(projectPath("Tests/Database/cluster.sh"))
        guard let folder = child.firstLine else { throw ClusterError() }
        self.folder = folder
    }

    func connect(_ database: String, as role: String) throws -> Connection {
        try Connection(["host": folder, "dbname": database, "user": role])
    }

    /// A new database that holds what `template` says. Each template is made once.
    func makeDatabase(_ template: Template = .project) throws -> Database {
        let admin = try connect("postgres", as: "supabase_admin")
        let name = try state.withLock { state in
            try prepare(template, &state, admin)
            state.databases += 1
            return "test_\(state.databases)"
        }
        try admin.run("create database \(name) owner postgres template \(template.name)")
        return Database(cluster: self, name: name)
    }

    /// A database with the migrations and without a user: one that was given back, or a new one.
    func lendDatabase() throws -> Database {
        let idle = state.withLock { $0.idle.popLast() }
        return try idle ?? makeDatabase()
    }

    fileprivate func takeBack(_ database: Database) { state.withLock { $0.idle.append(database) } }

    private func prepare(_ template: Template, _ state: inout State, _ admin: Connection) throws {
        if let made = state.templates[template.name] { return try made.get() }
        if let base = template.base { try prepare(base, &state, admin) }
        let made = Result {
            // The role `postgres` comes with the first template.
            let source = template.base.map { " owner postgres template \($0.name)" } ?? ""
            try admin.run("create database \(template.name)\(source)")
            try template.fill { try self.connect(template.name, as: $0) }
        }
        state.templates[template.name] = made
        try made.get()
    }
}

struct ClusterError: Error, CustomStringConvertible {
    let description = "no PostgreSQL server could be started; Tests/Database/cluster.sh says above what it lacks"
}

/// What a new database holds.
final class Template: Sendable {
    let name: String
    let base: Template?
    let fill: @Sendable ((_ role: String) throws -> Connection) throws -> Void

    init(
        _ name: String, on base: Template? = nil,
        _ fill: @escaping @Sendable ((String) throws -> Connection) throws -> Void
    ) {
        self.name = name
        self.base = base
        self.fill = fill
    }

    /// What a new Supabase project has: roles, schemas, `auth`, `storage`, the publication.
    static let empty = Template("empty_project") { connect in
        try connect("supabase_admin").script(try readFile("Tests/Database/fixture.sql"))
    }

    /// A project with the migrations applied, as a user applies them.
    static let project = Template("project", on: empty) { connect in try migrate(connect("postgres")) }

    /// The same, with pgTAP where `supabase test db` puts it.
    static let tested = Template("tested_project", on: project) { connect in
        try connect("supabase_admin").run("create extension pgtap with schema extensions")
    }
}

/// Applies the migrations in the order of their names, each in one transaction.
func migrate(_ connection: Connection) throws {
    for path in try fileNames(in: "template/supabase/migrations", endingWith: ".sql") {
        try connection.script(try readFile("template/supabase/migrations/" + path))
    }
}

extension Database {
    /// Lets another test have this database. With its users all their rows go.
    func giveBack() throws {
        try connect(as: "supabase_admin").run("truncate auth.users, storage.objects cascade")
        cluster.takeBack(self)
    }
}
