/* file.c - read and write whole files. */
#define _GNU_SOURCE
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"

/* Return the status of errno. A full disk is not the user's mistake (exit 5 instead of 2). */
static enum status status_of_errno(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: /* ulimit -f */
    case ENOMEM:
    case EIO: return ST_NO_MEMORY;
    default: return ST_USAGE;
    }
}

static enum status fail_errno(struct diag *d, const char *what, const char *path)
{
    const int error = errno;

    return FAIL(d, status_of_errno(error), "cannot %s '%s': %s", what, path, strerror(error));
}

static enum status read_all(struct arena *a, int fd, const char *path, size_t size, uint8_t **data,
                            struct diag *d)
{
    uint8_t *p = arena_alloc(a, size + 1);
    size_t done = 0;

    while (done < size) {
        const ssize_t n = read(fd, p + done, size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(d, "read", path);
        if (n == 0)
            return FAIL(d, ST_USAGE, "cannot read '%s': it became shorter while being read", path);
        done += (size_t)n;
    }
    *data = p;
    return ST_OK;
}

enum status file_read(struct arena *a, const char *path, size_t max_bytes, uint8_t **data,
                      size_t *n_bytes, struct diag *d)
{
    enum status st;
    struct stat info;
    /* O_NONBLOCK: opening a FIFO must not block before fstat can refuse it. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return fail_errno(d, "read", path);
    if (fstat(fd, &info) != 0) {
        st = fail_errno(d, "read", path);
        goto out;
    }
    if (!S_ISREG(info.st_mode)) {
        st = FAIL(d, ST_USAGE, "cannot read '%s': not a regular file", path);
        goto out;
    }
    if ((uint64_t)info.st_size > max_bytes) {
        st = FAIL(d, ST_USAGE, "'%s' has %lld bytes, expected at most %zu", path,
                  (long long)info.st_size, max_bytes);
        goto out;
    }
    st = read_all(a, fd, path, (size_t)info.st_size, data, d);
    if (st == ST_OK)
        *n_bytes = (size_t)info.st_size;
out:
    (void)close(fd);
    return st;
}

static enum status write_all(int fd, const char *path, const void *data, size_t n_bytes,
                             struct diag *d)
{
    size_t done = 0;

    while (done < n_bytes) {
        const ssize_t n = write(fd, (const char *)data + done, n_bytes - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(d, "write", path);
        done += (size_t)n;
    }
    return ST_OK;
}

/* Write to /dev/null or a pipe directly: a rename would replace the device. */
static enum status write_in_place(const char *path, const void *data, size_t n_bytes,
                                  struct diag *d)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    enum status st;

    if (fd < 0)
        return fail_errno(d, "write", path);
    st = write_all(fd, path, data, n_bytes, d);
    if (close(fd) != 0 && st == ST_OK)
        st = fail_errno(d, "write", path);
    return st;
}

enum status file_write(const char *path, const void *data, size_t n_bytes, struct diag *d)
{
    char real[PATH_MAX], temporary[PATH_MAX + 32];
    const char *target = path;
    struct stat info;
    enum status st;
    int fd;

    if (stat(path, &info) == 0) {
        if (!S_ISREG(info.st_mode))
            return write_in_place(path, data, n_bytes, d);
        if (realpath(path, real) !=
            NULL) /* keep a symbolic link, and write the file that it names */
            target = real;
    }
    if (strlen(target) >= PATH_MAX)
        return FAIL(d, ST_USAGE, "cannot write '%.200s...': the name is too long", path);
    (void)snprintf(temporary, sizeof temporary, "%s.tmp%ld", target, (long)gettid());
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return fail_errno(d, "write", path);
    interrupt_file(temporary);
    st = write_all(fd, path, data, n_bytes, d);
    if (close(fd) != 0 && st == ST_OK)
        st = fail_errno(d, "write", path);
    if (st == ST_OK && rename(temporary, target) != 0)
        st = fail_errno(d, "write", path);
    if (st != ST_OK)
        (void)unlink(temporary);
    interrupt_file_done(temporary);
    return st;
}

static enum status make_dir(const char *path, struct diag *d)
{
    struct stat info;

    if (mkdir(path, 0777) == 0)
        return ST_OK;
    if (errno != EEXIST)
        return fail_errno(d, "make directory", path);
    if (stat(path, &info) != 0)
        return fail_errno(d, "make directory", path);
    if (!S_ISDIR(info.st_mode)) {
        errno = ENOTDIR;
        return fail_errno(d, "make directory", path);
    }
    return ST_OK;
}

enum status file_make_dirs(const char *path, struct diag *d)
{
    char part[PATH_MAX];
    const size_t n = strlen(path);

    if (n == 0 || n >= sizeof part)
        return FAIL(d, ST_USAGE, "cannot make directory '%.200s': %s", path,
                    n == 0 ? "the name is empty" : "the name is too long");
    memcpy(part, path, n + 1);
    for (size_t i = 1; i < n; i++) {
        if (part[i] != '/' || part[i - 1] == '/')
            continue;
        part[i] = '\0';
        TRY(make_dir(part, d));
        part[i] = '/';
    }
    return make_dir(part, d);
}

enum status file_lock_dir(const char *path, int *fd, struct diag *d)
{
    TRY(file_make_dirs(path, d));
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return fail_errno(d, "open folder", path);
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) /* or locks are not supported
                                                                     * there */
        return ST_OK;
    (void)close(*fd);
    *fd = -1;
    return FAIL(
        d, ST_USAGE,
        "-o: another heddle is writing into '%s'; wait for it to end, or name another folder",
        path);
}

enum status file_lock(const char *path, int *fd, struct diag *d)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0)
        return FAIL(d, ST_USAGE, "cannot write '%s': %s", path, strerror(errno));
    while (flock(*fd, LOCK_EX) != 0)
        if (errno != EINTR) {
            (void)close(*fd);
            return FAIL(d, ST_USAGE, "cannot lock '%s': %s", path, strerror(errno));
        }
    return ST_OK;
}

enum status file_expand(struct arena *a, const char *path, const char **full, struct diag *d)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const char *at = strchr(path, '$');

    *full = path;
    if (!at)
        return ST_OK;
    const size_t n = strspn(at + 1, letters);
    const char *name = arena_strndup(a, at + 1, n), *value = getenv(name), *rest;
    if (!value || !*value)
        return FAIL(d, ST_USAGE, "environment variable %s is not set", name);
    TRY(file_expand(a, at + 1 + n, &rest, d));
    *full = arena_printf(a, "%.*s%s%s", (int)(at - path), path, value, rest);
    return ST_OK;
}

int file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}
