import Libraries
import Model

/// Sessions in a directory outside every workspace: a file of mode 0600 for each project and account.
public struct SessionStore: Sendable {
    private let directory: Text

    public init(directory: Text) { self.directory = directory }

    /// `$XDG_STATE_HOME/otask/sessions`, else `~/.local/state/otask/sessions`; nil where neither variable holds an
    /// absolute path (XDG Base Directory Specification: a relative one is to be passed over) and `home` is nil.
    public static func directory(environment: [String: String], home: String? = nil) -> Text? {
        func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let state = absolute("XDG_STATE_HOME") ?? (absolute("HOME") ?? home).map { $0 + "/.local/state" }
        return state.map { Text($0 + "/otask/sessions") }
    }

    /// Who has a session at this project, in the order of their ids.
    public func accounts(at project: Project) throws(SessionStoreError) -> [ItemID] {
        let prefix = Self.prefix(project)
        return try Self.calling { () throws(PrivateFileError) in try PrivateFile.names(in: directory.string) }
            .compactMap { name in
                guard name.hasPrefix(prefix), name.hasSuffix(".json") else { return nil }
                return ItemID(name.dropFirst(prefix.count).dropLast(".json".count))
            }
            .sorted()
    }

    /// The session of this account; nil where there is none, or its file holds another account's or project's.
    public func session(of account: ItemID, at project: Project) throws(SessionStoreError) -> Session? {
        let path = path(account, project)
        guard let bytes = try Self.calling({ () throws(PrivateFileError) in try PrivateFile.read(path) }),
            let json = try? JSON(parsing: bytes), json["project"]?.text == project.url,
            let session = Session(json: json), session.userID == account
        else { return nil }
        return session
    }

    /// Where the account's session lies, or would.
    public func file(of account: ItemID, at project: Project) -> Text { Text(path(account, project)) }

    /// The account whose session a file of this name keeps; nil for another file.
    public static func account(ofFile file: Text) -> ItemID? {
        let name = file.lastComponent.string
        guard name.hasSuffix(".json") else { return nil }
        return ItemID(name.dropLast(".json".count).suffix(36))
    }

    /// Replaces the account's session in one durable step. Under the lock.
    func save(_ session: Session, at project: Project) throws(SessionStoreError) {
        guard case .object(var members) = session.json else { preconditionFailure("a session is an object") }
        members["project"] = .string(project.url)
        let bytes = JSON.object(members).serialized
        let path = path(session.userID, project)
        try Self.calling { () throws(PrivateFileError) in
            try PrivateFile.makeDirectory(directory.string)
            try PrivateFile.write(bytes, to: path, temporary: path + Self.unfinished)
        }
    }

    /// Removes the account's session. Under the lock.
    func remove(_ account: ItemID, at project: Project) throws(SessionStoreError) {
        let path = path(account, project)
        try Self.calling { () throws(PrivateFileError) in
            try PrivateFile.makeDirectory(directory.string)
            try PrivateFile.remove(path + Self.unfinished)
            try PrivateFile.remove(path)
        }
    }

    /// The lock under which the account's session changes; nil while someone else holds it.
    func lock(_ account: ItemID, at project: Project) throws(SessionStoreError) -> FileLock? {
        let path = path(account, project) + ".lock"
        return try Self.calling { () throws(PrivateFileError) in
            try PrivateFile.makeDirectory(directory.string)
            return try FileLock.take(path)
        }
    }

    /// What the file of a write that didn't end is called; under the lock there is only one at a time.
    private static let unfinished = ".new"

    private func path(_ account: ItemID, _ project: Project) -> String {
        directory.appending(Text(Self.prefix(project) + account.description + ".json")).string
    }

    /// The project's host, for people, and a part of a digest of its address, since hosts have ports and paths.
    private static func prefix(_ project: Project) -> String {
        let host = project.url.components.dropFirst(2).first?.string ?? ""
        let letters = host.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") }
        return "\(letters.prefix(60))-\("\(Digest(of: project.url.utf8))".prefix(12))-"
    }

    private static func calling<Value>(
        _ body: () throws(PrivateFileError) -> Value
    ) throws(SessionStoreError) -> Value {
        do throws(PrivateFileError) { return try body() } catch { throw SessionStoreError(error) }
    }
}

/// Why sessions can't be read or kept: the file and the reason, never what is in it.
public struct SessionStoreError: Error, Hashable, CustomStringConvertible {
    public let description: String

    init(_ error: PrivateFileError) { description = "\(error)" }
}
