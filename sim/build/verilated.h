/* verilated.h - what Verilator said: its warnings.
 * in:  build.log of a build folder.   out: notes. */
#ifndef HEDDLE_SIM_VERILATED_H
#define HEDDLE_SIM_VERILATED_H

#include "base/arena.h"
#include "base/output.h"

/* A note for each warning in `log` (the first few), one with their number and where all are:
 * `kept`, the log's path once the build is done. Nothing if there are none. */
void verilated_warnings(struct arena *a, const struct output *output, const char *log,
                        const char *kept);

/* Number of warnings in a log. */
unsigned verilated_count(struct arena *a, const char *log);

#endif
