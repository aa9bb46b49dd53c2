/* board_clock.h - the clocks of processor and accelerator. */
#ifndef HEDDLE_BOARD_CLOCK_H
#define HEDDLE_BOARD_CLOCK_H

#include "board_state.h"

/* The accelerator's cycle at one of the processor's; the processor waits until one of the accelerator's. */
uint64_t board_device_cycle(const struct board *b, uint64_t cycle);
void board_wait_until(struct board *b, uint64_t device_cycle);
/* Cycles of the processor that a load or store of the accelerator's memory takes beyond one of its own. */
uint32_t board_bus_wait(const struct board *b);
/* Cycles of a model since it was opened. */
uint64_t board_cycles(const struct hd_sim_api *api, struct hd_sim *sim);

#endif
