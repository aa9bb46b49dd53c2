/* arena.h - memory by lifetime. Everything the compiler allocates lives in an arena and is freed
 * with it; nothing else calls malloc. Allocation cannot fail softly: when memory or the arena's
 * limit is exhausted, arena_alloc longjmps to the handler given at creation, or aborts. */
#ifndef HEDDLE_BASE_ARENA_H
#define HEDDLE_BASE_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A new arena. limit_bytes: cap over all blocks (0: none). */
struct arena *arena_new(size_t limit_bytes);
/* The same with a handler from the start; NULL when there is no memory even for it. */
struct arena *arena_open(size_t limit_bytes, jmp_buf *handler);
/* A new arena without limit that goes where `a` goes when memory is exhausted. */
struct arena *arena_beside(const struct arena *a);
void arena_free(struct arena *a);
/* Empty again, with the room that it had: for work that comes again and again. */
void arena_reset(struct arena *a);

/* Where to go when an allocation cannot be met; NULL: abort with a message. */
void arena_on_exhausted(struct arena *a, jmp_buf *handler);
/* Fail as arena_alloc does without memory: for code that allocates elsewhere, in the middle of
 * the arena's work. */
void arena_exhausted(struct arena *a) __attribute__((noreturn));
/* The handler that was set. A child process sets it anew (setjmp on the same buffer, of which it
 * has its own copy): it must not return through its parent's calls. */
jmp_buf *arena_handler(const struct arena *a);

/* `n_bytes` zeroed bytes aligned to 16. n_bytes 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t n_bytes);
/* count * size with overflow check. */
void *arena_array(struct arena *a, size_t count, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *arena_memdup(struct arena *a, const void *p, size_t n_bytes);
size_t arena_used(const struct arena *a);

#define ARENA_NEW(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_array((a), (n), sizeof(type)))

#endif
