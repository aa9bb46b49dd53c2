/* estimate.c - cycles of each submission and row, from the timeline.
 * in:  streams with waits.   out: cmd->cost, est_start, est_done; program->row_estimate as DESIGN
 * section 10 defines rows; tests/e2e/estimate compares them with measured cycles. */
#include "lower.h"
#include "timeline.h"

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Rows: from the end of the row before (running maximum) to the end of this one; they add up to the
 * stream. */
static void add_rows(struct sched_program *p, const struct sched_stream *s)
{
    uint64_t reached = 0;
    uint32_t last = s->n > 1 ? s->cmd[s->n - 2].row : 0;
    uint32_t row = s->n > 1 ? s->cmd[0].row : 0;
    uint64_t end = 0;
    for (uint32_t i = 0; i + 1 < s->n; i++) {
        const struct sched_command *c = &s->cmd[i];
        if (c->row != row) {
            p->row_estimate[row] += end > reached ? end - reached : 0;
            reached = later(reached, end);
            row = c->row;
        }
        end = later(end, c->est_done);
    }
    p->row_estimate[last] += s->est_cycles - reached;
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
