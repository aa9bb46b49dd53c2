/* no_memory.c - a preload for test_slow_no_memory.sh: the FAIL_AT-th malloc, calloc or realloc of each
 * process fails, with FAIL_ALL every later one too. FAIL_COUNT=FILE: how many there were, appended.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t n_bytes);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t n_bytes);

static long calls, fail_at = -1;
static int fail_all;

static int fails(void)
{
    long n;

    if (fail_at < 0) {
        const char *at = getenv("FAIL_AT"), *all = getenv("FAIL_ALL");

        fail_at = at ? atol(at) : 0;
        fail_all = all && *all;
    }
    n = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (fail_at == 0 || (n != fail_at && !(fail_all && n > fail_at)))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n_bytes)
{
    return fails() ? NULL : __libc_malloc(n_bytes);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t n_bytes)
{
    return fails() ? NULL : __libc_realloc(p, n_bytes);
}

__attribute__((destructor)) static void count(void)
{
    const char *path = getenv("FAIL_COUNT");
    FILE *f = path ? fopen(path, "a") : NULL;

    if (f) {
        fprintf(f, "%ld\n", calls);
        fclose(f);
    }
}
