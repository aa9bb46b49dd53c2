/* timeline.h - compute when each command of a stream starts and ends: the units of docs/HARDWARE.md
 * as an event simulation. FETCH hands commands in order to queues; LOAD, WEIGHT and FETCH share the
 * read channel burst by burst; a command starts when its unit is free and its waits hold. in: a
 * stream with waits. out: est_start, est_done (cycles from the doorbell) of each command,
 * est_cycles of the stream. Random stalls are not modelled. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_TIMELINE_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_TIMELINE_H

#include "compiler/systolic/program/sched_program.h"

/* Scratch memory comes from `a`. */
void timeline_run(struct arena *a, const struct sched_program *p, struct sched_stream *s);

#endif
