import Libraries
import Model
import Supabase
import Workspace

extension Command {
    static let server = Command(
        name: "server", summary: "show or set up the project that a workspace is kept in step with", group: .other,
        subcommands: [
            Command(
                name: "info", summary: "ask the project whether it is there and set up", options: [.json, .verbose],
                examples: [
                    .init(line: "otask server info", meaning: "address, whether it answers, whether it is set up")
                ],
                action: { try await $0.showServer() }),
            Command(
                name: "setup", summary: "print or write what a Supabase project needs",
                details: [
                    "Without DIR the database migration is printed, for the SQL editor of the project or for psql. With DIR "
                        + "the whole project of the Supabase command line is written there: configuration, migration, tests "
                        + "and mail texts. No file that says something else is overwritten."
                ],
                operands: [
                    Operand(name: "DIR", kind: .directory, count: .optional, help: "where to write the project")
                ],
                examples: [
                    .init(
                        line: "otask server setup > otask.sql",
                        meaning: "the migration, to run with psql or the SQL editor"),
                    .init(line: "otask server setup .", meaning: "./supabase, for \"supabase db push\""),
                ],
                action: { try $0.setUpServer() }),
        ])
}

extension Invocation {
    /// Where the Supabase project lies among the files that users get.
    private static let project = "supabase/"

    fileprivate func setUpServer() throws -> ExitCode {
        let paths = Template.paths.filter { $0.hasPrefix(Self.project) }
        guard let directory = arguments.operands.first else {
            for path in paths where path.hasPrefix(Self.project + "migrations/") {
                print(String(decoding: Template.file(path) ?? [], as: UTF8.self))
            }
            say("Run this in the SQL editor of the project, or with psql. It may be run again.")
            return .done
        }
        let root = absolute(directory, from: self.directory)
        var written = 0
        do {
            let differing = try paths.filter { path in
                guard let bytes = try contents(root + "/" + path) else { return false }
                return bytes != Template.file(path)
            }
            guard differing.isEmpty else {
                throw Failure(
                    .cantCreate, "files that say something else are there already, so nothing was written:",
                    hints: differing.map { printable(root + "/" + $0) } + ["move them away, or name another directory"])
            }
            for path in paths where try contents(root + "/" + path) == nil {
                let parent = try makeFolders(root + "/" + Text(path).parent.string)
                try parent.create(FileName(Text(path).lastComponent.string)).write(Template.file(path) ?? [])
                written += 1
            }
        } catch let error as SystemError {
            throw Failure(.cantCreate, printable(error.description))
        }
        say(
            """
            \(counted(written, "file")) written to \(printable(root))/supabase\(written < paths.count ? ", the others were there" : "").

            Next, there:
              supabase link --project-ref REF
              supabase db push
            """)
        return .done
    }

    /// The bytes of a file; nil where there is none.
    private func contents(_ path: String) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            return try OpenFile(path: path).read()
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    fileprivate func showServer() async throws -> ExitCode {
        let root = try workspaceRoot()
        let config = try Config.load(root: root)
        let access = try connector(root, config).access()
        let check = await ProjectCheck.run(access.project, transport: access.transport, now: now)
        let address: Text
        switch config.project {
        case .supabase(let url, _): address = url
        case .embedded(let directory): address = Text(absolute(directory.string, from: root))
        }
        let (state, words, code): (String, String, ExitCode) =
            switch check.state {
            case .ready: ("ready", "answers, and is set up", .done)
            case .schemaMissing:
                ("schema_missing", "answers, and isn't set up: \"otask server setup\" has what it needs", .schema)
            case .unreachable(let reason): ("unreachable", "can't be reached: \(reason)", .unreachable)
            case .keyRefused(let reason): ("key_refused", "doesn't take the workspace's key: \(reason)", .failed)
            case .noProject(let reason): ("no_project", "is no Supabase project: \(reason)", .failed)
            }
        if wantsJSON {
            print([
                "format": 1, "address": .string(address), "state": .string(Text(state)),
                "anonymous": check.allowsAnonymous.map { .bool($0) } ?? .null,
            ])
        } else {
            print("\(printable(address)) \(printable(words))")
            if let allowed = check.allowsAnonymous {
                print(style.dim("anonymous accounts: \(allowed ? "allowed" : "not allowed")"))
            }
        }
        return code
    }
}
