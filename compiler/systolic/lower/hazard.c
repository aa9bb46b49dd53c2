/* hazard.c - waits of each command, from the bytes it reads and writes. in: commands in stream
 * order with their accesses. out: common.wait_* and wait_enable of each. A command waits for every
 * earlier command of another unit that wrote what it reads or writes, or read what it writes; a
 * unit reads and writes in the order of its commands. Only ARRAY reads its own results, and its
 * writes complete long after the next command's first reads, so it waits for its own count. If its
 * first tiles read none of the previous command's last results, only its later tiles wait (lead.c).
 * ARRAY need not wait for all weights of a WEIGHT command that reads memory: it starts on arrived
 * words and waits only for earlier WEIGHT commands. A later write drops the records that it covers
 * wholly and trims those that it covers at one end: a command that conflicts with the new record
 * also waits for the old ones through it, since a unit's commands complete in order. */
#include <string.h>

#include "hd_timing.h"
#include "lower.h"

struct record {
    struct sched_access access;
    uint32_t sequence; /* number of the command within its unit, from 1 */
};

/* Records of one memory and unit, oldest first. */
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

/* Return true if two slices with the same pitch have disjoint bytes. */
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

/* Return true if every access that conflicts with `a` also conflicts with `w`. A command that must
 * wait for `a` then waits for `w`, which waited for `a`. That holds even if `w` leaves bytes out
 * (gaps), since their positions are unknown. */
static bool covers(const struct sched_access *w, const struct sched_access *a)
{
    bool whole =
        w->pitch == 0 || (w->pitch == a->pitch && w->begin == a->begin && a->bytes <= w->bytes);

    return whole && w->begin <= a->begin && a->end <= w->end;
}

/* Return the latest sequence number above `need` of a command that must complete before the access
 * begins, because they use the same bytes; otherwise `need`. own: both are of the same unit. */
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

/* Units compare 16-bit counts by their difference, so a wait for a command that many others of its
 * unit followed would never end. Wait for a later one instead, at half that distance; no earlier
 * command waits for it. */
enum { WAIT_REACH = 0x4000 };

static void keep_in_reach(const struct tracker *t, uint32_t need[HD_UNIT_COUNT])
{
    for (uint32_t u = 0; u < HD_UNIT_FETCH; u++)
        if (need[u] && need[u] + WAIT_REACH < t->issued[u])
            need[u] = t->issued[u] - WAIT_REACH;
}

/* Trim bytes at one end of `a` that `w` covers. Otherwise records would accumulate where blocks of
 * varying sizes follow one another in a circular memory. */
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
        struct sched_access *a = &of->record[k].access;

        if (w->begin < a->end && a->begin < w->end) {
            if (covers(w, a))
                continue;
            trim(w, a);
        }
        if (n != k)
            of->record[n] = of->record[k];
        n++;
    }
    of->n = n;
}

static void remember(struct tracker *t, const struct sched_command *c)
{
    for (uint32_t i = 0; i < c->n_access; i++) {
        struct records *of = t->of[c->access[i].memory], *to = &of[c->unit];
        for (uint32_t u = 0; c->access[i].write && u < HD_UNIT_FETCH; u++)
            drop_covered(&of[u], &c->access[i]);
        ARENA_GROW(t->arena, to->record, to->n, &to->cap);
        to->record[to->n++] = (struct record){c->access[i], t->issued[c->unit]};
    }
}

/* If the last WEIGHT command delivers the weights that ARRAY needs, word by word, wait only for the
 * WEIGHT commands before it. */
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

/* Let ARRAY's first tiles begin before its previous command completes if they do not need its last
 * results. The previous command completes before any command that follows the next one begins. */
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

static bool conflict(const struct sched_command *a, const struct sched_command *b)
{
    for (uint32_t i = 0; i < a->n_access; i++)
        for (uint32_t k = 0; k < b->n_access; k++)
            if (a->access[i].memory == b->access[k].memory &&
                (a->access[i].write || b->access[k].write) && overlap(&a->access[i], &b->access[k]))
                return true;
    return false;
}

/* Return the first place for LOAD command i: after the LOAD before it and within its group, with at
 * most as many ARRAY commands between as their queue holds. */
static uint32_t early(const struct sched_stream *s, uint32_t i)
{
    const uint32_t group = s->cmd[i].group;
    uint32_t arrays = 0;

    for (; i > 0 && s->cmd[i - 1].unit != HD_UNIT_LOAD && s->cmd[i - 1].group == group; i--) {
        arrays += s->cmd[i - 1].unit == HD_UNIT_ARRAY;
        if (arrays > HD_TIMING_COMPUTE_QUEUE)
            break;
    }
    return i;
}

void sched_early_loads(struct sched_stream *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct sched_command load = s->cmd[i];
        uint32_t to = i;

        if (!load.early)
            continue;
        const uint32_t least = early(s, i);
        while (to > least && !conflict(&s->cmd[to - 1], &load))
            to--;
        memmove(&s->cmd[to + 1], &s->cmd[to], (i - to) * sizeof load);
        s->cmd[to] = load;
    }
}

enum status lower_waits(struct sched_program *p, struct diag *d)
{
    (void)d;
    for (uint32_t i = 0; i < p->n_stream; i++)
        sched_waits(p->arena, &p->stream[i], &p->options, p->hw);
    return ST_OK;
}
