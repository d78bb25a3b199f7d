/// libgit2, loaded at its first use: linked in, it and its TLS and SSH libraries would add 5 ms to the start of every
/// command, also of those that need no git. The types, constants and names are those of its own headers.
///
/// A function of libgit2 can be called once it stands in the list of `git2.c`; without that, linking fails.
#ifndef OTASK_CGIT2_H
#define OTASK_CGIT2_H

#include <git2.h>
#include <git2/sys/repository.h>

/// Loads the library, once in a process. NULL, or why it can't be used: then each of its functions fails, and
/// `git_error_last` says this.
const char *otask_git_load(void);

/// Empties the configuration search paths in this process, reads repositories of any owner, and lets folders be written
/// without a look at what is in them. Swift can't call git_libgit2_opts, which is variadic.
int otask_git_forget_configuration(void);

/// Whether each object and reference is flushed to the disk as it is written, in this process.
int otask_git_sync_each_write(int isOn);

#endif
