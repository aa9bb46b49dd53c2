/* arena.c - a list of zeroed blocks, filled one after another. */
#define _POSIX_C_SOURCE 200809L
#include "arena.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, BLOCK_BYTES = 64 * 1024 };

struct block {
    struct block *next;
    size_t used, size; /* bytes of data[] */
    _Alignas(ALIGN) unsigned char data[];
};

struct arena {
    struct block *blocks; /* the first one is being filled */
    size_t limit, held, used;
    jmp_buf *handler;
};

static _Noreturn void exhausted(struct arena *a, size_t n_bytes)
{
    if (a != NULL && a->handler != NULL)
        longjmp(*a->handler, 1);
    fprintf(stderr, "heddle: out of memory: %zu bytes wanted\n", n_bytes);
    abort();
}

struct arena *arena_open(size_t limit_bytes, jmp_buf *handler)
{
    struct arena *a = calloc(1, sizeof *a);

    if (a == NULL)
        return NULL;
    a->limit = limit_bytes;
    a->handler = handler;
    return a;
}

struct arena *arena_new(size_t limit_bytes)
{
    struct arena *a = arena_open(limit_bytes, NULL);

    if (a == NULL)
        exhausted(NULL, sizeof(void *));
    return a;
}

struct arena *arena_beside(const struct arena *a)
{
    struct arena *b = arena_open(0, a->handler);

    if (b == NULL)
        exhausted((struct arena *)(uintptr_t)a, sizeof(void *));
    return b;
}

jmp_buf *arena_handler(const struct arena *a)
{
    return a->handler;
}

static void free_blocks(struct arena *a)
{
    while (a->blocks != NULL) {
        struct block *b = a->blocks;

        a->blocks = b->next;
        free(b);
    }
}

void arena_free(struct arena *a)
{
    if (a == NULL)
        return;
    free_blocks(a);
    free(a);
}

void arena_exhausted(struct arena *a)
{
    exhausted(a, 0);
}

void arena_on_exhausted(struct arena *a, jmp_buf *handler)
{
    a->handler = handler;
}

static bool over_limit(const struct arena *a, size_t n_bytes)
{
    return a->limit != 0 && (n_bytes > a->limit || a->held > a->limit - n_bytes);
}

/* Add a block with room for n_bytes. Large requests get a separate block after the first, so that
 * the room left in the first is not lost. */
static struct block *new_block(struct arena *a, size_t n_bytes)
{
    const bool large = n_bytes > BLOCK_BYTES / 4;
    size_t size = large ? n_bytes : BLOCK_BYTES;
    struct block *b;

    if (over_limit(a, size))
        size = n_bytes;
    if (over_limit(a, size) || size > SIZE_MAX - sizeof *b)
        exhausted(a, n_bytes);
    b = calloc(1, sizeof *b + size);
    if (b == NULL)
        exhausted(a, n_bytes);
    b->size = size;
    a->held += size;
    if (large && a->blocks != NULL) {
        b->next = a->blocks->next;
        a->blocks->next = b;
    } else {
        b->next = a->blocks;
        a->blocks = b;
    }
    return b;
}

void arena_reset(struct arena *a)
{
    const size_t held = a->held;

    a->used = 0;
    if (a->blocks != NULL && a->blocks->next == NULL) {
        memset(a->blocks->data, 0, a->blocks->used);
        a->blocks->used = 0;
        return;
    }
    free_blocks(a);
    a->held = 0;
    if (held)
        (void)new_block(a, held); /* a single block as large as all together */
}

void *arena_alloc(struct arena *a, size_t n_bytes)
{
    struct block *b = a->blocks;
    void *p;

    if (n_bytes == 0)
        n_bytes = 1;
    if (n_bytes > SIZE_MAX - ALIGN)
        exhausted(a, n_bytes);
    n_bytes = (n_bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (b == NULL || n_bytes > b->size - b->used)
        b = new_block(a, n_bytes);
    p = b->data + b->used;
    b->used += n_bytes;
    a->used += n_bytes;
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        exhausted(a, SIZE_MAX);
    return arena_alloc(a, count * size);
}

void *arena_grow(struct arena *a, void *array, uint32_t n, uint32_t *cap, size_t size)
{
    void *grown;

    if (n < *cap)
        return array;
    *cap = n < 16 ? 32 : n * 2;
    grown = arena_array(a, *cap, size);
    if (n != 0)
        memcpy(grown, array, n * size);
    return grown;
}

void *arena_memdup(struct arena *a, const void *p, size_t n_bytes)
{
    void *copy = arena_alloc(a, n_bytes);

    if (n_bytes != 0)
        memcpy(copy, p, n_bytes);
    return copy;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    const size_t length = strnlen(s, n);
    char *copy = arena_alloc(a, length + 1);

    memcpy(copy, s, length);
    return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_memdup(a, s, strlen(s) + 1);
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list ap, again;
    char *s;
    int n;

    va_start(ap, format);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (n < 0)
        exhausted(a, 0);
    s = arena_alloc(a, (size_t)n + 1);
    (void)vsnprintf(s, (size_t)n + 1, format, again);
    va_end(again);
    return s;
}

size_t arena_used(const struct arena *a)
{
    return a->used;
}
