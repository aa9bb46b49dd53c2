/* region.c - see region.h. */
#include "region.h"

#include "base/text.h"
#include "native.h"

/* Return the region as a graph for the shared object. */
static struct ir_part present(const struct target_question *q, uint32_t first, uint32_t last,
                              struct heddle_region *r)
{
    struct ir_part part = ir_extract(q->arena, q->graph, first, last);
    struct text t;

    text_init(&t, q->arena);
    ir_print(part.graph, &t);
    *r = (struct heddle_region){.target = q->target->name,
                                .graph = t.data,
                                .n_ops = last - first + 1,
                                .n_settings = q->target->desc->n_attr};
    native_settings(q, &r->setting_name, &r->setting);
    return part;
}

/* Ask which of the operators it accepts; return true if all. */
static bool ask(const struct target_question *q, uint32_t first, uint32_t last, uint8_t *takes,
                double *cycles, const char **why)
{
    const struct heddle_target_api *api = describe_of(q->target)->native;
    struct heddle_region r;
    char text[256] = "";
    bool all = true;

    if (!api || !api->region || !api->compile) {
        *why = "its shared object has no functions `region` and `compile`";
        return false;
    }
    (void)present(q, first, last, &r);
    *cycles = 0;
    const bool answered = api->region(&r, takes, cycles, text, sizeof text) == 1;
    for (uint32_t i = 0; i <= last - first; i++) {
        takes[i] = answered && takes[i];
        all = all && takes[i];
    }
    text[sizeof text - 1] = '\0';
    *why = arena_strdup(q->arena, *text ? text : "its native code refuses it");
    return all;
}

const char *region_refusal(const struct target_question *q, uint32_t first, uint32_t last,
                           double *cycles)
{
    uint8_t *takes = ARENA_ARRAY(q->arena, uint8_t, last - first + 1);
    const char *why;

    return ask(q, first, last, takes, cycles, &why) ? NULL : why;
}

struct regions {
    const struct target_question *q;
    struct target_groups list;
    struct target_group *group;
    const char **why;
};

static void add(struct regions *s, uint32_t first, uint32_t last, double cycles)
{
    uint32_t *op = ARENA_ARRAY(s->q->arena, uint32_t, last - first + 1);

    for (uint32_t i = first; i <= last; i++)
        op[i - first] = i;
    s->group[s->list.n++] = (struct target_group){"a region", last - first + 1, op, cycles};
}

/* Visit each run of consecutive operators from `first` to before `end` for which `is` holds. */
static void each_run(struct regions *s, uint32_t first, uint32_t end, const uint8_t *is);

static void try_run(struct regions *s, uint32_t first, uint32_t last)
{
    uint8_t *takes = ARENA_ARRAY(s->q->arena, uint8_t, last - first + 1);
    double cycles;
    const char *why;

    if (ask(s->q, first, last, takes, &cycles, &why)) {
        add(s, first, last, cycles);
        return;
    }
    each_run(s, first, last + 1, takes); /* ends because each run is shorter */
    bool any = false;
    for (uint32_t i = first; i <= last; i++) {
        s->why[i] = takes[i - first] ? s->why[i] : why;
        any = any || takes[i - first];
        takes[i - first] = !takes[i - first];
    }
    if (any) /* without the others it may accept these */
        each_run(s, first, last + 1, takes);
}

static void each_run(struct regions *s, uint32_t first, uint32_t end, const uint8_t *is)
{
    for (uint32_t i = first; i < end; i++) {
        uint32_t last = i;
        if (!is[i - first])
            continue;
        while (last + 1 < end && is[last + 1 - first])
            last++;
        try_run(s, i, last);
        i = last;
    }
}

struct target_groups region_groups(const struct target_question *q, const bool *closed)
{
    const uint32_t n = q->graph->n_op;
    struct regions s = {.q = q,
                        .group = ARENA_ARRAY(q->arena, struct target_group, n + 1),
                        .why = ARENA_ARRAY(q->arena, const char *, n + 1)};
    uint8_t *is = ARENA_ARRAY(q->arena, uint8_t, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        struct target_question one = *q;
        const char *why;
        one.op = q->graph->op[i];
        is[i] = !one.op->dead && !closed[i] && describe_match(&one, &why);
    }
    each_run(&s, 0, n, is);
    s.list.group = s.group;
    s.list.why = s.why;
    return s.list;
}

enum status region_compile(const struct target_question *q, uint32_t first, uint32_t last,
                           struct ir_part *part, struct region_blob *blob, struct diag *d)
{
    const struct heddle_target_api *api = describe_of(q->target)->native;
    struct heddle_region r;
    uint8_t *bytes = NULL;
    size_t n = 0;
    char why[256] = "";

    *part = present(q, first, last, &r);
    if (!api || api->compile(&r, &bytes, &n, why, sizeof why) != 1 || !bytes || n == 0) {
        why[sizeof why - 1] = '\0';
        return FAIL(d, ST_UNSUPPORTED,
                    "target %s: the region %s to %s, which it takes, is not compiled: %s",
                    q->target->name, q->graph->row[q->graph->op[first]->row].name,
                    q->graph->row[q->graph->op[last]->row].name,
                    *why ? why : "its native code gives no reason");
    }
    *blob = (struct region_blob){arena_memdup(q->arena, bytes, n), n};
    if (api->release)
        api->release((char *)bytes);
    return ST_OK;
}
