/* board_rows.h - find the row of the network for which the processor works. */
#ifndef HEDDLE_BOARD_ROWS_H
#define HEDDLE_BOARD_ROWS_H

#include "board_state.h"

/* Return true for run() of the emitted C. */
bool board_is_run(const struct iss_symbol *s);
/* Find the row of each call in run(). */
enum status board_find_rows(struct board *b);
/* iss.left. */
void board_left(void *ctx, uint32_t owner, uint32_t from);

#endif
