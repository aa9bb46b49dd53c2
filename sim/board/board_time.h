/* board_time.h - the common time, and the accelerator's registers. */
#ifndef HEDDLE_BOARD_TIME_H
#define HEDDLE_BOARD_TIME_H

#include "board_state.h"

/* Attribute the cycles since the last call to their owners. */
void board_account(struct board *b);
/* Report a submission that has ended. */
void board_collect(struct board *b);
/* Advance the models to the processor's cycle. */
void board_follow(struct board *b);
/* Sleep until the interrupt. */
enum status board_sleep(struct board *b);
bool board_read_register(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t *value);
bool board_write_register(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t value);

#endif
