import CGit2

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Rules in gitignore's syntax (gitignore(5)), without a repository.
public final class GitIgnore: @unchecked Sendable {
    private let repository: OpaquePointer
    /// libgit2's objects are for one thread at a time.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    /// Starts libgit2 (11 ms). Its configuration search paths are emptied, in this whole process, so that the person's global ignore
    /// file has no say. Nil where it can't be set up.
    public init?(rules: String) {
        guard git_libgit2_init() > 0 else { return nil }
        var repository: OpaquePointer?
        guard otask_git_forget_configuration() == 0, git_repository_new(&repository) == 0, let repository else {
            git_libgit2_shutdown()
            return nil
        }
        self.repository = repository
        pthread_mutex_init(lock, nil)
        if git_ignore_add_rule(repository, rules) != 0 { return nil }
    }

    deinit {
        git_repository_free(repository)
        pthread_mutex_destroy(lock)
        lock.deallocate()
        git_libgit2_shutdown()
    }

    /// Whether a rule matches this relative path.
    public func matches(_ path: String, isFolder: Bool) -> Bool {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        var ignored: Int32 = 0
        return git_ignore_path_is_ignored(&ignored, repository, isFolder ? path + "/" : path) == 0 && ignored != 0
    }
}
