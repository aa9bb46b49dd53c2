/* hdk_blocks.h - a convolution or a dense layer on a unit that can do no more than multiply a small
 * block of pixels with a small block of channels: the loops over it. Tile sizes, addresses and
 * buffers are the compiler's (compiler/target/blocks.c); what moves and starts the unit is the
 * target's (struct hdk_blocks_unit). C11, freestanding, no allocation.
 *
 * The unit has a memory, two buffers for pixels, two for channels and two blocks of sums. While it
 * multiplies, the sums before are stored and the operands of the next block are loaded. */
#ifndef HDK_BLOCKS_H
#define HDK_BLOCKS_H

#include <stdint.h>

#include "hd_port.h"

#define HDK_BLOCKS_MAX 16u /* rows or columns of a block at most */

/* Bytes of memory into one buffer: for each of `lanes` lanes `pieces` runs of piece_bytes bytes,
 * one after the other, from any address on. */
struct hdk_blocks_load {
    uint32_t columns; /* 0: pixels, into a row buffer; 1: channels, into a column buffer */
    uint32_t buffer;  /* 0 or 1 */
    uint32_t address, lanes, lane_stride, pieces, piece_stride, piece_bytes;
};

/* Buffers and sums of one multiplication. */
struct hdk_blocks_multiply {
    uint32_t rows, columns, sums; /* each 0 or 1 */
    uint32_t depth;               /* bytes of each lane that count */
    uint32_t first;               /* 1: sums begin at 0 */
};

enum hdk_blocks_wait { HDK_BLOCKS_MEMORY = 1, HDK_BLOCKS_PRODUCT = 2 };

/* The functions that a target supplies. load, multiply and store only start; a load or a store
 * is started when no other is at work, a multiplication likewise. dev: NULL without a core; then
 * C computes. All return 0 or a negative enum hd_error. */
struct hdk_blocks_unit {
    int (*write)(const struct hd_port *dev, uint32_t address, const void *host, uint32_t n_bytes);
    int (*read)(const struct hd_port *dev, void *host, uint32_t address, uint32_t n_bytes);
    int (*load)(const struct hd_port *dev, const struct hdk_blocks_load *l);
    int (*multiply)(const struct hd_port *dev, const struct hdk_blocks_multiply *m);
    /* rows * columns sums, int32, row by row. address: a multiple of 64, plus whole blocks. */
    int (*store)(const struct hd_port *dev, uint32_t sums, uint32_t address);
    /* Until nothing of `what` (enum hdk_blocks_wait, or both) is at work. */
    int (*wait)(const struct hd_port *dev, uint32_t what);
};

struct hdk_blocks {
    uint32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w;
    uint32_t stride_h, stride_w, dilation_h;
    int32_t pad_top, pad_left, z_in, z_out, act_min, act_max;
    uint32_t scales; /* 1, or out_c */
    /* The plan. */
    uint32_t rows, columns; /* of a block */
    uint32_t band;          /* output rows whose input is in memory at once */
    uint32_t group;         /* blocks of channels whose weights are there at once */
    uint32_t pieces;        /* kernel rows of a multiplication; 1 where they are cut */
    uint32_t piece_bytes;   /* of a kernel row in a multiplication: all of it, or a part */
    uint32_t pitch;         /* bytes of an input row in memory, padding included */
    uint32_t weights_at, sums_at, sums_bytes; /* the input is at 0; sums twice */
};

/* x [in_h, in_w, in_c]   w [out_c rounded up to columns, kernel_h, kernel_w, in_c], the last ones 0
 * bias [out_c], with -z_in * (sum of the channel's weights) in it   multipliers, shifts [scales]
 * y [out_h, out_w, out_c]. All int8 but bias and multipliers. 0, or the first error of the unit:
 * then, too, it waits until nothing is at work. */
int hdk_blocks_run(const struct hdk_blocks *p, const struct hdk_blocks_unit *unit,
                   const struct hd_port *dev, const int8_t *x, const int8_t *w, const int32_t *bias,
                   const int32_t *multipliers, const int8_t *shifts, int8_t *y);

#endif
