/* knob_search.c - choose knobs by coordinate descent: for each operator in turn try each choice in
 * a program without bytes, and keep it if the estimate falls. A small program is tried as a whole:
 * two rounds, then one with tiles of neighbours. A large one is tried in windows (the commands of
 * neighbouring operators in the layout of all), with the whole program after every few windows. It
 * is then tried as a whole, beginning with the rows that lose the most cycles beyond ARRAY's work.
 * The search repeats while it gains. The same input gives the same knobs. */
#include <stdlib.h>
#include <string.h>

#include "knob_windows.h"

/* For tests: set some knobs of each operator at random, cascades most often (xorshift64*, Vigna
 * 2016). */
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

static void same_groups(struct search *s, uint32_t tiles)
{
    memset(s->p->knobs, 0, s->p->graph->n_op * sizeof *s->p->knobs);
    for (uint32_t i = 0; i < s->p->graph->n_op; i++)
        s->p->knobs[i].group_tiles = tiles;
}

/* The cycles that an operator's row loses with the current knobs. */
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

/* Return the operators, beginning with those of the rows that lose the most. */
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

/* Try each operator from the current knobs; rows: also four adjacent ones together. */
static bool one_round(struct search *s, bool rows)
{
    bool better = false;

    for (uint32_t i = 0; i < s->p->graph->n_op; i++) {
        better |= moves_operator(s, i);
        better |= moves_cascade_of_three(s, i);
        better |= moves_cascade_from_here(s, i);
        better |= moves_strips_with_room(s, i);
        better |= moves_groups_of_three(s, i);
        if (rows) {
            better |= moves_rows_of_four(s, i, false);
            better |= moves_rows_of_four(s, i, true);
        }
    }
    return better;
}

/* Descend from the current knobs. Four adjacent operators together come last, since they change
 * more than single operators do. */
static void descend(struct search *s)
{
    moves_begin(s, 0, 0);
    if (one_round(s, false))
        (void)one_round(s, false);
    (void)one_round(s, true);
}

/* Try one operator of a large program unless it was tried and no neighbour has changed since. near:
 * a move without gain among its neighbours is not tried in the whole program, which takes several
 * times as long. */
static bool try_again(struct search *s, struct windows_memory *m, uint32_t op, bool near)
{
    uint32_t first, end;
    bool better;

    windows_around(s, op, 2 * SEARCH_REACH, &first, &end);
    if (s->between[op] || !windows_due(s, m, op, first, end) || s->trials->commands >= s->limit)
        return false;
    if (near) {
        windows_around(s, op, 4 * SEARCH_REACH, &s->near.first, &s->near.end);
        s->near.best = trials_score(s->trials, s->near.first, s->near.end, s->p->knobs);
    }
    better = moves_operator(s, op);
    better |= moves_cascade_of_three(s, op);
    better |= moves_cascade_from_here(s, op);
    better |= moves_rows_of_four(s, op, false);
    s->near.end = 0;
    windows_tried(s, m, op, first, end);
    return better;
}

/* Try the operators that lose the most first, in rounds, and the others once these gain no more. */
static void descend_by_loss(struct search *s, bool near, uint32_t rounds)
{
    struct windows_memory m = windows_memory(s->p);
    bool better = true;

    for (uint32_t i = 0; better && i < rounds && s->trials->commands < s->limit; i++) {
        const struct loss *order = losses(s);

        better = false;
        for (uint32_t k = 0; k < s->p->graph->n_op; k++) {
            if (better && order[k].cycles * SEARCH_LITTLE < s->score.best >> 32)
                break;
            better |= try_again(s, &m, order[k].op, near);
        }
    }
}

/* Start with the same groups everywhere and descend from there; apart: first descend without
 * cascades, which couple neighbours so that other choices no longer gain. */
static void descend_from(struct search *s, uint32_t tiles, bool apart)
{
    same_groups(s, tiles);
    s->apart = apart;
    if (apart)
        descend(s);
    s->apart = false;
    descend(s);
}

static uint64_t work(const struct sched_program *p, uint64_t commands)
{
    return commands * (p->options.work ? p->options.work : 1);
}

/* Give all operators of a chain the knobs of its member number `block`, if there is one. */
static bool take_block(struct sched_knobs *knobs, const uint32_t *twin, uint32_t last,
                       uint32_t block)
{
    uint32_t n = 0, from = last;

    for (uint32_t i = last; i != IR_NONE; i = twin[i])
        n++;
    if (block >= n)
        return false;
    for (uint32_t i = 0; i < n - 1 - block; i++)
        from = twin[from];
    for (uint32_t i = last; i != IR_NONE; i = twin[i])
        if (i != from)
            knobs[i] = knobs[from];
    return true;
}

/* Give all blocks of a network that repeats itself the knobs of the best of the first ones, if the
 * network gains. Return the best of these programs' knobs, which may gain nothing, and its score. */
static const struct sched_knobs *repeat_best(struct search *s, uint64_t *equal)
{
    enum { MOST_BLOCKS = 4 };
    struct sched_program *const p = s->p;
    struct trials *const t = s->trials;
    const uint32_t n = p->graph->n_op, *const twin = s->twin;
    struct sched_knobs *const own = arena_memdup(p->arena, p->knobs, n * sizeof *own),
                              *const best = arena_memdup(p->arena, p->knobs, n * sizeof *own);
    const uint64_t least = trials_score(t, 0, 0, p->knobs);

    *equal = UINT64_MAX;
    for (uint32_t block = 0; least != UINT64_MAX && block < MOST_BLOCKS; block++) {
        bool any = false;
        memcpy(p->knobs, own, n * sizeof *own);
        for (uint32_t i = 0; i < n; i++)
            any |= !s->before[i] && twin[i] != IR_NONE && take_block(p->knobs, twin, i, block);
        const uint64_t score = any ? trials_score(t, 0, 0, p->knobs) : UINT64_MAX;
        if (score < *equal) {
            *equal = score;
            memcpy(best, p->knobs, n * sizeof *own);
        }
    }
    memcpy(p->knobs, *equal < least ? best : own, n * sizeof *own);
    return best;
}

/* With segments take equal blocks also where that costs up to 0.3 %, since they are simulated once;
 * p->uncut has the knobs without. */
static void repeat_segments(struct search *s)
{
    enum { PER_MILLE = 3 };
    struct sched_program *const p = s->p;
    const uint32_t n = p->graph->n_op;
    uint64_t equal;
    const struct sched_knobs *const best = repeat_best(s, &equal);
    const uint64_t least = trials_score(s->trials, 0, 0, p->knobs);

    if (p->options.segments < 2 || equal == UINT64_MAX || equal <= least ||
        equal - least > least / 1000 * PER_MILLE)
        return;
    p->uncut = arena_memdup(p->arena, p->knobs, n * sizeof *p->knobs);
    memcpy(p->knobs, best, n * sizeof *p->knobs);
}

/* Find the blocks of a network that repeats itself. */
static void find_blocks(struct search *s)
{
    const uint32_t n = s->p->graph->n_op;

    s->before = ARENA_ARRAY(s->p->arena, bool, n + 1);
    s->twin = ARENA_ARRAY(s->p->arena, uint32_t, n + 1);
    s->between = ARENA_ARRAY(s->p->arena, bool, n + 1);
    (void)windows_period(s->p, s->twin);
    for (uint32_t i = 0; i < n; i++)
        if (s->twin[i] != IR_NONE)
            s->before[s->twin[i]] = true;
    for (uint32_t i = 0; i < n; i++)
        s->between[i] = s->before[i] && s->twin[i] != IR_NONE && s->twin[s->twin[i]] != IR_NONE;
}

/* Descend from the rule's knobs and from equal groups everywhere: smaller groups often gain only
 * together, since each operator waits for the slowest of its neighbours. The best start is tried
 * first, the others while the program is small. */
static void descend_from_starts(struct search *s)
{
    enum { STARTS = 3 };
    static const uint32_t tiles[STARTS] = {0, 2, 4};
    struct sched_program *p = s->p;
    const uint32_t n = p->graph->n_op;
    struct sched_knobs *kept = ARENA_ARRAY(p->arena, struct sched_knobs, n + 1);
    uint64_t best = UINT64_MAX;
    uint32_t first = 0;

    for (uint32_t i = 0; i < STARTS; i++) {
        same_groups(s, tiles[i]);
        first = moves_improve(s) ? i : first;
        if (s->trials->commands == 0) /* all operators are on the host */
            return;
    }
    if (s->trials->commands > STARTS * SEARCH_LARGE) {
        same_groups(s, tiles[first]);
        uint32_t tried = 0;
        for (uint32_t i = 0; i < n; i++)
            tried += !s->between[i];
        s->limit = work(p, least(2 * SEARCH_BUDGET / 5 + tried * SEARCH_OPERATOR, SEARCH_BUDGET));
        windows_descend(s);
        (void)repeat_best(s, &best);
        moves_begin(s, 0, 0);
        descend_by_loss(s, false, 1);
        descend_by_loss(s, true, UINT32_MAX);
        descend_by_loss(s, false, UINT32_MAX);
        repeat_segments(s);
        return;
    }
    for (uint32_t i = 0; i < 2 * STARTS && s->trials->commands < work(p, 2 * SEARCH_BUDGET / 5);
         i++) {
        descend_from(s, tiles[(first + i / 2) % STARTS], i % 2 == 1);
        if (s->score.best < best) {
            best = s->score.best;
            memcpy(kept, p->knobs, n * sizeof *kept);
        }
    }
    memcpy(p->knobs, kept, n * sizeof *kept);
    repeat_segments(s);
}

static void sched_search(struct sched_program *p)
{
    struct trials *trials = ARENA_NEW(p->arena, struct trials);
    struct search s = {
        .p = p, .trials = trials, .score.best = UINT64_MAX, .limit = work(p, SEARCH_BUDGET)};

    if (p->options.no_search || !trials_begin(trials, p))
        return;
    find_blocks(&s);
    if (p->options.knob_seed)
        at_random(p, trials);
    else
        descend_from_starts(&s);
    trials_end(trials);
}

/* Reset knobs that the search set without effect, such as groups of an operator without weights. */
static void forget_idle(const struct sched_program *p, struct sched_knobs *knobs)
{
    for (uint32_t i = 0; i < p->graph->n_op; i++) {
        struct sched_knobs most = sched_knobs_most(p->graph, p->graph->op[i]);
        for (uint32_t k = 0; k < SCHED_KNOBS; k++) {
            uint32_t *value = sched_knob(&knobs[i], k), limit = *sched_knob(&most, k);
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
    forget_idle(p, p->knobs);
    if (p->uncut)
        forget_idle(p, p->uncut);
}
