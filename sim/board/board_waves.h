/* board_waves.h - waves of the accelerator together with the function that the processor
 * executes. */
#ifndef HEDDLE_BOARD_WAVES_H
#define HEDDLE_BOARD_WAVES_H

#include "board_state.h"

/* Begin a submission, or the first operator of an inference. */
void board_waves_begin(struct board *b);
/* Write waves up to this cycle of the accelerator. */
void board_waves_follow(struct board *b, uint64_t now);
/* Return true if each cycle of the processor is needed. */
bool board_waves_want(const struct board *b);

#endif
