/* arena.h - memory by lifetime. Everything the compiler allocates is in an arena and is freed with
 * it; no other code calls malloc. Allocation does not return failures: when memory or the arena's
 * limit is exhausted, arena_alloc longjmps to the handler given at creation, or aborts. */
#ifndef HEDDLE_BASE_ARENA_H
#define HEDDLE_BASE_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Make an arena. limit_bytes: limit of all blocks together (0: none). */
struct arena *arena_new(size_t limit_bytes);
/* The same with a handler from the start; NULL if even the arena itself cannot be allocated. */
struct arena *arena_open(size_t limit_bytes, jmp_buf *handler);
/* Make an arena without limit that uses the handler of `a` when memory is exhausted. */
struct arena *arena_beside(const struct arena *a);
void arena_free(struct arena *a);
/* Empty the arena but keep its memory, for repeated work. */
void arena_reset(struct arena *a);

/* Set the handler for failed allocations; NULL: abort with a message. */
void arena_on_exhausted(struct arena *a, jmp_buf *handler);
/* Fail as arena_alloc does without memory, for code that allocates elsewhere while it works for the
 * arena. */
void arena_exhausted(struct arena *a) __attribute__((noreturn));
/* Return the handler. A child process sets it again (setjmp on its copy of the buffer), because it
 * must not return through its parent's calls. */
jmp_buf *arena_handler(const struct arena *a);

/* Allocate `n_bytes` zeroed bytes aligned to 16. n_bytes 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t n_bytes);
/* Allocate count * size bytes with an overflow check. */
void *arena_array(struct arena *a, size_t count, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Return `array`, which has `n` elements of `size` bytes and room for *cap, if one more fits;
 * otherwise a copy with twice the room, and its *cap. New elements are zero. */
void *arena_grow(struct arena *a, void *array, uint32_t n, uint32_t *cap, size_t size);
void *arena_memdup(struct arena *a, const void *p, size_t n_bytes);
size_t arena_used(const struct arena *a);

#define ARENA_NEW(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_array((a), (n), sizeof(type)))
/* Make room for element `n` of `array`. */
#define ARENA_GROW(a, array, n, cap)                                                               \
    ((array) = arena_grow((a), (array), (n), (cap), sizeof *(array)))

#endif
