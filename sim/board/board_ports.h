/* board_ports.h - registers and memory of external targets' cores. */
#ifndef HEDDLE_BOARD_PORTS_H
#define HEDDLE_BOARD_PORTS_H

#include "board_state.h"

/* Open each core of the setup. */
enum status board_open_cores(struct board *b);

#endif
