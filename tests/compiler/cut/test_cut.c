/* test_cut.c - parts of an operator cover its result once, and each tap of a part reads what the whole's tap reads. */
#include "compiler/cut/cut.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A convolution, 11 x 7 x 6 to 10 channels: strides 2 and 1, dilations 1 and 2, padding that differs on each side. */
static const char conv[] =
    "heddle-ir 1 graph name=\"c\"\n"
    "row 0 name=\"0\" op=\"CONV\" tensor=\"\" shape=\"1\"\n"
    "tensor 0 i8 [1,11,7,6] input name=\"x\" scale=(1) zero=(0)\n"
    "tensor 1 i8 [10,3,2,6] const name=\"w\" scale=(1,2,3,4,5,6,7,8,9,10) axis=0 zero=(0) fill=1\n"
    "tensor 2 i32 [10] const name=\"b\" values=(0,1,2,3,4,5,6,7,8,9)\n"
    "tensor 3 i8 [1,6,8,10] value name=\"y\" scale=(1) zero=(0)\n"
    "op conv2d row=0 in=(0,1,2) out=(3) kernel_h=3 kernel_w=2 stride_h=2 stride_w=1 dilation_h=1 "
    "dilation_w=2 pad_top=2 pad_left=1 pad_bottom=0 pad_right=2\n"
    "border in=(0) out=(3)\n";

static struct ir_graph *parse(struct arena *a, const char *text)
{
    struct ir_graph *g;
    struct diag d = {0};

    if (ir_parse(a, text, &g, &d) != ST_OK)
        fail_msg("%s", d.text);
    return g;
}

/* The tensor's row, or column, that tap k of output o reads; outside: of padding. */
static int64_t read_at(const struct cut_form *f, uint32_t d, uint32_t o, uint32_t k, uint32_t pad)
{
    return (int64_t)o * f->stride[d] + (int64_t)k * f->dilation[d] - (int64_t)pad;
}

/* All taps of rows (d 0) or columns of a part. */
static void check_taps(const struct cut_form *f, const struct cut_part *p, uint32_t d)
{
    const uint32_t axis = CUT_ROWS + d;

    for (uint32_t o = 0; o < p->y.n[axis]; o++)
        for (uint32_t k = 0; k < f->kernel[d]; k++) {
            const int64_t whole = read_at(f, d, p->y.from[axis] + o, k, f->pad[d]);
            const int64_t part = read_at(f, d, o, k, p->before[d]);
            const bool inside = whole >= 0 && whole < f->x[axis];

            assert_int_equal(inside, part >= 0 && part < p->x.n[axis]);
            if (inside)
                assert_int_equal(whole, part + p->x.from[axis]);
            assert_true(part < (int64_t)p->x.n[axis] + p->after[d]);
        }
}

static void add(uint8_t *seen, const struct cut_form *f, const struct cut_part *p)
{
    for (uint32_t i = 0; i < p->y.n[1]; i++)
        for (uint32_t k = 0; k < p->y.n[2]; k++)
            for (uint32_t c = 0; c < p->y.n[3]; c++)
                seen[((p->y.from[1] + i) * f->y[2] + p->y.from[2] + k) * f->y[3] + p->y.from[3] +
                     c]++;
}

/* Every part size of every dimension. */
static void parts_cover_and_read_alike(void **state)
{
    struct arena *a = arena_new(0);
    const struct ir_graph *g = parse(a, conv);
    struct cut_form f;
    struct describe_cut cut = {0};

    (void)state;
    assert_true(cut_form(g, g->op[0], true, &f));
    memcpy(cut.all, f.all, sizeof cut.all);
    const uint32_t all =
        f.all[CUT_ROWS] * f.all[CUT_COLUMNS] * f.all[CUT_CHANNELS] * f.all[CUT_IN_CHANNELS];
    assert_int_equal(all, 6 * 8 * 10 * 6);
    for (uint32_t size = 0; size < all; size++) {
        uint8_t seen[6 * 8 * 10] = {0};
        uint32_t left = size, n = 1;

        cut.size[CUT_BATCH] = 1;
        for (uint32_t d = CUT_ROWS; d < CUT_DIMS; d++) {
            cut.size[d] = left % f.all[d] + 1;
            left /= f.all[d];
            n *= (f.all[d] + cut.size[d] - 1) / cut.size[d];
        }
        const uint32_t sums = (6 + cut.size[CUT_IN_CHANNELS] - 1) / cut.size[CUT_IN_CHANNELS];
        for (uint32_t i = 0; i < n; i++) {
            struct cut_range r;
            struct cut_part p;

            cut_range(&cut, i, &r);
            assert_true(cut_part_of(&f, &r, &p));
            assert_int_equal(p.first, i % sums == 0);
            assert_int_equal(p.last, i % sums == sums - 1);
            check_taps(&f, &p, 0);
            check_taps(&f, &p, 1);
            add(seen, &f, &p);
        }
        for (uint32_t i = 0; i < sizeof seen; i++)
            assert_int_equal(seen[i], sums);
    }
    arena_free(a);
}

static void a_part_has_its_own_weights(void **state)
{
    struct arena *a = arena_new(0);
    const struct ir_graph *g = parse(a, conv);
    struct ir_fixed *fixed = &g->op[0]->fixed;
    const struct cut_range r = {{0, 1, 0, 4, 2}, {1, 2, 8, 3, 2}};
    const int32_t multiplier[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const int8_t shift[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct cut_form f;
    struct cut_part p;

    (void)state;
    *fixed = (struct ir_fixed){.n = 10, .multiplier = multiplier, .shift = shift};
    assert_true(cut_form(g, g->op[0], true, &f));
    assert_true(cut_part_of(&f, &r, &p));
    const struct cut_alone c = cut_alone(a, g, g->op[0]);
    for (uint32_t twice = 0; twice < 2; twice++) {
        cut_shape(&c, &f, &p, true);
        const struct ir_tensor *w = ir_in(c.graph, c.op, 1), *bias = ir_in(c.graph, c.op, 2);
        assert_int_equal(w->dim[0], 3);
        assert_int_equal(w->dim[3], 2);
        assert_int_equal(w->quant.n, 3);
        assert_true(w->quant.scale[0] == 5);
        assert_int_equal(ir_element(bias, bias->data, 2), 6);
        assert_int_equal(c.op->fixed.n, 3);
        assert_int_equal(c.op->fixed.multiplier[0], 4);
        assert_int_equal(c.op->fixed.shift[2], 6);
        assert_int_equal(ir_in(c.graph, c.op, 0)->dim[1], 5); /* rows 0 to 4 */
        assert_int_equal(ir_out(c.graph, c.op, 0)->dim[1], 2);
        assert_int_equal(c.op->attr[IR_PAD_TOP], 0);
        assert_int_equal(c.op->attr[IR_PAD_LEFT], 1);
    }
    assert_int_equal(ir_in(g, g->op[0], 1)->dim[0], 10); /* the whole stays */
    arena_free(a);
}

/* Windows of padding alone have nothing to read: no part begins there. */
static void a_part_of_padding_is_none(void **state)
{
    const struct cut_form f = {.kind = CUT_WINDOWS,
                               .x = {1, 4, 4, 1},
                               .y = {1, 9, 4, 1},
                               .all = {1, 9, 4, 1, 1},
                               .per_channel = 1,
                               .kernel = {2, 1},
                               .stride = {1, 1},
                               .dilation = {1, 1},
                               .pad = {3, 0},
                               .pad_after = {3, 0}};
    const struct cut_range above = {{0, 0, 0, 0, 0}, {1, 2, 4, 1, 1}},
                           enough = {{0, 0, 0, 0, 0}, {1, 3, 4, 1, 1}};
    struct cut_part p;

    (void)state;
    assert_false(cut_part_of(&f, &above, &p));
    assert_true(cut_part_of(&f, &enough, &p));
    assert_int_equal(p.x.n[CUT_ROWS], 1);
}

static void contiguous_boxes(void **state)
{
    const uint32_t all[CUT_AXES] = {2, 5, 4, 3};
    const struct {
        struct cut_box box;
        bool contiguous;
        uint64_t at;
    } of[] = {
        {{{0, 0, 0, 0}, {2, 5, 4, 3}}, true, 0},  {{{1, 2, 0, 0}, {1, 3, 4, 3}}, true, 84},
        {{{0, 1, 0, 0}, {2, 2, 4, 3}}, false, 0}, {{{1, 2, 1, 0}, {1, 1, 2, 3}}, true, 87},
        {{{1, 2, 1, 0}, {1, 2, 2, 3}}, false, 0}, {{{0, 0, 0, 1}, {1, 1, 1, 2}}, true, 1},
        {{{0, 0, 0, 1}, {1, 1, 2, 2}}, false, 0},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof of / sizeof *of; i++) {
        uint64_t at;
        assert_int_equal(cut_contiguous(all, &of[i].box, &at), of[i].contiguous);
        if (of[i].contiguous)
            assert_int_equal(at, of[i].at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_cover_and_read_alike),
        cmocka_unit_test(a_part_has_its_own_weights),
        cmocka_unit_test(a_part_of_padding_is_none),
        cmocka_unit_test(contiguous_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
