/* matmul.c - a matrix product on the accelerator in a page of C, without a network.
 *
 *    make sim PROG=driver/examples/matmul.c [HW=sys8] [ENGINE=func] [WAVES=1]
 *
 * C = A * B, int8, [SIZE][SIZE] each, sums scaled by 2^-10 and rounded. A goes to the scratchpad,
 * where each of its rows is one pixel of a 1 x 1 convolution; B goes to weight memory, N columns (a
 * channel tile) at a time. Each tile's product waits only for its own weights, while the next
 * tile's load. */
#include <stdio.h>
#include <string.h>

#include "driver/hd.h"
#include "driver/hd_crc.h"

#define SIZE  (HD_WEIGHT_BYTES >= 128 * 128 ? 128 : 32)
#define TILES (SIZE / HD_N)
_Static_assert(HD_ROWS == HD_N && HD_COLUMNS == HD_N, "an array of HD_N rows and columns");
#define BYTES (SIZE * SIZE)

enum region { STREAM = HD_REGION_COMMANDS, MATRIX_A = HD_REGION_IO, MATRIX_B, MATRIX_C };

/* The command stream in memory. Sizes are multiples of 16, so there is no padding. */
struct stream {
    struct hd_header header;
    struct hd_cmd_dma_read load;
    struct {
        struct hd_cmd_dma_read weight;
        struct hd_cmd_array array;
    } tile[TILES];
    struct hd_cmd_store store;
    struct hd_cmd_end end;
};

/* Offsets from the start of the program's memory; regions begin at multiples of HD_REGION_ALIGN. */
#define STREAM_ROOM                                                                                \
    ((sizeof(struct stream) + HD_REGION_ALIGN - 1) / HD_REGION_ALIGN * HD_REGION_ALIGN)
#define AT_A STREAM_ROOM
#define AT_B (AT_A + BYTES)
#define AT_C (AT_B + BYTES)

/* Load columns t * N onward of B: SIZE runs of N bytes, one weight word each. */
static struct hd_cmd_dma_read weight_command(uint32_t t)
{
    return (struct hd_cmd_dma_read){
        .common = {.opcode = HD_OPCODE_WEIGHT, .length = HD_CMD_DMA_READ_UNITS},
        .region = MATRIX_B,
        .space = HD_SPACE_WEIGHTS,
        .offset = t * HD_N,
        .runs = SIZE,
        .run_bytes = HD_N,
        .run_pitch = SIZE,
        .rows = 1,
        .row_bytes = SIZE * HD_N,
        .dest = t * SIZE,
    };
}

/* Compute columns t * N onward of C: a kernel of SIZE bytes moves over one image row of SIZE
 * pixels. */
static struct hd_cmd_array array_command(uint32_t t)
{
    return (struct hd_cmd_array){
        .common = {.opcode = HD_OPCODE_ARRAY,
                   .length = HD_CMD_ARRAY_UNITS,
                   .wait_load = 1,
                   .wait_weight = (uint16_t)(t + 1),
                   .wait_enable = 1u << HD_UNIT_LOAD | 1u << HD_UNIT_WEIGHT},
        .common_scale = 1,
        .multiplier = 1 << 30, /* 2^-1 */
        .shift = -9,
        .act_min = -128,
        .act_max = 127,
        .streams = 1,
        .ports = 1,
        .kernel_h = 1,
        .kernel_row_bytes = SIZE,
        .stride_x = 1,
        .stride_y = 1,
        .dilation_y = 1,
        .out_channels = HD_N,
        .in_h = 1,
        .in_wc = BYTES,
        .x_step = SIZE,
        .scan = SIZE,
        .block_scan = SIZE,
        .last_scan = SIZE,
        .out_w = SIZE,
        .out_h = 1,
        .blocks = 1,
        .block_rows = 1,
        .last_rows = 1,
        .out_step = SIZE,
        .out_base = BYTES + t * HD_N, /* C follows A */
        .w_base = (uint16_t)(t * SIZE),
    };
}

static void build(struct stream *s)
{
    *s = (struct stream){
        .header = {.magic = HD_MAGIC,
                   .version = HD_STREAM_VERSION,
                   .config_hash = HD_CONFIG_HASH,
                   .length = sizeof *s,
                   .region_count = MATRIX_C + 1,
                   .command_count = 3 + 2 * TILES},
        .load = {.common = {.opcode = HD_OPCODE_LOAD, .length = HD_CMD_DMA_READ_UNITS},
                 .region = MATRIX_A,
                 .space = HD_SPACE_SCRATCHPAD,
                 .runs = 1,
                 .rows = 1,
                 .run_bytes = BYTES,
                 .row_bytes = BYTES},
        .store = {.common = {.opcode = HD_OPCODE_STORE,
                             .length = HD_CMD_STORE_UNITS,
                             .wait_array = TILES,
                             .wait_enable = 1u << HD_UNIT_ARRAY},
                  .region = MATRIX_C,
                  .runs = 1,
                  .rows = 1,
                  .run_bytes = BYTES,
                  .row_bytes = BYTES,
                  .src = BYTES / HD_N},
        .end = {.common = {.opcode = HD_OPCODE_END, .length = HD_CMD_END_UNITS}},
    };
    for (uint32_t t = 0; t < TILES; t++) {
        s->tile[t].weight = weight_command(t);
        s->tile[t].array = array_command(t);
    }
    s->header.crc = hd_stream_crc(s, sizeof *s);
}

/* Return sum * 2^-10, rounded twice: halves up (the multiplier), then halves away from zero (the
 * shift). */
static int8_t scale(int32_t sum)
{
    int32_t h = (sum + 1) >> 1;
    int32_t q = (h < 0 ? -h : h) + 256;
    int32_t v = h < 0 ? -(q >> 9) : q >> 9;

    return (int8_t)(v < -128 ? -128 : v > 127 ? 127 : v);
}

/* Count the wrong elements of C and print the first. */
static uint32_t check(const int8_t *a, const int8_t *b, const int8_t *c)
{
    uint32_t wrong = 0;

    for (uint32_t y = 0; y < SIZE; y++)
        for (uint32_t x = 0; x < SIZE; x++) {
            int32_t sum = 0;

            for (uint32_t k = 0; k < SIZE; k++)
                sum += a[y * SIZE + k] * b[k * SIZE + x];
            if (c[y * SIZE + x] != scale(sum) && wrong++ == 0)
                printf("matmul: C[%u][%u] is %d, expected %d\n", y, x, c[y * SIZE + x], scale(sum));
        }
    return wrong;
}

static int bind_all(struct hd_device *dev, uint8_t *memory, uint64_t base)
{
    int rc = hd_bind(dev, STREAM, memory, base, sizeof(struct stream), HD_READ);

    if (rc == HD_OK)
        rc = hd_bind(dev, MATRIX_A, memory + AT_A, base + AT_A, BYTES, HD_READ);
    if (rc == HD_OK)
        rc = hd_bind(dev, MATRIX_B, memory + AT_B, base + AT_B, BYTES, HD_READ);
    if (rc == HD_OK)
        rc = hd_bind(dev, MATRIX_C, memory + AT_C, base + AT_C, BYTES, HD_WRITE);
    return rc;
}

/* Called by the runner with an open device and device memory that the host can access. Returns 0 if
 * passed, or a negative enum hd_error. */
int hd_program(struct hd_device *dev, uint8_t *memory, uint64_t base, uint64_t bytes)
{
    int8_t *a = (int8_t *)memory + AT_A, *b = (int8_t *)memory + AT_B, *c = (int8_t *)memory + AT_C;
    struct stream s;
    uint32_t random = 1;
    int rc;

    if (bytes < AT_C + BYTES)
        return HD_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < 2 * BYTES; i++) { /* A and B */
        random = random * 1664525u + 1013904223u;
        a[i] = (int8_t)(random >> 24);
    }
    build(&s);
    memcpy(memory, &s, sizeof s);
    rc = bind_all(dev, memory, base);
    for (uint32_t region = 0; rc == HD_OK && region <= MATRIX_B; region++)
        if (dev->region[region].n_bytes)
            rc = hd_copy_in(dev, region, 0, dev->region[region].n_bytes);
    if (rc == HD_OK)
        rc = hd_run(dev, 0, sizeof s);
    if (rc == HD_OK)
        rc = hd_copy_out(dev, MATRIX_C, 0, BYTES);
    if (rc != HD_OK)
        return rc;
    printf("matmul: %d x %d x %d in %llu cycles (the functional model counts none), %d at best\n",
           SIZE, SIZE, SIZE, (unsigned long long)dev->cycles, SIZE * SIZE / HD_N * SIZE / HD_N);
    return check(a, b, c) ? 1 : 0;
}
