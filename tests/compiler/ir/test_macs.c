/* test_macs.c - MACs of every operator that multiplies and adds, against products written out here,
 * before and after legalise reorders the weights; 0 for all others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/ir/ir.h"

enum { MAX_IN = 6 };

struct shape {
    uint32_t rank;
    int32_t dim[IR_MAX_RANK];
};

static struct ir_op *make(struct ir_graph *g, enum ir_opcode opcode, uint32_t n_in,
                          const struct shape *in, struct shape out)
{
    struct ir_op *op = ir_op_new(g, opcode, 0, n_in, 1);

    for (uint32_t i = 0; i < n_in; i++)
        op->in[i] = ir_tensor_new(g, "x", IR_I8, in[i].rank, in[i].dim)->id;
    op->out[0] = ir_tensor_new(g, "y", IR_I8, out.rank, out.dim)->id;
    return op;
}

#define SHAPE(...)                                                                                 \
    {                                                                                              \
        sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t),                                        \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const struct {
    enum ir_opcode opcode;
    uint32_t n_in;
    struct shape in[MAX_IN], out;
    enum ir_attr attr; /* set to 1; IR_ATTR_COUNT: none */
    uint64_t macs;
} cases[] = {
    /* 3x5 places, 7 channels, each 2x3 taps of 4 */
    {IR_OP_CONV2D,
     2,
     {SHAPE(1, 6, 6, 4), SHAPE(7, 2, 3, 4)},
     SHAPE(1, 3, 5, 7),
     IR_ATTR_COUNT,
     3 * 5 * 7 * 2 * 3 * 4},
    {IR_OP_CONV2D,
     2,
     {SHAPE(1, 6, 6, 4), SHAPE(2, 3, 4, 7)},
     SHAPE(1, 3, 5, 7),
     IR_WEIGHTS_KO,
     3 * 5 * 7 * 2 * 3 * 4},
    /* in two groups a place sees 2 of the 4 channels; batch 2 */
    {IR_OP_CONV2D,
     2,
     {SHAPE(2, 6, 6, 4), SHAPE(6, 2, 3, 2)},
     SHAPE(2, 3, 5, 6),
     IR_ATTR_COUNT,
     2 * 3 * 5 * 6 * 2 * 3 * 2},
    {IR_OP_DEPTHWISE_CONV2D,
     2,
     {SHAPE(1, 9, 9, 4), SHAPE(1, 2, 3, 8)},
     SHAPE(1, 3, 5, 8),
     IR_MULTIPLIER,
     3 * 5 * 8 * 2 * 3},
    {IR_OP_FULLY_CONNECTED,
     2,
     {SHAPE(5, 11), SHAPE(3, 11)},
     SHAPE(5, 3),
     IR_ATTR_COUNT,
     5 * 3 * 11},
    {IR_OP_FULLY_CONNECTED,
     2,
     {SHAPE(5, 11), SHAPE(11, 3)},
     SHAPE(5, 3),
     IR_WEIGHTS_KO,
     5 * 3 * 11},
    /* each of 3x5 places with 4 channels meets 2x3 taps of 7 channels, whatever the stride */
    {IR_OP_TRANSPOSE_CONV,
     2,
     {SHAPE(1, 3, 5, 4), SHAPE(7, 2, 3, 4)},
     SHAPE(1, 6, 10, 7),
     IR_ATTR_COUNT,
     3 * 5 * 4 * 2 * 3 * 7},
    {IR_OP_BATCH_MATMUL,
     2,
     {SHAPE(2, 3, 11), SHAPE(2, 11, 5)},
     SHAPE(2, 3, 5),
     IR_ATTR_COUNT,
     2 * 3 * 5 * 11},
    {IR_OP_BATCH_MATMUL,
     2,
     {SHAPE(2, 11, 3), SHAPE(2, 11, 5)},
     SHAPE(2, 3, 5),
     IR_ADJ_A,
     2 * 3 * 5 * 11},
    {IR_OP_BATCH_MATMUL,
     2,
     {SHAPE(2, 3, 11), SHAPE(5, 11)},
     SHAPE(2, 3, 5),
     IR_ADJ_B,
     2 * 3 * 5 * 11},
    {IR_OP_MATMUL_INTEGER,
     4,
     {SHAPE(3, 11), SHAPE(11, 5), SHAPE(1), SHAPE(1)},
     SHAPE(3, 5),
     IR_ATTR_COUNT,
     3 * 5 * 11},
    {IR_OP_CONV_INTEGER,
     4,
     {SHAPE(1, 6, 6, 4), SHAPE(6, 2, 3, 2), SHAPE(1), SHAPE(1)},
     SHAPE(1, 3, 5, 6),
     IR_ATTR_COUNT,
     3 * 5 * 6 * 2 * 3 * 2},
    /* 2 sequences of 9 steps: 4 gates of 5 cells, each of 3 inputs and 5 cells */
    {IR_OP_LSTM,
     6,
     {SHAPE(2, 9, 3), SHAPE(4, 5, 3), SHAPE(4, 5, 5), SHAPE(8, 5), SHAPE(2, 5), SHAPE(2, 5)},
     SHAPE(2, 9, 5),
     IR_ATTR_COUNT,
     2 * 9 * 4 * 5 * (3 + 5)},
    /* 2 inputs of 3: 8 filters of 3 features and 5 steps */
    {IR_OP_SVDF,
     5,
     {SHAPE(2, 3), SHAPE(8, 3), SHAPE(8, 5), SHAPE(4), SHAPE(2, 40)},
     SHAPE(2, 4),
     IR_ATTR_COUNT,
     2 * 8 * (3 + 5)},
    {IR_OP_MUL, 2, {SHAPE(3, 5), SHAPE(3, 5)}, SHAPE(3, 5), IR_ATTR_COUNT, 0},
    {IR_OP_AVERAGE_POOL2D, 1, {SHAPE(1, 6, 6, 4)}, SHAPE(1, 3, 3, 4), IR_ATTR_COUNT, 0},
};

static void every_formula(void **state)
{
    struct arena *a = arena_new(0);
    struct ir_graph *g = ir_graph_new(a, "macs");

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ir_op *op = make(g, cases[i].opcode, cases[i].n_in, cases[i].in, cases[i].out);

        if (cases[i].attr != IR_ATTR_COUNT)
            op->attr[cases[i].attr] = 1;
        if (ir_macs(g, op) != cases[i].macs)
            fail_msg("case %zu, %s: expected %llu, found %llu", i, ir_op_info(op->opcode)->name,
                     (unsigned long long)cases[i].macs, (unsigned long long)ir_macs(g, op));
    }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_formula)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
