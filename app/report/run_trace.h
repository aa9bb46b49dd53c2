/* run_trace.h - the times at which each command of an inference ran on the RTL, for trace.json and
 * the timeline of report.html. Time is in cycles since the inference began. Submissions follow one
 * another. Between them the host works for the time that its model estimates; with a simulated
 * processor all times are measured (struct trace_host_time). Invariant: slices of a track are in
 * the order of time and do not overlap. */
#ifndef HEDDLE_REPORT_RUN_TRACE_H
#define HEDDLE_REPORT_RUN_TRACE_H

#include "app/job/times.h"
#include "app/stats/account.h"
#include "base/text.h"

/* Bytes moved before `at` over the bus of one device. */
struct trace_sum {
    uint64_t at;
    struct trace_moved moved;
};

struct trace_slice {
    uint32_t track, row;
    uint32_t stream, command; /* for a slice of a unit; IR_NONE: of the host or a core */
    uint64_t begin, end;      /* [begin, end) */
    uint64_t bytes;           /* on the bus */
    const char *note;         /* the part of the layer; or "" */
};

/* A value that holds from `at` on. */
struct trace_point {
    uint64_t at;
    double value;
};

enum trace_counter { TRACE_READ, TRACE_WRITTEN, TRACE_SCRATCHPAD, TRACE_COUNTERS };

struct trace_device {
    const char *name;
    uint32_t n_sum; /* at starts and ends of commands that use the bus, ordered by time */
    struct trace_sum *sum;
    uint32_t n_point[TRACE_COUNTERS];
    struct trace_point *point[TRACE_COUNTERS];
};

struct trace {
    struct arena *arena;
    const struct pipeline *p;
    uint32_t
        n_device; /* tracks: the units of each device, then the host, then the cores of targets */
    struct trace_device *device;
    uint32_t n_slice;
    struct trace_slice *slice;
    uint64_t cycles; /* of the inference */
    bool simulated;  /* the host */
};

/* Build the trace. times: of all commands, stream by stream. core_cycles: by row, for the cores of
 * external targets; or NULL. host: of a simulated processor; or NULL. */
struct trace *trace_build(struct arena *a, const struct pipeline *p, const struct account *account,
                          const struct trace_time *times, const uint64_t *core_cycles,
                          const struct trace_host_time *host);

static inline uint32_t trace_host(const struct trace *t)
{
    return t->n_device * HD_UNIT_COUNT;
}

#endif
