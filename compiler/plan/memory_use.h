/* memory_use.h - the memory that the plan holds compared with the network's need: bytes of
 * activations alive at each operator, and the traffic with memory that no schedule can avoid.
 * in:  a built program.   out: figures for reports; nothing depends on them. */
#ifndef HEDDLE_COMPILER_PLAN_MEMORY_USE_H
#define HEDDLE_COMPILER_PLAN_MEMORY_USE_H

#include "compiler/systolic/program/sched_program.h"

/* Bytes at one operator; `held` counts operators that are interleaved (sched_span) as one. */
struct memory_at {
    uint64_t held; /* what the plan keeps whole in memory or scratchpad, each byte once: views and
                      RESHAPEs share theirs. Tensors within a cascade count with their rows only. */
    /* The part of it that is needed at an operator: an input until its last reader, an output to
     * the end, all else from the operator that makes it to the last that reads it. Never above
     * `held`. */
    uint64_t live;
    uint64_t copies;  /* second copies: an input in memory, for example, and loaded whole */
    uint64_t padding; /* in the scratchpad, between rows of whole tensors */
    uint64_t buffers; /* tile buffers, line buffers of cascades, scratch of host kernels */
};

struct memory_use {
    struct memory_at *at; /* by operator position */
    uint32_t bound_at;    /* where `live` is largest: the live-range bound is at[bound_at].live */
    uint32_t peak_at;     /* where `held` is largest */
    uint64_t copies, padding, buffers; /* their largest, wherever that is */
    /* Compulsory traffic of the accelerator: constants of its operators once; what its operators
     * read that none of them made; what they make that others read. */
    uint64_t weights, read, write;
};

/* Most bytes alive at one operator if operators run one by one, each tensor whole: what a schedule
 * with cascades must not exceed. */
uint64_t memory_live_bound(struct arena *a, const struct ir_graph *g);
/* The same at one operator, with those interleaved as `spans` has them. */
uint64_t memory_live_at(struct arena *a, const struct ir_graph *g, const struct sched_span *spans,
                        uint32_t position);

/* Figures of `p`; memory from p->arena. A graph without operators has all 0 and at[0] alone. */
struct memory_use memory_use_of(const struct sched_program *p);

#endif
