/* config.h - one accelerator configuration, as hw/accel.json or a --hw=FILE states it. */
#ifndef HEDDLE_HW_GEN_CONFIG_H
#define HEDDLE_HW_GEN_CONFIG_H

#include <stdint.h>

struct hd_config {
    char name[32];
    uint32_t n;                /* rows = columns of the array; bytes of a scratchpad word */
    uint32_t scratchpad_bytes; /* all banks together */
    uint32_t banks;
    uint32_t ports;         /* byte-addressed read ports (G) */
    uint32_t weight_bytes;  /* weight memory */
    uint32_t acc_depth;     /* accumulator vectors of N int32 */
    uint32_t param_entries; /* entries of N bias, multiplier and shift */
    uint32_t softmax_rows;  /* rows that a softmax command may have; 0: VECTOR has no softmax */
    uint32_t axi_bytes;     /* data width of the AXI master */
    uint32_t axi_addr_bits;
    uint32_t read_bursts; /* outstanding read bursts */
    uint32_t hash;        /* CONFIG_HASH: registers, command formats and this configuration */
};

#endif
