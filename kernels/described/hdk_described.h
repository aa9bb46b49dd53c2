/* hdk_described.h - a convolution, a dense layer or an addition as instructions of a device that a target.json
 * describes ("memories", "instructions", "order"): the loops that issue them, what each must wait
 * for, and what each means. Sizes and places are the compiler's (compiler/described); what puts an
 * instruction into a queue is the target's. C11, freestanding, no allocation. */
#ifndef HDK_DESCRIBED_H
#define HDK_DESCRIBED_H

#include <stdint.h>

#include "hd_port.h"

#define HDK_UNITS    6u  /* units of a device at most */
#define HDK_QUEUE    16u /* instructions that a unit holds at most */
#define HDK_HELD     8u  /* instructions that are held back until it is known who waits for them */
#define HDK_MEMORIES 8u
#define HDK_LANES    64u  /* of a product at most */
#define HDK_WINDOW   512u /* bytes of a window that the host copies together, at most */
#define HDK_POOL     4u   /* the sums of a pool are those of its values times 2^HDK_POOL */

/* Layers. HDK_LAYER_DEPTHWISE: one result for each channel. */
enum hdk_kind { HDK_LAYER_CONVOLVE, HDK_LAYER_ADD, HDK_LAYER_POOL, HDK_LAYER_DEPTHWISE };

/* Instructions by what they are for. */
enum hdk_role {
    HDK_MOVE_IN,     /* copy: pixels to the memory that products read */
    HDK_FILTERS_IN,  /* copy: weights to the memory that HDK_PRELOAD reads */
    HDK_CHANNELS_IN, /* copy: struct hdk_channel of every channel */
    HDK_PRELOAD,     /* copy: weights of one product to the array, if they are not read in place */
    HDK_PRODUCT,     /* sums (+)= pixels x weights */
    HDK_MOVE_OUT,    /* requantise: sums to int8 in the first memory, or where HDK_STORE reads */
    HDK_SCALE,       /* scale: pixels to sums; only for HDK_LAYER_ADD */
    HDK_KEEP,        /* requantise: sums to int8 in the memory of pixels */
    HDK_SPREAD,      /* spread: weights of one tap to the array; only for HDK_LAYER_DEPTHWISE */
    HDK_STORE,       /* copy: results to the first memory, if HDK_MOVE_OUT does not write there */
    HDK_PIECE,       /* layer: in place of products and results, to the first memory */
    HDK_PIECE_KEEP,  /* likewise, to the memory of pixels */
    HDK_MULTIPLY,    /* multiply: pixels by weights of one tap, without HDK_SPREAD */
    HDK_ROLES
};

/* The result of a channel's sum is clamp((sum + bias) * multiplier * 2^(shift - 31) + zero), rounded
 * as hdk_rescale does. */
struct hdk_channel {
    int32_t bias, multiplier, shift;
};

/* Runs of n_bytes at at + row * row_stride + column * column_stride of a memory. */
struct hdk_box {
    uint32_t at, row_stride, column_stride, n_bytes;
};

/* One instruction: what it does for each of rows x columns positions. copy: to = from. spread: from is
 * the diagonal of to, a matrix of depth x lanes that is 0 elsewhere. product: to[lane] (+)= sum over depth of from[k] * with[k][lane], int8 to int32.
 * multiply: to[lane] (+)= from[lane] * with[lane], likewise. requantise: to[lane] of
 * from[lane], with[lane] a struct hdk_channel. scale: to[lane] (+)= (from[lane] - zero) * 2^20 *
 * multiplier * 2^(shift - 31), rounded as hdk_rescale does. `with` is the same for all positions.
 * layer: to[lane] is requantised from a sum, of `kind`:
 *   CONVOLVE   over taps and depth of from[k] * with[tap][k][lane]
 *   DEPTHWISE  over taps of from[lane] * with[tap][lane]
 *   POOL       over taps of from[lane] * 2^HDK_POOL
 *   ADD        of from[lane] and with[lane], both in the memory of pixels, scaled as operand[0], [1] */
struct hdk_issue {
    enum hdk_role role;
    enum hdk_kind kind; /* layer */
    uint32_t rows, columns;
    struct {
        uint32_t rows, columns, row_stride, column_stride; /* from tap to tap, in bytes of `from` */
    } taps;                                                /* layer */
    uint32_t channels; /* layer: of the first lane, in the memory of channels */
    struct hdk_scaling {
        int32_t zero, multiplier, shift;
    } operand[2]; /* layer, ADD; as of a scale */
    struct hdk_box from, with, to;
    uint32_t add; /* product, multiply, scale: 0 sums begin at 0, 1 at what is there */
    int32_t zero, low, high;
    int32_t multiplier, shift; /* scale; shift: -31 to 0 */
    /* Instructions of each unit, from the first one of the call, that must be complete before this
     * one begins; 0: none. */
    uint32_t wait[HDK_UNITS];
    /* The same with tokens: a bit for each unit that gets one when this is complete, and for each
     * unit that this takes one of before it begins. */
    uint32_t push, pop;
};

/* A described device. All functions return 0 or a negative enum hd_error. */
struct hdk_device {
    uint32_t n_unit, n_memory, queue; /* instructions that each unit holds, running ones included */
    uint32_t depth, lanes;            /* of a product */
    uint32_t tokens;                  /* 1: waits are tokens, 0: counts */
    uint32_t memory_at[HDK_MEMORIES]; /* of each memory in `model`; the port reaches the first */
    uint8_t *model;                   /* contents of all memories where there is no core */
    struct hdk_instruction {
        uint32_t unit, from, with, to; /* memories */
        /* Put it into the unit's queue. Never more than `queue` are there. */
        int (*issue)(const struct hd_port *dev, const struct hdk_issue *i);
    } instruction[HDK_ROLES];
    int (*begin)(const struct hd_port *dev); /* counts of completed instructions become 0 */
    /* Until `count` instructions of a unit are complete. */
    int (*wait)(const struct hd_port *dev, uint32_t unit, uint32_t count);
};

/* Row 0, column 0 of an image in the memory of pixels, and bytes from row to row. there: 0: it comes
 * from the host, or goes there. */
struct hdk_place {
    uint32_t there, at, row;
};

/* A layer, and how the compiler laid it out. Pixels in the first memory are multiples of `depth`
 * bytes, results of `lanes`. */
struct hdk_layer {
    enum hdk_kind kind;
    uint32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w;
    uint32_t stride_h, stride_w, dilation_h, dilation_w;
    int32_t pad_top, pad_left, z_in, z_out, act_min, act_max;
    uint32_t together; /* 1: the host copies each window's bytes together, as one pixel */
    uint32_t phases;   /* neighbouring windows whose columns of an image row are one pixel; each has
                          * weights of its own for it. Divides out_w; 1: pixels are those of the image */
    uint32_t pixel;    /* bytes of a pixel on the device */
    uint32_t pitch;    /* bytes of an image row there, padding included */
    uint32_t band;     /* output rows whose image is on chip at once */
    uint32_t group;    /* blocks of `lanes` channels whose weights are there at once */
    uint32_t image_step;                 /* bytes between two buffers of bands; 0: one buffer */
    uint32_t filters_step, sums_step;    /* likewise: groups, blocks of sums */
    uint32_t results_step;               /* likewise: what HDK_STORE reads */
    uint32_t image_whole, filters_whole; /* 1: all of it has a place on chip, and is read once */
    uint32_t filters_at, channels_at, out_at; /* in the first memory; the image is at 0 */
    /* HDK_LAYER_ADD of two images of one size, the second at filters_at. HDK_LAYER_POOL: sums over windows,
     * each value scaled as operand[0]. channels of both: one block for all. */
    struct hdk_operand {
        int32_t zero, multiplier, shift;
        struct hdk_place place;
    } operand[2];
    /* Images that stay in the memory of pixels between layers: operand[k].place has the first
     * one of a convolution too, whose pitch and pixel are this layer's. */
    uint32_t image_at; /* of other images there */
    struct hdk_place result;
    uint32_t top, left, bottom, right; /* rows and columns of padding around the result */
};

/* Bytes of an instruction from the beginning of a box to its end. */
uint64_t hdk_box_end(const struct hdk_issue *i, const struct hdk_box *b);
/* The memory of an instruction's `with`. */
static inline uint32_t hdk_with(const struct hdk_instruction *of, const struct hdk_issue *i)
{
    return i->kind == HDK_LAYER_ADD ? of->from : of->with;
}

/* True if the layer has weights, and a scale for each channel. */
static inline int hdk_layer_weighs(const struct hdk_layer *p)
{
    return p->kind == HDK_LAYER_CONVOLVE || p->kind == HDK_LAYER_DEPTHWISE;
}

/* Products of `depth` bytes that add up to one block of sums. */
uint32_t hdk_layer_parts(const struct hdk_layer *p, uint32_t depth);
/* Bytes of the weights of one block of `lanes` channels. */
uint32_t hdk_layer_block(const struct hdk_layer *p, uint32_t depth, uint32_t lanes);
/* Entries of struct hdk_channel that the layer reads. */
uint32_t hdk_layer_channels(const struct hdk_layer *p, uint32_t lanes);
/* Image rows on the device of `n` output rows. */
uint32_t hdk_layer_rows(const struct hdk_layer *p, uint32_t n);

/* x [in_h, in_w, in_c]   w [blocks of channels][phases][parts][depth][lanes], filled up with 0;
 * HDK_LAYER_DEPTHWISE: [blocks][parts][lanes]; HDK_LAYER_ADD: as x; HDK_LAYER_POOL: NULL
 * channels [blocks * lanes]: bias with -z_in * (sum of the channel's weights) in it
 * y [out_h, out_w, out_c]. dev: NULL without a core; then the instructions change device->model, and
 * images that stay there are in x, w and y too. With a core they are in y if dev->inspect is there. */
int hdk_described_run(const struct hdk_layer *p, const struct hdk_device *device,
                      const struct hd_port *dev, const int8_t *x, const int8_t *w,
                      const struct hdk_channel *channels, int8_t *y);
/* Only the instructions, without the transfers from and to the host. */
int hdk_described_issue(const struct hdk_layer *p, const struct hdk_device *device,
                        const struct hd_port *dev);

/* hdk_meaning.c: execute one instruction on device->model. */
void hdk_meaning(const struct hdk_device *device, const struct hdk_issue *i);

#endif
