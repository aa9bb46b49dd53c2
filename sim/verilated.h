/* verilated.h - what Verilator said and made: its warnings, and the ports of a target's own core.
 * in:  build.log and obj/Vhd_sim_top.h of a build folder.   out: notes; ST_USAGE. */
#ifndef HEDDLE_SIM_VERILATED_H
#define HEDDLE_SIM_VERILATED_H

#include "base/arena.h"
#include "base/output.h"
#include "base/status.h"
#include "build.h"

/* A note for each warning in `log` (the first few), one with their number and where all are:
 * `kept`, the log's path once the build is done. Nothing if there are none. */
void verilated_warnings(struct arena *a, const struct output *output, const char *log,
                        const char *kept);

/* Number of warnings in a log. */
unsigned verilated_count(struct arena *a, const char *log);

/* The top's ports in the header that Verilator wrote against those that sim/core drives: names,
 * directions, widths; the ports of the core's counters. Outputs in addition are fine, inputs are
 * not: nothing would drive them.
 * ST_USAGE names every difference and the ports found. */
enum status verilated_ports(struct arena *a, const char *header, const struct sim_core *core,
                            struct diag *d);

#endif
