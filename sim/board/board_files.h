/* board_files.h - the program's files, through semihosting. */
#ifndef HEDDLE_BOARD_FILES_H
#define HEDDLE_BOARD_FILES_H

#include "board_state.h"

/* An inference, or a C program, begins; the second: it ends. */
void board_begin(struct board *b);
void board_end(struct board *b);
/* Execute a semihosting request of the program. */
void board_semihosting(struct board *b);

#endif
