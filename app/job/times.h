/* times.h - times of each command of an inference, and of the simulated processor's activity, in
 * cycles since the inference began. */
#ifndef HEDDLE_JOB_TIMES_H
#define HEDDLE_JOB_TIMES_H

#include <stdint.h>

struct sched_program;

/* Bytes moved over the bus. */
struct trace_moved {
    uint64_t read, written;
};

/* A command's first cycle and that of its completion, from its doorbell on, and the bytes that all
 * commands had moved at the end of either (struct hd_sim_command). */
struct trace_time {
    uint64_t start, done;
    struct trace_moved at_start, at_done;
};

/* The activity of a simulated processor in [begin, end). WAITS: it waits for accelerators and
 * cores. */
enum trace_doing { TRACE_WORKS, TRACE_DRIVES, TRACE_WAITS };

struct trace_host_slice {
    uint64_t begin, end;
    uint64_t doorbell; /* while it waits: the cycle in which the submission began; otherwise 0 */
    uint32_t row;
    enum trace_doing doing;
};

/* The time slices of an inference: n of at most `most`, consecutive, in memory that processes
 * share. */
struct trace_host_time {
    uint32_t n, most;
    struct trace_host_slice slice[];
};

/* Return the index of a stream's first command among the times of all streams. */
uint32_t times_first(const struct sched_program *p, uint32_t stream);

#endif
