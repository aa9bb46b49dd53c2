/* sched.c - the device program of a partitioned graph on one accelerator: knobs first, then the
 * program that they give. */
#include "sched.h"

#include "sched_build.h"

enum status sched_run(struct arena *a, const struct ir_graph *g, const struct hd_config *hw,
                      const struct sched_options *o, struct sched_program **program, struct diag *d)
{
    struct sched_program *p = ARENA_NEW(a, struct sched_program);

    *program = p;
    *p = (struct sched_program){.arena = a, .graph = g, .hw = hw, .options = *o};
    p->n_device = 1;
    p->device[0] = (struct sched_device){IR_NONE, hw};
    p->knobs = ARENA_ARRAY(a, struct sched_knobs, g->n_op + 1);
    sched_choose(p);
    return sched_build(p, d);
}
