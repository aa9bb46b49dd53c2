/* lstm_places.c - the work buffer of an LSTM, and the LSTMs that the accelerator runs. in: the
 * operator, a configuration. out: offsets of a work buffer (layout.h). */
#include <math.h>

#include "base/text.h"
#include "layout.h"

enum { GATES = 4, X_BYTES = 2, H_BYTES = 3, LEAST_SHIFT = -31, MOST_SHIFT = 30, MOST_PARTS = 255 };

static uint32_t words_up(uint32_t bytes, const struct hd_config *hw)
{
    return div_up(bytes, hw->n) * hw->n;
}

struct lstm_places lstm_places(uint32_t cells, uint32_t rows, const struct hd_config *hw)
{
    struct lstm_places at;
    uint32_t words = div_up(GATES * cells, hw->n);

    while (words % hw->banks != 2) /* so that a cell's reads are of several banks */
        words++;
    at.plane = words * hw->n + 1;
    at.row = words_up(X_BYTES * at.plane, hw);
    at.recurrent = rows * at.row;
    at.state = at.recurrent + words_up(H_BYTES * at.plane, hw);
    at.output = at.state + words_up(2 * cells, hw);
    at.n_bytes = at.output + words_up(cells, hw);
    return at;
}

int32_t lstm_shift(const struct ir_tensor *state)
{
    int exponent;

    (void)frexpf(state->quant.scale[0], &exponent); /* 2^(exponent - 1) */
    return exponent + 12;
}

static const char *check_scales(struct arena *a, const struct ir_op *op,
                                const struct ir_tensor *state)
{
    const int32_t shift = lstm_shift(state);

    if (shift < 0 || shift > 7)
        return arena_printf(a, "an LSTM's state of scale %g: the unit takes 2^-13 to 2^-6",
                            (double)state->quant.scale[0]);
    for (uint32_t i = 0; i < op->fixed.n; i++)
        if (op->fixed.shift[i] < LEAST_SHIFT || op->fixed.shift[i] > MOST_SHIFT)
            return arena_printf(a, "an LSTM's scale is shifted by %d: expected -31 to 30",
                                op->fixed.shift[i]);
    return NULL;
}

/* Check the weights of one gate, for `in` inputs or for the output. */
static const char *check_size(struct arena *a, const struct ir_tensor *weights, int32_t in,
                              const struct hd_config *hw)
{
    const int32_t words = (int32_t)(hw->weight_bytes / hw->n);

    if (weights->dim[2] > words)
        return arena_printf(a, "a gate of an LSTM has %d weights: %s has %d words", weights->dim[2],
                            hw->name, words);
    if (weights->dim[2] / in > MOST_PARTS)
        return arena_printf(a, "an LSTM's weights have %d parts: expected at most %d",
                            weights->dim[2] / in, MOST_PARTS);
    return NULL;
}

const char *lstm_refusal(struct arena *a, const struct ir_graph *graph, const struct ir_op *op,
                         const struct hd_config *hw)
{
    const struct ir_tensor *x = ir_in(graph, op, 0), *r = ir_in(graph, op, 2);

    if (!hw->lstm)
        return arena_printf(a, "%s has no lstm (lstm 0)", hw->name);
    if (x->dim[1 - op->attr[IR_AXIS]] != 1)
        return arena_printf(a, "an LSTM of batch %d: the accelerator takes batch 1",
                            x->dim[1 - op->attr[IR_AXIS]]);
    const char *why = check_scales(a, op, ir_in(graph, op, 5));
    if (!why)
        why = check_size(a, ir_in(graph, op, 1), x->dim[2], hw);
    if (!why)
        why = check_size(a, r, r->dim[1], hw);
    if (!why && op->attr[IR_DIGITS])
        why = "the array has made its products, as digits";
    return why;
}
