/* func_command.h - properties of all commands of a stream: their length, and their waits. */
#ifndef HD_FUNC_COMMAND_H
#define HD_FUNC_COMMAND_H

#include <stdbool.h>

#include "hd_accel.h"

/* Return the bytes of a command by opcode; 0 for an unknown one. */
static inline uint32_t func_command_bytes(uint32_t opcode)
{
    switch (opcode) {
    case HD_OPCODE_END: return HD_CMD_END_BYTES;
    case HD_OPCODE_LOAD:
    case HD_OPCODE_WEIGHT: return HD_CMD_DMA_READ_BYTES;
    case HD_OPCODE_ARRAY: return HD_CMD_ARRAY_BYTES;
    case HD_OPCODE_VECTOR: return HD_CMD_VECTOR_BYTES;
    case HD_OPCODE_STORE: return HD_CMD_STORE_BYTES;
    default: return 0;
    }
}

/* Return true if the commands before this one, `done` of each unit, satisfy its waits; counts
 * compare modulo 2^16. */
static inline bool func_waits_hold(const uint32_t *done, const struct hd_common *c)
{
    const uint32_t need[5] = {c->wait_load, c->wait_weight, c->wait_array, c->wait_vector,
                              c->wait_store};

    for (uint32_t unit = 0; unit < 5; unit++)
        if (c->wait_enable >> unit & 1u && (int16_t)(uint16_t)(done[unit] - need[unit]) < 0)
            return false;
    return true;
}

#endif
