/* board_rows.h - which row of the network the processor works for. */
#ifndef HEDDLE_BOARD_ROWS_H
#define HEDDLE_BOARD_ROWS_H

#include "board_state.h"

/* True for run() of the emitted C. */
bool board_is_run(const struct iss_symbol *s);
/* Find the rows of its calls. */
enum status board_find_rows(struct board *b);
/* iss.left. */
void board_left(void *ctx, uint32_t owner, uint32_t from);

#endif
