/* board_cores.h - cores of other targets. */
#ifndef HEDDLE_BOARD_CORES_H
#define HEDDLE_BOARD_CORES_H

#include "board_state.h"

/* Bring those that run to the processor's cycle. */
void board_follow_cores(struct board *b);
/* Run them until one has its interrupt, for `cycles` at most (true: one has). */
bool board_run_cores(struct board *b, uint64_t cycles);
bool board_cores_run(const struct board *b);
/* The processor's external interrupt is any device's. */
void board_line(struct board *b);
void board_close_cores(struct board *b);

#endif
