/* config.h - one accelerator configuration, from hw/accel.json or a --hw=FILE. */
#ifndef HEDDLE_HW_GEN_CONFIG_H
#define HEDDLE_HW_GEN_CONFIG_H

#include <stdint.h>

/* The origin of a configuration's clock. */
enum hd_clock_origin {
    HD_CLOCK_ASSUMED,
    HD_CLOCK_GIVEN,
    HD_CLOCK_PLACED,
    HD_CLOCK_ROUTED,
    HD_CLOCK_MODEL /* area_model.h */
};

struct hd_config {
    char name[32];
    uint32_t n;                /* bytes of a scratchpad word; lanes of VECTOR */
    uint32_t rows;             /* of the array: lanes that it reads of a word */
    uint32_t columns;          /* of the array: lanes of weights and sums */
    uint32_t scratchpad_bytes; /* all banks together */
    uint32_t banks;
    uint32_t ports;         /* byte-addressed read ports (G) */
    uint32_t weight_bytes;  /* weight memory */
    uint32_t acc_depth;     /* accumulator vectors of N int32 */
    uint32_t param_entries; /* maximum rows of a softmax command; 0: VECTOR has no softmax */
    uint32_t softmax_rows;  /* rows that a softmax command may have; 0: VECTOR has no softmax */
    uint32_t lstm;          /* 1: VECTOR has lstm */
    uint32_t axi_bytes;     /* clock for showing cycles as time; not part of the hash */
    uint32_t axi_addr_bits;
    uint32_t read_bursts; /* outstanding read bursts */
    uint32_t clock_mhz;   /* what cycles are shown as time at; not part of the hash */
    enum hd_clock_origin clock_origin;
    uint32_t hash; /* CONFIG_HASH: of registers, command formats and this configuration */
};

/* Return the tables of 256 entries per requantisation lane: none or a power of two, at most 8,
 * limited by the addressable words of weight memory. */
static inline uint32_t hd_config_tables(const struct hd_config *c)
{
    const uint32_t words = c->weight_bytes / c->n;

    return words >= 2048 ? 8 : words >= 1024 ? 4 : words >= 512 ? 2 : words >= 256;
}

/* Return the entries of the memory of exponentials, one a word: those of softmax, or of curve. */
static inline uint32_t hd_config_exponentials(const struct hd_config *c)
{
    return !c->softmax_rows ? 0 : c->lstm ? 512 : 256;
}

/* Return the entries of a word of LOAD's thresholds, of 256 in all, and the byte of entry i. */
static inline uint32_t hd_config_thresholds(const struct hd_config *c)
{
    return c->n >= 8 ? 2 : 1;
}
static inline uint32_t hd_config_threshold_at(const struct hd_config *c, uint32_t i)
{
    const uint32_t words = 256 / hd_config_thresholds(c);

    return i % words * c->n + i / words * 4;
}

#endif
