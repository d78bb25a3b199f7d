/// What Glibc's module map does not show Swift, under names of our own. Each returns 0, or -1 with `errno`.
#ifndef OTASK_CSYSTEM_H
#define OTASK_CSYSTEM_H

#include <stdint.h>

/// Times in nanoseconds since 1970.
struct otask_status {
    int64_t size, modified, changed, birth;
    uint64_t inode, device;
    uint32_t mode, links;
    int has_birth;
};

/// statx, without following a symlink; an empty name: `folder` itself.
int otask_status(int folder, const char *name, struct otask_status *out);

enum otask_rename_flag { OTASK_RENAME_NOREPLACE = 1, OTASK_RENAME_EXCHANGE = 2 };

/// renameat2 (renameatx_np on macOS).
int otask_rename(int from, const char *from_name, int to, const char *to_name, enum otask_rename_flag flag);

/// syncfs on the file system of this descriptor; `sync` where there is none.
int otask_sync_file_system(int descriptor);

/// fsync; on macOS through the drive's cache (F_FULLFSYNC).
int otask_sync(int descriptor);

/// Gives `to` the owner, mode, ACL and extended attributes of `from`, as far as this user may.
int otask_copy_metadata(int from, int to);

/// The id of this machine from the system (macOS: gethostuuid); 36 characters and NUL. ENOSYS on Linux: /etc/machine-id.
int otask_machine_uuid(char out[37]);

/// Starts words[0], looked for in PATH unless it holds a slash, with these descriptors as its standard streams and no
/// other one.
int otask_spawn(char *const words[], int input, int output, int messages, int *process);

#endif
