/* board_files.h - the program's files. */
#ifndef HEDDLE_BOARD_FILES_H
#define HEDDLE_BOARD_FILES_H

#include "board_state.h"

/* An inference, or a C program, begins and ends. */
void board_begin(struct board *b);
void board_end(struct board *b);
/* Do what the program asked for by semihosting. */
void board_semihosting(struct board *b);

#endif
