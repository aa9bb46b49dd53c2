/* estimate.c - compute the cycles of each submission and row, from the timeline. in: streams with
 * waits. out: cmd->cost, est_start, est_done; program->row_end, and except for a trial
 * program->row_estimate; tests/e2e/layers/estimate_errors.c compares them with measured cycles. */
#include "estimate.h"

#include "timeline.h"

/* Rows of a stream in the order of their last commands, each with the cycle up to which all rows
 * before it are finished. */
struct ends {
    uint32_t n, *row;
    uint64_t *at;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Compute for each row the time from the end of the previous row (a running maximum) to its own
 * last completion. */
static struct ends ends_of(const struct sched_program *p, const struct sched_stream *s)
{
    uint32_t n_row = p->graph->n_row, n = s->n - 1; /* END belongs to no row */
    uint64_t *end = ARENA_ARRAY(p->arena, uint64_t, n_row + 1), reached = 0;
    uint32_t *last = ARENA_ARRAY(p->arena, uint32_t, n_row + 1);
    struct ends e = {0, ARENA_ARRAY(p->arena, uint32_t, n_row + 1),
                     ARENA_ARRAY(p->arena, uint64_t, n_row + 1)};

    for (uint32_t i = 0; i < n; i++) {
        end[s->cmd[i].row] = later(end[s->cmd[i].row], s->cmd[i].est_done);
        last[s->cmd[i].row] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = s->cmd[i].row;
        if (last[row] != i)
            continue;
        reached = i + 1 == n ? s->est_cycles : later(reached, end[row]);
        e.row[e.n] = row;
        e.at[e.n++] = reached;
    }
    return e;
}

/* Attribute cycles (from, to], in which ARRAY takes no step, to the first unfinished row, from
 * e->row[*k] on. */
static void add_rest(struct sched_program *p, const struct ends *e, uint32_t *k, uint64_t from,
                     uint64_t to)
{
    while (from < to) {
        while (*k + 1 < e->n && e->at[*k] <= from)
            ++*k;
        uint64_t upto = *k + 1 < e->n && e->at[*k] < to ? e->at[*k] : to;
        p->row_estimate[e->row[*k]] += upto - from;
        from = upto;
    }
}

/* Attribute cycles as sim/rows.h does: those of ARRAY's steps to their row. */
static void add_rows(struct sched_program *p, const struct sched_stream *s, const struct ends *e)
{
    uint64_t now = 0;
    uint32_t k = 0;

    for (uint32_t i = 0; i + 1 < s->n; i++) {
        const struct sched_command *c = &s->cmd[i];
        if (c->unit != HD_UNIT_ARRAY || c->est_last <= now)
            continue;
        add_rest(p, e, &k, now, c->est_steps);
        now = later(now, c->est_steps);
        p->row_estimate[c->row] += c->est_last - now;
        now = c->est_last;
    }
    add_rest(p, e, &k, now, s->est_cycles);
}

enum status sched_estimate(struct sched_program *p, struct diag *d)
{
    (void)d;
    p->row_end = ARENA_ARRAY(p->arena, uint64_t, p->graph->n_row + 1);
    p->row_estimate = p->dry ? NULL : ARENA_ARRAY(p->arena, uint64_t, p->graph->n_row + 1);
    for (uint32_t i = 0; i < p->n_stream; i++) {
        timeline_run(p->arena, p, &p->stream[i]);
        struct ends e = ends_of(p, &p->stream[i]);
        for (uint32_t k = 0; k < e.n; k++)
            p->row_end[e.row[k]] += e.at[k] - (k ? e.at[k - 1] : 0);
        if (!p->dry)
            add_rows(p, &p->stream[i], &e);
        p->est_cycles += p->stream[i].est_cycles;
    }
    return ST_OK;
}
