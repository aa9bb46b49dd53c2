/* macs.c - multiply-accumulates of an operator, from its shapes. A MAC is a product added to a sum
 * of products. Window cells in the padding count, as in other runtimes' figures. A product alone
 * (MUL) and sums without products do not count. */
#include "ir.h"

/* Return the weight elements of one output channel. */
static uint64_t per_channel(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(g, op, 1);
    const bool innermost = ir_is_depthwise(op) || op->attr[IR_WEIGHTS_KO] != 0;
    const int32_t channels = innermost || w->rank == 0 ? ir_dim_back(w, 0) : w->dim[0];

    return ir_elements(w) / (uint64_t)channels;
}

/* n: output elements. */
typedef uint64_t formula(const struct ir_graph *g, const struct ir_op *op, uint64_t n);

static uint64_t macs_weights(const struct ir_graph *g, const struct ir_op *op, uint64_t n)
{
    const uint64_t values = op->attr[IR_HALVES]   ? 2
                            : op->attr[IR_DIGITS] ? (uint64_t)op->attr[IR_DIGITS]
                                                  : 1;

    return n * per_channel(g, op) / values;
}

/* Each input element is multiplied by all of its channel's weights. */
static uint64_t macs_transposed(const struct ir_graph *g, const struct ir_op *op, uint64_t n)
{
    const struct ir_tensor *w = ir_in(g, op, 1);

    (void)n;
    return ir_elements(ir_in(g, op, 0)) * ir_elements(w) / (uint64_t)ir_dim_back(w, 0);
}

/* Columns of the first operand times rows of the second. */
static uint64_t macs_product(const struct ir_graph *g, const struct ir_op *op, uint64_t n)
{
    return n * (uint64_t)ir_dim_back(ir_in(g, op, 0), op->attr[IR_ADJ_A] ? 1 : 0);
}

/* Four gates, each over the input and the previous output. */
static uint64_t macs_lstm(const struct ir_graph *g, const struct ir_op *op, uint64_t n)
{
    const uint64_t in = op->attr[IR_DIGITS] ? 0 : (uint64_t)ir_dim_back(ir_in(g, op, 1), 0);

    return n * 4 * (in + (uint64_t)ir_dim_back(ir_in(g, op, 2), 0));
}

/* Each output of a step has the input's and the state's weights of its gates. */
static uint64_t macs_gru(const struct ir_graph *g, const struct ir_op *op, uint64_t n)
{
    (void)n;
    return (uint64_t)ir_out(g, op, 0)->dim[0] *
           (ir_elements(ir_in(g, op, 1)) + ir_elements(ir_in(g, op, 2)));
}

/* Features of the new step, then all steps of the state. */
static uint64_t macs_svdf(const struct ir_graph *g, const struct ir_op *op, uint64_t n)
{
    (void)n;
    return (uint64_t)ir_in(g, op, 0)->dim[0] *
           (ir_elements(ir_in(g, op, 1)) + ir_elements(ir_in(g, op, 2)));
}

static const struct {
    formula *macs;
} rows[] = {
#define OPERATOR(code, name, columns) {columns},
#define MACS(fn)                      macs_##fn
#include "operators/operators.def"
};

uint64_t ir_macs(const struct ir_graph *g, const struct ir_op *op)
{
    formula *macs = rows[op->opcode].macs;

    if (!macs || ir_in(g, op, 0) == NULL || ir_in(g, op, 1) == NULL || op->n_out == 0)
        return 0;
    return macs(g, op, ir_elements(ir_out(g, op, 0)));
}

uint64_t ir_graph_macs(const struct ir_graph *g)
{
    uint64_t macs = 0;

    for (uint32_t i = 0; i < g->n_op; i++)
        macs += g->op[i]->dead ? 0 : ir_macs(g, g->op[i]);
    return macs;
}
