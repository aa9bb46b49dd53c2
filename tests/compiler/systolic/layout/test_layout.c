/* test_layout.c - which tensors stay in the scratchpad, which are streamed; no two share bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/graph_passes.h"
#include "compiler/partition/partition.h"
#include "compiler/systolic/layout/layout.h"

static const struct hd_config tiny = {.name = "tiny",
                                      .n = 4,
                                      .rows = 4,
                                      .columns = 4,
                                      .scratchpad_bytes = 8192,
                                      .banks = 8,
                                      .ports = 1,
                                      .weight_bytes = 2048,
                                      .acc_depth = 64,
                                      .param_entries = 32,
                                      .axi_bytes = 8};

struct fixture {
    struct arena *arena;
    struct ir_graph *graph;
    struct sched_program program;
    struct diag d;
};

/* x [1,h,8,8] -> max pool 3x3 -> mul (p, x) -> add (t, x) */
static struct fixture *lay_out(int h, const struct hd_config *hw)
{
    struct arena *a = arena_new(0);
    struct fixture *f = ARENA_NEW(a, struct fixture);
    const struct target_list targets = {2, {&target_systolic, &target_host_c}};
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    const char *text = arena_printf(
        a,
        "heddle-ir 1 graph name=\"g\"\n"
        "row 0 name=\"pool\" op=\"a\" tensor=\"\" shape=\"\"\n"
        "row 1 name=\"mul\" op=\"a\" tensor=\"\" shape=\"\"\n"
        "row 2 name=\"add\" op=\"a\" tensor=\"\" shape=\"\"\n"
        "tensor 0 i8 [1,%d,8,8] input name=\"x\" scale=(1) zero=(0)\n"
        "tensor 1 i8 [1,%d,8,8] value name=\"p\" scale=(1) zero=(0)\n"
        "tensor 2 i8 [1,%d,8,8] value name=\"t\" scale=(1) zero=(0)\n"
        "tensor 3 i8 [1,%d,8,8] value name=\"y\" scale=(1) zero=(0)\n"
        "op max_pool_2d row=0 in=(0) out=(1) stride_h=1 stride_w=1 kernel_h=3 kernel_w=3 "
        "pad_top=1 pad_left=1 pad_bottom=1 pad_right=1\n"
        "op mul row=1 in=(1,0) out=(2)\n"
        "op add row=2 in=(2,0) out=(3)\n"
        "border in=(0) out=(3)\n",
        h, h, h, h);

    f->arena = a;
    if (ir_parse(a, text, &f->graph, &f->d) != ST_OK || passes_run(f->graph, &o, &f->d) != ST_OK ||
        partition_run(f->graph, &targets, hw, &f->d) != ST_OK)
        fail_msg("%s", f->d.text);
    f->program = (struct sched_program){.arena = a, .graph = f->graph, .hw = hw};
    f->program.knobs = ARENA_ARRAY(a, struct sched_knobs, f->graph->n_op);
    f->program.place = ARENA_ARRAY(a, struct sched_place, f->graph->n_tensor + 1);
    if (layout_run(&f->program, &f->d) != ST_OK)
        fail_msg("%s", f->d.text);
    return f;
}

/* Mark the bytes in use at operator k: residents, then tile buffers. */
static void mark(uint8_t *used, uint64_t from, uint64_t n)
{
    for (uint64_t i = from; i < from + n; i++) {
        assert_in_range(i, 0, tiny.scratchpad_bytes - 1);
        assert_int_equal(used[i], 0);
        used[i] = 1;
    }
}

static void mark_tiles(uint8_t *used, const struct op_plan *p, const struct plan_stream *s)
{
    for (uint32_t k = 0; s->streamed && k < p->n_buffer; k++) {
        assert_int_equal(s->buf[k] % tiny.n, 0);
        mark(used, s->buf[k], (uint64_t)s->rows * s->pitch);
    }
}

static void check_no_byte_twice(const struct fixture *f)
{
    for (uint32_t i = 0; i < f->program.layout->n_plan; i++) {
        const struct op_plan *p = &f->program.layout->plan[i];
        uint8_t *used = arena_alloc(f->arena, tiny.scratchpad_bytes);
        for (uint32_t t = 0; t < f->graph->n_tensor; t++) {
            const struct sched_place *s = &f->program.place[t];
            if (s->on_chip && s->first <= p->position && p->position <= s->last)
                mark(used, s->base, (uint64_t)s->h * s->pitch);
        }
        mark_tiles(used, p, &p->in[0]);
        mark_tiles(used, p, &p->in[1]);
        mark_tiles(used, p, &p->out);
        assert_true(p->n_tiles * p->tile_rows >= p->geo.oh);
        assert_true((p->n_tiles - 1) * p->tile_rows < p->geo.oh);
    }
}

static uint32_t n_streamed(const struct fixture *f)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < f->graph->n_tensor; t++)
        n += !f->program.place[t].on_chip;
    return n;
}

static void small_tensors_stay_on_chip(void **state)
{
    struct fixture *f = lay_out(8, &tiny);

    (void)state;
    assert_int_equal(n_streamed(f), 0);
    check_no_byte_twice(f);
    arena_free(f->arena);
}

static void tensors_that_do_not_fit_are_streamed(void **state)
{
    (void)state;
    for (int h = 30; h <= 700; h += 67) {
        struct fixture *f = lay_out(h, &tiny);
        check_no_byte_twice(f);
        assert_true(h < 60 || n_streamed(f) >= 3);
        for (uint32_t t = 0; t < f->graph->n_tensor; t++)
            assert_true(f->program.place[t].on_chip || f->program.place[t].in_memory);
        assert_true(f->program.spad_peak <= tiny.scratchpad_bytes);
        arena_free(f->arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_tensors_stay_on_chip),
        cmocka_unit_test(tensors_that_do_not_fit_are_streamed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
