/* private.c - see private.h. */
#define _GNU_SOURCE
#include "private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

enum { OTHERS_WRITE = S_IWGRP | S_IWOTH };

static bool by_us(const struct stat *s)
{
    return s->st_uid == geteuid() || s->st_uid == 0;
}

static enum status foreign(const char *path, const struct stat *s, struct diag *d)
{
    return FAIL(
        d, ST_USAGE,
        "'%s' belongs to user %lu, heddle runs as user %lu and would execute what is in it; "
        "remove it, or set XDG_CACHE_HOME to a folder of your own",
        path, (unsigned long)s->st_uid, (unsigned long)geteuid());
}

static enum status writable(const char *path, const struct stat *s, struct diag *d)
{
    return FAIL(
        d, ST_USAGE,
        "'%s' can be written by other users (mode %04o), and heddle would execute what is in "
        "it; remove it, or set XDG_CACHE_HOME to a folder of your own",
        path, (unsigned)s->st_mode & 07777);
}

static enum status check_dir(const char *path, int fd, struct diag *d)
{
    struct stat s;

    if (fstat(fd, &s) != 0)
        return FAIL(d, ST_USAGE, "cannot look at folder '%s': %s", path, strerror(errno));
    if (!by_us(&s))
        return foreign(path, &s, d);
    if (s.st_mode & OTHERS_WRITE && (s.st_uid != geteuid() || fchmod(fd, 0700) != 0))
        return writable(path, &s, d);
    return ST_OK;
}

static enum status open_dir(const char *path, int flags, struct diag *d)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);

    if (fd < 0)
        return FAIL(d, ST_USAGE, "cannot open folder '%s': %s", path,
                    errno == ELOOP || errno == ENOTDIR ? "it is a link or no folder"
                                                       : strerror(errno));
    const enum status st = check_dir(path, fd, d);

    (void)close(fd);
    return st;
}

enum status private_dir(const char *path, struct diag *d)
{
    struct stat s;

    if (mkdir(path, 0700) != 0 && errno == ENOENT) {
        TRY(file_make_dirs(path, d));
        (void)chmod(path, 0700); /* created just now, or checked below */
    }
    if (lstat(path, &s) == 0 && S_ISLNK(s.st_mode) && !by_us(&s))
        return foreign(path, &s, d);
    if (lstat(path, &s) != 0)
        return file_make_dirs(path, d); /* reports why it cannot be created */
    return open_dir(path, 0, d);
}

enum status private_dirs(struct arena *a, const char *path, const char *below, struct diag *d)
{
    TRY(private_dir(path, d));
    for (const char *end = below; *end; end += *end == '/') {
        const char *part;

        end += strcspn(end, "/");
        part = arena_printf(a, "%s/%.*s", path, (int)(end - below), below);
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return file_make_dirs(part, d);
        TRY(open_dir(part, O_NOFOLLOW, d));
    }
    return ST_OK;
}

enum status private_open(const char *path, int *fd, struct diag *d)
{
    struct stat s;
    enum status st = ST_OK;

    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (*fd < 0 && errno == ENOENT)
        return ST_OK;
    if (*fd < 0)
        return FAIL(d, ST_USAGE, "cannot read '%s': %s", path,
                    errno == ELOOP ? "it is a link; remove it" : strerror(errno));
    if (fstat(*fd, &s) != 0 || !S_ISREG(s.st_mode))
        st = FAIL(d, ST_USAGE, "cannot read '%s': not a regular file; remove it", path);
    else if (!by_us(&s))
        st = foreign(path, &s, d);
    else if (s.st_mode & OTHERS_WRITE)
        st = writable(path, &s, d);
    if (st != ST_OK) {
        (void)close(*fd);
        *fd = -1;
    }
    return st;
}

enum status private_write(const char *path, const void *data, size_t n_bytes, struct diag *d)
{
    TRY(file_write(path, data, n_bytes, d));
    if (chmod(path, 0600) != 0)
        return FAIL(d, ST_USAGE, "cannot change the mode of '%s': %s", path, strerror(errno));
    return ST_OK;
}

bool private_file(const char *path)
{
    struct diag ignored = {0};
    int fd;
    const bool good = private_open(path, &fd, &ignored) == ST_OK && fd >= 0;

    if (fd >= 0)
        (void)close(fd);
    return good;
}
