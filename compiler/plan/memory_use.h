/* memory_use.h - memory that the plan holds, compared with what the network needs: bytes of
 * activations alive at each operator, and the memory traffic that no schedule can avoid. in: a
 * built program. out: figures for reports only. */
#ifndef HEDDLE_COMPILER_PLAN_MEMORY_USE_H
#define HEDDLE_COMPILER_PLAN_MEMORY_USE_H

#include "compiler/systolic/program/sched_program.h"

/* Bytes at one operator; for `held`, interleaved operators (sched_span) count as one. */
struct memory_at {
    uint64_t held; /* whole tensors that the plan keeps in memory or scratchpad, each byte once:
                      views and
                      RESHAPEs share bytes. A tensor within a cascade counts only its buffered
                      rows. */
    /* Bytes of `held` that are needed at an operator: an input until its last reader, an output to
     * the end, any other from its producer to its last reader. Never above `held`. */
    uint64_t live;
    uint64_t copies;  /* second copies, for example an input in memory that is also loaded whole */
    uint64_t padding; /* padding between rows of whole tensors in the scratchpad */
    uint64_t buffers; /* tile buffers, line buffers of cascades, scratch of host kernels */
};

struct memory_use {
    struct memory_at *at;              /* by operator position */
    uint32_t bound_at;                 /* position with the largest `live`: the live-range bound is
                           * at[bound_at].live */
    uint32_t peak_at;                  /* position with the largest `held` */
    uint64_t copies, padding, buffers; /* the largest values over all positions */
    /* Compulsory traffic of the accelerator: its operators' constants once; what its operators read
     * but do not compute; what they compute and others read. */
    uint64_t weights, read, write;
};

/* Return the most bytes alive at one operator if operators run one by one with whole tensors; a
 * schedule with cascades must not exceed it. */
uint64_t memory_live_bound(struct arena *a, const struct ir_graph *g);
/* The same at one operator, with operators interleaved as in `spans`. */
uint64_t memory_live_at(struct arena *a, const struct ir_graph *g, const struct sched_span *spans,
                        uint32_t position);

/* Return the figures of `p`, allocated from p->arena. For a graph without operators all are 0, with
 * at[0] only. */
struct memory_use memory_use_of(const struct sched_program *p);

#endif
