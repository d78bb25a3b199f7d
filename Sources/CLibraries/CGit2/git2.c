#include "CGit2.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

// Its structures belong to the version that this was compiled with.
#ifdef __APPLE__
#define LIBRARY "libgit2." LIBGIT2_SOVERSION ".dylib"
#else
#define LIBRARY "libgit2.so." LIBGIT2_SOVERSION
#endif

// What is called of libgit2: result, name, parameters, arguments, and the result where the library can't be loaded.
// The definitions made of them carry libgit2's own names, so that its headers check their types.
#define FUNCTIONS(each)                                                                                               \
    each(int, git_libgit2_init, (void), (), -1)                                                                        \
    each(int, git_libgit2_shutdown, (void), (), -1)                                                                    \
    each(int, git_repository_new, (git_repository * *out), (out), -1)                                                  \
    each(int, git_repository_open_bare, (git_repository * *out, const char *path), (out, path), -1)                    \
    each(int, git_repository_init_options_init, (git_repository_init_options * opts, unsigned version),                \
         (opts, version), -1)                                                                                          \
    each(int, git_repository_init_ext,                                                                                 \
         (git_repository * *out, const char *path, git_repository_init_options *opts), (out, path, opts), -1)          \
    each(int, git_repository_odb, (git_odb * *out, git_repository *repo), (out, repo), -1)                             \
    each(int, git_odb_read, (git_odb_object * *out, git_odb *db, const git_oid *id), (out, db, id), -1)                \
    each(const void *, git_odb_object_data, (git_odb_object * object), (object), NULL)                                 \
    each(size_t, git_odb_object_size, (git_odb_object * object), (object), 0)                                          \
    each(git_object_t, git_odb_object_type, (git_odb_object * object), (object), GIT_OBJECT_INVALID)                   \
    each(int, git_odb_hash, (git_oid * out, const void *data, size_t len, git_object_t type), (out, data, len, type),  \
         -1)                                                                                                           \
    each(int, git_odb_exists, (git_odb * db, const git_oid *id), (db, id), 0)                                          \
    each(int, git_odb_write, (git_oid * out, git_odb *odb, const void *data, size_t len, git_object_t type),           \
         (out, odb, data, len, type), -1)                                                                              \
    each(int, git_tree_lookup, (git_tree * *out, git_repository *repo, const git_oid *id), (out, repo, id), -1)        \
    each(size_t, git_tree_entrycount, (const git_tree *tree), (tree), 0)                                               \
    each(const git_tree_entry *, git_tree_entry_byindex, (const git_tree *tree, size_t index), (tree, index), NULL)    \
    each(const char *, git_tree_entry_name, (const git_tree_entry *entry), (entry), NULL)                              \
    each(const git_oid *, git_tree_entry_id, (const git_tree_entry *entry), (entry), NULL)                             \
    each(git_object_t, git_tree_entry_type, (const git_tree_entry *entry), (entry), GIT_OBJECT_INVALID)                \
    each(int, git_treebuilder_new, (git_treebuilder * *out, git_repository *repo, const git_tree *source),             \
         (out, repo, source), -1)                                                                                      \
    each(int, git_treebuilder_insert,                                                                                  \
         (const git_tree_entry **out, git_treebuilder *builder, const char *name, const git_oid *id,                   \
          git_filemode_t mode),                                                                                        \
         (out, builder, name, id, mode), -1)                                                                           \
    each(int, git_treebuilder_write, (git_oid * id, git_treebuilder *builder), (id, builder), -1)                      \
    each(int, git_signature_new,                                                                                       \
         (git_signature * *out, const char *name, const char *email, git_time_t time, int offset),                     \
         (out, name, email, time, offset), -1)                                                                         \
    each(int, git_commit_create,                                                                                       \
         (git_oid * id, git_repository *repo, const char *update_ref, const git_signature *author,                     \
          const git_signature *committer, const char *encoding, const char *message, const git_tree *tree,             \
          size_t parent_count, const git_commit *parents[]),                                                           \
         (id, repo, update_ref, author, committer, encoding, message, tree, parent_count, parents), -1)                \
    each(int, git_commit_lookup, (git_commit * *out, git_repository *repo, const git_oid *id), (out, repo, id), -1)    \
    each(const char *, git_commit_message, (const git_commit *commit), (commit), NULL)                                 \
    each(git_time_t, git_commit_time, (const git_commit *commit), (commit), 0)                                         \
    each(const git_oid *, git_commit_tree_id, (const git_commit *commit), (commit), NULL)                              \
    each(const git_oid *, git_commit_parent_id, (const git_commit *commit, unsigned n), (commit, n), NULL)             \
    each(int, git_reference_name_to_id, (git_oid * out, git_repository *repo, const char *name), (out, repo, name),    \
         -1)                                                                                                           \
    each(int, git_reference_create,                                                                                    \
         (git_reference * *out, git_repository *repo, const char *name, const git_oid *id, int force,                  \
          const char *message),                                                                                        \
         (out, repo, name, id, force, message), -1)                                                                    \
    each(int, git_packbuilder_new, (git_packbuilder * *out, git_repository *repo), (out, repo), -1)                    \
    each(int, git_packbuilder_insert, (git_packbuilder * builder, const git_oid *id, const char *name),                \
         (builder, id, name), -1)                                                                                      \
    each(int, git_packbuilder_write,                                                                                   \
         (git_packbuilder * builder, const char *path, unsigned mode, git_indexer_progress_cb progress, void *with),   \
         (builder, path, mode, progress, with), -1)                                                                    \
    each(int, git_ignore_add_rule, (git_repository * repo, const char *rules), (repo, rules), -1)                      \
    each(int, git_ignore_path_is_ignored, (int *ignored, git_repository *repo, const char *path),                      \
         (ignored, repo, path), -1)                                                                                    \
    each(int, git_merge_file_input_init, (git_merge_file_input * opts, unsigned version), (opts, version), -1)         \
    each(int, git_merge_file_options_init, (git_merge_file_options * opts, unsigned version), (opts, version), -1)     \
    each(int, git_merge_file,                                                                                          \
         (git_merge_file_result * out, const git_merge_file_input *ancestor, const git_merge_file_input *ours,         \
          const git_merge_file_input *theirs, const git_merge_file_options *opts),                                     \
         (out, ancestor, ours, theirs, opts), -1)

// Likewise those that return nothing.
#define PROCEDURES(each)                                                                                              \
    each(git_odb_free, (git_odb * db), (db))                                                                           \
    each(git_odb_object_free, (git_odb_object * object), (object))                                                     \
    each(git_tree_free, (git_tree * tree), (tree))                                                                     \
    each(git_treebuilder_free, (git_treebuilder * builder), (builder))                                                 \
    each(git_signature_free, (git_signature * signature), (signature))                                                 \
    each(git_commit_free, (git_commit * commit), (commit))                                                             \
    each(git_reference_free, (git_reference * reference), (reference))                                                 \
    each(git_packbuilder_free, (git_packbuilder * builder), (builder))                                                 \
    each(git_repository_free, (git_repository * repo), (repo))                                                         \
    each(git_merge_file_result_free, (git_merge_file_result * result), (result))

static struct {
    const git_error *(*git_error_last)(void);
    int (*git_libgit2_opts)(int option, ...);
#define DECLARE_FUNCTION(result, name, parameters, arguments, failed) __typeof__(name) *name;
#define DECLARE_PROCEDURE(name, parameters, arguments) __typeof__(name) *name;
    FUNCTIONS(DECLARE_FUNCTION)
    PROCEDURES(DECLARE_PROCEDURE)
} git;

static const char *problem;

static void load(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
#ifdef __APPLE__
    // Homebrew's folder on Apple silicon is not among those that are searched.
    if (!library) library = dlopen("/opt/homebrew/lib/" LIBRARY, RTLD_NOW | RTLD_LOCAL);
#endif
    if (!library) {
        problem = LIBRARY " can't be loaded; install libgit2";
        return;
    }
#define FIND(name)                                                                                                     \
    git.name = (__typeof__(git.name))dlsym(library, #name);                                                            \
    if (!git.name) {                                                                                                   \
        problem = LIBRARY " has no " #name;                                                                            \
        return;                                                                                                        \
    }
#define FIND_FUNCTION(result, name, parameters, arguments, failed) FIND(name)
#define FIND_PROCEDURE(name, parameters, arguments) FIND(name)
    FIND(git_error_last)
    FIND(git_libgit2_opts)
    FUNCTIONS(FIND_FUNCTION)
    PROCEDURES(FIND_PROCEDURE)
}

const char *otask_git_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return problem;
}

#define DEFINE_FUNCTION(result, name, parameters, arguments, failed)                                                   \
    result name parameters { return otask_git_load() ? failed : git.name arguments; }
#define DEFINE_PROCEDURE(name, parameters, arguments)                                                                  \
    void name parameters {                                                                                             \
        if (!otask_git_load()) git.name arguments;                                                                     \
    }
FUNCTIONS(DEFINE_FUNCTION)
PROCEDURES(DEFINE_PROCEDURE)

const git_error *git_error_last(void) {
    static git_error unloaded = {NULL, GIT_ERROR_OS};
    if (!otask_git_load()) return git.git_error_last();
    unloaded.message = (char *)problem;
    return &unloaded;
}

int otask_git_forget_configuration(void) {
    static const git_config_level_t levels[] = {
        GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};
    if (otask_git_load()) return -1;
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++)
        if (git.git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "") != 0) return -1;
    // Else root could not read what a person's own otask recorded, and would take it for damaged.
    if (git.git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0) != 0) return -1;
    // Else each entry of a folder that is written would be looked up.
    return git.git_libgit2_opts(GIT_OPT_ENABLE_STRICT_OBJECT_CREATION, 0);
}

int otask_git_sync_each_write(int isOn) {
    if (otask_git_load()) return -1;
    return git.git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, isOn);
}
