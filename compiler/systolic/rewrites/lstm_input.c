/* lstm_input.c - compute an LSTM's products of the input for all time steps at once. in: LSTM of x
 * [B,T,I]. out: a matrix product of x and the gates' weights, and an LSTM that reads its sums
 * (attribute `digits`). The accelerator writes only int8, so a sum s is written as digits in [-64,
 * 64], s = sum of d[p] * 128^p. Digit p is the requantisation of s by 2^-7p that keeps its lowest 7
 * (p + 1) bits: the shift left wraps modulo 2^32 (NUMERICS.md). With n digits this is exact for
 * -2^(7n-1) <= s < 2^(7n-1), which the weights prove. An LSTM that the accelerator runs whole
 * stays, so does one whose weights have several parts. */
#include "compiler/ir/rules.h"
#include "compiler/legalise/new_ops.h"
#include "compiler/systolic/layout/layout.h"
#include "raw_sums.h"
#include "rewrites.h"

enum { MOST_DIGITS = 4 };

/* Return the number of digits that hold every sum of the gates; 0 if the format has too few. */
static uint32_t digits_of(const struct ir_tensor *w, const struct ir_tensor *bias)
{
    const int64_t k = ir_dim_back(w, 0), rows = (int64_t)ir_elements(w) / k;
    int64_t most = 0;

    for (int64_t i = 0; i < rows; i++) {
        int64_t sum = ir_const_i32(bias, (uint32_t)i);

        sum = sum < 0 ? -sum : sum;
        for (int64_t j = 0; j < k; j++) {
            const int32_t v = (int8_t)w->data[i * k + j];
            sum += 128 * (int64_t)(v < 0 ? -v : v);
        }
        most = sum > most ? sum : most;
    }
    for (uint32_t n = 1; n <= MOST_DIGITS; n++)
        if (most < (int64_t)1 << (7 * n - 1))
            return n;
    return 0;
}

/* Fill the weights of n digits of blocks of `each` gate rows, the last filled up. The gates' bias
 * includes the zero point; the product's does not. */
static void fill(struct ir_graph *g, struct ir_op *op, const struct ir_op *lstm, int32_t n)
{
    const struct ir_tensor *w = ir_in(g, lstm, 1), *b = ir_in(g, lstm, 3);
    const int32_t k = ir_dim_back(w, 0), rows = (int32_t)(ir_elements(w) / (uint64_t)k);
    const int32_t each = lstm->attr[IR_MULTIPLIER], columns = ir_in_blocks(each, rows) * n,
                  zero = ir_zero_point(ir_in(g, lstm, 0));
    struct ir_tensor *weights =
        lgl_new_constant(g, w->name, IR_I8, 2, (const int32_t[]){k, columns}, NULL);
    struct ir_tensor *bias = lgl_new_constant(g, b->name, IR_I32, 1, &columns, NULL);
    int32_t *multiplier = ARENA_ARRAY(g->arena, int32_t, (size_t)columns);
    int8_t *shift = ARENA_ARRAY(g->arena, int8_t, (size_t)columns);

    weights->quant = lgl_new_quant(g, 1, 0);
    for (int32_t c = 0; c < columns; c++) {
        const int32_t i = c / (n * each) * each + c % each;
        int32_t sum = i < rows ? ir_const_i32(b, (uint32_t)i) : 0;

        for (int32_t j = 0; j < k && i < rows; j++) {
            ((uint8_t *)(uintptr_t)weights->data)[j * columns + c] = w->data[i * k + j];
            sum += zero * (int8_t)w->data[i * k + j];
        }
        ((int32_t *)(uintptr_t)bias->data)[c] = sum;
        multiplier[c] = 64;
        shift[c] = (int8_t)(25 - 7 * (c / each % n));
    }
    op->in[1] = weights->id;
    op->in[2] = bias->id;
    op->fixed = (struct ir_fixed){.n = (uint32_t)columns,
                                  .multiplier = multiplier,
                                  .shift = shift,
                                  .act_min = -128,
                                  .act_max = 127};
}

static void take_out(struct ir_graph *g, struct ir_op *lstm, int32_t n, const struct hd_config *hw)
{
    const struct ir_tensor *x = ir_in(g, lstm, 0), *w = ir_in(g, lstm, 1);
    int32_t dim[3] = {x->dim[0], x->dim[1], 0};
    const int32_t rows = w->dim[0] * w->dim[1];

    lstm->attr[IR_MULTIPLIER] = sys_digits_each(rows, w->dim[2], n, hw);
    dim[2] = ir_in_blocks(lstm->attr[IR_MULTIPLIER], rows) * n;
    struct ir_tensor *y = ir_tensor_new(g, ir_out(g, lstm, 0)->name, IR_I8, 3, dim);
    struct ir_op *op = ir_op_new(g, IR_OP_FULLY_CONNECTED, lstm->row, 3, 1);

    y->quant = lgl_new_quant(g, 1, 0);
    op->in[0] = x->id;
    fill(g, op, lstm, n);
    op->attr[IR_WEIGHTS_KO] = 1;
    op->attr[IR_DIGITS] = n;
    op->out[0] = y->id;
    y->producer = op->id;
    lstm->in[0] = y->id;
    lstm->attr[IR_DIGITS] = n;
}

void sys_lstm_input(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const struct ir_tensor *w = ir_in(g, op, 1);
    const bool whole = op->attr[IR_DIGITS] == 0 && ir_dim_back(w, 0) == ir_in(g, op, 0)->dim[2];
    const uint32_t n = whole ? digits_of(w, ir_in(g, op, 3)) : 0;

    if (n > 0 && lstm_refusal(g->arena, g, op, o->hw))
        take_out(g, op, (int32_t)n, o->hw);
}
