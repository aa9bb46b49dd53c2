/* board_cores.h - cores of external targets on the board. */
#ifndef HEDDLE_BOARD_CORES_H
#define HEDDLE_BOARD_CORES_H

#include "board_state.h"

/* Advance the running cores to the processor's cycle. */
void board_follow_cores(struct board *b);
/* Run them for at most `cycles` until one raises its interrupt (true). */
bool board_run_cores(struct board *b, uint64_t cycles);
bool board_cores_run(const struct board *b);
/* Set the processor's external interrupt line, shared by all devices. */
void board_line(struct board *b);
void board_close_cores(struct board *b);

#endif
