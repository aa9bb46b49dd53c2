/* func.h - declarations shared by the files of the functional model. */
#ifndef HD_FUNC_INTERNAL_H
#define HD_FUNC_INTERNAL_H

#include "hd_accel.h"
#include "hd_func.h"

/* func_stream.c: run header and commands of region 0, to END or to the first fault. Returns 0 or
 * -1. */
int hd_func_stream(struct hd_func *f);

/* Run one command; return 0, or -1 after hd_func_stop. */
int hd_func_dma_read(struct hd_func *f, const struct hd_cmd_dma_read *c);
int hd_func_store(struct hd_func *f, const struct hd_cmd_store *c);
int hd_func_array(struct hd_func *f, const struct hd_cmd_array *c);
int hd_func_vector(struct hd_func *f, const struct hd_cmd_vector *c);
int hd_func_softmax(struct hd_func *f, const struct hd_cmd_vector *c);
int hd_func_lstm(struct hd_func *f, const struct hd_cmd_vector *c);

/* --- func_memory.c --- */

/* Record the submission's first fault and return -1. `why` is a literal. */
int hd_func_stop(struct hd_func *f, uint32_t code, uint32_t unit, uint64_t address,
                 const char *why);

/* Return the host address of n_bytes of a region, or NULL after hd_func_stop (right, limit, bus
 * error). bus_fault: HD_FAULT_BUS_READ or HD_FAULT_BUS_WRITE. */
uint8_t *hd_func_region(struct hd_func *f, uint32_t unit, uint32_t region, uint64_t offset,
                        uint32_t n_bytes, uint32_t bus_fault);

/* Write n bytes (at most N) into a memory and report them to the sink. The caller has checked
 * the bounds. */
void hd_func_put(struct hd_func *f, uint32_t unit, uint32_t space, uint32_t address,
                 const void *data, uint32_t n);
/* Look up n bytes, one per lane, in the lanes' table `table` (modulo the number of tables). */
void hd_func_look_up(const struct hd_func *f, uint32_t table, int8_t *value, uint32_t n);
/* Report a write to the sink only; space as in struct hd_sim_commit. */
void hd_func_commit(struct hd_func *f, uint32_t unit, uint32_t space, uint64_t address,
                    const void *data, uint32_t n);

/* Return the word at `at`, in the order of the device's memories. */
static inline uint32_t func_word(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* memcpy and memset without libc's header (freestanding); compilers recognise the loops. */
static inline void func_copy(uint8_t *restrict to, const uint8_t *restrict from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[i];
}

#endif
