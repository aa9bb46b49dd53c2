/* knob_search.c - knobs by coordinate descent: operator after operator, each choice tried in a
 * program without bytes, kept if the estimate is lower. Of a small program all is tried, in two
 * rounds, then in one with tiles of neighbours; of a large one a window, the commands of the
 * operators around in the layout of all, and the whole of it after every few; then the whole, rows
 * first that take most beyond what ARRAY works for them. It goes round while it gains. The same input
 * gives the same knobs. */
#include <stdlib.h>
#include <string.h>

#include "compiler/layout/geometry.h"
#include "trials.h"

enum {
    ROUNDS = 2,
    TRIAL_COMMANDS = 1000000, /* commands scheduled in all trials together: a few seconds */
    START_COMMANDS = 120000,  /* when so many are, no further start */
    LARGE_COMMANDS = 250,     /* of one program: it is tried in windows */
    /* As TRIAL_COMMANDS, for windows: in all, and for each operator. */
    WINDOW_COMMANDS = 700000,
    OPERATOR_COMMANDS = 100,
    BEFORE = 2,   /* operators of a window before the one in question */
    AFTER = 2,    /* and after it */
    LITTLE = 500, /* a row that loses less of all than one in so many waits for the others */
    BATCHES = 12, /* of operators, a round: each is held against the whole program */
};

static void add(struct sched_knobs choice[], uint32_t *n, const struct sched_knobs *now,
                struct sched_knobs c)
{
    bool known = memcmp(&c, now, sizeof c) == 0;

    for (uint32_t i = 0; i < *n; i++)
        known = known || memcmp(&c, &choice[i], sizeof c) == 0;
    if (!known && *n < SCHED_MAX_CHOICES)
        choice[(*n)++] = c;
}

/* Does an accelerator compute the operator, with knobs? */
static bool has_knobs(const struct sched_program *p, uint32_t op, struct geo *g)
{
    const struct ir_op *o = p->graph->op[op];

    return sched_owns(p, o) && !sched_is_view(p, o) && geo_device(p->graph, o, g);
}

uint32_t sched_choices(const struct sched_program *p, uint32_t op, const struct sched_knobs *now,
                       struct sched_knobs choice[SCHED_MAX_CHOICES])
{
    struct geo g;
    uint32_t n = 0;

    if (!has_knobs(p, op, &g))
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

/* For tests: some knobs of each operator at random, cascades more often than the others
 * (xorshift64*, Vigna 2016). */
static void at_random(struct sched_program *p, struct trials *trials)
{
    struct sched_knobs choice[SCHED_MAX_CHOICES];
    uint64_t z = p->options.knob_seed;

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
            if (trials_score(trials, 0, 0, p->knobs) == UINT64_MAX)
                p->knobs[i] = kept;
        }
}

struct search {
    struct sched_program *p;
    struct trials *trials;
    uint64_t best, limit; /* limit: commands scheduled, at most */
    uint32_t first, end;  /* operators tried; end 0: all */
    bool apart;           /* no cascades */
};

/* Are the knobs as they stand better? */
static bool improves(struct search *s)
{
    uint64_t cycles = s->trials->commands < s->limit
                          ? trials_score(s->trials, s->first, s->end, s->p->knobs)
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
        if (s->apart && choice[k].cascade)
            continue;
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

    if (s->apart || op + 2 >= s->p->graph->n_op || (k[0].cascade && k[1].cascade))
        return false;
    k[0].cascade = k[1].cascade = 1;
    if (improves(s))
        return true;
    k[0] = kept[0];
    k[1] = kept[1];
    return false;
}

/* A cascade that begins here instead of before: of three in a row a pair that gains little may keep
 * one that gains more from it (channel_fusion.c takes pairs only). */
static bool cascade_from_here(struct search *s, uint32_t op)
{
    struct sched_knobs *k = &s->p->knobs[op];

    if (s->apart || op == 0 || k[-1].cascade == 0 || k[0].cascade)
        return false;
    struct sched_knobs kept[2] = {k[-1], k[0]};
    k[-1].cascade = 0;
    k[0].cascade = 1;
    if (improves(s))
        return true;
    k[-1] = kept[0];
    k[0] = kept[1];
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

/* The same part of the image for four in a row: each reads a tile while the one before makes the
 * next, which gains only once all of them are cut. */
static bool rows_of_four(struct search *s, uint32_t op)
{
    enum { FOUR = 4, PARTS = 8 };
    struct sched_knobs *k = &s->p->knobs[op], kept[FOUR];
    bool better = false;

    if (op + FOUR > s->p->graph->n_op)
        return false;
    memcpy(kept, k, sizeof kept);
    for (uint32_t parts = 1; parts <= PARTS; parts *= 2) {
        uint32_t cut = 0;
        for (uint32_t i = 0; i < FOUR; i++) {
            struct geo g;
            if (!has_knobs(s->p, op + i, &g) || g.oh < parts)
                continue;
            k[i].tile_rows = div_up(g.oh, parts);
            cut++;
        }
        if (cut > 1 && improves(s)) {
            memcpy(kept, k, sizeof kept);
            better = true;
        } else {
            memcpy(k, kept, sizeof kept);
        }
    }
    return better;
}

static void same_groups(struct search *s, uint32_t tiles)
{
    memset(s->p->knobs, 0, s->p->graph->n_op * sizeof *s->p->knobs);
    for (uint32_t i = 0; i < s->p->graph->n_op; i++)
        s->p->knobs[i].group_tiles = tiles;
}

/* What an operator's row loses as the knobs stand. */
struct loss {
    uint64_t cycles;
    uint32_t op;
};

static int by_loss(const void *a, const void *b)
{
    const struct loss *x = a, *y = b;

    if (x->cycles != y->cycles)
        return x->cycles < y->cycles ? 1 : -1;
    return x->op < y->op ? -1 : 1;
}

/* The operators, those of the rows that lose most first. */
static struct loss *losses(struct search *s)
{
    const struct ir_graph *g = s->p->graph;
    struct loss *order = ARENA_ARRAY(s->p->arena, struct loss, g->n_op + 1);
    uint64_t *row = ARENA_ARRAY(s->p->arena, uint64_t, g->n_row + 1);

    trials_losses(s->trials, s->p->knobs, row);
    for (uint32_t i = 0; i < g->n_op; i++)
        order[i] = (struct loss){row[g->op[i]->row], i};
    qsort(order, g->n_op, sizeof *order, by_loss);
    return order;
}

/* All of one operator. */
static bool whole_operator(struct search *s, uint32_t op)
{
    bool better = one_operator(s, op);

    better |= cascade_of_three(s, op);
    better |= cascade_from_here(s, op);
    better |= groups_of_three(s, op);
    return better;
}

static void begin_descent(struct search *s)
{
    s->best = UINT64_MAX;
    s->first = s->end = 0;
    (void)improves(s);
}

/* Operator after operator; rows: of four in a row, too. */
static bool one_round(struct search *s, bool rows)
{
    bool better = false;

    for (uint32_t i = 0; i < s->p->graph->n_op; i++) {
        better |= whole_operator(s, i);
        if (rows)
            better |= rows_of_four(s, i);
    }
    return better;
}

/* From the knobs as they stand; rows of four in a row come last, as they lead past what operators
 * find alone. */
static void descend(struct search *s)
{
    begin_descent(s);
    for (uint32_t round = 0; round < ROUNDS && one_round(s, false); round++)
        ;
    (void)one_round(s, true);
}

/* The same with the operators first that lose most, round after round, the others once these gain no
 * more. */
static void descend_by_loss(struct search *s)
{
    bool better = true;

    begin_descent(s);
    while (better) {
        const struct loss *order = losses(s);

        better = false;
        for (uint32_t k = 0; k < s->p->graph->n_op; k++) {
            if (better && order[k].cycles * LITTLE < s->best >> 32)
                break;
            better |= whole_operator(s, order[k].op);
            better |= rows_of_four(s, order[k].op);
        }
    }
}

/* What windows have found. */
struct windows {
    struct sched_knobs *kept; /* the best of the whole program, */
    uint64_t whole;           /* its score */
    uint64_t at[BATCHES];     /* commands scheduled and score as of a round ago, by batch */
    uint64_t before[BATCHES];
    uint32_t *changed, *tried; /* by operator: when it was last; the time is counted in windows */
    uint32_t now;
    uint32_t *twin; /* by operator: the last one before it that is alike; IR_NONE: none is */
    bool *repeated; /* by operator: its knobs came from its twin */
};

/* Of an operator's kind and the sizes of what it reads and makes. */
static uint64_t looks(const struct ir_graph *g, const struct ir_op *op)
{
    uint64_t hash = trials_mix(op->opcode, op->dead);

    for (uint32_t k = 0; k < op->n_in + op->n_out; k++) {
        const struct ir_tensor *t = k < op->n_in ? ir_in(g, op, k) : ir_out(g, op, k - op->n_in);
        for (uint32_t back = 0; t && back < 4; back++)
            hash = trials_mix(hash, (uint64_t)ir_dim_back(t, back));
    }
    return hash;
}

/* Operators alike among neighbours alike: blocks that repeat. */
static uint32_t *find_twins(const struct sched_program *p)
{
    const uint32_t n = p->graph->n_op;
    uint64_t *own = ARENA_ARRAY(p->arena, uint64_t, n + 1),
             *all = ARENA_ARRAY(p->arena, uint64_t, n + 1);
    uint32_t *twin = ARENA_ARRAY(p->arena, uint32_t, n + 1);

    for (uint32_t i = 0; i < n; i++)
        own[i] = looks(p->graph, p->graph->op[i]);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k <= BEFORE + AFTER; k++)
            all[i] =
                trials_mix(all[i], i + k >= BEFORE && i + k < n + BEFORE ? own[i + k - BEFORE] : 0);
        twin[i] = i;
        while (twin[i]-- > 0 && all[twin[i]] != all[i])
            ;
    }
    return twin;
}

/* Does the whole program gain by what windows found since w->kept? If not, back to that. */
static bool holds(struct search *s, struct windows *w)
{
    size_t n_bytes = s->p->graph->n_op * sizeof *w->kept;
    uint64_t cycles = trials_score(s->trials, 0, 0, s->p->knobs);

    if (cycles >= w->whole) {
        memcpy(s->p->knobs, w->kept, n_bytes);
        return false;
    }
    memcpy(w->kept, s->p->knobs, n_bytes);
    w->whole = cycles;
    return true;
}

/* The knobs of operators tried go to those from `first` on that are alike, once. Does the whole
 * program gain? */
static bool repeat_blocks(struct search *s, struct windows *w, uint32_t first)
{
    bool any = false;

    for (uint32_t i = first; i < s->p->graph->n_op; i++) {
        const uint32_t from = w->twin[i];
        if (w->repeated[i] || from == IR_NONE || !(w->tried[from] || w->repeated[from]))
            continue;
        any = any || memcmp(&s->p->knobs[i], &s->p->knobs[from], sizeof *s->p->knobs) != 0;
        s->p->knobs[i] = s->p->knobs[from];
        w->repeated[i] = true;
    }
    return any && holds(s, w);
}

/* The operator's knobs among its neighbours, if one of these has changed since it was tried. */
static void one_window(struct search *s, struct windows *w, uint32_t op)
{
    const uint32_t n = s->p->graph->n_op;
    struct sched_knobs kept[BEFORE + AFTER + 1];
    bool any = w->tried[op] == 0;

    s->first = op > BEFORE ? op - BEFORE : 0;
    s->end = op + AFTER + 1 < n ? op + AFTER + 1 : n;
    for (uint32_t i = s->first; i < s->end; i++)
        any = any || w->changed[i] > w->tried[op];
    if (!any)
        return;
    memcpy(kept, &s->p->knobs[s->first], (s->end - s->first) * sizeof *kept);
    s->best = UINT64_MAX;
    (void)improves(s);
    (void)one_operator(s, op);
    (void)cascade_of_three(s, op);
    w->tried[op] = ++w->now;
    for (uint32_t i = s->first; i < s->end; i++)
        if (memcmp(&kept[i - s->first], &s->p->knobs[i], sizeof *kept) != 0)
            w->changed[i] = w->now;
}

/* Has the time since this batch was last tried gained less than a thousandth a tenth of all? */
static bool gained_little(const struct search *s, struct windows *w, uint32_t batch)
{
    const uint64_t all = s->trials->commands, since = all - w->at[batch], cycles = w->whole >> 32,
                   gain = (w->before[batch] >> 32) - cycles;
    const bool little = w->at[batch] != 0 && gain * 100 * all < cycles * since;

    w->at[batch] = all;
    w->before[batch] = w->whole;
    return little;
}

/* Each operator is tried among its neighbours. What a batch of operators found stays if the whole
 * program gains. */
static void descend_windows(struct search *s)
{
    const uint32_t n = s->p->graph->n_op, batch = div_up(n, BATCHES);
    struct arena *a = s->p->arena;
    struct windows w = {.kept = ARENA_ARRAY(a, struct sched_knobs, n + 1),
                        .whole = UINT64_MAX,
                        .changed = ARENA_ARRAY(a, uint32_t, n + 1),
                        .tried = ARENA_ARRAY(a, uint32_t, n + 1),
                        .twin = find_twins(s->p),
                        .repeated = ARENA_ARRAY(a, bool, n + 1)};
    bool better = holds(s, &w);

    while (better) {
        better = false;
        for (uint32_t i = 0; i < n; i++) {
            one_window(s, &w, i);
            if (i % batch != batch - 1 && i + 1 != n)
                continue;
            better |= holds(s, &w);
            if (s->trials->commands * n > s->limit * (i + 1)) /* it will not reach all */
                better |= repeat_blocks(s, &w, i + 1);
            if (gained_little(s, &w, i / batch) || s->trials->commands >= s->limit)
                return;
        }
    }
}

/* The same groups everywhere, and a descent from there; apart: first one without cascades, which bind
 * neighbours so that other choices no longer gain. */
static void descend_from(struct search *s, uint32_t tiles, bool apart)
{
    same_groups(s, tiles);
    s->apart = apart;
    if (apart)
        descend(s);
    s->apart = false;
    descend(s);
}

/* Descents from the rule and from the same groups everywhere, as smaller ones often gain only
 * together: each operator waits for the slowest in a row of them. The best start goes first, the
 * others while the program is small. */
static void descend_from_starts(struct search *s)
{
    enum { STARTS = 3 };
    static const uint32_t tiles[STARTS] = {0, 2, 4};
    struct sched_program *p = s->p;
    struct sched_knobs *kept = ARENA_ARRAY(p->arena, struct sched_knobs, p->graph->n_op + 1);
    uint64_t best = UINT64_MAX;
    uint32_t first = 0;

    for (uint32_t i = 0; i < STARTS; i++) {
        same_groups(s, tiles[i]);
        first = improves(s) ? i : first;
        if (s->trials->commands == 0) /* all on the host */
            return;
    }
    if (s->trials->commands > STARTS * LARGE_COMMANDS) {
        same_groups(s, tiles[first]);
        s->limit = WINDOW_COMMANDS + (uint64_t)p->graph->n_op * OPERATOR_COMMANDS;
        descend_windows(s);
        descend_by_loss(s);
        return;
    }
    for (uint32_t i = 0; i < 2 * STARTS && s->trials->commands < START_COMMANDS; i++) {
        descend_from(s, tiles[(first + i / 2) % STARTS], i % 2 == 1);
        if (s->best < best) {
            best = s->best;
            memcpy(kept, p->knobs, p->graph->n_op * sizeof *kept);
        }
    }
    memcpy(p->knobs, kept, p->graph->n_op * sizeof *kept);
}

static void sched_search(struct sched_program *p)
{
    struct trials *trials = ARENA_NEW(p->arena, struct trials);
    struct search s = {.p = p, .trials = trials, .best = UINT64_MAX, .limit = TRIAL_COMMANDS};

    if (p->options.no_search || !trials_begin(trials, p))
        return;
    if (p->options.knob_seed)
        at_random(p, trials);
    else
        descend_from_starts(&s);
    trials_end(trials);
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
