import CGit2

/// Touch it before any call of libgit2: initialises the library once, at the first use, because that takes 11 ms.
///
/// No configuration file outside the workspace has a say.
let git: Void = {
    git_libgit2_init()
}()
