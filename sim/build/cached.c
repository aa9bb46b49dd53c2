/* cached.c - see cached.h. */
#define _GNU_SOURCE
#include "cached.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/private.h"
#include "hash.h"

/* Return "<hash> <bytes>\n" for the open file; NULL if it cannot be read or is empty. */
static const char *digest(struct arena *a, int fd)
{
    struct hash128 h;
    struct stat s;
    void *bytes;

    if (fstat(fd, &s) != 0 || s.st_size == 0)
        return NULL;
    bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    hash_init(&h);
    hash_large(&h, bytes, (size_t)s.st_size);
    (void)munmap(bytes, (size_t)s.st_size);
    return arena_printf(a, "%s %lld\n", hash_text(a, &h), (long long)s.st_size);
}

/* Return the text stored next to the object; NULL: none. */
static const char *noted(struct arena *a, const char *object)
{
    const char *path = arena_printf(a, "%s.digest", object);
    struct diag ignored = {0};
    uint8_t *text;
    size_t n;

    if (!private_file(path) || file_read(a, path, 4096, &text, &n, &ignored) != ST_OK)
        return NULL;
    return (const char *)text;
}

enum status cached_find(struct arena *a, const char *object, bool *good, struct diag *d)
{
    const char *note = noted(a, object), *found;
    struct stat s;
    int fd;

    *good = false;
    /* An object without a note is from an older heddle or incomplete: rebuild it if it is the
     * user's. */
    if (!note && lstat(object, &s) == 0 && s.st_uid == geteuid())
        return ST_OK;
    TRY(private_open(object, &fd, d));
    if (fd < 0)
        return ST_OK;
    found = note ? digest(a, fd) : NULL;
    *good = found && strcmp(found, note) == 0;
    (void)close(fd);
    return ST_OK;
}

enum status cached_seal(struct arena *a, const char *object, struct diag *d)
{
    const int fd = open(object, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const char *text = fd >= 0 && fchmod(fd, 0700) == 0 ? digest(a, fd) : NULL;

    if (fd >= 0)
        (void)close(fd);
    if (!text)
        return FAIL(d, ST_NO_MEMORY, "'%s' cannot be read back: %s", object, strerror(errno));
    return private_write(arena_printf(a, "%s.digest", object), text, strlen(text), d);
}

static enum status load(const char *object, const char *what, int when, void **handle,
                        struct diag *d)
{
    char path[64];
    int fd;

    TRY(private_open(object, &fd, d));
    if (fd < 0)
        return FAIL(d, ST_INTERNAL, "%s '%s' does not load: it is gone", what, object);
    /* Never closed: dlopen treats two objects of one name as the same. */
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *handle = dlopen(path, when | RTLD_LOCAL);
    if (!*handle) {
        const char *why = dlerror(), *colon = why ? strstr(why, ": ") : NULL;

        (void)close(fd);
        return FAIL(d, ST_INTERNAL, "%s '%s' does not load: %s", what, object,
                    colon ? colon + 2 : "dlopen failed");
    }
    return ST_OK;
}

enum status cached_load(const char *object, const char *what, void **handle, struct diag *d)
{
    return load(object, what, RTLD_NOW, handle, d);
}

enum status cached_load_data(const char *object, const char *what, void **handle, struct diag *d)
{
    return load(object, what, RTLD_LAZY, handle, d);
}
