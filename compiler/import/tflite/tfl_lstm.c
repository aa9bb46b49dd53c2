/* tfl_lstm.c - UNIDIRECTIONAL_SEQUENCE_LSTM of int8 with an int16 cell, as TensorFlow converts
 * Keras' LSTM: no peepholes, projection or layer normalisation. Its state is two variables.
 *   gate = clamp16(MBQM(x W + b) + MBQM(h R)), 2^-12;  i, f, o = sigmoid, g = tanh, 2^-15
 *   c = clamp16(f c / 2^15 + i g / 2^(30 + e)), 2^e;  h = clamp8(MBQM(o tanh(c)) + z) */
#include <math.h>
#include <string.h>

#include "compiler/ir/rules.h"
#include "tfl_import.h"

/* Inputs, by their number in the format. */
enum {
    WEIGHTS = 1,
    RECURRENT = 5,
    PEEPHOLE = 9,
    BIAS = 12,
    PROJECTION = 16,
    STATE = 18,
    CELL = 19,
    NORM = 20,
    HIDDEN = 4, /* numbers of the intermediate tensors */
};

static enum status absent(struct tfl_importer *m, const struct tfl_operator *src, uint32_t from,
                          uint32_t n, const char *what)
{
    for (uint32_t i = from; i < from + n && i < src->in.n; i++)
        if (src->in.v[i] != -1)
            return FAIL(m->d, ST_UNSUPPORTED, "%s (input %u): expected none", what, i);
    return ST_OK;
}

/* Return constant input `i`, which must have `type` and `rank` dimensions. */
static enum status part(struct tfl_importer *m, const struct tfl_operator *src, uint32_t i,
                        enum ir_type type, uint32_t rank, const struct ir_tensor **t)
{
    uint32_t id;

    if (src->in.v[i] == -1)
        return FAIL(m->d, ST_UNSUPPORTED, "input %u: expected weights of all four gates", i);
    TRY(tfl_value(m, src, i, &id));
    *t = m->g->tensor[id];
    TRY(ir_want_type(*t, "weights", type, m->d));
    TRY(ir_want_rank(*t, "weights", rank, m->d));
    if ((*t)->role != IR_CONST)
        return FAIL(m->d, ST_UNSUPPORTED, "weights '%.80s': expected a constant", (*t)->name);
    if (type == IR_I8)
        TRY(ir_want_quantised(*t, "weights", m->d));
    if (ir_zero_point(*t) != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "weights '%.80s': expected zero point 0, found %d",
                    (*t)->name, ir_zero_point(*t));
    return ST_OK;
}

/* Join four matrices [H,n] into one [4,H,n] with a scale each. */
static enum status gates(struct tfl_importer *m, const struct tfl_operator *src, uint32_t from,
                         struct ir_tensor **all)
{
    float *scale = ARENA_ARRAY(m->arena, float, 4);
    const struct ir_tensor *t = NULL;
    uint8_t *data = NULL;

    for (uint32_t i = 0; i < 4; i++) {
        TRY(part(m, src, from + i, IR_I8, 2, &t));
        if (i == 0) {
            const int32_t dim[3] = {4, t->dim[0], t->dim[1]};

            TRY(tfl_want_size(m, t, 3, dim));
            *all = ir_tensor_new(m->g, t->name, IR_I8, 3, dim);
            data = arena_alloc(m->arena, (size_t)ir_bytes(*all));
        }
        TRY(ir_want_shape(m->g, t, "weights", 2, (*all)->dim + 1, m->d));
        memcpy(data + i * (size_t)ir_bytes(t), t->data, (size_t)ir_bytes(t));
        scale[i] = t->quant.scale[0];
    }
    (*all)->role = IR_CONST;
    (*all)->data = data;
    (*all)->quant = (struct ir_quant){4, 0, scale, ARENA_ARRAY(m->arena, int32_t, 4)};
    return ST_OK;
}

/* Add bias - zero * (sum of the row), wrapping. */
static void count_zero(const struct ir_tensor *w, int32_t zero, uint32_t *bias)
{
    const size_t rows = 4 * (size_t)w->dim[1], n = (size_t)w->dim[2];

    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < n; k++)
            bias[i] -= (uint32_t)zero * (uint32_t)(int8_t)w->data[i * n + k];
}

static enum status biases(struct tfl_importer *m, const struct tfl_operator *src,
                          const struct ir_tensor *w, const struct ir_tensor *r, int32_t zero_x,
                          int32_t zero_h, uint32_t *id)
{
    const int32_t h = w->dim[1], dim[2] = {8, h};
    uint32_t *bias = ARENA_ARRAY(m->arena, uint32_t, 8 * (size_t)h);
    const struct ir_tensor *t;

    for (uint32_t i = 0; i < 4; i++) {
        TRY(part(m, src, BIAS + i, IR_I32, 1, &t));
        TRY(ir_want_shape(m->g, t, "bias", 1, &h, m->d));
        memcpy(bias + i * (size_t)h, t->data, (size_t)ir_bytes(t));
    }
    count_zero(w, zero_x, bias);
    count_zero(r, zero_h, bias + 4 * (size_t)h);
    *id = tfl_new_const(m, "bias", 2, dim, (const int32_t *)bias);
    return ST_OK;
}

/* The output holds the hidden state's quantised values. An empty intermediate tensor specifies
 * their scale. Calibration may have given the output another scale; nothing is rescaled to it, so
 * the bytes are kept. */
static enum status hidden_state(struct tfl_importer *m, const struct tfl_operator *src,
                                uint32_t out, uint32_t *hidden)
{
    const struct ir_tensor *y = m->g->tensor[out];
    const struct tfl_ints *all = &src->intermediate;
    const struct tfl_tensor *t;

    if (all->n <= HIDDEN || all->v[HIDDEN] < 0 || (uint32_t)all->v[HIDDEN] >= m->file->n_tensor)
        return FAIL(m->d, ST_MODEL, "expected 5 intermediate tensors, found %u", all->n);
    t = &m->file->tensor[all->v[HIDDEN]];
    TRY(ir_want_quantised(y, "output", m->d));
    const int64_t zero = tfl_zero_point(t, 0);
    if (t->n_scale != 1 || !(t->scale[0] > 0) || isinf(t->scale[0]) || zero < -128 || zero > 127)
        return FAIL(m->d, ST_MODEL,
                    "hidden state '%.80s': expected one scale and a zero point of int8", t->name);
    *hidden = out;
    if (t->scale[0] == y->quant.scale[0] && zero == ir_zero_point(y))
        return ST_OK;
    struct ir_tensor *h = ir_tensor_new(m->g, y->name, y->type, y->rank, y->dim);
    const float scale = t->scale[0];
    const int32_t zero_point = (int32_t)zero;
    h->quant = (struct ir_quant){1, 0, arena_memdup(m->arena, &scale, sizeof scale),
                                 arena_memdup(m->arena, &zero_point, sizeof zero_point)};
    *hidden = h->id;
    return ST_OK;
}

/* Return the forget gate's weights, which every LSTM has; NULL if they are missing. */
static enum status first_weights(struct tfl_importer *m, const struct tfl_operator *src,
                                 struct ir_tensor **w)
{
    uint32_t id;

    *w = NULL;
    if (src->in.v[WEIGHTS + 1] == -1)
        return ST_OK;
    TRY(tfl_value(m, src, WEIGHTS + 1, &id));
    *w = m->g->tensor[id];
    return ST_OK;
}

enum status tfl_lstm(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const struct tfl_options *o = &src->options;
    uint32_t in[6], out, hidden = IR_NONE;
    struct ir_tensor *w, *r;
    struct ir_op *op;

    if (o->activation != 4)
        return FAIL(m->d, ST_UNSUPPORTED, "activation: expected TANH (4), found %d", o->activation);
    if (!(o->cell_clip >= 0) || isinf(o->cell_clip))
        return FAIL(m->d, ST_MODEL, "cell clip: expected at least 0, found %.9g",
                    (double)o->cell_clip);
    if (o->diagonal)
        return FAIL(m->d, ST_UNSUPPORTED, "diagonal_recurrent_tensors: expected false, found true");
    TRY(absent(m, src, PEEPHOLE, 3, "peephole weights"));
    TRY(absent(m, src, PROJECTION, 2, "projection"));
    TRY(absent(m, src, NORM, 4, "layer normalisation"));
    TRY(tfl_value(m, src, 0, &in[0]));
    TRY(tfl_result(m, src, 0, &out));
    TRY(first_weights(m, src, &w));
    if (w != NULL)
        TRY(tfl_want_static(m, m->g->tensor[in[0]], w));
    TRY(ir_want_type(m->g->tensor[in[0]], "input", IR_I8, m->d));
    TRY(hidden_state(m, src, out, &hidden));
    TRY(gates(m, src, WEIGHTS, &w));
    TRY(gates(m, src, RECURRENT, &r));
    in[1] = w->id;
    in[2] = r->id;
    if (r->dim[1] != w->dim[1])
        return FAIL(m->d, ST_MODEL, "recurrent weights: expected %d rows, found %d", w->dim[1],
                    r->dim[1]);
    TRY(tfl_state(m, src->in.v[STATE], &in[4]));
    TRY(tfl_state(m, src->in.v[CELL], &in[5]));
    TRY(biases(m, src, w, r, ir_zero_point(m->g->tensor[in[0]]), ir_zero_point(m->g->tensor[in[4]]),
               &in[3]));
    TRY(tfl_make_lstm(m, row, 6, in, hidden, &op));
    op->attr[IR_AXIS] = !o->time_major;
    memcpy(&op->attr[IR_CLIP_HIGH_BITS], &o->cell_clip, 4);
    return hidden == out ? ST_OK : tfl_recode(m, row, hidden, out);
}
