/* hazard.c - waits of each command, from the bytes it reads and writes.
 * in:  commands in stream order with their accesses.   out: common.wait_* and wait_enable of each.
 * A command waits for every earlier one that wrote what it reads or writes, or read what it writes,
 * in another unit; a unit reads and writes in the order of its commands. ARRAY alone reads what it
 * writes itself, and its writes land long after the next command's first reads: there it waits for
 * its own count, or, where its first tiles read nothing that the command before writes last, its
 * further tiles wait for that command (lead.c). ARRAY need not wait for the last word of weights
 * that come while it works: it follows their WEIGHT command, if that reads memory, and waits for
 * those before it. Records that a later write covers whole are dropped, and cut where it covers one
 * end of them: a command that meets the new record waits for the old ones through it, and a unit's
 * commands complete in order.
 */
#include "lower.h"

struct record {
    struct sched_access access;
    uint32_t sequence; /* the sequence-th command of its unit, from 1 */
};

/* Records of one memory and unit, from the oldest on. */
struct records {
    struct record *record;
    uint32_t n, cap;
};

struct tracker {
    struct arena *arena;
    struct records of[SCHED_MEMORIES][HD_UNIT_FETCH];
    uint32_t issued[HD_UNIT_COUNT];
    const struct sched_command **weight; /* WEIGHT commands */
    const struct sched_command *array;   /* the last ARRAY command */
};

/* Return true if slices of the same pitch take disjoint bytes of it. */
static bool apart(const struct sched_access *a, const struct sched_access *b)
{
    if (a->pitch == 0 || a->pitch != b->pitch)
        return false;
    uint64_t offset = (b->begin % a->pitch + a->pitch - a->begin % a->pitch) % a->pitch;
    return offset >= a->bytes && offset + b->bytes <= a->pitch;
}

static bool overlap(const struct sched_access *a, const struct sched_access *b)
{
    return a->begin < b->end && b->begin < a->end && !apart(a, b);
}

/* Return true if everything that touches bytes of `a` meets `w`, too. Then a command that must
 * wait for `a` waits for `w`, which waited for `a`. That holds also where `w` leaves bytes out
 * (gaps), since their positions are unknown. */
static bool covers(const struct sched_access *w, const struct sched_access *a)
{
    bool whole =
        w->pitch == 0 || (w->pitch == a->pitch && w->begin == a->begin && a->bytes <= w->bytes);

    return whole && w->begin <= a->begin && a->end <= w->end;
}

/* The latest record beyond sequence `need` whose command must be complete before one that makes the
 * access begins, as they touch the same bytes; else `need`. own: they are of the same unit. */
static uint32_t latest(const struct records *of, const struct sched_access *a, bool own,
                       uint32_t need)
{
    if (own && a->write)
        return need;
    for (uint32_t k = of->n; k-- > 0 && of->record[k].sequence > need;) {
        const struct sched_access *r = &of->record[k].access;
        if ((r->write || (a->write && !own)) && overlap(r, a))
            return of->record[k].sequence;
    }
    return need;
}

static void needs(const struct tracker *t, const struct sched_command *c,
                  uint32_t need[HD_UNIT_COUNT])
{
    for (uint32_t i = 0; i < c->n_access; i++)
        for (uint32_t u = 0; u < HD_UNIT_FETCH; u++)
            if (u != c->unit || u == HD_UNIT_ARRAY)
                need[u] =
                    latest(&t->of[c->access[i].memory][u], &c->access[i], u == c->unit, need[u]);
}

/* Units compare counts of 16 bits by their difference, so a wait for a command that many others of its unit followed would
 * hold for ever. It becomes a wait for a later one, half that reach back: what precedes a command never waits for it. */
enum { WAIT_REACH = 0x4000 };

static void keep_in_reach(const struct tracker *t, uint32_t need[HD_UNIT_COUNT])
{
    for (uint32_t u = 0; u < HD_UNIT_FETCH; u++)
        if (need[u] && need[u] + WAIT_REACH < t->issued[u])
            need[u] = t->issued[u] - WAIT_REACH;
}

/* Bytes at one end of `a` that `w` touches are left to w: else, where blocks of other sizes follow
 * one another round a memory, records would pile up. */
static void trim(const struct sched_access *w, struct sched_access *a)
{
    if (w->pitch || a->pitch || w->end <= a->begin || w->begin >= a->end)
        return;
    if (w->begin <= a->begin)
        a->begin = w->end;
    else if (w->end >= a->end)
        a->end = w->begin;
}

static void drop_covered(struct records *of, const struct sched_access *w)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < of->n; k++) {
        if (covers(w, &of->record[k].access))
            continue;
        trim(w, &of->record[k].access);
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
        struct records *of = t->of[c->access[i].memory], *to = &of[c->unit];
        for (uint32_t u = 0; c->access[i].write && u < HD_UNIT_FETCH; u++)
            drop_covered(&of[u], &c->access[i]);
        if (to->n == to->cap)
            grow(t->arena, to);
        to->record[to->n++] = (struct record){c->access[i], t->issued[c->unit]};
    }
}

/* Wait only for the WEIGHT commands before the last one if that brings the weights which ARRAY
 * needs, word after word from its first one on or from before it. */
static void follow(const struct tracker *t, struct sched_command *c, uint32_t need[HD_UNIT_COUNT])
{
    if (c->w.common.opcode != HD_OPCODE_ARRAY || need[HD_UNIT_WEIGHT] == 0)
        return;
    const struct sched_command *w = t->weight[need[HD_UNIT_WEIGHT] - 1];
    const struct hd_cmd_dma_read *m = &w->w.dma_read;
    if (m->space != HD_SPACE_WEIGHTS || m->spad || w->n_access == 0 ||
        c->w.array.w_base < w->access[0].begin || c->w.array.w_base >= w->access[0].end)
        return;
    c->w.array.follow = 1;
    need[HD_UNIT_WEIGHT]--;
}

/* Let ARRAY's first tiles begin before its last command is done if they do not need its last
 * results. That command is done before any after the next one begins. */
static void lead(const struct tracker *t, struct sched_command *c, uint32_t need[HD_UNIT_COUNT],
                 const struct hd_config *hw)
{
    uint32_t tiles;

    if (c->w.common.opcode != HD_OPCODE_ARRAY || need[HD_UNIT_ARRAY] == 0 ||
        need[HD_UNIT_ARRAY] != t->issued[HD_UNIT_ARRAY])
        return;
    if (!lead_tiles(&t->array->w.array, &c->w.array, hw, &tiles))
        return;
    c->w.array.lead_tiles = tiles & 0xffu;
    need[HD_UNIT_ARRAY] = 0;
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

void sched_waits(struct arena *a, struct sched_stream *s, const struct sched_options *o,
                 const struct hd_config *hw)
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
        keep_in_reach(&t, need);
        if (!o->no_overlap) {
            follow(&t, c, need);
            lead(&t, c, need, hw);
        }
        if (c->unit == HD_UNIT_WEIGHT)
            t.weight[t.issued[c->unit]] = c;
        if (c->unit == HD_UNIT_ARRAY)
            t.array = c;
        t.issued[c->unit]++;
        remember(&t, c);
        set_waits(c, need);
    }
}

enum status lower_waits(struct sched_program *p, struct diag *d)
{
    (void)d;
    for (uint32_t i = 0; i < p->n_stream; i++)
        sched_waits(p->arena, &p->stream[i], &p->options, p->hw);
    return ST_OK;
}
