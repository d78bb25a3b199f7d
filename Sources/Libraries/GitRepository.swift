import CGit2

/// The name of an object in a git repository: the SHA-1 of its type, size and content.
public struct GitID: Hashable, Sendable, CustomStringConvertible {
    /// 20 bytes.
    let bytes: [UInt8]

    /// - Parameter text: 40 hexadecimal digits; nil for anything else.
    public init?(_ text: String) {
        let digits = text.utf8.map { UInt8(truncatingIfNeeded: Character(UnicodeScalar($0)).hexDigitValue ?? 255) }
        guard digits.count == 40, !digits.contains(255) else { return nil }
        bytes = stride(from: 0, to: 40, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    fileprivate init(_ id: git_oid) { bytes = withUnsafeBytes(of: id) { Array($0.prefix(20)) } }

    fileprivate func with<Result>(_ body: (UnsafePointer<git_oid>) -> Result) -> Result {
        var id = git_oid()
        withUnsafeMutableBytes(of: &id) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &id, body)
    }

    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// What libgit2 says of a call that failed.
public struct GitError: Error, Hashable, Sendable {
    public let message: String
    /// An object or a reference isn't there.
    public let isMissing: Bool

    init(message: String, isMissing: Bool) {
        self.message = message
        self.isMissing = isMissing
    }

    fileprivate static func last(_ code: Int32) -> GitError {
        let message = git_error_last().flatMap { $0.pointee.message.map { String(cString: $0) } }
        return GitError(message: message ?? "libgit2 failed with \(code)", isMissing: code == GIT_ENOTFOUND.rawValue)
    }

    fileprivate static func check(_ code: Int32) throws(GitError) { if code < 0 { throw last(code) } }
}

/// A bare git repository with one branch, `main` (libgit2). Nothing outside its folder is read or written.
///
/// Use one from one task at a time.
public final class GitRepository {
    let path: String
    private let repository: OpaquePointer
    private let objects: OpaquePointer

    /// A folder's entry: a file, or a folder in it.
    public struct Entry: Hashable, Sendable {
        public let id: GitID
        public let isFolder: Bool

        public init(id: GitID, isFolder: Bool) {
            self.id = id
            self.isFolder = isFolder
        }
    }

    public struct Commit: Sendable {
        public let id: GitID
        public let tree: GitID
        /// Nil: the first of its repository.
        public let parent: GitID?
        public let message: String
        /// Seconds since 1970.
        public let time: Int64
    }

    private static let branch = "refs/heads/main"

    /// Opens the repository in this folder, and looks in no other.
    public init(path: String) throws(GitError) {
        self.path = path
        (repository, objects) = try Self.open { git_repository_open_bare(&$0, path) }
    }

    /// Makes a repository in a new folder.
    public init(making path: String, description: String) throws(GitError) {
        self.path = path
        _ = git
        otask_git_forget_configuration()
        var options = git_repository_init_options()
        git_repository_init_options_init(&options, UInt32(GIT_REPOSITORY_INIT_OPTIONS_VERSION))
        options.flags = UInt32(
            GIT_REPOSITORY_INIT_BARE.rawValue | GIT_REPOSITORY_INIT_NO_REINIT.rawValue
                | GIT_REPOSITORY_INIT_MKPATH.rawValue)
        (repository, objects) = try Self.open { repository in
            description.withCString { description in
                "main".withCString { branch in
                    options.description = description
                    options.initial_head = branch
                    return git_repository_init_ext(&repository, path, &options)
                }
            }
        }
    }

    private static func open(
        _ body: (inout OpaquePointer?) -> Int32
    ) throws(GitError) -> (OpaquePointer, OpaquePointer) {
        _ = git
        otask_git_forget_configuration()
        var repository: OpaquePointer?
        try GitError.check(body(&repository))
        var objects: OpaquePointer?
        let code = git_repository_odb(&objects, repository)
        guard code == 0, let repository, let objects else {
            git_repository_free(repository)
            throw GitError.last(code)
        }
        return (repository, objects)
    }

    deinit {
        git_odb_free(objects)
        git_repository_free(repository)
    }

    /// Whether each object is flushed as it is written, in this whole process; else the writer flushes all of them before
    /// it moves the head.
    public static func syncEachWrite(_ isOn: Bool) { otask_git_sync_each_write(isOn ? 1 : 0) }

    // MARK: The head

    /// Nil: nothing was committed yet.
    public func head() throws(GitError) -> GitID? {
        var id = git_oid()
        let code = git_reference_name_to_id(&id, repository, Self.branch)
        if code == GIT_ENOTFOUND.rawValue { return nil }
        try GitError.check(code)
        return GitID(id)
    }

    public func setHead(_ id: GitID) throws(GitError) {
        var reference: OpaquePointer?
        try GitError.check(id.with { git_reference_create(&reference, repository, Self.branch, $0, 1, nil) })
        git_reference_free(reference)
    }

    // MARK: Commits

    /// Writes a commit; the head stays where it is.
    ///
    /// - Parameters:
    ///   - author: without `<`, `>` and line ends; not empty. Likewise `email`.
    ///   - time: seconds since 1970.
    public func commit(
        tree: GitID, parent: GitID?, message: String, author: String, email: String, time: Int64
    ) throws(GitError) -> GitID {
        var signature: UnsafeMutablePointer<git_signature>?
        try GitError.check(git_signature_new(&signature, author, email, time, 0))
        defer { git_signature_free(signature) }
        var treeObject: OpaquePointer?
        try check(tree)
        try GitError.check(tree.with { git_tree_lookup(&treeObject, repository, $0) })
        defer { git_tree_free(treeObject) }
        var parents: [OpaquePointer?] = []
        defer { for parent in parents { git_commit_free(parent) } }
        if let parent {
            var object: OpaquePointer?
            try check(parent)
            try GitError.check(parent.with { git_commit_lookup(&object, repository, $0) })
            parents.append(object)
        }
        var id = git_oid()
        try GitError.check(
            git_commit_create(
                &id, repository, nil, signature, signature, nil, message, treeObject, parents.count, &parents))
        return GitID(id)
    }

    public func commit(_ id: GitID) throws(GitError) -> Commit {
        try check(id)
        var object: OpaquePointer?
        try GitError.check(id.with { git_commit_lookup(&object, repository, $0) })
        defer { git_commit_free(object) }
        guard let tree = git_commit_tree_id(object) else { throw GitError.last(-1) }
        return Commit(
            id: id, tree: GitID(tree.pointee), parent: git_commit_parent_id(object, 0).map { GitID($0.pointee) },
            message: git_commit_message(object).map { String(cString: $0) } ?? "", time: git_commit_time(object))
    }

    // MARK: Files and folders

    /// The entries of a folder, by their names' bytes.
    public func entries(of tree: GitID) throws(GitError) -> [(name: String, entry: Entry)] {
        try check(tree)
        var object: OpaquePointer?
        try GitError.check(tree.with { git_tree_lookup(&object, repository, $0) })
        defer { git_tree_free(object) }
        return (0..<git_tree_entrycount(object)).compactMap { index in
            guard let entry = git_tree_entry_byindex(object, index), let name = git_tree_entry_name(entry),
                let id = git_tree_entry_id(entry)
            else { return nil }
            return (
                String(cString: name),
                Entry(id: GitID(id.pointee), isFolder: git_tree_entry_type(entry) == GIT_OBJECT_TREE)
            )
        }
    }

    /// Writes a folder with these entries.
    public func write(entries: [(name: String, entry: Entry)]) throws(GitError) -> GitID {
        var builder: OpaquePointer?
        try GitError.check(git_treebuilder_new(&builder, repository, nil))
        defer { git_treebuilder_free(builder) }
        for (name, entry) in entries {
            let mode = entry.isFolder ? GIT_FILEMODE_TREE : GIT_FILEMODE_BLOB
            try GitError.check(entry.id.with { git_treebuilder_insert(nil, builder, name, $0, mode) })
        }
        var id = git_oid()
        try GitError.check(git_treebuilder_write(&id, builder))
        return GitID(id)
    }

    /// Writes a file's content; what is there already isn't written again.
    public func write(file bytes: [UInt8]) throws(GitError) -> GitID { try write(bytes, GIT_OBJECT_BLOB) }

    public func file(_ id: GitID) throws(GitError) -> [UInt8] { try object(id).bytes }

    public func has(_ id: GitID) -> Bool { id.with { git_odb_exists(objects, $0) } == 1 }

    /// Copies one object of another repository.
    public func copy(_ id: GitID, from other: GitRepository) throws(GitError) {
        if has(id) { return }
        let (bytes, type) = try other.object(id)
        _ = try write(bytes, type)
    }

    private func write(_ bytes: [UInt8], _ type: git_object_t) throws(GitError) -> GitID {
        var id = git_oid()
        try GitError.check(bytes.withUnsafeBytes { git_odb_hash(&id, $0.baseAddress, $0.count, type) })
        // One that is there is not written again, unless it is damaged.
        if has(GitID(id)) {
            if (try? check(GitID(id))) != nil { return GitID(id) }
            removeLoose(GitID(id))
        }
        try GitError.check(
            bytes.withUnsafeBytes { git_odb_write(&id, objects, $0.baseAddress, $0.count, type) })
        return GitID(id)
    }

    private func object(_ id: GitID) throws(GitError) -> (bytes: [UInt8], type: git_object_t) {
        try check(id)
        var object: OpaquePointer?
        try GitError.check(id.with { git_odb_read(&object, objects, $0) })
        defer { git_odb_object_free(object) }
        let bytes = UnsafeRawBufferPointer(start: git_odb_object_data(object), count: git_odb_object_size(object))
        return (Array(bytes), git_odb_object_type(object))
    }

    // MARK: Packing

    /// Writes a pack of these objects into `objects/pack/`. Their loose files stay.
    public func pack(_ ids: [GitID]) throws(GitError) {
        var builder: OpaquePointer?
        try GitError.check(git_packbuilder_new(&builder, repository))
        defer { git_packbuilder_free(builder) }
        for id in ids {
            try check(id)
            try GitError.check(id.with { git_packbuilder_insert(builder, $0, nil) })
        }
        try GitError.check(git_packbuilder_write(builder, nil, 0, nil, nil))
    }
}
