/* trace_counters.h - values over time in a trace. */
#ifndef HEDDLE_REPORT_TRACE_COUNTERS_H
#define HEDDLE_REPORT_TRACE_COUNTERS_H

#include "run_trace.h"

/* Add the points of a device's counters: of the bus from its sums, of the scratchpad from the bytes
 * that commands read and write. */
void trace_counters(struct trace *t);

#endif
