/* Counted actions against plain loops over outputs, window cells and bytes, for random commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "app/stats/actions.h"
#include "driver/hd_walk.h"
#include "hd_accel_tables.h"

enum { N = 8, PORTS = 4, AXI = 8, CASES = 300 };
static const struct hd_config config = {.name = "test",
                                        .n = N,
                                        .rows = N,
                                        .columns = N,
                                        .ports = PORTS,
                                        .axi_bytes = AXI,
                                        .scratchpad_bytes = 65536};

static uint32_t seed = 1;

static uint32_t draw(uint32_t least, uint32_t most)
{
    seed = seed * 1664525u + 1013904223u;
    return least + (seed >> 8) % (most - least + 1);
}

static uint64_t count(const struct sched_command *c, enum action action)
{
    return actions_of_command(c, &config).n[action];
}

static int in_image(int64_t at, int64_t end)
{
    return at >= 0 && at < end;
}

static struct sched_command random_array(void)
{
    struct sched_command c = {.unit = HD_UNIT_ARRAY};
    struct hd_cmd_array *a = &c.w.array;
    const uint32_t channels = draw(1, 5), width = draw(2, 9);

    a->depthwise = draw(0, 1) & 1;
    a->streams = a->depthwise ? 1 : draw(1, 2) & 3;
    a->ports = ((uint32_t)PORTS / a->streams) & 7u;
    a->kernel_h = draw(1, 4) & 0xff;
    a->kernel_row_bytes = (a->depthwise ? draw(1, N) : draw(1, 3) * channels) & 0xffff;
    a->stride_x = draw(1, 2) & 0xff;
    a->stride_y = draw(1, 3) & 0xff;
    a->dilation_y = draw(1, 2) & 0xff;
    a->y_start = (int16_t)-draw(0, 3);
    a->x_start = -(int32_t)draw(0, 6);
    a->in_h = draw(1, 9) & 0xffff;
    a->in_wc = width * channels;
    a->x_step = draw(1, 6) & 0xffff;
    a->scan = draw(1, 8) & 0xffff;
    a->out_w = (a->depthwise ? draw(1, a->scan) : a->scan) & 0xffff;
    a->out_h = draw(1, 6) & 0xffff;
    a->blocks = 1;
    a->out_channels = draw(1, a->streams == 2 ? N : 3 * N) & 0xffff;
    a->pair_step = draw(1, 9) & 0xffff;
    a->pair_last = draw(1, 4) & 0xff;
    a->acc_hold = draw(0, 7) == 0 ? 1 : 0;
    a->acc_keep = draw(0, 7) == 0 ? 1 : 0;
    return c;
}

/* Return the bytes that the window reads at one scan position: a whole row of the kernel, or one
 * pixel of a depthwise one. */
static uint64_t cell_bytes(const struct hd_cmd_array *a, int64_t at)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < (a->depthwise ? 1u : a->kernel_row_bytes); i++)
        n += (uint64_t)in_image(at + i, a->in_wc);
    return n;
}

static uint64_t plain_reads(const struct hd_cmd_array *a)
{
    uint64_t n = 0;

    for (uint32_t y = 0; y < a->out_h; y++)
        for (uint32_t ky = 0; ky < a->kernel_h; ky++)
            for (uint32_t x = 0; x < a->scan; x++) {
                const int64_t at = a->x_start + (int64_t)x * a->x_step;
                if (!in_image(a->y_start + (int64_t)y * a->stride_y + ky * a->dilation_y, a->in_h))
                    continue;
                n += cell_bytes(a, at);
                n += a->streams == 2 ? cell_bytes(a, at + a->pair_step) : 0;
            }
    return n * (a->depthwise ? a->out_channels : (a->out_channels + N - 1u) / N);
}

static void array_commands(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CASES; i++) {
        const struct sched_command c = random_array();
        const struct hd_cmd_array *a = &c.w.array;
        const uint64_t row = a->streams == 2
                                 ? (a->scan - 1u) * (uint64_t)a->out_channels + a->pair_last
                                 : (uint64_t)a->out_w * a->out_channels;
        const uint64_t outputs = row * a->out_h, tiles = (a->out_channels + N - 1u) / N,
                       vectors = (uint64_t)a->out_h * (a->depthwise ? a->out_w : a->scan) * tiles,
                       segments = hd_walk_segments(a->kernel_h, a->kernel_row_bytes, N, a->ports,
                                                   a->depthwise);
        assert_int_equal(count(&c, ACTION_SCRATCHPAD_READ), plain_reads(a));
        assert_int_equal(count(&c, ACTION_MAC), outputs * a->kernel_h * a->kernel_row_bytes);
        assert_int_equal(count(&c, ACTION_SCRATCHPAD_WRITTEN), a->acc_hold ? 0 : outputs);
        assert_int_equal(count(&c, ACTION_REQUANTISE), a->acc_hold ? 0 : outputs);
        assert_int_equal(count(&c, ACTION_WEIGHT_READ),
                         tiles * a->kernel_h * a->kernel_row_bytes * N);
        assert_int_equal(count(&c, ACTION_ACCUMULATOR_READ),
                         vectors * N * (segments - (a->acc_keep ? 0 : 1)));
        assert_int_equal(count(&c, ACTION_ACCUMULATOR_WRITTEN),
                         vectors * N * (segments - (a->acc_hold ? 0 : 1)));
        assert_int_equal(count(&c, ACTION_BUS_READ) + count(&c, ACTION_BUS_WRITTEN), 0);
    }
}

static void vector_commands(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CASES; i++) {
        struct sched_command c = {.unit = HD_UNIT_VECTOR};
        struct hd_cmd_vector *v = &c.w.vector;
        uint64_t cells = 0;

        v->op = draw(0, HD_VOP_COUNT - 1) & 0xf;
        v->rows = draw(1, 6) & 0xffff;
        v->cols = draw(1, 6) & 0xffff;
        v->channels = draw(1, 20);
        v->kernel_h = draw(1, 3) & 0xfff;
        v->kernel_w = draw(1, 3) & 0xffff;
        v->y_start = (int16_t)-draw(0, 2);
        v->x_start = (int16_t)-draw(0, 2);
        v->stride_y = draw(1, 2) & 0xffff;
        v->stride_x = draw(1, 2) & 0xffff;
        v->in_h = draw(1, 8) & 0xffff;
        v->in_w = draw(1, 8) & 0xffff;
        for (uint32_t y = 0; y < v->rows * v->kernel_h; y++)
            for (uint32_t x = 0; x < v->cols * v->kernel_w; x++)
                cells += in_image(v->y_start + (int64_t)(y / v->kernel_h) * v->stride_y +
                                      y % v->kernel_h,
                                  v->in_h) &&
                         in_image(v->x_start + (int64_t)(x / v->kernel_w) * v->stride_x +
                                      x % v->kernel_w,
                                  v->in_w);
        const struct hd_vop_facts *op = &hd_vop_facts[v->op];
        const uint64_t outputs = (uint64_t)v->rows * v->cols * (op->lstm ? 1 : v->channels);
        const int two = op->operands == 2;
        uint64_t a = 0, b = 0; /* bytes at one position */
        v->a_splat = two ? draw(0, 1) & 1 : 0;
        v->b_splat = two ? draw(0, 1) & 1 : 0;
        for (uint32_t first = 0; first < v->channels; first += N)
            for (uint32_t lane = first; lane < v->channels && lane < first + N; lane++) {
                a += !v->a_splat || lane == first;
                b += two && (!v->b_splat || lane == first);
            }
        b = op->lstm ? 2 : b;
        const bool softmax = op->softmax;
        const uint64_t passes = op->passes;
        assert_int_equal(count(&c, ACTION_VECTOR_OP), passes * cells * v->channels);
        assert_int_equal(count(&c, ACTION_SCRATCHPAD_READ),
                         passes * cells * a + (uint64_t)v->rows * v->cols * b +
                             (op->pair ? cells * v->channels : 0));
        assert_int_equal(count(&c, ACTION_SCRATCHPAD_WRITTEN), outputs * (op->lstm ? 3 : 1));
        assert_int_equal(count(&c, ACTION_REQUANTISE), op->rescale ? outputs : 0);
        assert_int_equal(count(&c, ACTION_WEIGHT_READ), v->look_up ? outputs
                                                        : softmax  ? 8 * outputs
                                                                   : 0);
    }
}

static void transfers_move_whole_beats(void **state)
{
    struct sched_command load = {.unit = HD_UNIT_LOAD}, store = {.unit = HD_UNIT_STORE};

    (void)state;
    load.w.dma_read.offset = 6; /* bytes 6 to 11, 26 to 31: two beats and one */
    load.w.dma_read.runs = 2;
    load.w.dma_read.run_bytes = 6;
    load.w.dma_read.run_pitch = 20;
    load.w.dma_read.rows = 3;
    load.w.dma_read.row_bytes = 4;
    assert_int_equal(count(&load, ACTION_BUS_READ), 3 * AXI);
    assert_int_equal(count(&load, ACTION_SCRATCHPAD_WRITTEN), 12);
    load.unit = HD_UNIT_WEIGHT;
    assert_int_equal(count(&load, ACTION_WEIGHT_WRITTEN), 12);
    assert_int_equal(count(&load, ACTION_SCRATCHPAD_WRITTEN), 0);
    load.w.dma_read.spad = 1; /* from the scratchpad only the runs count */
    load.w.dma_read.rows = 0;
    load.w.dma_read.row_bytes = 0;
    assert_int_equal(count(&load, ACTION_BUS_READ), 0);
    assert_int_equal(count(&load, ACTION_SCRATCHPAD_READ), 12);
    assert_int_equal(count(&load, ACTION_WEIGHT_WRITTEN), 12);
    store.w.store.offset = 8;
    store.w.store.runs = 1;
    store.w.store.run_bytes = 9;
    store.w.store.rows = 1;
    store.w.store.row_bytes = 9;
    assert_int_equal(count(&store, ACTION_BUS_WRITTEN), 2 * AXI);
    assert_int_equal(count(&store, ACTION_SCRATCHPAD_READ), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(array_commands),
        cmocka_unit_test(vector_commands),
        cmocka_unit_test(transfers_move_whole_beats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
