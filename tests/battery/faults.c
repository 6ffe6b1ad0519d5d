/* Faults of the disk, on purpose. Loaded before the C library, this counts the calls that change files below a folder,
 * and at the n-th of them kills or stops the process, lets the call fail, or writes half.
 *
 * What is wanted and what was counted stands in the file that FAULTS names, shared by all processes that map it; shim.py
 * has the same fields in the same order.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, RENAME = 4, UNLINK = 8, CREATE = 16 };
enum { TRUNCATE = 32, MKDIR = 64, LINK = 128, OPEN = 256, CLOSE = 512 };
enum { COUNT, KILL, KILL_HALF, FAIL, SHORT, STOP };
enum { GO_ON, HALF, FAILED };

#define LOGGED (1 << 16)

struct state {
    int32_t kinds;   /* of calls that count; 0: nothing does */
    int32_t action;  /* what happens at the call `when`, of which the first is 1 */
    int32_t when;
    int32_t lasting; /* whether it happens at all later calls too */
    int32_t error;   /* errno of FAIL */
    int32_t unsynced; /* whether syncing is left out: a kill loses nothing that the system holds, and it takes long */
    int32_t count;   /* calls so far */
    int32_t hits;    /* how often it happened */
    char folder[4096];
    uint16_t kind[LOGGED]; /* of every call so far */
};

static struct state* state;

static void* real(const char* name) {
    void* found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

#define REAL(name) \
    static __typeof__(name)* call; \
    if (!call) call = real(#name)

__attribute__((constructor)) static void map_state(void) {
    const char* path = getenv("FAULTS");
    int (*open_file)(const char*, int, ...) = real("open");
    int (*close_file)(int) = real("close");
    int file = path ? open_file(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void* mapped = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close_file(file);
    if (mapped != MAP_FAILED) state = mapped;
}

static int is_below(const char* path) {
    size_t n = strlen(state->folder);
    return strncmp(path, state->folder, n) == 0 && (path[n] == '/' || path[n] == 0);
}

static int name_of(int file, char* name, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = readlink(link, name, size - 1);
    if (n < 0) return 0;
    name[n] = 0;
    return 1;
}

static int file_below(int file) {
    char name[4096];
    return name_of(file, name, sizeof name) && is_below(name);
}

static int path_below(int folder, const char* path) {
    char base[4096], whole[8400];
    if (!path) return 0;
    if (path[0] == '/') return is_below(path);
    if (folder == AT_FDCWD ? !getcwd(base, sizeof base) : !name_of(folder, base, sizeof base)) return 0;
    snprintf(whole, sizeof whole, "%s/%s", base, path);
    return is_below(whole);
}

/* Count a call below the folder, and do what is wanted at it. */
static int meet(int kind) {
    int count = __atomic_add_fetch(&state->count, 1, __ATOMIC_SEQ_CST);
    if (count <= LOGGED) state->kind[count - 1] = kind;
    if (state->action == COUNT || count < state->when || (count > state->when && !state->lasting)) return GO_ON;
    __atomic_add_fetch(&state->hits, 1, __ATOMIC_SEQ_CST);
    if (state->action == KILL || (state->action == KILL_HALF && kind != WRITE)) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    if (state->action == STOP) {
        kill(getpid(), SIGSTOP);
        return GO_ON;
    }
    if (state->action == FAIL) {
        errno = state->error;
        return FAILED;
    }
    return kind == WRITE ? HALF : GO_ON;
}

static int wanted(int kind) { return state && (state->kinds & kind); }

static int at_file(int kind, int file) { return wanted(kind) && file_below(file) ? meet(kind) : GO_ON; }

static int at_path(int kind, int folder, const char* path) {
    int before = errno, result = wanted(kind) && path_below(folder, path) ? meet(kind) : GO_ON;
    if (result != FAILED) errno = before;
    return result;
}

/* After half of a write: death, or a caller who has to go on. */
static ssize_t half_done(ssize_t written) {
    if (state->action == KILL_HALF) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    return written;
}

static size_t half(size_t n) { return state->action == SHORT ? (n + 1) / 2 : n / 2; }

#define AT_WRITE(file, n, ...) \
    int fate = at_file(WRITE, file); \
    if (fate == FAILED) return -1; \
    if (fate == HALF) { \
        n = half(n); \
        return half_done(call(__VA_ARGS__)); \
    } \
    return call(__VA_ARGS__)

ssize_t write(int file, const void* data, size_t n) {
    REAL(write);
    AT_WRITE(file, n, file, data, n);
}

ssize_t pwrite(int file, const void* data, size_t n, off_t offset) {
    REAL(pwrite);
    AT_WRITE(file, n, file, data, n, offset);
}

ssize_t pwrite64(int file, const void* data, size_t n, off64_t offset) {
    REAL(pwrite64);
    AT_WRITE(file, n, file, data, n, offset);
}

ssize_t writev(int file, const struct iovec* parts, int n) {
    REAL(writev);
    AT_WRITE(file, n, file, parts, n);
}

ssize_t sendfile(int out, int in, off_t* offset, size_t n) {
    REAL(sendfile);
    AT_WRITE(out, n, out, in, offset, n);
}

ssize_t sendfile64(int out, int in, off64_t* offset, size_t n) {
    REAL(sendfile64);
    AT_WRITE(out, n, out, in, offset, n);
}

ssize_t copy_file_range(int in, off64_t* from, int out, off64_t* to, size_t n, unsigned flags) {
    REAL(copy_file_range);
    AT_WRITE(out, n, in, from, out, to, n, flags);
}

#define CALL_ON_FILE(kind, type, name, parameters, file, ...) \
    type name parameters { \
        REAL(name); \
        return at_file(kind, file) == FAILED ? -1 : call(__VA_ARGS__); \
    }

CALL_ON_FILE(TRUNCATE, int, ftruncate, (int file, off_t n), file, file, n)
CALL_ON_FILE(TRUNCATE, int, ftruncate64, (int file, off64_t n), file, file, n)
CALL_ON_FILE(TRUNCATE, int, posix_fallocate, (int file, off_t from, off_t n), file, file, from, n)

int fsync(int file) {
    REAL(fsync);
    if (at_file(SYNC, file) == FAILED) return -1;
    return state && state->unsynced ? 0 : call(file);
}

int fdatasync(int file) {
    REAL(fdatasync);
    if (at_file(SYNC, file) == FAILED) return -1;
    return state && state->unsynced ? 0 : call(file);
}

/* A close that fails has closed, and tells of a write that was lost. */
int close(int file) {
    REAL(close);
    int written = wanted(CLOSE) && (fcntl(file, F_GETFL) & O_ACCMODE) != O_RDONLY;
    int fate = written ? at_file(CLOSE, file) : GO_ON, error = errno, result = call(file);
    if (fate != FAILED) return result;
    errno = error;
    return -1;
}

#define CALL_ON_PATH(kind, name, parameters, folder, path, ...) \
    int name parameters { \
        REAL(name); \
        return at_path(kind, folder, path) == FAILED ? -1 : call(__VA_ARGS__); \
    }

CALL_ON_PATH(RENAME, rename, (const char* a, const char* b), AT_FDCWD, b, a, b)
CALL_ON_PATH(RENAME, renameat, (int f, const char* a, int g, const char* b), g, b, f, a, g, b)
CALL_ON_PATH(RENAME, renameat2, (int f, const char* a, int g, const char* b, unsigned how), g, b, f, a, g, b, how)
CALL_ON_PATH(UNLINK, unlink, (const char* path), AT_FDCWD, path, path)
CALL_ON_PATH(UNLINK, unlinkat, (int folder, const char* path, int how), folder, path, folder, path, how)
CALL_ON_PATH(UNLINK, rmdir, (const char* path), AT_FDCWD, path, path)
CALL_ON_PATH(MKDIR, mkdir, (const char* path, mode_t mode), AT_FDCWD, path, path, mode)
CALL_ON_PATH(MKDIR, mkdirat, (int folder, const char* path, mode_t mode), folder, path, folder, path, mode)
CALL_ON_PATH(LINK, link, (const char* a, const char* b), AT_FDCWD, b, a, b)
CALL_ON_PATH(LINK, linkat, (int f, const char* a, int g, const char* b, int how), g, b, f, a, g, b, how)
CALL_ON_PATH(LINK, symlink, (const char* a, const char* b), AT_FDCWD, b, a, b)
CALL_ON_PATH(LINK, symlinkat, (const char* a, int g, const char* b), g, b, a, g, b)
CALL_ON_PATH(TRUNCATE, truncate, (const char* path, off_t n), AT_FDCWD, path, path, n)

static int opening(int how) { return how & (O_CREAT | O_TRUNC) ? CREATE : OPEN; }

static mode_t mode_in(int how, va_list more) { return how & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0; }

#define OPENS(name, parameters, folder, ...) \
    int name parameters { \
        REAL(name); \
        va_list more; \
        va_start(more, how); \
        mode_t mode = mode_in(how, more); \
        va_end(more); \
        return at_path(opening(how), folder, path) == FAILED ? -1 : call(__VA_ARGS__, mode); \
    }

OPENS(open, (const char* path, int how, ...), AT_FDCWD, path, how)
OPENS(open64, (const char* path, int how, ...), AT_FDCWD, path, how)
OPENS(openat, (int folder, const char* path, int how, ...), folder, folder, path, how)
OPENS(openat64, (int folder, const char* path, int how, ...), folder, folder, path, how)
