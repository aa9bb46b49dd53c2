/* actions.h - actions of the commands of each layer, counted from their fields: products, bytes read
 * and written in each memory, bytes on the bus. An inference always does the same, so nothing need
 * run. docs/ENERGY.md defines each action. */
#ifndef HEDDLE_STATS_ACTIONS_H
#define HEDDLE_STATS_ACTIONS_H

#include "compiler/systolic/program/sched_program.h"

enum action {
    ACTION_MAC,
    ACTION_VECTOR_OP,
    ACTION_REQUANTISE,
    ACTION_SCRATCHPAD_READ,
    ACTION_SCRATCHPAD_WRITTEN,
    ACTION_WEIGHT_READ,
    ACTION_WEIGHT_WRITTEN,
    ACTION_ACCUMULATOR_READ,
    ACTION_ACCUMULATOR_WRITTEN,
    ACTION_BUS_READ,
    ACTION_BUS_WRITTEN,
    ACTION_COUNT
};

/* Their names in tables and stats. */
extern const char *const action_names[ACTION_COUNT];

struct actions {
    uint64_t n[ACTION_COUNT];
};

/* Bytes of the bus's beats that cover [at, at + n_bytes). */
uint64_t actions_beats(uint64_t at, uint64_t n_bytes, uint64_t width);
/* The actions of one command, without the fetch of the command itself. */
struct actions actions_of_command(const struct sched_command *c, const struct hd_config *hw);
/* By row of the model, of all commands of the program, their own words included. */
struct actions *actions_of(struct arena *a, const struct sched_program *p, uint32_t n_row);

#endif
