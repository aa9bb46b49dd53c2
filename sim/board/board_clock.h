/* board_clock.h - the clocks of processor and accelerator. */
#ifndef HEDDLE_BOARD_CLOCK_H
#define HEDDLE_BOARD_CLOCK_H

#include "board_state.h"

/* Return the accelerator's cycle for a cycle of the processor; make the processor wait until a
 * cycle of the accelerator. */
uint64_t board_device_cycle(const struct board *b, uint64_t cycle);
void board_wait_until(struct board *b, uint64_t device_cycle);
/* Return the additional cycles of the processor for a load or store in the accelerator's memory. */
uint32_t board_bus_wait(const struct board *b);
/* Return the cycles of a model since it was opened. */
uint64_t board_cycles(const struct hd_sim_api *api, struct hd_sim *sim);

#endif
