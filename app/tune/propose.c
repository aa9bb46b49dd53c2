/* propose.c - iterated local search. From one of the best measured trials, change the knobs of a
 * few neighbouring operators at random, then improve those and their neighbours one by one until
 * nothing gains. Continue from there if the estimate is no worse and the budget of commands lasts.
 * Trials with an even number propose the best candidate found; the others any that is about as
 * good, since the estimate's error is comparable to the remaining gain. The search of compile is
 * one such descent from three starts; here each trial continues from measurements. */
#include "propose.h"

#include <string.h>

#include "compiler/systolic/layout/geometry.h"
#include "compiler/systolic/schedule/sched.h"

enum {
    COMMANDS = 600000,         /* commands scheduled for one proposal: a few seconds */
    DESCRIBED_COMMANDS = 1000, /* plans of all layers of described devices take as long as these */
    DESCENTS = 2,              /* first trials, which try all operators in turn */
    DESCENT_COMMANDS = 4 * COMMANDS,
    BEST = 3,   /* trials to start from */
    WINDOW = 3, /* maximum operators changed at once */
    FLIPS = 2,  /* maximum random choices for each of them */
    REACH = 1,  /* neighbours on either side that are improved too */
    WIDER = 6,  /* choices in addition to those of compile's search */
    CHOICES = SCHED_MAX_CHOICES + WIDER,
    MISSES = 64, /* consecutive changes that lead to known trials: stop here */
    SLACK = 100, /* a candidate is at most 1 / SLACK slower than the start */
};

struct propose {
    const struct tune_space *space;
    const struct store_trial *trial;
    uint32_t n_trial, n_op, commands, limit; /* commands scheduled, and their limit */
    uint64_t random;                         /* xorshift64*, Vigna 2016 */
    const uint64_t *known; /* scores of the trials: knobs without effect have equal scores */
    struct sched_knobs *now;
    uint64_t score, most;     /* most: limit for a candidate */
    struct sched_knobs *best; /* the candidate */
    uint64_t best_score;      /* UINT64_MAX: none yet */
    uint32_t n_candidate;
    bool any; /* any candidate instead of the best */
};

struct tune_space tune_space_of(const struct pipeline *p, const struct options *o,
                                const struct sched_knobs *most)
{
    const struct sched_program *all = p->program;
    struct tune_space space = {p->arena, p, p->graph, most, all->n_stream ? all->n_device : 0,
                               {{0}}};

    for (uint32_t k = 0; k < space.n; k++)
        space.part[k] = (struct sched_program){
            .arena = p->arena,
            .graph = p->graph,
            .hw = all->device[k].hw,
            .options = {.mem_latency = o->mem_latency, .mem_bytes = o->mem_bytes},
            .only = space.n > 1 ? all->device[k].target + 1 : 0};
    return space;
}

/* Return the score of all accelerators, as sched_score does: they work one after another, and so do
 * described devices. */
static uint64_t score_of(const struct tune_space *space, struct sched_knobs *knobs,
                         uint32_t *commands)
{
    uint64_t cycles = 0, rows = 0;

    for (uint32_t k = 0; k < space->n; k++) {
        uint64_t score = sched_score(&space->part[k], knobs, commands);
        if (score == UINT64_MAX)
            return score;
        cycles += score >> 32;
        rows += score & UINT32_MAX;
    }
    struct arena *scratch = arena_beside(space->arena);
    double described = 0;
    const bool fits = pipeline_described(space->pipeline, scratch, knobs, &described);
    arena_free(scratch);
    if (!fits)
        return UINT64_MAX;
    *commands += described > 0 ? DESCRIBED_COMMANDS : 0;
    cycles += (uint64_t)described;
    return cycles << 32 | (rows & UINT32_MAX);
}

static uint32_t random_below(struct propose *s, uint32_t n)
{
    s->random ^= s->random >> 12;
    s->random ^= s->random << 25;
    s->random ^= s->random >> 27;
    return (uint32_t)((s->random * 0x2545f4914f6cdd1du >> 32) % n);
}

static bool known(const struct propose *s)
{
    for (uint32_t i = 0; i < s->n_trial; i++)
        if (s->known[i] == s->score)
            return true;
    return false;
}

/* Consider the current knobs as a proposal. Return true if they were new. */
static bool consider(struct propose *s)
{
    if (s->score > s->most || known(s) || s->score == s->best_score)
        return false;
    s->n_candidate++;
    if (s->any ? random_below(s, s->n_candidate) == 0 : s->score < s->best_score) {
        s->best_score = s->score;
        memcpy(s->best, s->now, s->n_op * sizeof *s->now);
    }
    return true;
}

/* Return one of the best trials, most often the best. */
static const struct store_trial *start(struct propose *s)
{
    uint32_t rank = random_below(s, 2 * BEST), better;

    rank = rank < BEST && rank < s->n_trial ? rank : 0;
    for (uint32_t i = 0; i < s->n_trial; i++) {
        better = 0;
        for (uint32_t k = 0; k < s->n_trial; k++)
            better += s->trial[k].cycles < s->trial[i].cycles ||
                      (s->trial[k].cycles == s->trial[i].cycles && k < i);
        if (better == rank)
            return &s->trial[i];
    }
    return &s->trial[0];
}

/* Return for a described device's operator the values next to each knob's, its double, its half and
 * any. */
static uint32_t described_choices(struct propose *s, uint32_t op,
                                  struct sched_knobs choice[CHOICES])
{
    struct sched_knobs now = s->now[op], most = s->space->most[op];
    uint32_t n = 0;

    for (uint32_t k = 0; k < SCHED_KNOBS; k++) {
        const uint32_t high = *sched_knob(&most, k), v = *sched_knob(&now, k);
        if (high == 0)
            continue;
        const uint32_t low = high > 1; /* then 0 is by rule */
        const uint32_t to[] = {v + 1, v - (v > low), 2 * v, (v + 1) / 2, 1 + random_below(s, high)};
        for (uint32_t i = 0; i < sizeof to / sizeof *to; i++) {
            const uint32_t value = to[i] < high ? to[i] : high;
            if (value == v)
                continue;
            choice[n] = now;
            *sched_knob(&choice[n++], k) = value;
        }
    }
    return n;
}

/* Return the choices of compile's search, which halves heights and doubles groups, and some in
 * between. */
static uint32_t choices(struct propose *s, uint32_t op, struct sched_knobs choice[CHOICES])
{
    const struct sched_knobs *now = &s->now[op];
    const struct ir_graph *graph = s->space->graph;
    uint32_t n = 0;
    struct geo g;

    if (s->space->most[op].band)
        return described_choices(s, op, choice);
    for (uint32_t k = 0; k < s->space->n && n == 0; k++) /* only its own program returns choices */
        n = sched_choices(&s->space->part[k], op, now, choice);
    if (n == 0 || !geo_device(graph, graph->op[op], &g))
        return n;
    const uint32_t rows[] = {now->tile_rows + 1, now->tile_rows > 1 ? now->tile_rows - 1 : 1,
                             1 + random_below(s, g.oh)};
    for (uint32_t i = 0; i < 3; i++) {
        choice[n] = *now;
        choice[n].tile_rows = rows[i] < g.oh ? rows[i] : g.oh;
        n++;
    }
    const uint32_t tiles[] = {now->group_tiles + 1, now->group_tiles > 1 ? now->group_tiles - 1 : 3,
                              1 + random_below(s, 16)};
    for (uint32_t i = 0; i < 3 && geo_on_array(&g); i++) {
        choice[n] = *now;
        choice[n++].group_tiles = tiles[i] < g.oc ? tiles[i] : g.oc;
    }
    return n;
}

static bool improve_one(struct propose *s, uint32_t op)
{
    struct sched_knobs choice[CHOICES], kept = s->now[op];
    uint32_t n = choices(s, op, choice);
    bool better = false;

    for (uint32_t k = 0; k < n && s->commands < s->limit; k++) {
        s->now[op] = choice[k];
        uint64_t score = score_of(s->space, s->now, &s->commands);
        if (score < s->score) {
            s->score = score;
            kept = choice[k];
            better = true;
        }
    }
    s->now[op] = kept;
    return better;
}

static void improve(struct propose *s, uint32_t from, uint32_t to)
{
    bool better = true;

    while (better && s->commands < s->limit) {
        better = false;
        for (uint32_t i = from; i < to; i++)
            better |= improve_one(s, i);
    }
}

/* Change some knobs of operators from `at` on. */
static void change(struct propose *s, uint32_t at, uint32_t n)
{
    struct sched_knobs choice[CHOICES];

    for (uint32_t i = at; i < at + n && i < s->n_op; i++)
        for (uint32_t flips = 1 + random_below(s, FLIPS); flips > 0; flips--) {
            uint32_t n_choice = choices(s, i, choice);
            if (n_choice)
                s->now[i] = choice[random_below(s, n_choice)];
        }
    s->score = score_of(s->space, s->now, &s->commands);
}

/* Make one change and the improvements around it; undo it if the estimate is worse. Return true if
 * it led to a new proposal. */
static bool step(struct propose *s)
{
    struct sched_knobs *before = arena_memdup(s->space->arena, s->now, s->n_op * sizeof *s->now);
    uint64_t score = s->score;
    uint32_t at = random_below(s, s->n_op), n = 1 + random_below(s, WINDOW);

    change(s, at, n);
    improve(s, at < REACH ? 0 : at - REACH, at + n + REACH < s->n_op ? at + n + REACH : s->n_op);
    bool fresh = consider(s);
    if (s->score > score) {
        memcpy(s->now, before, s->n_op * sizeof *s->now);
        s->score = score;
    }
    return fresh;
}

/* Propose any knobs that can be built, since all steps led to measured ones. */
static void anything(struct propose *s)
{
    struct sched_knobs *from = arena_memdup(s->space->arena, s->now, s->n_op * sizeof *s->now);

    s->most = UINT64_MAX - 1;
    for (uint32_t i = 0; i < MISSES && s->n_candidate == 0; i++) {
        memcpy(s->now, from, s->n_op * sizeof *from);
        change(s, random_below(s, s->n_op), WINDOW);
        (void)consider(s);
    }
}

static uint64_t *scores(const struct tune_space *space, const struct store_trial *trial, uint32_t n)
{
    uint64_t *score = ARENA_ARRAY(space->arena, uint64_t, n + 1u);
    uint32_t commands = 0;

    for (uint32_t i = 0; i < n; i++)
        score[i] = score_of(space, trial[i].knobs, &commands);
    return score;
}

bool tune_propose(const struct tune_space *space, const struct store_trial *trial, uint32_t n,
                  uint32_t number, struct sched_knobs *knobs)
{
    struct propose s = {.space = space,
                        .trial = trial,
                        .n_trial = n,
                        .n_op = space->graph->n_op,
                        .random = 0x9e3779b97f4a7c15u * (number + 1u),
                        .known = scores(space, trial, n),
                        .best = knobs,
                        .best_score = UINT64_MAX,
                        .limit = number <= DESCENTS ? DESCENT_COMMANDS : COMMANDS,
                        .any = number % 2};

    s.now = ARENA_ARRAY(space->arena, struct sched_knobs, s.n_op + 1);
    memcpy(s.now, start(&s)->knobs, s.n_op * sizeof *knobs);
    s.score = score_of(space, s.now, &s.commands);
    s.most = s.score + s.score / SLACK;
    if (number <= DESCENTS) { /* try all operators in turn */
        improve(&s, 0, s.n_op);
        (void)consider(&s);
    }
    for (uint32_t misses = 0; s.commands < s.limit && misses < MISSES; misses++)
        if (step(&s))
            misses = 0;
    if (s.n_candidate == 0)
        anything(&s);
    return s.n_candidate > 0;
}
