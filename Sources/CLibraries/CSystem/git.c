#include "CSystem.h"

#include <git2.h>
#include <git2/sys/repository.h>

int otask_git_forget_configuration(void) {
    static const git_config_level_t levels[] = {
        GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++)
        if (git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "") != 0) return -1;
    return 0;
}

int otask_git_repository_new(struct git_repository **out) { return git_repository_new(out); }
