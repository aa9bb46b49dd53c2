/* knob_search.c - knobs by coordinate descent: operator after operator, each choice tried in a
 * whole program without bytes, kept if the estimate is lower. Two rounds, or as many trials as
 * TRIAL_COMMANDS allows; the same input gives the same knobs. Of a large program only the operators
 * around are tried, and the whole of it after every few. */
#include <string.h>

#include "compiler/layout/geometry.h"
#include "sched_build.h"

enum {
    ROUNDS = 2,
    TRIAL_COMMANDS = 1000000,  /* commands scheduled in all trials together: a few seconds */
    START_COMMANDS = 60000,    /* when so many are, no further start */
    LARGE_COMMANDS = 250,      /* of one program: it is tried in windows */
    WINDOW_COMMANDS = 1500000, /* as TRIAL_COMMANDS, for windows */
    HUGE_COMMANDS = 1500,      /* of one program: windows are narrow, the whole is rarely tried */
};

/* Operators of a window before the one in question and after it; in how many batches the
 * operators are held against the whole program. */
static const struct windows {
    uint32_t before, after, batches;
} wide = {3, 5, 40}, narrow = {2, 3, 12};

static void add(struct sched_knobs choice[], uint32_t *n, const struct sched_knobs *now,
                struct sched_knobs c)
{
    bool known = memcmp(&c, now, sizeof c) == 0;

    for (uint32_t i = 0; i < *n; i++)
        known = known || memcmp(&c, &choice[i], sizeof c) == 0;
    if (!known && *n < SCHED_MAX_CHOICES)
        choice[(*n)++] = c;
}

uint32_t sched_choices(const struct sched_program *p, uint32_t op, const struct sched_knobs *now,
                       struct sched_knobs choice[SCHED_MAX_CHOICES])
{
    const struct ir_op *o = p->graph->op[op];
    struct geo g;
    uint32_t n = 0;

    if (!sched_owns(p, o) || sched_is_view(p, o) || !geo_device(p->graph, o, &g))
        return 0;
    struct sched_knobs c = *now;
    if (geo_on_array(&g)) {
        uint32_t tiles = div_up(geo_streams(&g, p->hw, now->streams) * g.oc, p->hw->n);
        for (c.group_tiles = 1; c.group_tiles < tiles && c.group_tiles <= 16; c.group_tiles *= 2)
            add(choice, &n, now, c);
        c.group_tiles = 0;
        add(choice, &n, now, c);
        c = *now;
        c.tail_split = !now->tail_split;
        add(choice, &n, now, c);
        c = *now;
        c.params = !now->params;
        add(choice, &n, now, c);
        c = *now;
        for (c.streams = 1;
             c.streams <= 2 && geo_streams(&g, p->hw, 1) != geo_streams(&g, p->hw, 2); c.streams++)
            add(choice, &n, now, c);
        c = *now;
    }
    uint32_t least = div_up(p->hw->n, g.ow); /* as many pixels as a segment has lanes */
    for (c.prologue = least; geo_on_array(&g) && c.prologue * 4 <= g.oh && c.prologue <= 4 * least;
         c.prologue *= 2)
        add(choice, &n, now, c);
    c.prologue = 0;
    add(choice, &n, now, c);
    c = *now;
    for (c.cascade = 0; c.cascade <= KNOB_CASCADE_AHEAD; c.cascade++)
        add(choice, &n, now, c);
    c = *now;
    for (c.tile_rows = g.oh; c.tile_rows > 1 && c.tile_rows * 32 > g.oh;
         c.tile_rows = div_up(c.tile_rows, 2))
        add(choice, &n, now, c);
    c.tile_rows = 0;
    add(choice, &n, now, c);
    return n;
}

static uint32_t count_commands(const struct sched_program *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_stream; i++)
        n += p->stream[i].n;
    return n;
}

/* Cycles in the upper half, and one for each command: what gains less is not worth its bytes in
 * memory and its simulation (resnet8_own at sys8: 172 KiB read instead of 254, 3.3 to 3.6 M
 * cycles/s). Below, of equals, how early rows end on average: a group that arrives sooner may gain
 * only once the next operator's does too. */
static uint64_t score(const struct sched_program *p)
{
    uint64_t end = 0, sum = 0;

    for (uint32_t row = 0; row < p->graph->n_row; row++) {
        end += p->row_end[row];
        sum += end;
    }
    return (p->est_cycles + count_commands(p)) << 32 | (sum / (p->graph->n_row + 1) & UINT32_MAX);
}

/* The score of operators first .. end - 1 (end 0: all) with `knobs`; UINT64_MAX if nothing can be
 * built of them. */
static uint64_t trial(const struct sched_program *p, uint32_t first, uint32_t end,
                      struct sched_knobs *knobs, uint32_t *commands)
{
    struct arena *a = arena_beside(p->arena);
    struct diag d = {0};
    struct sched_program t = {.arena = a,
                              .graph = p->graph,
                              .hw = p->hw,
                              .options = p->options,
                              .knobs = knobs,
                              .only = p->only,
                              .first = first,
                              .end = end,
                              .dry = true};
    uint64_t cycles = sched_build(&t, &d) == ST_OK ? score(&t) : UINT64_MAX;

    *commands += count_commands(&t);
    arena_free(a);
    return cycles;
}

uint64_t sched_score(const struct sched_program *p, struct sched_knobs *knobs, uint32_t *commands)
{
    return trial(p, 0, 0, knobs, commands);
}

/* For tests: some knobs of each operator at random, cascades more often than the others
 * (xorshift64*, Vigna 2016). */
static void at_random(struct sched_program *p)
{
    struct sched_knobs choice[SCHED_MAX_CHOICES];
    uint64_t z = p->options.knob_seed;
    uint32_t commands = 0;

    for (uint32_t i = 0; i < p->graph->n_op; i++)
        for (uint32_t k = 0; k < 3; k++) {
            struct sched_knobs kept = p->knobs[i];
            uint32_t n = sched_choices(p, i, &kept, choice);
            z ^= z >> 12;
            z ^= z << 25;
            z ^= z >> 27;
            if (k == 0 && (z >> 40 & 1))
                p->knobs[i].cascade = 1;
            else if (n)
                p->knobs[i] = choice[(z * 0x2545f4914f6cdd1du >> 32) % n];
            if (trial(p, 0, 0, p->knobs, &commands) == UINT64_MAX)
                p->knobs[i] = kept;
        }
}

struct search {
    struct sched_program *p;
    uint64_t best;
    uint32_t commands, limit; /* scheduled; at most */
    uint32_t first, end;      /* operators tried; end 0: all */
};

/* Are the knobs as they stand better? */
static bool improves(struct search *s)
{
    uint64_t cycles = s->commands < s->limit
                          ? trial(s->p, s->first, s->end, s->p->knobs, &s->commands)
                          : UINT64_MAX;
    bool better = cycles < s->best;

    s->best = better ? cycles : s->best;
    return better;
}

static bool one_operator(struct search *s, uint32_t op)
{
    struct sched_knobs choice[SCHED_MAX_CHOICES], kept = s->p->knobs[op];
    uint32_t n = sched_choices(s->p, op, &kept, choice);
    bool better = false;

    for (uint32_t k = 0; k < n; k++) {
        s->p->knobs[op] = choice[k];
        if (improves(s)) {
            kept = choice[k];
            better = true;
        }
    }
    s->p->knobs[op] = kept;
    return better;
}

/* A cascade of three, where one of two gains nothing: a sum of two tensors, for example. */
static bool cascade_of_three(struct search *s, uint32_t op)
{
    struct sched_knobs *k = &s->p->knobs[op], kept[2] = {k[0], k[1]};

    if (op + 2 >= s->p->graph->n_op || (k[0].cascade && k[1].cascade))
        return false;
    k[0].cascade = k[1].cascade = 1;
    if (improves(s))
        return true;
    k[0] = kept[0];
    k[1] = kept[1];
    return false;
}

/* The same groups for three in a row: where the next layer's weights are awaited, small ones gain
 * only together. */
static bool groups_of_three(struct search *s, uint32_t op)
{
    static const uint32_t tiles[] = {2, 3, 4, 6, 8};
    struct sched_knobs *k = &s->p->knobs[op];
    bool better = false;

    for (uint32_t i = 0; i < sizeof tiles / sizeof *tiles && op + 2 < s->p->graph->n_op; i++) {
        struct sched_knobs kept[3] = {k[0], k[1], k[2]};
        k[0].group_tiles = k[1].group_tiles = k[2].group_tiles = tiles[i];
        if (improves(s))
            better = true;
        else
            memcpy(k, kept, sizeof kept);
    }
    return better;
}

static void same_groups(struct search *s, uint32_t tiles)
{
    memset(s->p->knobs, 0, s->p->graph->n_op * sizeof *s->p->knobs);
    for (uint32_t i = 0; i < s->p->graph->n_op; i++)
        s->p->knobs[i].group_tiles = tiles;
}

/* Operator after operator from the knobs as they stand. */
static void descend(struct search *s)
{
    bool better = true;

    s->best = UINT64_MAX;
    s->first = s->end = 0;
    (void)improves(s);
    for (uint32_t round = 0; round < ROUNDS && better; round++) {
        better = false;
        for (uint32_t i = 0; i < s->p->graph->n_op; i++) {
            better |= one_operator(s, i);
            better |= cascade_of_three(s, i);
            better |= groups_of_three(s, i);
        }
    }
}

/* Does the whole program gain by what windows found since *kept? If not, back to that. */
static bool holds(struct search *s, uint64_t *whole, struct sched_knobs *kept)
{
    size_t n_bytes = s->p->graph->n_op * sizeof *kept;
    uint64_t cycles = trial(s->p, 0, 0, s->p->knobs, &s->commands);

    if (cycles >= *whole) {
        memcpy(s->p->knobs, kept, n_bytes);
        return false;
    }
    memcpy(kept, s->p->knobs, n_bytes);
    *whole = cycles;
    return true;
}

/* Each operator is tried among its neighbours. What a batch of operators found stays if the whole
 * program gains. */
static void descend_windows(struct search *s, const struct windows *as)
{
    uint32_t n = s->p->graph->n_op, batch = div_up(n, as->batches);
    struct sched_knobs *kept = ARENA_ARRAY(s->p->arena, struct sched_knobs, n + 1);
    uint64_t whole = UINT64_MAX;
    bool better = holds(s, &whole, kept);

    for (uint32_t round = 0; round < ROUNDS && better; round++) {
        better = false;
        for (uint32_t i = 0; i < n; i++) {
            s->first = i > as->before ? i - as->before : 0;
            s->end = i + as->after + 1 < n ? i + as->after + 1 : n;
            s->best = UINT64_MAX;
            (void)improves(s);
            (void)one_operator(s, i);
            (void)cascade_of_three(s, i);
            if (i % batch == batch - 1 || i + 1 == n)
                better |= holds(s, &whole, kept);
        }
    }
}

/* Descents from the rule and from the same groups everywhere, as smaller ones often gain only
 * together: each operator waits for the slowest in a row of them. The best start goes first, the
 * others while the program is small. */
static void sched_search(struct sched_program *p)
{
    enum { STARTS = 3 };
    static const uint32_t tiles[STARTS] = {0, 2, 4};
    struct search s = {.p = p, .best = UINT64_MAX, .limit = TRIAL_COMMANDS};
    struct sched_knobs *kept = ARENA_ARRAY(p->arena, struct sched_knobs, p->graph->n_op + 1);
    uint64_t best = UINT64_MAX;
    uint32_t first = 0;

    if (p->options.no_search)
        return;
    if (p->options.knob_seed) {
        at_random(p);
        return;
    }
    for (uint32_t i = 0; i < STARTS; i++) {
        same_groups(&s, tiles[i]);
        first = improves(&s) ? i : first;
        if (s.commands == 0) /* all on the host */
            return;
    }
    if (s.commands > STARTS * LARGE_COMMANDS) {
        same_groups(&s, tiles[first]);
        s.limit = WINDOW_COMMANDS;
        descend_windows(&s, s.commands > STARTS * HUGE_COMMANDS ? &narrow : &wide);
        s.limit = TRIAL_COMMANDS;
        descend(&s);
        return;
    }
    for (uint32_t i = 0; i < STARTS && s.commands < START_COMMANDS; i++) {
        same_groups(&s, tiles[(first + i) % STARTS]);
        descend(&s);
        if (s.best < best) {
            best = s.best;
            memcpy(kept, p->knobs, p->graph->n_op * sizeof *kept);
        }
    }
    memcpy(p->knobs, kept, p->graph->n_op * sizeof *kept);
}

/* The search also sets knobs where they change nothing: groups of an operator without weights. */
static void forget_idle(struct sched_program *p)
{
    for (uint32_t i = 0; i < p->graph->n_op; i++) {
        struct sched_knobs most = sched_knobs_most(p->graph, p->graph->op[i]);
        for (uint32_t k = 0; k < SCHED_KNOBS; k++) {
            uint32_t *value = sched_knob(&p->knobs[i], k), limit = *sched_knob(&most, k);
            *value = *value < limit ? *value : limit;
        }
    }
}

void sched_choose(struct sched_program *p)
{
    if (p->options.knobs)
        memcpy(p->knobs, p->options.knobs, p->graph->n_op * sizeof *p->knobs);
    else
        sched_search(p);
    forget_idle(p);
}
