/* tape.h - a machine that runs whole regions from its own instructions: what tape_native.c writes and
 * tape.c executes. All numbers are int32 of the host's byte order. */
#include <stddef.h>
#include <stdint.h>

#define TAPE_MAGIC  0x45504154
#define TAPE_MEMORY 131072 /* bytes of values between instructions */

enum tape_code { TAPE_CONV = 1, TAPE_ADD, TAPE_TABLE };

/* Values: 0 and more: an offset in the machine's memory; -1 - i: input i; TAPE_OUTPUT - i: output i. */
#define TAPE_OUTPUT (-1000)

/* Offsets of constants are bytes from the tape's begin. */
struct tape_instruction {
    int32_t code, x, x2, y;
    int32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w, pad_top,
        pad_left, dilation_h, dilation_w;
    int32_t z_x, z_x2, z_w, z_y, low, high;
    int32_t weights, bias;              /* [kernel_h, kernel_w, in_c, out_c]; 0: no bias */
    int32_t n_scale, multiplier, shift; /* int32 each */
    int32_t table;
};

struct tape_header {
    int32_t magic, n;
};

/* 0; -3 (HD_ERR_INVALID): not a tape. */
int tape_run(const uint8_t *tape, size_t n_bytes, const void *const *inputs, void *const *outputs);
