/* ref_islands_lstm.c - an LSTM whose input is quantised and whose results all get a scale is LSTM of
 * integers, under the conditions of docs/ONNX.md. The file has its steps in float32. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/formula.h"
#include "compiler/ir/rules.h"
#include "ref_islands_own.h"

enum { WAYS = 2, PARTS = 8 };

/* One direction: constants of the file, its last output, and whether it begins with the last step. */
struct way {
    const struct ir_tensor *w, *r, *b; /* b may be NULL */
    uint32_t last;
    bool from_end;
    uint32_t y, y_last; /* what is made of it */
};

struct cells {
    struct isl *s;
    uint32_t row, n_way;
    struct way way[WAYS];
    int32_t steps, n; /* cells */
    uint32_t x;       /* quantised [steps, inputs] */
    const struct ir_tensor *unit;
    const struct ir_tensor *result[2]; /* of the file: all outputs, the last ones; or NULL */
    float scale;                       /* of the output, 0 until it is known */
    int32_t zero;
};

static bool called(const struct ir_op *op, const char *name)
{
    return strcmp(ir_op_info(op->opcode)->name, name) == 0;
}

static bool all_zero(const struct ir_tensor *t)
{
    const float *v = (const float *)(const void *)t->data;
    uint64_t i = 0;

    while (t->role == IR_CONST && i < ir_elements(t) && fpclassify(v[i]) == FP_ZERO)
        i++;
    return t->role == IR_CONST && i == ir_elements(t);
}

/* Return true if slice constant `letter` begins at column `column`, and at row `row` of all. */
static bool begins(const struct ir_match *m, char letter, int32_t row, int32_t column)
{
    const struct ir_tensor *t = m->g->tensor[ir_matched(m, letter)];

    return ir_const_i32(t, 0) == row && ir_const_i32(t, 1) == column;
}

/* Return true if file tensor `id` is a step's output, whose place and tensors the match has. */
static bool is_step(const struct ir_graph *g, uint32_t id, struct ir_match *m)
{
    const int32_t n = g->tensor[id]->dim[1];

    *m = (struct ir_match){.g = g};
    return ir_match(m, id,
                    "mul(slice(o = logistic(slice(s = add(slice(a, #t), fully_connected(h, #r)), "
                    "#u)), #v), tanh(add(mul(slice(o, #f), c), mul(slice(o, #i), tanh(slice(s, "
                    "#g))))))") &&
           begins(m, 'u', 0, 0) && begins(m, 'v', 0, n) && begins(m, 'f', 0, 2 * n) &&
           begins(m, 'i', 0, 0) && begins(m, 'g', 0, 3 * n) && g->tensor[id]->dim[0] == 1;
}

/* Follow the steps from the last output to the first state. */
static bool follow(struct cells *c, struct way *way)
{
    const struct ir_graph *g = c->s->from;
    const int32_t n = g->tensor[way->last]->dim[1];
    uint32_t h = way->last, cell = IR_NONE, all = IR_NONE;
    int32_t at = 0;
    struct ir_match m;

    for (int32_t i = 0; i < c->steps; i++) {
        if (!is_step(g, h, &m) || (cell != IR_NONE && ir_out(g, m.op[8], 0)->id != cell))
            return false;
        if (i == 0) {
            all = ir_matched(&m, 'a');
            way->r = g->tensor[ir_matched(&m, 'r')];
            way->from_end = ir_const_i32(g->tensor[ir_matched(&m, 't')], 0) != c->steps - 1;
        }
        at = way->from_end ? i : c->steps - 1 - i;
        if (ir_matched(&m, 'a') != all || g->tensor[ir_matched(&m, 'r')] != way->r ||
            !begins(&m, 't', at, 0))
            return false;
        h = ir_matched(&m, 'h');
        cell = ir_matched(&m, 'c');
    }
    const struct ir_op *inputs = g->op[g->tensor[all]->producer];
    way->w = ir_in(g, inputs, 1);
    way->b = inputs->n_in > 2 ? ir_in(g, inputs, 2) : NULL;
    c->n = n;
    return called(inputs, "fully_connected") && all_zero(g->tensor[h]) && all_zero(g->tensor[cell]);
}

/* Find the directions by their last outputs: no product of the row reads these. */
static bool find_ways(struct cells *c)
{
    const struct ir_graph *g = c->s->from;
    struct ir_match m;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const uint32_t id = g->op[i]->out[0];
        bool read = false;

        if (g->op[i]->row != c->row || !called(g->op[i], "mul") || !is_step(g, id, &m))
            continue;
        for (uint32_t k = i; k < g->n_op && !read; k++)
            read = called(g->op[k], "fully_connected") && g->op[k]->row == c->row &&
                   g->op[k]->in[0] == id;
        if (read)
            continue;
        if (c->n_way == WAYS)
            return false;
        c->way[c->n_way].last = id;
        if (!follow(c, &c->way[c->n_way++]))
            return false;
    }
    return c->n_way > 0;
}

static bool is_moved(const struct ir_op *op)
{
    static const char *const list[] = {"gather", "reshape", "slice", "transpose"};

    for (uint32_t i = 0; i < sizeof list / sizeof *list; i++)
        if (called(op, list[i]))
            return true;
    return false;
}

/* Find the scale that readers of the file's tensor give it; false: one does not. The largest counts,
 * and of its zero points the lowest. */
static bool gets_scale(struct cells *c, uint32_t id)
{
    const struct ir_graph *g = c->s->from;
    bool all = !g->tensor[id]->is_output;

    for (uint32_t i = 0; i < g->n_op && all; i++) {
        const struct ir_op *op = g->op[i];
        const struct ir_tensor *y = ir_out(g, op, 0);

        for (uint32_t k = 1; k < op->n_in; k++)
            all = all && op->in[k] != id;
        if (op->n_in == 0 || op->in[0] != id)
            continue;
        if (called(op, "quantize") && (y->type == IR_U8 || y->type == IR_I8)) {
            const float scale = y->quant.scale[0];
            const int32_t zero = y->quant.zero_point[0] - (y->type == IR_I8 ? 0 : 128);

            if (scale > c->scale || (scale >= c->scale && zero < c->zero)) {
                c->scale = scale;
                c->zero = zero;
            }
        } else {
            all = all && is_moved(op) && gets_scale(c, y->id);
        }
    }
    return all;
}

/* For each tensor of the file: true for those that something outside the row reads. */
static const bool *tensors_read(const struct cells *c)
{
    const struct ir_graph *g = c->s->from;
    bool *read = ARENA_ARRAY(c->s->arena, bool, g->n_tensor);

    for (uint32_t id = 0; id < g->n_tensor; id++)
        read[id] = g->tensor[id]->is_output;
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; g->op[i]->row != c->row && k < g->op[i]->n_in; k++)
            if (g->op[i]->in[k] != IR_NONE)
                read[g->op[i]->in[k]] = true;
    return read;
}

/* Return true if a result [directions,1,n] is made of last outputs. */
static bool is_last(const struct cells *c, const struct ir_tensor *t)
{
    const struct ir_graph *g = c->s->from;
    const struct ir_op *op = g->op[t->producer];

    if (called(op, "concatenation"))
        op = g->op[ir_in(g, op, 0)->producer];
    return op->in[0] == c->way[0].last;
}

/* Find the row's results; return true if they get scales. That of the last outputs alone may be too
 * small for the others: the state then has the range of tanh. */
static bool has_results(struct cells *c)
{
    const struct ir_graph *g = c->s->from;
    const bool *read = tensors_read(c);

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_tensor *t = ir_out(g, g->op[i], 0);

        if (g->op[i]->row != c->row || called(g->op[i], "dequantize") || !read[t->id])
            continue;
        if (!gets_scale(c, t->id) || (t->rank == 3 && !is_last(c, t)))
            return false;
        c->result[t->rank == 4 ? 0 : 1] = t;
    }
    if (!(c->scale > 0))
        return false;
    if (c->result[0] == NULL) {
        c->scale = 1.0f / 127;
        c->zero = 0;
    }
    return true;
}

/* Weights of all gates, one scale, and the sums of rows; as file rows i, o, f, g. */
struct whole {
    int32_t columns, parts, *value;
    float scale;
};

static bool is_finite(const float *v, size_t n)
{
    while (n > 0 && isfinite(v[n - 1]))
        n--;
    return n == 0;
}

/* Round the weights in parts of int8, the least number up to 8 that keeps the errors of each row, as
 * independent ones, within 1/128 of a gate for inputs of magnitude `reach`. False: a sum may be too
 * large. */
static bool round_weights(const struct cells *c, const struct ir_tensor *t, double reach,
                          double unit, struct whole *w)
{
    const float *v = (const float *)(const void *)t->data;
    const size_t n = (size_t)ir_elements(t), columns = (size_t)t->dim[1];
    double most = 0, worst = 1;

    if (!is_finite(v, n))
        return false;
    for (size_t i = 0; i < n; i++)
        most = fabs((double)v[i]) > most ? fabs((double)v[i]) : most;
    w->columns = t->dim[1];
    w->value = ARENA_ARRAY(c->s->arena, int32_t, n);
    for (w->parts = 0; worst * reach * unit > 1.0 / 128 && w->parts < PARTS;) {
        w->parts++;
        w->scale = (float)(most / (127 * w->parts));
        if (!(w->scale > 0))
            w->scale = 1;
        worst = 0;
        for (size_t first = 0; first < n; first += columns) {
            double squares = 0;

            for (size_t i = first; i < first + columns; i++) {
                const double whole = rint((double)v[i] / (double)w->scale),
                             off = (double)v[i] - whole * (double)w->scale;

                w->value[i] = (int32_t)whole;
                squares += off * off;
            }
            worst = fmax(worst, sqrt(squares));
        }
    }
    return 127 * w->parts * reach * w->columns < 1073741824.0;
}

static const int32_t file_gate[4] = {0, 2, 3, 1}; /* of i, f, g, o */

/* The weights' constant; `sum` gets the bias less zero times the row's weights. */
static uint32_t parts_const(const struct cells *c, const struct whole *w, int32_t zero,
                            int32_t *sum)
{
    const int32_t dim[3] = {4, c->n, w->parts * w->columns};
    int8_t *to = arena_alloc(c->s->arena, (size_t)(4 * c->n) * (size_t)dim[2]), *at = to;
    const float scale[4] = {w->scale, w->scale, w->scale, w->scale};
    const struct ir_quant q = {4, 0, arena_memdup(c->s->arena, scale, sizeof scale),
                               ARENA_ARRAY(c->s->arena, int32_t, 4)};

    for (int32_t g = 0; g < 4; g++)
        for (int32_t j = 0; j < c->n; j++) {
            const int32_t *row = w->value + (ptrdiff_t)(file_gate[g] * c->n + j) * w->columns;

            for (int32_t k = 0; k < w->parts; k++)
                for (int32_t i = 0; i < w->columns; i++) {
                    const int32_t over = abs(row[i]) - 127 * k, size = over > 127 ? 127 : over;

                    *at++ = (int8_t)(size < 0 ? 0 : row[i] < 0 ? -size : size);
                }
            for (int32_t i = 0; i < w->columns; i++)
                sum[g * c->n + j] -= zero * row[i];
        }
    return isl_const(c->s, "gates", IR_I8, 3, dim, to, &q);
}

/* Constants of LSTM, its inputs 1 to 3; false: out of range. */
static bool constants(const struct cells *c, const struct way *way, uint32_t in[6])
{
    const struct ir_quant *q = &c->unit->quant;
    const int32_t zero = q->zero_point[0] - (c->unit->type == IR_U8 ? 128 : 0), dim[2] = {8, c->n};
    const float *b = way->b == NULL ? NULL : (const float *)(const void *)way->b->data;
    int32_t *bias = ARENA_ARRAY(c->s->arena, int32_t, (size_t)(8 * c->n));
    struct whole w, r;

    if (!round_weights(c, way->w, fmax(128 + zero, 127 - zero), (double)q->scale[0], &w) ||
        !round_weights(c, way->r, fmax(128 + c->zero, 127 - c->zero), (double)c->scale, &r))
        return false;
    for (int32_t i = 0; b != NULL && i < 4 * c->n; i++) {
        const double units = rint((double)b[file_gate[i / c->n] * c->n + i % c->n] /
                                  ((double)q->scale[0] * (double)w.scale));

        if (!(fabs(units) < 1073741824.0))
            return false;
        bias[i] = (int32_t)units;
    }
    in[1] = parts_const(c, &w, zero, bias);
    in[2] = parts_const(c, &r, c->zero, bias + (ptrdiff_t)(4 * c->n));
    in[3] = isl_const(c->s, "bias", IR_I32, 2, dim, bias, NULL);
    return true;
}

/* A variable [1,n]. */
static uint32_t state(const struct cells *c, const char *name, enum ir_type type,
                      const struct ir_quant *q)
{
    const uint32_t id = isl_tensor(c->s, name, type, 2, (const int32_t[]){1, c->n}, q);

    c->s->to->tensor[id]->role = IR_VARIABLE;
    return id;
}

/* Rows of `id` [n,1,k] from `first` on, `count` of them, `step` apart. */
static uint32_t rows(struct isl *s, uint32_t id, int32_t first, int32_t count, int32_t step)
{
    const struct ir_tensor *t = s->to->tensor[id];
    const int32_t dim[3] = {count, t->dim[1], t->dim[2]}, three = 3;
    const int32_t begin[3] = {first, 0, 0}, by[3] = {step, 1, 1};
    const uint32_t in[3] = {
        id,
        isl_const(s, "begin", IR_I32, 1, &three, arena_memdup(s->arena, begin, sizeof begin), NULL),
        isl_const(s, "step", IR_I32, 1, &three, arena_memdup(s->arena, by, sizeof by), NULL)};
    const uint32_t out = isl_tensor(s, t->name, t->type, 3, dim, &t->quant);

    isl_op_slice(s, 3, in, out);
    return out;
}

static void make(const struct cells *c, struct way *way, uint32_t in[6])
{
    struct isl *s = c->s;
    const char *name = s->from->tensor[way->last]->name;
    const struct ir_quant of_h = isl_one_scale(s, c->scale, c->zero),
                          of_cell = isl_one_scale(s, ldexpf(1, -11), 0);
    const int32_t dim[3] = {c->steps, 1, c->n};

    in[0] = way->from_end ? rows(s, c->x, c->steps - 1, c->steps, -1) : c->x;
    in[4] = state(c, isl_inner(s, name, "h"), IR_I8, &of_h);
    in[5] = state(c, isl_inner(s, name, "c"), IR_I16, &of_cell);
    way->y = isl_tensor(s, isl_inner(s, name, "lstm"), IR_I8, 3, dim, &of_h);
    isl_op_lstm(s, 6, in, way->y)->attr[IR_RESET] = 1;
    way->y_last = rows(s, way->y, c->steps - 1, 1, 1);
    if (way->from_end)
        way->y = rows(s, way->y, c->steps - 1, c->steps, -1);
}

/* The file's result, all outputs or the last ones, of both directions. */
static void set_result(const struct cells *c, const struct ir_tensor *file)
{
    struct isl *s = c->s;
    const struct ir_quant q = isl_one_scale(s, c->scale, c->zero);
    const int32_t dim[4] = {c->steps, 1, 1, c->n};
    uint32_t part[WAYS] = {0}, id;

    for (uint32_t i = 0; i < c->n_way; i++)
        part[i] = file->rank == 3
                      ? c->way[i].y_last
                      : isl_reshape(s, isl_inner(s, file->name, "way"), c->way[i].y, 4, dim);
    id = part[0];
    if (c->n_way > 1) {
        id = isl_tensor(s, file->name, IR_I8, file->rank, file->dim, &q);
        isl_op_concatenation(s, c->n_way, part, id)->attr[IR_AXIS] = file->rank == 3 ? 0 : 1;
    }
    s->value[file->id] = (struct isl_value){.kind = ISL_QUANTISED, .id = id};
}

/* The input as int8 [steps,1,inputs]. */
static uint32_t input(const struct cells *c, uint32_t id)
{
    struct isl *s = c->s;
    const struct ir_tensor *t = s->to->tensor[id];
    const int32_t dim[3] = {t->dim[0], 1, t->dim[1]};
    const struct ir_quant q = isl_one_scale(s, t->quant.scale[0], t->quant.zero_point[0] - 128);

    if (t->type == IR_U8)
        id = isl_rescale(s, isl_inner(s, t->name, "int8"), id, IR_I8, &q);
    return isl_reshape(s, isl_inner(s, t->name, "steps"), id, 3, dim);
}

void isl_lstm(struct isl *s, const struct ir_op *op)
{
    const struct isl_value *x = isl_value(s, op->in[0]);
    struct cells c = {.s = s, .row = op->row};
    uint32_t in[WAYS][6];

    if (s->exact || x->kind != ISL_QUANTISED)
        return;
    c.unit = s->to->tensor[x->id];
    c.steps = c.unit->dim[0];
    if (c.unit->role == IR_CONST || c.unit->quant.n != 1 ||
        (c.unit->type != IR_I8 && c.unit->type != IR_U8) || !find_ways(&c) || !has_results(&c))
        return;
    for (uint32_t i = 0; i < c.n_way; i++)
        if (!constants(&c, &c.way[i], in[i]))
            return;
    c.x = input(&c, x->id);
    for (uint32_t i = 0; i < c.n_way; i++)
        make(&c, &c.way[i], in[i]);
    for (uint32_t i = 0; i < 2; i++)
        if (c.result[i] != NULL)
            set_result(&c, c.result[i]);
    s->whole[op->row] = true;
}
