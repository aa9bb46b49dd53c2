/* hazard.c - what each command must wait for, from the bytes it reads and writes.
 * in:  commands in stream order with their accesses.   out: common.wait_* and wait_enable of each.
 * A command waits for every earlier one that wrote what it reads or writes, or read what it writes,
 * in another unit; a unit reads and writes in the order of its commands. ARRAY alone reads what it
 * writes itself, and its writes land long after the next command's first reads: there it waits for
 * its own count. Of weights that come while it works ARRAY need not wait for the last word: it
 * follows their WEIGHT command, and waits for those before it. Records that a later write covers
 * whole are dropped: whoever meets the new record waits for the old ones through it, and a unit's
 * commands complete in order.
 */
#include "lower.h"

struct record {
    struct sched_access access;
    uint32_t unit, sequence; /* the sequence-th command of its unit, from 1 */
};

/* Records of one memory. */
struct records {
    struct record *record;
    uint32_t n, cap;
};

struct tracker {
    struct arena *arena;
    struct records of[SCHED_MEMORIES];
    uint32_t issued[HD_UNIT_COUNT];
    const struct sched_command **weight; /* WEIGHT commands */
};

static bool overlap(const struct sched_access *a, const struct sched_access *b)
{
    return a->begin < b->end && b->begin < a->end;
}

/* Must `c` not begin before the record's command is complete, as they touch the same bytes? */
static bool waits_for(const struct sched_command *c, const struct sched_access *a,
                      const struct record *r)
{
    if (r->unit == c->unit)
        return c->unit == HD_UNIT_ARRAY && r->access.write && !a->write;
    return r->access.write || a->write;
}

static void needs(const struct tracker *t, const struct sched_command *c,
                  uint32_t need[HD_UNIT_COUNT])
{
    for (uint32_t i = 0; i < c->n_access; i++) {
        const struct sched_access *a = &c->access[i];
        const struct records *of = &t->of[a->memory];
        for (uint32_t k = 0; k < of->n; k++) {
            const struct record *r = &of->record[k];
            if (need[r->unit] < r->sequence && waits_for(c, a, r) && overlap(&r->access, a))
                need[r->unit] = r->sequence;
        }
    }
}

static void drop_covered(struct records *of, const struct sched_access *w)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < of->n; k++) {
        const struct sched_access *a = &of->record[k].access;
        if (w->begin <= a->begin && a->end <= w->end)
            continue;
        if (n != k)
            of->record[n] = of->record[k];
        n++;
    }
    of->n = n;
}

static void grow(struct arena *a, struct records *of)
{
    uint32_t cap = of->cap ? 2 * of->cap : 64;
    struct record *grown = ARENA_ARRAY(a, struct record, cap);
    for (uint32_t k = 0; k < of->n; k++)
        grown[k] = of->record[k];
    of->record = grown;
    of->cap = cap;
}

static void remember(struct tracker *t, const struct sched_command *c)
{
    for (uint32_t i = 0; i < c->n_access; i++) {
        struct records *of = &t->of[c->access[i].memory];
        if (c->access[i].write)
            drop_covered(of, &c->access[i]);
        if (of->n == of->cap)
            grow(t->arena, of);
        of->record[of->n++] = (struct record){c->access[i], c->unit, t->issued[c->unit]};
    }
}

/* Does the last WEIGHT command that ARRAY needs bring its weights, word after word from its first
 * one on or from before it? Then only those before that one are waited for. */
static void follow(const struct tracker *t, struct sched_command *c, uint32_t need[HD_UNIT_COUNT])
{
    if (c->w.common.opcode != HD_OPCODE_ARRAY || need[HD_UNIT_WEIGHT] == 0)
        return;
    const struct sched_command *w = t->weight[need[HD_UNIT_WEIGHT] - 1];
    const struct hd_cmd_dma_read *m = &w->w.dma_read;
    if (m->space != HD_SPACE_WEIGHTS || w->n_access == 0 ||
        c->w.array.w_base < w->access[0].begin || c->w.array.w_base >= w->access[0].end)
        return;
    c->w.array.follow = 1;
    need[HD_UNIT_WEIGHT]--;
}

static void set_waits(struct sched_command *c, const uint32_t need[HD_UNIT_COUNT])
{
    struct hd_common *w = &c->w.common;
    uint32_t enable = 0;
    for (uint32_t u = 0; u < HD_UNIT_FETCH; u++)
        if (need[u])
            enable |= 1u << u;
    w->wait_load = need[HD_UNIT_LOAD] & 0xffffu;
    w->wait_weight = need[HD_UNIT_WEIGHT] & 0xffffu;
    w->wait_array = need[HD_UNIT_ARRAY] & 0xffffu;
    w->wait_vector = need[HD_UNIT_VECTOR] & 0xffffu;
    w->wait_store = need[HD_UNIT_STORE] & 0xffffu;
    w->wait_enable = enable & 0x1fu;
}

void sched_waits(struct arena *a, struct sched_stream *s, const struct sched_options *o)
{
    struct tracker t = {.arena = a};
    t.weight = ARENA_ARRAY(a, const struct sched_command *, s->n + 1);
    for (uint32_t i = 0; i < s->n; i++) {
        struct sched_command *c = &s->cmd[i];
        uint32_t need[HD_UNIT_COUNT] = {0};
        if (c->w.common.opcode == HD_OPCODE_END)
            continue;
        if (o->no_overlap)
            for (uint32_t u = 0; u < HD_UNIT_FETCH; u++)
                need[u] = t.issued[u];
        else
            needs(&t, c, need);
        if (!o->no_overlap)
            follow(&t, c, need);
        if (c->unit == HD_UNIT_WEIGHT)
            t.weight[t.issued[c->unit]] = c;
        t.issued[c->unit]++;
        remember(&t, c);
        set_waits(c, need);
    }
}
