#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(__APPLE__)

#include <copyfile.h>
#include <uuid/uuid.h>

static int64_t nanoseconds(struct timespec time) { return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec; }

int otask_status(int folder, const char *name, struct otask_status *out) {
    struct stat s;
    if ((*name ? fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) : fstat(folder, &s)) != 0) return -1;
    *out = (struct otask_status){
        .size = s.st_size, .modified = nanoseconds(s.st_mtimespec), .changed = nanoseconds(s.st_ctimespec),
        .birth = nanoseconds(s.st_birthtimespec), .inode = s.st_ino, .device = (uint64_t)s.st_dev,
        .mode = s.st_mode, .links = s.st_nlink, .has_birth = 1};
    return 0;
}

int otask_rename(int from, const char *from_name, int to, const char *to_name, enum otask_rename_flag flag) {
    return renameatx_np(from, from_name, to, to_name, flag == OTASK_RENAME_EXCHANGE ? RENAME_SWAP : RENAME_EXCL);
}

int otask_sync_file_system(int descriptor) {
    (void)descriptor;
    sync();
    return 0;
}

int otask_sync(int descriptor) { return fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : fsync(descriptor); }

int otask_copy_metadata(int from, int to) {
    // Times come along with COPYFILE_STAT; the caller writes afterwards, which sets them again.
    return fcopyfile(from, to, NULL, COPYFILE_METADATA);
}

int otask_machine_uuid(char out[37]) {
    uuid_t id;
    struct timespec wait = {1, 0};
    if (gethostuuid(id, &wait) != 0) return -1;
    uuid_unparse_lower(id, out);
    return 0;
}

#else

#include <sys/xattr.h>

static int64_t nanoseconds(struct statx_timestamp time) { return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec; }

int otask_status(int folder, const char *name, struct otask_status *out) {
    struct statx s;
    int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);
    if (statx(folder, name, flags, STATX_BASIC_STATS | STATX_BTIME, &s) != 0) return -1;
    *out = (struct otask_status){
        .size = (int64_t)s.stx_size, .modified = nanoseconds(s.stx_mtime), .changed = nanoseconds(s.stx_ctime),
        .birth = nanoseconds(s.stx_btime), .inode = s.stx_ino,
        .device = (uint64_t)s.stx_dev_major << 32 | s.stx_dev_minor, .mode = s.stx_mode, .links = s.stx_nlink,
        .has_birth = (s.stx_mask & STATX_BTIME) != 0};
    return 0;
}

int otask_rename(int from, const char *from_name, int to, const char *to_name, enum otask_rename_flag flag) {
    return renameat2(
        from, from_name, to, to_name, flag == OTASK_RENAME_EXCHANGE ? RENAME_EXCHANGE : RENAME_NOREPLACE);
}

int otask_sync_file_system(int descriptor) {
    if (syncfs(descriptor) == 0) return 0;
    if (errno != ENOSYS) return -1;
    sync();
    return 0;
}

int otask_sync(int descriptor) { return fsync(descriptor); }

/// Copies the extended attributes; a POSIX ACL is one of them. Those that only a privileged process may set are left out.
static int copy_attributes(int from, int to) {
    ssize_t length = flistxattr(from, NULL, 0);
    if (length <= 0) return length == 0 || errno == ENOTSUP ? 0 : -1;
    char *names = malloc((size_t)length);
    char *value = malloc(65536);  // XATTR_SIZE_MAX
    int result = names && value ? 0 : -1;
    length = result == 0 ? flistxattr(from, names, (size_t)length) : -1;
    if (length < 0) result = -1;
    for (char *name = names; result == 0 && name < names + length; name += strlen(name) + 1) {
        ssize_t size = fgetxattr(from, name, value, 65536);
        if (size >= 0) (void)fsetxattr(to, name, value, (size_t)size, 0);
        else if (errno == EIO) result = -1;
    }
    free(names);
    free(value);
    return result;
}

int otask_copy_metadata(int from, int to) {
    struct stat s;
    if (fstat(from, &s) != 0) return -1;
    // Only root gives files away; a user keeps the group where they belong to it.
    if (fchown(to, s.st_uid, s.st_gid) != 0 && fchown(to, (uid_t)-1, s.st_gid) != 0 && errno != EPERM) return -1;
    if (fchmod(to, s.st_mode & 07777) != 0) return -1;
    return copy_attributes(from, to);
}

int otask_machine_uuid(char out[37]) {
    out[0] = 0;
    errno = ENOSYS;
    return -1;
}

#endif

extern char **environ;

int otask_spawn(char *const words[], int input, int output, int messages, int *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, messages, 2);
#ifdef __APPLE__
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_CLOEXEC_DEFAULT);
#else
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
#endif
    pid_t started = 0;
    int code = posix_spawnp(&started, words[0], &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    *process = started;
    errno = code;
    return code == 0 ? 0 : -1;
}
