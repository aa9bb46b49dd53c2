/* A linear INTERPOLATE is a Resize of the coordinates that its taps have, and so has a quantised
 * form; any other INTERPOLATE stays float32. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/quantise/quant_own.h"

/* Two taps of each result, the first of the two cells and the second's weight. */
struct taps {
    int32_t in, out;
    int32_t first[4];
    float second[4];
};

/* Return what ONNX calls the coordinates of these taps along the only dimension. */
static const char *named(struct arena *a, const struct taps *t, enum quant_form *form)
{
    struct ir_graph *g = ir_graph_new(a, "net");
    int32_t *index = ARENA_ARRAY(a, int32_t, 8), dim[2] = {t->out, 2};
    float *weight = ARENA_ARRAY(a, float, 8);
    struct ir_tensor *x = ir_tensor_new(g, "x", IR_F32, 1, &t->in),
                     *i = ir_tensor_new(g, "index", IR_I32, 2, dim),
                     *w = ir_tensor_new(g, "weight", IR_F32, 2, dim),
                     *y = ir_tensor_new(g, "y", IR_F32, 1, &t->out);
    struct ir_op *op = ir_make_interpolate(g, 0, 3, 1);

    for (int32_t k = 0; k < t->out; k++) {
        index[2 * k] = t->first[k];
        index[2 * k + 1] = t->first[k] + 1 < t->in ? t->first[k] + 1 : t->first[k];
        weight[2 * k + 1] = t->second[k];
        weight[2 * k] = 1 - t->second[k];
    }
    i->role = w->role = IR_CONST;
    i->data = (const uint8_t *)index;
    w->data = (const uint8_t *)weight;
    op->in[0] = x->id;
    op->in[1] = i->id;
    op->in[2] = w->id;
    op->out[0] = y->id;
    *form = quant_form_of(g, op);
    return quant_resize(g, op);
}

static void taps_name_the_coordinates(void **state)
{
    static const struct {
        struct taps taps;
        const char *name;
    } cases[] = {
        {{2, 4, {0, 0, 0, 1}, {0, 0.25f, 0.75f, 0}}, "half_pixel"},
        {{2, 4, {0, 0, 0, 1}, {0, 1.0f / 3, 2.0f / 3, 0}}, "align_corners"},
        {{2, 4, {0, 0, 1, 1}, {0, 0.5f, 0, 0}}, "asymmetric"},
        {{4, 2, {0, 2}, {0.5f, 0.5f}}, "half_pixel"},
    };
    struct arena *a = arena_new(0);
    enum quant_form form;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = named(a, &cases[i].taps, &form);

        assert_non_null(name);
        assert_string_equal(name, cases[i].name);
        assert_int_equal(form, QUANT_COMPUTES);
    }
    arena_free(a);
}

static void other_taps_stay_float(void **state)
{
    static const struct taps other[] = {
        {2, 4, {0, 0, 0, 1}, {0, 0.25f, 0.5f, 0}},
        {2, 4, {0, 0, 0, 1}, {-0.25f, 0.25f, 0.75f, 0}},
    };
    struct arena *a = arena_new(0);
    enum quant_form form;

    (void)state;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        assert_null(named(a, &other[i], &form));
        assert_int_equal(form, QUANT_NO_FORM);
    }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taps_name_the_coordinates),
        cmocka_unit_test(other_taps_stay_float),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
