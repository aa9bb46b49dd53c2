/* Commands of small networks with given knobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/graph_passes.h"
#include "compiler/pipeline.h"
#include "compiler/plan/memory_use.h"
#include "compiler/systolic/layout/layout.h"
#include "compiler/systolic/schedule/sched.h"
#include "compiler/systolic/timing/banks.h"

static const struct hd_config sys8 = {.name = "sys8",
                                      .n = 8,
                                      .rows = 8,
                                      .columns = 8,
                                      .scratchpad_bytes = 65536,
                                      .banks = 8,
                                      .ports = 4,
                                      .weight_bytes = 16384,
                                      .acc_depth = 512,
                                      .param_entries = 128,
                                      .axi_bytes = 8};

#define INPUT "tensor 0 i8 [1,6,6,16] input name=\"x\" scale=(1) zero=(3)\n"
#define CONV  "stride_h=1 stride_w=1 dilation_h=1 dilation_w=1"

/* `text`: tensors and operators after three rows. */
static struct sched_program *schedule(struct arena *a, const char *text,
                                      const struct sched_knobs *knobs)
{
    const struct target_list targets = {2, {&target_systolic, &target_host_c}};
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    struct pipeline *p = ARENA_NEW(a, struct pipeline);
    struct ir_graph *g = NULL;
    struct diag d = {0};
    const char *whole = arena_printf(a,
                                     "heddle-ir 1 graph name=\"g\"\n"
                                     "row 0 name=\"a\" op=\"a\" tensor=\"\" shape=\"\"\n"
                                     "row 1 name=\"b\" op=\"a\" tensor=\"\" shape=\"\"\n"
                                     "row 2 name=\"c\" op=\"a\" tensor=\"\" shape=\"\"\n"
                                     "%s",
                                     text);

    if (ir_parse(a, whole, &g, &d) != ST_OK || passes_run(g, &o, &d) != ST_OK ||
        partition_run(g, &targets, &sys8, &d) != ST_OK)
        fail_msg("%s", d.text);
    *p = (struct pipeline){.arena = a,
                           .options.schedule = {.mem_latency = 64, .knobs = knobs},
                           .graph = g,
                           .hw = sys8,
                           .targets = targets};
    if (pipeline_schedule(p, &d) != ST_OK)
        fail_msg("%s", d.text);
    assert_int_equal(p->program->n_stream, 1);
    return p->program;
}

/* A [n] list of zeros in the text form. */
static const char *zeros(struct arena *a, uint32_t n)
{
    struct text t;

    text_init(&t, a);
    for (uint32_t i = 0; i < n; i++)
        text_add(&t, "00");
    return t.data;
}

/* ARRAY computes a tile of 8 channels; VECTOR adds x to them and takes their mean. VECTOR waits for
 * that tile only, and ARRAY does not wait for VECTOR. The mean is in its input's first pixel. */
static void channels_go_on_as_they_come(void **state)
{
    struct arena *a = arena_new(0);
    const struct sched_knobs knobs[4] = {{.cascade = 1, .group_tiles = 1}, {.cascade = 1}};
    const char *text =
        arena_printf(a,
                     INPUT "tensor 1 i8 [16,1,1,16] const name=\"w\" scale=(1) zero=(0) data=%s\n"
                           "tensor 2 i8 [1,6,6,16] value name=\"y\" scale=(1) zero=(0)\n"
                           "tensor 3 i8 [1,6,6,16] value name=\"s\" scale=(1) zero=(0)\n"
                           "tensor 4 i8 [1,16] value name=\"m\" scale=(1) zero=(0)\n"
                           "tensor 5 i8 [4,16] const name=\"f\" scale=(1) zero=(0) data=%s\n"
                           "tensor 6 i8 [1,4] value name=\"z\" scale=(1) zero=(0)\n"
                           "op conv2d row=0 in=(0,1) out=(2) " CONV " kernel_h=1 kernel_w=1\n"
                           "op add row=1 in=(2,0) out=(3)\n"
                           "op mean row=2 in=(3) out=(4) axis=6\n"
                           "op fully_connected row=2 in=(4,5) out=(6)\n"
                           "border in=(0) out=(6)\n",
                     zeros(a, 256), zeros(a, 64));
    const struct sched_program *p = schedule(a, text, knobs);
    uint32_t n_array = 0, n_vector = 0;

    (void)state;
    for (uint32_t i = 0; i < p->stream[0].n; i++) {
        const struct sched_command *c = &p->stream[0].cmd[i];
        const struct hd_common *w = &c->w.common;
        if (c->unit == HD_UNIT_ARRAY && c->row == 0) {
            n_array++;
            assert_int_equal(c->w.array.out_channels, 8);
            assert_false(w->wait_enable >> HD_UNIT_VECTOR & 1u);
        }
        if (c->unit != HD_UNIT_VECTOR)
            continue;
        assert_int_equal(c->w.vector.channels, 8);
        assert_int_equal(c->row, 1 + n_vector % 2);
        n_vector++;
        if (c->row == 1)
            assert_int_equal(w->wait_array, n_array);
    }
    assert_int_equal(n_array, 2);
    assert_int_equal(n_vector, 4);
    const struct memory_use use = memory_use_of(p);
    const struct ir_op *mean = p->graph->op[2];
    assert_true(p->place[mean->out[0]].inside);
    assert_int_equal(p->place[mean->out[0]].base, p->place[mean->in[0]].base);
    assert_int_equal(use.at[use.peak_at].held, use.at[use.bound_at].live);
    arena_free(a);
}

/* x - 2 in the same scale, zero point 5: the same quantised values. Its reader reads x. */
static void the_same_codes_need_no_command(void **state)
{
    static const struct {
        const char *zero; /* of the result */
        uint32_t n_vector;
    } cases[] = {{"5", 0}, {"4", 1}};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct arena *a = arena_new(0);
        const struct sched_knobs knobs[3] = {{0}};
        const char *text = arena_printf(
            a,
            INPUT "tensor 1 i8 [1] const name=\"k\" scale=(1) zero=(0) data=02\n"
                  "tensor 2 i8 [1,6,6,16] value name=\"y\" scale=(1) zero=(%s)\n"
                  "tensor 3 i8 [16,1,1,16] const name=\"w\" scale=(1) zero=(0) data=%s\n"
                  "tensor 4 i8 [1,6,6,16] value name=\"z\" scale=(1) zero=(0)\n"
                  "op sub row=0 in=(0,1) out=(2)\n"
                  "op conv2d row=1 in=(2,3) out=(4) " CONV " kernel_h=1 kernel_w=1\n"
                  "border in=(0) out=(4)\n",
            cases[i].zero, zeros(a, 256));
        const struct sched_program *p = schedule(a, text, knobs);
        uint32_t n = 0;
        for (uint32_t k = 0; k < p->stream[0].n; k++) {
            const struct sched_command *c = &p->stream[0].cmd[k];
            n += c->unit == HD_UNIT_VECTOR;
            if (c->unit == HD_UNIT_LOAD)
                assert_int_equal(c->w.dma_read.region, HD_REGION_IO);
            if (c->unit == HD_UNIT_ARRAY)
                assert_int_equal(c->w.array.z_in, i == 0 ? 5 : 4);
        }
        assert_int_equal(n, cases[i].n_vector);
        arena_free(a);
    }
}

/* Two pixels of a 3 x 3 kernel over half a word of channels: the end of a row is read together with
 * the start of the next one, from different banks. */
static void pairs_of_pixels_meet_in_no_bank(void **state)
{
    struct arena *a = arena_new(0);
    const struct sched_knobs knobs[3] = {{.streams = 2}};
    const char *text =
        arena_printf(a,
                     "tensor 0 i8 [1,6,16,4] input name=\"x\" scale=(1) zero=(3)\n"
                     "tensor 1 i8 [4,3,3,4] const name=\"w\" scale=(1) zero=(0) data=%s\n"
                     "tensor 2 i8 [1,6,16,4] value name=\"y\" scale=(1) zero=(0)\n"
                     "op conv2d row=0 in=(0,1) out=(2) " CONV
                     " kernel_h=3 kernel_w=3 pad_top=1 pad_left=1 pad_bottom=1 pad_right=1\n"
                     "border in=(0) out=(2)\n",
                     zeros(a, 144));
    const struct sched_program *p = schedule(a, text, knobs);
    uint32_t n = 0;

    (void)state;
    for (uint32_t k = 0; k < p->stream[0].n; k++) {
        const struct sched_command *c = &p->stream[0].cmd[k];
        if (c->unit != HD_UNIT_ARRAY)
            continue;
        n++;
        assert_int_equal(c->w.array.streams, 2);
        assert_int_equal(banks_conflicts(&c->w.array, &sys8), 0);
    }
    assert_true(n > 0);
    arena_free(a);
}

/* Tiles one after the other, from row 0 to the last, small at both ends. */
static void tiles_follow_one_another(void **state)
{
    (void)state;
    for (uint32_t oh = 1; oh < 60; oh++)
        for (uint32_t rows = 1; rows <= oh; rows++)
            for (uint32_t prologue = 0; prologue < rows && 2 * prologue < oh; prologue++) {
                uint32_t at = 0, y = 0, n = 0, last = 0;
                for (uint32_t k = 0; (n = layout_tile(oh, rows, prologue, k, &y)) > 0; k++) {
                    assert_int_equal(y, at);
                    assert_true(n <= rows && (k > 0 || prologue == 0 || n == prologue));
                    at += n;
                    last = n;
                }
                assert_int_equal(at, oh);
                assert_true(prologue == 0 || last == prologue);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_go_on_as_they_come),
        cmocka_unit_test(the_same_codes_need_no_command),
        cmocka_unit_test(pairs_of_pixels_meet_in_no_bank),
        cmocka_unit_test(tiles_follow_one_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
