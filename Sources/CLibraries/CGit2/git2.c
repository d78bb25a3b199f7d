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
    return 0;
}
