/* estimate.c - cycles of each submission and row, from the timeline.
 * in:  streams with waits.   out: cmd->cost, est_start, est_done; program->row_estimate as DESIGN
 * section 10 defines rows; tests/e2e/estimate compares them with measured cycles. */
#include "lower.h"
#include "timeline.h"

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Rows in the order of their last commands, each from the end of the row before (a running maximum)
 * to its own latest completion, as sim/rows.h has it; they add up to the stream. */
static void add_rows(struct sched_program *p, const struct sched_stream *s)
{
    uint32_t n_row = p->graph->n_row, n = s->n - 1; /* END is no row's */
    uint64_t *end = ARENA_ARRAY(p->arena, uint64_t, n_row + 1), reached = 0;
    uint32_t *last = ARENA_ARRAY(p->arena, uint32_t, n_row + 1);
    for (uint32_t i = 0; i < n; i++) {
        end[s->cmd[i].row] = later(end[s->cmd[i].row], s->cmd[i].est_done);
        last[s->cmd[i].row] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = s->cmd[i].row;
        if (last[row] != i)
            continue;
        uint64_t upto = i + 1 == n ? s->est_cycles : later(reached, end[row]);
        p->row_estimate[row] += upto - reached;
        reached = upto;
    }
}

void sched_estimate(struct sched_program *p)
{
    p->row_estimate = ARENA_ARRAY(p->arena, uint64_t, p->graph->n_row + 1);
    for (uint32_t i = 0; i < p->n_stream; i++) {
        timeline_run(p->arena, p, &p->stream[i]);
        add_rows(p, &p->stream[i]);
        p->est_cycles += p->stream[i].est_cycles;
    }
}
