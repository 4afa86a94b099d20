/* Fails the n-th call that changes the disk, once armed: with an error, or by killing the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long left = -1;
static int how;
static long seen;

void shim_arm(long nth, int error) { left = nth; how = error; seen = 0; }
long shim_seen(void) { return seen; }

static int fails(void) {
    if (left < 0) return 0;
    seen++;
    if (seen != left) return 0;
    if (how == 0) kill(getpid(), SIGKILL);
    errno = how;
    return 1;
}

#define REAL(type, name, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

ssize_t write(int fd, const void *b, size_t n) {
    if (fd > 2 && fails()) return -1;
    return REAL(ssize_t, "write", int, const void *, size_t)(fd, b, n);
}
ssize_t pwrite64(int fd, const void *b, size_t n, off_t at) {
    if (fails()) return -1;
    return REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t)(fd, b, n, at);
}
ssize_t pwrite(int fd, const void *b, size_t n, off_t at) {
    if (fails()) return -1;
    return REAL(ssize_t, "pwrite", int, const void *, size_t, off_t)(fd, b, n, at);
}
int fsync(int fd) { return fails() ? -1 : REAL(int, "fsync", int)(fd); }
int rename(const char *a, const char *b) {
    return fails() ? -1 : REAL(int, "rename", const char *, const char *)(a, b);
}
int mkdir(const char *a, mode_t m) {
    return fails() ? -1 : REAL(int, "mkdir", const char *, mode_t)(a, m);
}
int chmod(const char *a, mode_t m) {
    return fails() ? -1 : REAL(int, "chmod", const char *, mode_t)(a, m);
}
static int opened(const char *name, const char *path, int flags, mode_t mode) {
    if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) && fails()) return -1;
    return REAL(int, name, const char *, int, ...)(path, flags, mode);
}
#define OPENER(name)                                                     \
    int name(const char *path, int flags, ...) {                         \
        va_list more;                                                    \
        va_start(more, flags);                                           \
        mode_t mode = va_arg(more, mode_t);                              \
        va_end(more);                                                    \
        return opened(#name, path, flags, mode);                         \
    }
OPENER(open)
OPENER(open64)
