/* board_waves.h - waves of the accelerator, with the function that the processor executes. */
#ifndef HEDDLE_BOARD_WAVES_H
#define HEDDLE_BOARD_WAVES_H

#include "board_state.h"

/* A submission begins, or the first operator of an inference. */
void board_waves_begin(struct board *b);
/* To this cycle of the accelerator. */
void board_waves_follow(struct board *b, uint64_t now);
/* True if each cycle of the processor is wanted. */
bool board_waves_want(const struct board *b);

#endif
