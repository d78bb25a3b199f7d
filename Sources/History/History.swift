import Libraries
import Model
import Workspace

/// Every state of the workspace's files that `otask` saw, for undo: a chain of ordinary bare git repositories in
/// `.otask/history/`, one a quarter, each beginning with the whole state, so that an old one can be dropped whole.
///
/// Who records holds the workspace's lock; reading needs none.
///
/// ```swift
/// let (history, _) = try History.open(at: root + "/.otask/history", now: now)
/// try history.record([RecordedFile(path: "tasks/milk.md", content: .bytes(bytes), id: id)], entry)
/// ```
public final class History {
    /// The folder of the repositories.
    let folder: OpenFolder
    /// The oldest first.
    private(set) var links: [Link]
    private var lastHead: GitID?

    /// One repository of the chain.
    struct Link {
        let name: Text
        let repository: GitRepository
    }

    public enum Opening: Hashable, Sendable {
        case opened
        /// Nothing was recorded here yet.
        case begun
        /// The newest repository was damaged, and is kept under this name; what it held isn't shown any more.
        case rebuilt(setAside: Text)
    }

    private init(folder: OpenFolder, links: [Link]) {
        self.folder = folder
        self.links = links
    }

    // MARK: Opening

    /// Opens the history in this folder for writing, or begins it. Throws `HistoryError.notWritable`.
    public static func open(at path: String, now: Instant) throws(HistoryError) -> (History, Opening) {
        let folder = try onDisk { () throws(SystemError) in
            let parent = try OpenFolder(path: Text(path).parent.string)
            let name = FileName(Text(path).lastComponent.string)
            if try parent.status(name)?.kind != .folder {
                if try parent.status(name) != nil {
                    try parent.rename(name, to: parent, FileName("history-damaged-\(now.nanoseconds)"))
                }
                try parent.makeFolder(name)
                try parent.sync()
            }
            return try OpenFolder(path: path)
        }
        try sweep(folder)
        var names = try onDisk { () throws(SystemError) in try linkNames(folder) }
        var opening = Opening.opened
        if let newest = names.last, !isSound(folder, newest) {
            opening = .rebuilt(setAside: try setAside(newest, in: folder, now: now))
            names.removeLast()
        } else if names.isEmpty {
            opening = .begun
        }
        let history = History(folder: folder, links: try openLinks(folder, names))
        return (history, opening)
    }

    /// Opens it for reading; nil where nothing was recorded yet. What can't be read of older repositories is left out.
    public static func openReadOnly(at path: String) -> History? {
        guard let folder = try? OpenFolder(path: path), let names = try? linkNames(folder) else { return nil }
        let history = History(folder: folder, links: (try? openLinks(folder, names)) ?? [])
        return history.links.isEmpty ? nil : history
    }

    /// Those that can be opened: an older one that can't be read is passed over.
    private static func openLinks(_ folder: OpenFolder, _ names: [Text]) throws(HistoryError) -> [Link] {
        names.compactMap { name in
            (try? GitRepository(path: folder.path + "/" + name.string)).map { Link(name: name, repository: $0) }
        }
    }

    /// `2026-q4.git`, the oldest first.
    private static func linkNames(_ folder: OpenFolder) throws(SystemError) -> [Text] {
        try folder.entries().compactMap { $0.name.string.map { Text($0) } }.filter(isLinkName).sorted()
    }

    private static func isLinkName(_ name: Text) -> Bool {
        let bytes = name.bytes
        return bytes.count == 11 && bytes[4...5].elementsEqual("-q".utf8) && name.hasSuffix(".git")
            && (bytes[..<4] + bytes[6..<7]).allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func linkName(_ time: Instant) -> Text {
        let (year, number) = time.quarter
        let digits = String(year)
        return "\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)-q\(number).git"
    }

    /// Its head can be read, with the folders right below it. What else is damaged is met when it is needed.
    private static func isSound(_ folder: OpenFolder, _ name: Text) -> Bool {
        guard let file = try? folder.folder(FileName(name.string)).open("HEAD"),
            (try? file.read(limit: 100)) == Array("ref: refs/heads/main\n".utf8),
            let repository = try? GitRepository(path: folder.path + "/" + name.string),
            let head = try? repository.head(), let commit = try? repository.commit(head),
            Message(commit.message, time: commit.time) != nil,
            let entries = try? repository.entries(of: commit.tree)
        else { return false }
        return entries.allSatisfy { repository.has($0.entry.id) }
    }

    /// Keeps the newest repository under another name, so that the next `open` begins a new one. Its name.
    public static func setAsideNewest(at path: String, now: Instant) throws(HistoryError) -> Text? {
        try onDisk { () throws(SystemError) -> Text? in
            let folder = try OpenFolder(path: path)
            guard let newest = try linkNames(folder).last else { return nil }
            return try moveAside(newest, in: folder, now: now)
        }
    }

    private static func setAside(_ name: Text, in folder: OpenFolder, now: Instant) throws(HistoryError) -> Text {
        try onDisk { () throws(SystemError) in try moveAside(name, in: folder, now: now) }
    }

    private static func moveAside(_ name: Text, in folder: OpenFolder, now: Instant) throws(SystemError) -> Text {
        let aside: Text = "damaged-\(now.nanoseconds)-\(name)"
        try folder.rename(FileName(name.string), to: folder, FileName(aside.string))
        try folder.sync()
        return aside
    }

    /// Removes what a stopped process left: half a repository, locks of git's.
    private static func sweep(_ folder: OpenFolder) throws(HistoryError) {
        guard let entries = try? folder.entries() else { return }
        for entry in entries {
            guard let name = entry.name.string else { continue }
            if name.hasPrefix(newPrefix) { try? folder.removeTree(entry.name) }
            guard isLinkName(Text(name)), let repository = try? folder.folder(entry.name) else { continue }
            for path in ["", "refs/heads", "objects", "objects/pack"] {
                guard let inside = try? repository.folder(at: path), let files = try? inside.entries() else { continue }
                for file in files {
                    let name = file.name.string ?? ""
                    if name.hasSuffix(".lock") || name.hasPrefix("tmp_") || name.hasPrefix("pack_git2") {
                        try? inside.unlink(file.name)
                    }
                }
            }
        }
    }

    private static let newPrefix = ".new-"

    // MARK: Recording

    /// The newest state.
    public var head: Revision? { lastCommit.map { Revision($0.id) } }

    private var lastCommit: GitRepository.Commit? {
        guard let repository = links.last?.repository, let head = try? repository.head() else { return nil }
        return try? repository.commit(head)
    }

    /// Records what these files are now; the others are as they were. The new state, or nil where nothing differs.
    ///
    /// Once it returns the state is durable. Throws `HistoryError`; then everything is as it was.
    ///
    /// - Parameters:
    ///   - files: asked for one by one, so that their bytes needn't be in memory together.
    ///   - count: about how many those are, where the sequence can't tell.
    public func record(
        _ files: some Sequence<RecordedFile>, _ entry: HistoryEntry, count: Int? = nil
    ) throws(HistoryError) -> Revision? {
        try write(files, entry, count: count ?? files.underestimatedCount, isWhole: false)
    }

    /// Records that the workspace holds these files, and no others.
    public func recordWhole(
        _ files: some Sequence<RecordedFile>, _ entry: HistoryEntry
    ) throws(HistoryError) -> Revision? {
        try write(files, entry, count: .max, isWhole: true)
    }

    /// So many new files are flushed one by one, more all at once.
    private static let flushedOneByOne = 16

    private func write(
        _ files: some Sequence<RecordedFile>, _ entry: HistoryEntry, count: Int, isWhole: Bool
    ) throws(HistoryError) -> Revision? {
        let page = try page(for: entry)
        let repository = page.repository
        let last = try reading { () throws(GitError) in
            try repository.head().map { id throws(GitError) in try repository.commit(id) }
        }
        let isSmall = page.temporary == nil && count <= Self.flushedOneByOne
        GitRepository.syncEachWrite(isSmall)
        var changes = TreeChanges()
        var ids = PathIDs()
        for file in files {
            switch file.content {
            case .bytes(let bytes):
                let content = try writing { () throws(GitError) in try repository.write(file: bytes) }
                changes.set(file.path, content)
                if let id = file.id, !bytes.bear(id) { ids.now[file.path] = id }
            case .gone: changes.set(file.path, nil)
            }
            if let id = file.oldID, file.content == .gone || id != file.id { ids.before[file.path] = id }
        }
        var updated = try repository.updated(isWhole ? nil : last?.tree, changes)
        if updated == nil { updated = try writing { () throws(GitError) in try repository.write(entries: []) } }
        guard let tree = updated else { return nil }
        let differences = try repository.differences(last?.tree, tree)
        if differences.isEmpty { return nil }
        // Only what differs is told.
        let paths = Set(differences.map(\.path))
        ids.now = ids.now.filter { paths.contains($0.key) }
        ids.before = ids.before.filter { paths.contains($0.key) }
        let changed = try self.changes(differences, ids, in: repository)
        let message = Message(summary: FileChange.summary(changed), entry: entry, ids: ids)
        let id = try commit(message, tree: tree, parent: last?.id, in: repository)
        if !isSmall { try onDisk { () throws(SystemError) in try folder.syncFileSystem() } }
        GitRepository.syncEachWrite(true)
        try writing { () throws(GitError) in try repository.setHead(id) }
        try add(page)
        return Revision(id)
    }

    private func commit(
        _ message: Message, tree: GitID, parent: GitID?, in repository: GitRepository
    ) throws(HistoryError) -> GitID {
        let name = String(message.entry.device.string.filter { !"<>\n\r\0".contains($0) })
        let author = name.isEmpty || name.allSatisfy(\.isWhitespace) ? "otask" : name
        return try writing { () throws(GitError) in
            try repository.commit(
                tree: tree, parent: parent, message: message.text, author: author, email: "otask",
                time: message.entry.time.nanoseconds / 1_000_000_000)
        }
    }

    /// A repository that is written to.
    private struct Page {
        let name: Text
        let repository: GitRepository
        /// It is new, and bears another name until its first state is durable: one without is nobody's.
        let temporary: FileName?
    }

    /// The repository of this moment's quarter; a new one begins with the last state of the one before. A clock that went
    /// back changes nothing.
    private func page(for entry: HistoryEntry) throws(HistoryError) -> Page {
        let name = Self.linkName(entry.time)
        if let last = links.last, name <= last.name {
            return Page(name: last.name, repository: last.repository, temporary: nil)
        }
        let temporary = FileName(Self.newPrefix + name.string)
        if (try? folder.status(temporary)) != nil { try? folder.removeTree(temporary) }
        let repository = try writing { () throws(GitError) in
            try GitRepository(
                making: folder.path + "/" + temporary.shown, description: "states of an otask workspace\n")
        }
        if let last = links.last, let commit = lastCommit {
            GitRepository.syncEachWrite(false)
            try repository.copy(folder: commit.tree, from: last.repository)
            var beginning = entry
            beginning.kind = .begin
            beginning.undoes = nil
            let message = Message(
                summary: "the files as they were when this quarter began", entry: beginning,
                ids: PathIDs(now: try owners(at: commit.id)), continues: Revision(commit.id))
            let id = try self.commit(message, tree: commit.tree, parent: nil, in: repository)
            try writing { () throws(GitError) in try repository.setHead(id) }
        }
        return Page(name: name, repository: repository, temporary: temporary)
    }

    /// A new repository takes its place in the chain.
    private func add(_ page: Page) throws(HistoryError) {
        guard let temporary = page.temporary else { return }
        try onDisk { () throws(SystemError) in
            try folder.syncFileSystem()
            try folder.rename(temporary, to: folder, FileName(page.name.string))
            try folder.sync()
        }
        // An open repository wouldn't know its new name.
        links.append(
            Link(
                name: page.name,
                repository: try reading { () throws(GitError) in
                    try GitRepository(path: folder.path + "/" + page.name.string)
                }))
    }

    /// For the next use, without what care has dropped.
    func forget(_ name: Text) { links.removeAll { $0.name == name } }
}

/// One file's new state.
public struct RecordedFile: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case bytes([UInt8])
        case gone
    }

    /// Relative to the workspace.
    public var path: Text
    public var content: Content
    /// The task whose file it is, where that is known.
    public var id: ItemID?
    /// The task whose file lay there before.
    public var oldID: ItemID?

    public init(path: Text, content: Content, id: ItemID? = nil, oldID: ItemID? = nil) {
        self.path = path
        self.content = content
        self.id = id
        self.oldID = oldID
    }
}

extension [UInt8] {
    /// Whether the text says this id near its beginning, where front matter stands.
    func bear(_ id: ItemID) -> Bool {
        self[..<Swift.min(count, 4_096)].firstRange(of: Array<UInt8>(id.description.utf8)) != nil
    }
}

extension OpenFolder {
    /// Removes a folder with all that is in it.
    func removeTree(_ name: FileName) throws(SystemError) {
        let inside = try folder(name)
        for entry in try inside.entries() {
            if entry.kind == .folder { try inside.removeTree(entry.name) } else { try inside.unlink(entry.name) }
        }
        try removeFolder(name)
    }
}
