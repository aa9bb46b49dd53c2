/* board_source.h - the program's current location in its source. */
#ifndef HEDDLE_BOARD_SOURCE_H
#define HEDDLE_BOARD_SOURCE_H

#include "board_state.h"

/* Return "hdk_softmax + 0x1c (hdk_softmax.c:57)". */
const char *board_place(struct board *b);

#endif
