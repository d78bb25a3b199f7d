import Libraries
import Model
import Supabase
import Sync
import Workspace

/// The workspace that a command works on.
struct OpenWorkspace {
    /// Absolute.
    let root: Text
    let config: Config
    let engine: Engine
    let paths: PathDisplay
}

extension Invocation {
    var now: Instant { environment.clock() }

    /// The workspace of the working directory.
    func workspace() throws -> OpenWorkspace {
        let root = try workspaceRoot()
        let config = try Config.load(root: root)
        for key in config.unknownKeys {
            say(
                messageStyle.yellow("note:")
                    + " \(Config.path): the key \(printable(key)) means nothing to this version")
        }
        let engine = try Engine(root: Text(root), surroundings: surroundings(root: root, config: config))
        return OpenWorkspace(
            root: Text(root), config: config, engine: engine,
            paths: PathDisplay(root: Text(root), directory: Text(directory)))
    }

    func workspaceRoot() throws -> String {
        let found = WorkspaceLocation.find(from: directory, environment: environment.variables, configured: { nil })
        guard let found else {
            throw Failure.usage(
                "\(printable(directory)) is in no workspace",
                hints: ["\"otask init DIR\" makes one; -C DIR or OTASK_DIR names one"])
        }
        return found
    }

    private func surroundings(root: String, config: Config) -> Surroundings {
        let host = environment.host
        let connector = connector(root, config)
        return Surroundings(
            now: environment.clock, newID: { ItemID.random() }, wait: { System.sleep($0) },
            device: config.device ?? Text(host), machine: Text(System.machineID() ?? host), host: Text(host),
            command: Text(line.name), connect: { try connector.link(account: $0) })
    }

    /// The tasks that the operands name.
    func tasks(_ engine: Engine) throws -> [TaskSummary] {
        let lookup = try engine.lookup(from: Text(directory))
        return try arguments.operands.map { try lookup.find(Text($0)) }
    }
}
