/* segments.c - cut the streams of one device into several submissions, between groups of operators
 * that are lowered together. Each cut costs the work of units that would have overlapped, and the
 * start of a submission. in: knobs, by how many segments the user wants. out: p->cut. */
#include <stdlib.h>
#include <string.h>

#include "compiler/systolic/timing/estimate.h"
#include "trials.h"

enum { PER_MILLE = 5 }; /* of the cycles, most that all cuts may cost */
enum { ALIKE = 100 };   /* costs of cuts between equal layers differ by at most a 100th */

struct cut {
    uint32_t position; /* first operator after it */
    uint64_t cost;     /* cycles */
};

static int by_cost(const void *a, const void *b)
{
    const struct cut *const x = a, *const y = b;

    return x->cost != y->cost          ? (x->cost > y->cost) - (x->cost < y->cost)
           : x->position > y->position ? 1
                                       : -1;
}

/* Return the cycles before the first command of a submission and after the last one. */
static uint64_t overhead(const struct sched_stream *s)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i + 1 < s->n; i++)
        last = s->cmd[i].est_done > last ? s->cmd[i].est_done : last;
    return s->cmd[0].est_start + (s->est_cycles > last ? s->est_cycles - last : 0);
}

/* Add the cuts of a stream to cut[n]; return their new number. A cut before command i makes all
 * commands from there on wait until the others are done. */
static uint32_t cuts_of(struct arena *a, const struct sched_stream *s, struct cut *cut, uint32_t n)
{
    uint64_t *const first = ARENA_ARRAY(a, uint64_t, s->n + 1);
    uint64_t done = 0;
    const uint64_t start = overhead(s);

    first[s->n] = UINT64_MAX;
    for (uint32_t i = s->n; i-- > 0;)
        first[i] = s->cmd[i].est_start < first[i + 1] ? s->cmd[i].est_start : first[i + 1];
    for (uint32_t i = 0; i + 1 < s->n; i++) {
        if (i > 0 && s->cmd[i].group != s->cmd[i - 1].group)
            cut[n++] =
                (struct cut){s->cmd[i].group, start + (done > first[i] ? done - first[i] : 0)};
        done = s->cmd[i].est_done > done ? s->cmd[i].est_done : done;
    }
    return n;
}

/* Return the number of cuts from `first` on that cost about the same: those between repeated layers. Either
 * all of them are taken or none, so that what is between them repeats. */
static uint32_t alike(const struct cut *cut, uint32_t first, uint32_t n, uint64_t *cost)
{
    uint32_t i = first;

    for (*cost = 0; i < n && cut[i].cost - cut[first].cost <= cut[first].cost / ALIKE; i++)
        *cost += cut[i].cost;
    return i - first;
}

/* Take cuts, the cheapest first, with at most `most` cycles in all; return their number, and leave
 * them at the front. */
static uint32_t take(const struct sched_program *p, struct cut *cut, uint32_t n, uint64_t most)
{
    uint32_t taken = 0, some;
    uint64_t cost;

    for (uint32_t i = 0; i < n; i += some) {
        some = alike(cut, i, n, &cost);
        if (cost > most || taken + some >= p->options.segments)
            continue;
        most -= cost;
        for (uint32_t k = 0; k < some; k++) {
            p->cut[cut[i + k].position] = true;
            cut[taken++] = cut[i + k];
        }
    }
    return taken;
}

/* For tests: cut before operators at random, whatever it costs (xorshift64*, Vigna 2016). */
static void cut_at_random(struct sched_program *p)
{
    uint64_t z = p->options.knob_seed;

    p->cut = ARENA_ARRAY(p->arena, bool, p->graph->n_op + 1);
    for (uint32_t i = 1; i < p->graph->n_op; i++) {
        z ^= z >> 12;
        z ^= z << 25;
        z ^= z >> 27;
        p->cut[i] = z * 0x2545f4914f6cdd1du >> 63;
    }
}

void sched_segment(struct sched_program *p)
{
    struct trials *const t = ARENA_NEW(p->arena, struct trials);
    struct cut *const cut = ARENA_ARRAY(p->arena, struct cut, p->graph->n_op + 1);
    struct sched_program whole;
    uint32_t n = 0;

    if (p->options.segments >= 2 && p->options.knob_seed)
        cut_at_random(p);
    if (p->options.segments < 2 || p->options.knob_seed || !trials_begin(t, p))
        return;
    const uint64_t before = trials_exact(t, p->uncut ? p->uncut : p->knobs, &whole),
                   most = before + before * PER_MILLE / 1000,
                   now = trials_exact(t, p->knobs, &whole);
    for (uint32_t i = 0; before && i < whole.n_stream; i++)
        n = cuts_of(p->arena, &whole.stream[i], cut, n);
    qsort(cut, n, sizeof *cut, by_cost);
    p->cut = ARENA_ARRAY(p->arena, bool, p->graph->n_op + 1);
    uint32_t taken = take(p, cut, n, most > now ? most - now : 0);
    t->like.cut = p->cut;
    while (taken > 0 && trials_exact(t, p->knobs, &whole) > most)
        p->cut[cut[--taken].position] = false;
    if (taken == 0) /* without cuts nothing has to begin at a page */
        p->cut = NULL;
    if (taken == 0 && p->uncut)
        memcpy(p->knobs, p->uncut, p->graph->n_op * sizeof *p->knobs);
    trials_end(t);
}
