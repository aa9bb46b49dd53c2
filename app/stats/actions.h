/* actions.h - count the actions of each layer's commands from their fields: products, bytes read
 * and written in each memory, bytes on the bus. All inferences have the same actions, so nothing
 * needs to run. docs/ENERGY.md defines each action. */
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

/* Names of the actions in tables and stats. */
extern const char *const action_names[ACTION_COUNT];

struct actions {
    uint64_t n[ACTION_COUNT];
};

/* Return the bytes of the bus's beats that cover [at, at + n_bytes). */
uint64_t actions_beats(uint64_t at, uint64_t n_bytes, uint64_t width);
/* Count the actions of one command, without the fetch of the command. */
struct actions actions_of_command(const struct sched_command *c, const struct hd_config *hw);
/* Count the actions of all commands of the program by row of the model, their fetch included. */
struct actions *actions_of(struct arena *a, const struct sched_program *p, uint32_t n_row);

#endif
