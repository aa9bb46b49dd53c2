/* fuzz.c - see fuzz.h. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/graph_passes.h"

enum { MEMORY = 64 << 20 };

static enum status whole_way(struct arena *a, fuzz_read *read, const uint8_t *data, size_t n_bytes,
                             struct diag *d)
{
    const struct lgl_options options = {0};
    struct ir_graph *g = NULL;
    struct text t;

    TRY(read(a, data, n_bytes, &g, d));
    if (g == NULL)
        return ST_OK;
    TRY(ir_verify(g, "import", d));
    TRY(passes_run(g, &options, d));
    text_init(&t, a);
    ir_print(g, &t);
    return ST_OK;
}

static void judge(enum status st, const struct diag *d)
{
    const int code = status_exit_code(st);

    if (st == ST_OK || st == ST_NO_MEMORY)
        return;
    if ((code == 2 || code == 3) && d->text[0] != '\0' && strchr(d->text, '\n') == NULL)
        return;
    fprintf(stderr, "status %d, exit code %d: '%s'\n", (int)st, code, d->text);
    abort();
}

void fuzz_one(fuzz_read *read, const uint8_t *data, size_t n_bytes)
{
    struct arena *a = arena_new(MEMORY);
    struct diag d = {.status = ST_OK};
    jmp_buf exhausted;

    if (setjmp(exhausted) == 0) {
        uint8_t *copy;

        arena_on_exhausted(a, &exhausted);
        copy = arena_alloc(a, n_bytes + 1); /* aligned, and a NUL after it, as file_read gives it */
        memcpy(copy, data, n_bytes);
        judge(whole_way(a, read, copy, n_bytes, &d), &d);
    }
    arena_free(a);
}
