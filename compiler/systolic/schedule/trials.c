/* trials.c - see trials.h. A trial has no bytes. Many sets of knobs give the same commands, so
 * scores are cached by a hash of the streams. */
#include "trials.h"

#include <string.h>

#include "compiler/systolic/timing/contention_memo.h"
#include "compiler/systolic/timing/estimate.h"

/* Weights of a trial's work. Laying out LAYOUT_OPERATORS operators takes as long as one command; a
 * trial of few operators lays out all. One part in MADE of a command's time is building it, the
 * rest estimating it. */
enum { LAYOUT_OPERATORS = 8, MADE = 4 };

static uint32_t count_commands(const struct sched_program *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_stream; i++)
        n += p->stream[i].n;
    return n;
}

/* Return the score: cycles plus one per command in the upper half, since a smaller gain is not
 * worth its bytes in memory and its simulation (resnet8_own at sys8: 172 KiB read instead of 254,
 * 3.3 to 3.6 M cycles/s). In the lower half, to break ties, how early rows end on average: a group
 * that arrives sooner may gain only once the next operator's does too. */
static uint64_t score_of(const struct sched_program *p)
{
    uint64_t end = 0, sum = 0;

    for (uint32_t row = 0; row < p->graph->n_row; row++) {
        end += p->row_end[row];
        sum += end;
    }
    return (p->est_cycles + count_commands(p)) << 32 | (sum / (p->graph->n_row + 1) & UINT32_MAX);
}

/* Return a hash of everything that the estimate reads; never 0. */
static uint64_t key_of(const struct sched_program *p)
{
    uint64_t hash = trials_mix(trials_mix(p->n_stream, p->command_bytes), p->constant_bytes);

    hash = trials_mix(hash, p->arena_bytes);
    for (uint32_t i = 0; i < p->n_stream; i++)
        for (uint32_t k = 0; k < p->stream[i].n; k++) {
            const struct sched_command *c = &p->stream[i].cmd[k];
            uint64_t x[sizeof c->w / 8];
            memcpy(x, &c->w, sizeof x);
            hash = trials_mix(hash, (uint64_t)i << 32 | c->row);
            for (uint32_t j = 0; j < sizeof x / sizeof *x; j++)
                hash = trials_mix(hash, x[j]);
        }
    return hash ? hash : 1;
}

bool trials_begin(struct trials *t, const struct sched_program *p)
{
    struct diag d = {0};

    *t = (struct trials){.p = p,
                         .like = {.arena = p->arena,
                                  .graph = p->graph,
                                  .hw = p->hw,
                                  .options = p->options,
                                  .only = p->only,
                                  .dry = true}};
    if (sched_prepare(&t->like, &d) != ST_OK)
        return false;
    t->arena = arena_beside(p->arena);
    t->like.memo = contention_memo_new(p->arena);
    return true;
}

void trials_end(struct trials *t)
{
    contention_memo_free(t->like.memo);
    arena_free(t->arena);
    t->arena = NULL;
}

/* Build the commands of operators first .. end - 1 in the trial's memory. */
static bool build(struct trials *t, struct sched_program *p, uint32_t first, uint32_t end,
                  struct sched_knobs *knobs)
{
    struct diag d = {0};

    *p = t->like;
    arena_reset(t->arena);
    p->arena = t->arena;
    p->like = &t->like;
    p->knobs = knobs;
    p->first = first;
    p->end = end;
    enum status st = sched_build_commands(p, &d);
    t->commands += count_commands(p) / MADE + (end ? p->graph->n_op / LAYOUT_OPERATORS : 0);
    return st == ST_OK;
}

uint64_t trials_score(struct trials *t, uint32_t first, uint32_t end, struct sched_knobs *knobs)
{
    struct sched_program p;
    struct diag d = {0};

    if (!build(t, &p, first, end, knobs))
        return UINT64_MAX;
    uint64_t key = key_of(&p);
    uint32_t at = (uint32_t)(key % TRIALS_KNOWN);
    if (t->key[at] == key)
        return t->score[at];
    t->commands += count_commands(&p) - count_commands(&p) / MADE;
    if (sched_estimate(&p, &d) != ST_OK)
        return UINT64_MAX;
    t->key[at] = key;
    t->score[at] = score_of(&p);
    return t->score[at];
}

static bool trials_build(struct trials *t, struct sched_knobs *knobs, struct sched_program *p)
{
    struct diag d = {0};

    return build(t, p, 0, 0, knobs) && sched_estimate(p, &d) == ST_OK;
}

uint64_t trials_exact(struct trials *t, struct sched_knobs *knobs, struct sched_program *p)
{
    struct diag d = {0};

    if (!build(t, p, 0, 0, knobs))
        return 0;
    p->dry = false;
    p->memo = NULL;
    return sched_estimate(p, &d) == ST_OK ? p->est_cycles : 0;
}

void trials_losses(struct trials *t, struct sched_knobs *knobs, uint64_t *row)
{
    struct sched_program p;

    if (!trials_build(t, knobs, &p))
        return;
    memcpy(row, p.row_end, p.graph->n_row * sizeof *row);
    for (uint32_t i = 0; i < p.n_stream; i++)
        for (uint32_t k = 0; k < p.stream[i].n; k++) {
            const struct sched_command *c = &p.stream[i].cmd[k];

            if (c->unit == HD_UNIT_ARRAY)
                row[c->row] -= c->cost < row[c->row] ? c->cost : row[c->row];
        }
}

uint64_t sched_score(const struct sched_program *p, struct sched_knobs *knobs, uint32_t *commands)
{
    struct trials *t = ARENA_NEW(p->arena, struct trials);
    uint64_t score;

    if (!trials_begin(t, p))
        return UINT64_MAX;
    score = trials_score(t, 0, 0, knobs);
    *commands += (uint32_t)t->commands;
    trials_end(t);
    return score;
}
