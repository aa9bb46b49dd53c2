/* contention_memo.c - see contention_memo.h. A table by hash; when its memory is full, all is
 * forgotten. */
#include "contention_memo.h"

#include <string.h>

#include "cost.h"

enum {
    RACES = 1 << 14, /* entries of the table */
    ROOM = 12 << 20, /* bytes of all races */
    BRIEF = 12,      /* fewer cycles are simulated as fast as they are found */
    MOST_BANKS = 16, /* banks that a race stores, one bit each, in BANKS bits */
    LANES = 1 << 16, /* VECTOR_BEATS_LANES in a race */
};

/* The state after a race, relative to its first cycle. */
struct race {
    uint64_t key, cycles;
    double left;
    struct contention_race race;
    struct contention_reads *reads; /* NULL: unchanged */
    uint32_t *busy;                 /* by cycle */
};

struct contention_memo {
    struct arena *arena; /* of the races */
    size_t n_bytes;
    struct race *race[RACES];
};

struct contention_memo *contention_memo_new(struct arena *a)
{
    struct contention_memo *m = ARENA_NEW(a, struct contention_memo);

    m->arena = arena_beside(a);
    return m;
}

void contention_memo_free(struct contention_memo *m)
{
    if (m)
        arena_free(m->arena);
}

/* --- hashes ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t x)
{
    hash = (hash ^ x) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* Combine `hash` with a command's words after those common to all commands. */
static uint64_t mix_command(uint64_t hash, const void *command, size_t n_bytes)
{
    const unsigned char *at = (const unsigned char *)command + sizeof(struct hd_common);

    for (size_t i = sizeof(struct hd_common); i < n_bytes; i += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, at, sizeof word);
        hash = mix(hash, word);
        at += sizeof word;
    }
    return hash;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

uint32_t contention_delay(const struct hd_config *hw)
{
    return hw->rows + COST_ARRAY_SUM < CONTENTION_DELAYS ? hw->rows + COST_ARRAY_SUM
                                                         : CONTENTION_DELAYS;
}

uint64_t contention_gap(const struct contention_array *a)
{
    return a->from > a->before_end ? a->from - a->before_end : 0;
}

uint64_t contention_reads_key(const struct contention_array *a, uint64_t cycle,
                              const struct hd_config *hw)
{
    const uint64_t ahead = cycle > a->from ? cycle - a->from : 0, gap = contention_gap(a);
    const uint32_t delay = contention_delay(hw);
    uint64_t key = mix(mix_command(1, a->command, sizeof *a->command), ahead);

    if (ahead < delay && a->before && gap < delay)
        key = mix(mix(mix_command(key, a->before, sizeof *a->before), gap), a->before_steps);
    return key;
}

/* Return the hash of the work's position. */
static uint64_t work_key(const struct contention_work *w)
{
    if (w->race.known && w->race.upto == w->since)
        return w->race.key;
    const uint64_t key = mix_command(w->command->unit, &w->command->w, sizeof w->command->w);
    return mix(mix(key, bits_of(w->left)), bits_of(w->cost));
}

bool contention_at(const struct contention_trace *t, const struct contention_work *w,
                   const struct contention_array *a, uint64_t until, const struct hd_config *hw,
                   struct contention_at *at)
{
    const bool known = t->from <= w->since && w->since < t->to;

    if (!t->memo || hw->banks > MOST_BANKS)
        return false;
    *at = (struct contention_at){
        .key = mix(work_key(w), until - w->since),
        .since = w->since,
        .brief = until < w->since + BRIEF,
        .reads = known ? t->to : w->since,
        .begins = t->stale || (!known && w->since != t->to),
        .from = !known && w->since != t->to,
    };
    at->key = mix(at->key, at->reads - at->since);
    for (uint64_t i = at->since; i < at->reads && i < until; i++)
        at->key = mix(at->key, t->busy[i % CONTENTION_TRACE]);
    if (at->reads >= until)
        return true;
    at->key = at->begins ? mix(at->key, contention_reads_key(a, at->reads, hw))
                         : mix(mix(at->key, t->reads.key), t->reads.cycles);
    return true;
}

/* --- the table -------------------------------------------------------------------------------- */

bool contention_recall(struct contention_trace *t, struct contention_work *w,
                       const struct contention_array *a, const struct contention_at *at)
{
    const struct race *r = t->memo->race[at->key % RACES];

    if (at->brief || !r || r->key != at->key)
        return false;
    for (uint64_t i = 0; i < r->cycles; i++)
        t->busy[(at->since + i) % CONTENTION_TRACE] =
            (r->busy[i] & (LANES - 1u)) | (r->busy[i] & LANES ? VECTOR_BEATS_LANES : 0);
    w->since = at->since + r->cycles;
    w->left = r->left;
    w->race = r->race;
    w->race.upto = w->since;
    w->race.beats.v = &w->command->w.vector;
    if (!r->reads)
        return true;
    t->stale = false;
    t->reads = *r->reads;
    t->reads.steps.a = a->command;
    t->from = at->from ? at->since : t->from;
    t->to = w->since;
    if (t->to - t->from > CONTENTION_TRACE)
        t->from = t->to - CONTENTION_TRACE;
    return true;
}

/* Return memory for a race of `n` cycles; reads: with ARRAY's. */
static struct race *room(struct contention_memo *m, uint64_t n, bool reads)
{
    const size_t need =
        sizeof(struct race) + n * sizeof(uint32_t) + (reads ? sizeof(struct contention_reads) : 0);

    if (m->n_bytes + need > ROOM) {
        arena_reset(m->arena);
        memset(m->race, 0, sizeof m->race);
        m->n_bytes = 0;
    }
    m->n_bytes += need;
    struct race *r = ARENA_NEW(m->arena, struct race);
    r->busy = ARENA_ARRAY(m->arena, uint32_t, n);
    r->reads = reads ? ARENA_NEW(m->arena, struct contention_reads) : NULL;
    return r;
}

void contention_keep(const struct contention_trace *t, struct contention_work *w,
                     const struct contention_at *at)
{
    struct contention_memo *m = t->memo;
    const uint64_t cycles = w->since - at->since;

    w->race.key = at->key;
    if (at->brief)
        return;
    struct race *r = room(m, cycles, w->since > at->reads);
    r->key = at->key;
    r->cycles = cycles;
    r->left = w->left;
    r->race = w->race;
    if (r->reads)
        *r->reads = t->reads;
    for (uint64_t i = 0; i < cycles; i++) {
        const uint64_t busy = t->busy[(at->since + i) % CONTENTION_TRACE];
        r->busy[i] =
            (uint32_t)(busy & ~VECTOR_BEATS_LANES) | (busy & VECTOR_BEATS_LANES ? LANES : 0);
    }
    m->race[at->key % RACES] = r;
}
