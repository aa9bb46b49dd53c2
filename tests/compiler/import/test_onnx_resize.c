/* test_onnx_resize.c - the nearest cells of ONNX's Resize, against exact fractions: every pair of
 * up to 20 cells, in the two rounding modes (positions within 20 cells are exact to 1e-6, so
 * float32 finds every tie) and with aligned corners. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "compiler/import/onnx/onnx.h"
#include "onnx_builder.h"

enum { MOST = 20 };

static void set_text(struct builder *b, Onnx__NodeProto *n, const char *name, const char *text)
{
    Onnx__AttributeProto *a = b_attr(b, n, name);

    a->has_s = 1;
    a->s.data = (uint8_t *)b_text(b, text);
    a->s.len = strlen(text);
}

/* Return the cell of `before` for each of `after`. */
static const int32_t *cells_of(struct arena *a, int64_t before, int64_t after,
                               const char *coordinates, const char *nearest)
{
    struct builder *b = b_new(a, 19);
    const struct onnx_options o = {0};
    Onnx__NodeProto *n;
    struct ir_graph *g;
    struct diag d = {0};
    const uint8_t *data;
    size_t n_bytes;

    b_input(b, "x", 1, 1, &before);
    b_output(b, "y", 1, 1, &after);
    b_const(b, "sizes", 7, 1, (const int64_t[]){1}, &after, sizeof after);
    n = b_node(b, "Resize", "x - - sizes", "y");
    set_text(b, n, "coordinate_transformation_mode", coordinates);
    set_text(b, n, "nearest_mode", nearest);
    data = b_pack(b, &n_bytes);
    if (onnx_import(a, "resize", data, n_bytes, &o, &g, &d) != ST_OK)
        fail_msg("%s", d.text);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (g->op[i]->opcode == IR_OP_GATHER)
            return (const int32_t *)(const void *)ir_in(g, g->op[i], 1)->data;
    fail_msg("no GATHER");
    return NULL;
}

/* Return the nearest of `before` cells to n / d, d positive: ties up or down. */
static int64_t nearest_to(int64_t n, int64_t d, bool up, int64_t before)
{
    const int64_t twice = 2 * n + d, below = twice >= 0 ? twice / (2 * d) : -1;
    const int64_t cell = below - (!up && twice >= 0 && twice % (2 * d) == 0);

    return cell < 0 ? 0 : cell < before ? cell : before - 1;
}

static void check(int64_t before, int64_t after, const char *coordinates, bool up)
{
    struct arena *a = arena_new(4 << 20);
    const int32_t *cell =
        cells_of(a, before, after, coordinates, up ? "round_prefer_ceil" : "round_prefer_floor");

    for (int64_t i = 0; i < after; i++) {
        int64_t n = i * before, d = after;

        if (strcmp(coordinates, "half_pixel") == 0) {
            n = (2 * i + 1) * before - after;
            d = 2 * after;
        } else if (strcmp(coordinates, "align_corners") == 0) {
            n = i * (before - 1);
            d = after > 1 ? after - 1 : 1;
        }
        if (cell[i] != nearest_to(n, d, up, before))
            fail_msg("%s, %d to %d: %d/%d: expected cell %d, found %d", coordinates, (int)before,
                     (int)after, (int)n, (int)d, (int)nearest_to(n, d, up, before), cell[i]);
    }
    arena_free(a);
}

static void test_nearest(void **state)
{
    static const char *const coordinates[] = {"half_pixel", "asymmetric", "align_corners"};

    (void)state;
    for (int64_t before = 1; before <= MOST; before++)
        for (int64_t after = 1; after <= MOST; after++)
            for (int k = 0; k < 6 && before != after; k++)
                check(before, after, coordinates[k / 2], k % 2 != 0);
}

/* The length is the float32 product: 22 times float32 17/22, in double, is below 17. */
static void test_length(void **state)
{
    struct arena *a = arena_new(4 << 20);
    struct builder *b = b_new(a, 19);
    const struct onnx_options o = {0};
    struct ir_graph *g;
    struct diag d = {0};
    size_t n;
    const uint8_t *data;

    (void)state;
    b_input(b, "x", 1, 1, (const int64_t[]){22});
    b_output(b, "y", 1, 1, (const int64_t[]){17});
    b_float(b, "s", 17.0f / 22.0f);
    b->graph.initializer[0]->n_dims = 1;
    b->graph.initializer[0]->dims = (int64_t[]){1};
    b_node(b, "Resize", "x - s", "y");
    data = b_pack(b, &n);
    if (onnx_import(a, "resize", data, n, &o, &g, &d) != ST_OK)
        fail_msg("%s", d.text);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nearest),
                                       cmocka_unit_test(test_length)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
