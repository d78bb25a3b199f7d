import Journal
import Libraries
import Model
import Reconcile
import Workspace

/// The folder of the tasks.
struct TaskFolder: Sendable {
    /// Relative to the workspace; empty: the workspace itself.
    let path: Text
    let scanned: ScannedFolder

    /// A path in the task folder, seen from the workspace.
    func inWorkspace(_ path: Text) -> Text { self.path.appending(path) }
    /// The file of a place, seen from the workspace.
    func file(of place: Text) -> Text { self.path.appending(place + ".md") }
}

/// The workspace's directory, as far as a run works on it.
struct Disk {
    let root: OpenFolder
    let rules: IgnoreRules
    let taskFolder: TaskFolder
    let idsInFiles: Bool
    let writer: FileWriter
    let machine: Text
    /// `.otask/` itself; nil where the file system keeps no birth time.
    let home: FileIdentity?
    let editors: EditorLocks
    let historyDays: Int
    let now: @Sendable () -> Instant

    init(root: OpenFolder, config: Config, surroundings: Surroundings) throws {
        self.root = root
        rules = IgnoreRules(root: root)
        let folder = config.tasksFolder
        // Where the workspace itself is the task folder, the other things in it are no tasks.
        let excluded: Set<Text> = folder.isEmpty ? [config.photosFolder, config.profileFile] : []
        taskFolder = TaskFolder(
            path: folder,
            scanned: ScannedFolder(path: folder, suffix: ".md", excluded: excluded, keptBytes: 1 << 21))
        idsInFiles = !config.keepsIDsInJournal
        now = surroundings.now
        writer = FileWriter(root: root, effects: surroundings.effects, now: surroundings.now)
        machine = surroundings.machine
        editors = EditorLocks(root: root, now: surroundings.now, host: surroundings.host.string)
        historyDays = config.historyDays
        home = try root.status(".otask").flatMap { status in
            status.birth.map { FileIdentity(inode: status.inode, birth: $0) }
        }
    }

    /// Under which key the journal keeps `scanRules`.
    static let scanRulesKey: Text = "scan_rules"

    /// What decides which files are tasks: what a scan under the same rules took in needs no asking again. Nil: they
    /// can't be read.
    var scanRules: Text? {
        if rules.problem != nil { return nil }
        // The number stands for the built-in rules of names: another one makes what was found by others be looked at again.
        let parts: [JSON] = [
            1, .string(taskFolder.path), .array(taskFolder.scanned.excluded.sorted().map { .string($0) }),
            rules.source.map { .string(Text(String(decoding: $0, as: UTF8.self))) } ?? .null,
        ]
        return JSON.array(parts).serializedText
    }

    func scanner(background: Bool) -> Scanner {
        Scanner(
            root: root, rules: rules,
            names: NameRules(
                foldedKey: { Names.foldedKey($0) }, problem: { Names.problem(ofPath: $0.withoutMarkdownSuffix) }),
            background: background, now: now)
    }
}
