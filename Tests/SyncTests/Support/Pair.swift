import History
import Model
import Supabase
import Testing
import Workspace

@testable import Sync

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Two devices of one account that have the same files.
struct Pair {
    let world: World
    let a: Device
    let b: Device

    /// Files that lie beside those that a scenario is about, so that no deletion is one of many.
    static let others = ["other-1", "other-2", "other-3", "other-4"]

    /// Writes the files on `a` and brings them to `b`.
    init(_ files: [String: String] = [:], settings: [String: Text] = [:]) async throws {
        world = try World()
        a = try await world.device("a", settings: settings)
        b = try await world.device("b", settings: settings)
        for (place, text) in files { a.write(place, text) }
        for place in Self.others { a.write(place, "# Task \(place)\n") }
        try await a.sync()
        try await b.sync()
        try await b.sync()
    }

    /// Lets both devices sync until there is nothing left to do, and checks that there is: another sync is one request that
    /// sends and receives nothing, and both have the same tasks with the same ids.
    func settle(_ rounds: Int = 2, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for _ in 0..<rounds {
            for device in [a, b] {
                let report = try await device.sync()
                #expect(report.failure == nil, sourceLocation: sourceLocation)
            }
        }
        for device in [a, b] { try await device.expectQuiet(sourceLocation: sourceLocation) }
        #expect(try a.tasks() == b.tasks(), sourceLocation: sourceLocation)
        #expect(try a.readable() == b.readable(), sourceLocation: sourceLocation)
        #expect(a.leftovers == [], sourceLocation: sourceLocation)
        #expect(b.leftovers == [], sourceLocation: sourceLocation)
    }
}

extension Device {
    /// Another sync is one request that sends and receives nothing.
    func expectQuiet(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let report = try await sync()
        #expect(report.requests == 1, "\(name)", sourceLocation: sourceLocation)
        #expect(report.sent == Tally(), "\(name)", sourceLocation: sourceLocation)
        #expect(report.received == Tally(), "\(name)", sourceLocation: sourceLocation)
        #expect(report.failure == nil, "\(name)", sourceLocation: sourceLocation)
        #expect(report.waiting == [], "\(name)", sourceLocation: sourceLocation)
        #expect(report.guarded == nil, "\(name)", sourceLocation: sourceLocation)
    }

    /// The id of each task here, by its place.
    func tasks() throws -> [String: ItemID?] {
        let tasks = try engine().tasks().map { (String($0.path.string.dropFirst(6).dropLast(3)), $0.id) }
        return Dictionary(uniqueKeysWithValues: tasks)
    }

    func id(_ place: String) throws -> ItemID { try #require(try tasks()[place] ?? nil, "\(place) on \(name)") }

    /// What the tasks here say, files that are none left out.
    func readable() throws -> [String: TaskContent] {
        Dictionary(
            uniqueKeysWithValues: try engine().tasks().map {
                (
                    String($0.path.string.dropFirst(6).dropLast(3)),
                    TaskContent(title: $0.title, notes: $0.notes, done: $0.done, properties: $0.properties)
                )
            })
    }

    func notes(_ place: String) throws -> Text? { try readable()[place]?.notes }
    func title(_ place: String) throws -> Text? { try readable()[place]?.title }

    /// The places of the tasks that a scenario is about.
    var own: [String] { places.filter { !Pair.others.contains($0) } }

    /// Temporary files that otask left.
    var leftovers: [String] { Shell.files(below: root + "/tasks").filter { $0.contains(".otask-tmp-") } }

    /// Whether some file in the whole workspace, also one kept in `.otask/`, holds these words.
    func keeps(_ words: String) -> Bool { (try? texts().contains { $0.utf8.contains(words.utf8) }) ?? false }

    /// What all files in the workspace hold, those too that are kept in `.otask/`, and all that the history ever recorded.
    func texts() throws -> [String] {
        let texts = Shell.files(below: root).filter {
            !$0.contains("journal.sqlite") && !$0.contains(".otask/history/")
        }
        .map { String(decoding: Shell.read(root + "/" + $0) ?? [], as: UTF8.self) }
        return try texts + recorded()
    }

    /// All that the history ever recorded.
    func recorded() throws -> [String] {
        var texts: [String] = []
        guard let history = History.openReadOnly(at: root + "/.otask/history") else { return texts }
        try history.forEachOperation { operation in
            for content in try history.changes(of: operation.revision).compactMap(\.new) {
                texts.append(String(decoding: try history.bytes(content), as: UTF8.self))
            }
            return true
        }
        return texts
    }

    /// The text of a file without its id line, as an editor has it that opened the file before that line was written.
    func withoutID(_ place: String) -> String {
        guard let text = read(place) else { return "" }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("id: ") }
        let rest = lines.joined(separator: "\n")
        return rest.hasPrefix("---\n---\n") ? String(rest.dropFirst(8)) : rest
    }

    // MARK: What a phone does

    /// Sends changes as another client does, straight to the server.
    func phone(_ changes: [Change]) async throws {
        let result = try await engine().surroundings.connect(nil).service.push(changes)
        for outcome in result.outcomes {
            guard case .answered(let answer) = outcome, answer.status == .applied else {
                Issue.record("the phone's change was not applied: \(outcome)")
                return
            }
        }
    }

    /// A new task from a client that places nothing.
    func phoneAdds(_ title: Text, notes: Text = "", path: JSON = .null, id: ItemID = .random()) async throws -> ItemID {
        try await phone([
            Change(
                changeID: .random(), device: "phone", operation: .upsert, id: id, baseVersion: nil,
                fields: [.title: .string(title), .notes: .string(notes), .done: false, .path: path])
        ])
        return id
    }

    func phoneEdits(_ id: ItemID, _ fields: FieldValues) async throws {
        try await phone([
            Change(
                changeID: .random(), device: "phone", operation: .upsert, id: id, baseVersion: try await version(id),
                fields: fields)
        ])
    }

    func phoneDeletes(_ id: ItemID) async throws {
        let page = try await feed()
        try await phone([
            Change(
                changeID: .random(), device: "phone", operation: .delete, id: id, baseVersion: try await version(id),
                seen: page.next)
        ])
    }

    private func feed() async throws -> FeedPage {
        try await engine().surroundings.connect(nil).service.pullChanges(since: 0, maxRows: 1000)
    }

    private func version(_ id: ItemID) async throws -> Int64 {
        try #require(try await feed().rows.last { $0.id == id }).version
    }
}

extension Shell {
    /// A program that keeps a file open, for appending.
    static func openToAppend(_ path: String) -> Int32 { open(path, O_WRONLY | O_APPEND) }

    static func append(_ file: Int32, _ text: String) {
        let bytes = Array(text.utf8)
        #if canImport(Glibc)
            _ = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        #else
            _ = bytes.withUnsafeBytes { Darwin.write(file, $0.baseAddress, $0.count) }
        #endif
    }

    static func closeFile(_ file: Int32) { close(file) }

    static func symlink(_ path: String, to target: String) {
        #if canImport(Glibc)
            _ = Glibc.symlink(target, path)
        #else
            _ = Darwin.symlink(target, path)
        #endif
    }

    static func makePipe(_ path: String) { mkfifo(path, 0o644) }

    static func allow(_ path: String, _ mode: UInt32) { chmod(path, mode_t(mode)) }

    #if os(Linux)
        /// Reads files as somebody whom permissions stop: root becomes `nobody`, for this thread only.
        static func withoutPrivileges<Result>(_ body: () throws -> Result) rethrows -> Result {
            let isRoot = geteuid() == 0
            if isRoot { _ = setfsuid(65534) }
            defer { if isRoot { _ = setfsuid(0) } }
            return try body()
        }
    #endif

    /// Copies a folder, its files by hard links, as `cp -al` does.
    static func linkFolder(_ from: String, _ to: String) {
        makeFolders(to)
        for name in entries(from) {
            let (old, new) = (from + "/" + name, to + "/" + name)
            if isFolder(old) { linkFolder(old, new) } else { _ = link(old, new) }
        }
    }

    /// Copies a folder with all that is in it, as `cp -R` does.
    static func copyFolder(_ from: String, _ to: String) {
        makeFolders(to)
        for name in entries(from) {
            let (old, new) = (from + "/" + name, to + "/" + name)
            if isFolder(old) { copyFolder(old, new) } else { write(new, read(old) ?? []) }
        }
    }
}

#if os(Linux)
    @_silgen_name("setfsuid") private func setfsuid(_ user: UInt32) -> Int32
#endif
