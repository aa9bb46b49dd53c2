/* sched_build.h - one device program, and the choice of its knobs by building many. */
#ifndef HEDDLE_SCHED_BUILD_H
#define HEDDLE_SCHED_BUILD_H

#include "sched.h"

/* Everything of `p` from its graph, configuration, options and knobs. */
enum status sched_build(struct sched_program *p, struct diag *d);
/* knob_search.c: p->knobs as the options give them, else by search. */
void sched_choose(struct sched_program *p);

#endif
