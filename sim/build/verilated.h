/* verilated.h - report Verilator's warnings. in: build.log of a build folder. out: notes. */
#ifndef HEDDLE_SIM_VERILATED_H
#define HEDDLE_SIM_VERILATED_H

#include "base/arena.h"
#include "base/output.h"

/* Add a note for each warning in `log` (the first few), and one with their number and the place of
 * all: `kept`, the log's path after the build. Nothing without warnings. */
void verilated_warnings(struct arena *a, const struct output *output, const char *log,
                        const char *kept);

/* Return the number of warnings in a log. */
unsigned verilated_count(struct arena *a, const char *log);

#endif
