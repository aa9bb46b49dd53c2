/* context.c - create and free a context, set its options, and guard every call. */
#include "context.h"

#include <stdlib.h>
#include <string.h>

#include "app/job/shared.h"
#include "base/interrupt.h"

#define ARENA_LIMIT ((size_t)8 << 30)

uint32_t heddle_api_version(void)
{
    return HEDDLE_API_VERSION;
}

const char *heddle_version(void)
{
    return HEDDLE_VERSION;
}

void heddle_exit_on_interrupt(void)
{
    interrupt_catch();
}

static void pass_on(void *ctx, enum output_kind kind, const char *text)
{
    const struct heddle *h = ctx;

    h->text(h->text_ctx, (enum heddle_text)kind, text);
}

void heddle_on_text(struct heddle *h, unsigned kinds, heddle_text_fn *fn, void *ctx)
{
    h->text = fn;
    h->text_ctx = ctx;
    h->output = (struct output){fn ? pass_on : NULL, h, kinds};
}

enum status context_arena(struct heddle *h, struct arena **a)
{
    arena_free(*a);
    *a = arena_open(ARENA_LIMIT, &h->exhausted);
    return *a ? ST_OK : FAIL(&h->d, ST_NO_MEMORY, "out of memory");
}

enum heddle_code context_call(struct heddle *h, enum status (*step)(struct heddle *h, void *arg),
                              void *arg)
{
    h->d = (struct diag){0};
    if (setjmp(h->exhausted))
        return (enum heddle_code)status_exit_code(
            FAIL(&h->d, ST_NO_MEMORY,
                 "out of memory; the model or its data are larger than this machine can hold"));
    return (enum heddle_code)status_exit_code(step(h, arg));
}

void context_forget_run(struct heddle *h)
{
    run_release(&h->run);
    h->run = (struct run){0};
    h->ran = false;
}

void context_begin_run(struct heddle *h)
{
    context_forget_run(h);
    h->run = h->loaded;
    h->run.job.arena = h->scratch;
}

void context_forget_bytes(struct heddle *h)
{
    for (uint32_t i = 0; i < OPTIONS_MAX_FILES; i++) {
        free((void *)(uintptr_t)h->in[i].data);
        free((void *)(uintptr_t)h->expect[i].data);
    }
    memset(h->in, 0, sizeof h->in);
    memset(h->expect, 0, sizeof h->expect);
}

static void forget(struct heddle *h)
{
    context_forget_run(h);
    context_forget_bytes(h);
    free((void *)(uintptr_t)h->bytes.data);
    h->bytes = (struct run_bytes){0};
    h->name = NULL;
}

static enum status begin(struct heddle *h, void *arg)
{
    (void)arg;
    TRY(context_arena(h, &h->arena));
    TRY(context_arena(h, &h->model));
    TRY(context_arena(h, &h->scratch));
    h->o.output = &h->output;
    return options_init(&h->set, h->arena, &h->o, &h->d);
}

struct heddle *heddle_new(void)
{
    struct heddle *h = calloc(1, sizeof *h);

    if (h && context_call(h, begin, NULL) != HEDDLE_OK) {
        heddle_free(h);
        return NULL;
    }
    return h;
}

void heddle_free(struct heddle *h)
{
    if (!h)
        return;
    forget(h);
    arena_free(h->arena);
    arena_free(h->model);
    arena_free(h->scratch);
    free(h);
}

enum heddle_code heddle_reset(struct heddle *h)
{
    forget(h);
    return context_call(h, begin, NULL);
}

const char *heddle_error(const struct heddle *h)
{
    return h->d.text;
}

/* --- options --- */

struct setting {
    const char *name, *value;
    bool unset;
};

static enum status set(struct heddle *h, void *arg)
{
    const struct setting *s = arg;

    if (!s->name)
        return FAIL(&h->d, ST_USAGE, "an option without a name");
    h->stale = true;
    return s->unset ? options_unset(&h->set, s->name, &h->d)
                    : options_set(&h->set, s->name, s->value, &h->d);
}

enum heddle_code heddle_set(struct heddle *h, const char *name, const char *value)
{
    return context_call(h, set, &(struct setting){name, value, false});
}

enum heddle_code heddle_unset(struct heddle *h, const char *name)
{
    return context_call(h, set, &(struct setting){name, NULL, true});
}

struct listing {
    const struct heddle_option *all;
    size_t n;
};

static enum status list(struct heddle *h, void *arg)
{
    struct listing *l = arg;

    l->all = options_list(&h->set, &l->n);
    return ST_OK;
}

const struct heddle_option *heddle_options(struct heddle *h, size_t *n)
{
    struct listing l = {NULL, 0};

    (void)context_call(h, list, &l);
    *n = l.n;
    return l.all;
}
