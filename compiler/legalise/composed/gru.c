/* gru.c - GRU as operators of int8, step by step (NUMERICS.md, "Sums of products").
 * in: GRU.  out: the input's sums of all steps, FULLY_CONNECTED. For each step
 *   sums       the state's: FULLY_CONNECTED; plus the input's: ADD
 *   functions  their coarse value and slope, LUT; the slope times the fine part, MUL
 *   products   of two numbers, MUL
 *   terms      of these a number: DEPTHWISE_CONV2D over them as rows of an image
 * A number is two tensors: its coarse part, and what is left of it in 1/64 of that unit. Sums are the
 * coarse parts of z and r, their fine parts, the coarse part of n, its fine one. */
#include <math.h>
#include <string.h>

#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

enum { FINE = 64, BITS = 6, STATE = 126, GATE = 64, CODES = 256, MOST_TERMS = 10 };

/* Multiply by 1/64; take what that leaves. */
static const struct lgl_fixed_scale by_fine = {1 << 15, 10}, rest = {FINE / 2, 32 - BITS};

/* The coarse part, the fine one. */
struct pair {
    struct ir_tensor *coarse, *fine;
};

/* The tables of a function; the slope's are in `weight` of the result's fine units. */
struct function {
    const int8_t *coarse, *fine, *slope;
    int8_t weight;
};

struct gru {
    struct ir_graph *g;
    struct ir_op *op;
    const char *name;
    int32_t cells, gates, steps, now;
    int32_t x_shift, h_shift; /* of sums of sigmoid's gates; tanh's are 1 less */
    struct function sigmoid, tanh;
    struct ir_tensor *x, *y; /* all steps */
    const struct ir_tensor *weights[2], *bias[2];
    struct lgl_fixed_scale *scale[2]; /* of the recurrent sums: of gates z and r, of n */
    struct pair state;
};

/* --- tensors and operators --- */

static struct ir_tensor *bytes_of(const struct gru *k, const char *what, int32_t rows,
                                  int32_t columns, int32_t zero)
{
    const char *name = arena_printf(k->g->arena, "%s/%d/%s", k->name, k->now, what);
    struct ir_tensor *t = ir_tensor_new(k->g, name, IR_I8, 2, (const int32_t[]){rows, columns});

    t->quant = lgl_new_quant(k->g, 1, zero);
    return t;
}

static struct ir_tensor *two(const struct gru *k, struct ir_op *op, uint32_t n,
                             const struct lgl_fixed_scale *scale)
{
    lgl_set_scales(k->g, op, n, scale);
    return ir_out(k->g, op, 0);
}

static struct ir_tensor *times(const struct gru *k, const char *what, const struct ir_tensor *a,
                               const struct ir_tensor *b, struct lgl_fixed_scale scale)
{
    const uint32_t in[2] = {a->id, b->id};
    struct ir_tensor *y = bytes_of(k, what, a->dim[0], a->dim[1], 0);

    return two(k, lgl_make_mul(k->g, k->op->row, 2, in, y), 1, &scale);
}

static struct ir_tensor *plus(const struct gru *k, const char *what, const struct ir_tensor *a,
                              const struct ir_tensor *b)
{
    const struct lgl_fixed_scale scale[3] = {lgl_fixed_scale(0.5), lgl_fixed_scale(0.5),
                                             lgl_fixed_scale(ldexp(1, -19))};
    const uint32_t in[2] = {a->id, b->id};
    struct ir_tensor *y = bytes_of(k, what, a->dim[0], a->dim[1], 0);

    return two(k, lgl_make_add(k->g, k->op->row, 2, in, y), 3, scale);
}

static struct ir_tensor *looked_up(const struct gru *k, const char *what, const struct ir_tensor *x,
                                   const int8_t *table)
{
    struct ir_tensor *y = bytes_of(k, what, x->dim[0], x->dim[1], 0);

    lgl_become_table(lgl_make_lut(k->g, k->op->row, 1, &x->id, y), x->id, table);
    return y;
}

/* Columns [from, from + n) of row `row`. */
static struct ir_tensor *part(const struct gru *k, const char *what, const struct ir_tensor *x,
                              int32_t row, int32_t from, int32_t n)
{
    struct ir_tensor *y = bytes_of(k, what, 1, n, 0);

    if (x->dim[0] == 1 && x->dim[1] == n)
        return k->g->tensor[x->id];
    lgl_new_slice(k->g, k->op->row, x, (const int32_t[]){row, from}, NULL, y);
    return y;
}

/* A row as rows of the cells. */
static struct ir_tensor *as_rows(const struct gru *k, const struct ir_tensor *x, int32_t rows)
{
    struct ir_tensor *y = bytes_of(k, "rows", rows, (int32_t)ir_elements(x) / rows, 0);

    lgl_new_reshape(k->g, k->op->row, x, y);
    return y;
}

/* n tensors, one below the other or side by side. */
static struct ir_tensor *joined(const struct gru *k, const char *what, uint32_t n,
                                struct ir_tensor *const *x, uint32_t axis)
{
    int32_t dim[2] = {x[0]->dim[0], x[0]->dim[1]};
    uint32_t *id = ARENA_ARRAY(k->g->arena, uint32_t, n);

    dim[axis] = 0;
    for (uint32_t i = 0; i < n; i++) {
        id[i] = x[i]->id;
        dim[axis] += x[i]->dim[axis];
    }
    struct ir_tensor *y = bytes_of(k, what, dim[0], dim[1], 0);
    y->quant = x[0]->quant;
    lgl_new_join(k->g, k->op->row, n, id, axis, y);
    return y;
}

/* --- sums of products --- */

/* Rows [from, from + n) of input `input`, each with the scales of its coarse and its fine part. */
struct rows {
    uint32_t input;
    int32_t from, n;
};

/* Return the row whose sum column `column` has, and set its scale. */
static int32_t row_of(const struct gru *k, const struct rows *r, int32_t column,
                      struct lgl_fixed_scale *scale)
{
    const int32_t last = (k->gates - 1) * k->cells - r->from, first = last < r->n ? last : r->n;
    const bool tanh = column >= 2 * first;
    const int32_t at = tanh ? column - 2 * first : column, half = tanh ? r->n - first : first;
    const int32_t shift = (r->input == 1 ? k->x_shift : k->h_shift) - (tanh ? 1 : 0);

    *scale = at < half ? (struct lgl_fixed_scale){1 << (31 - shift), 0}
                       : (struct lgl_fixed_scale){FINE / 2, (int8_t)(32 - shift)};
    return r->from + (tanh ? first : 0) + at % half;
}

/* Make the constants of these rows. */
static struct lgl_fixed_scale *make_product(const struct gru *k, const struct rows *r,
                                            const struct ir_tensor **weights,
                                            const struct ir_tensor **bias)
{
    const struct ir_tensor *from = ir_in(k->g, k->op, r->input);
    const int32_t n = 2 * r->n, of = from->dim[1], dim[2] = {of, n};
    const int32_t *sums = (const int32_t *)(const void *)ir_in(k->g, k->op, 3)->data +
                          (r->input == 1 ? 0 : k->gates * k->cells);
    struct ir_tensor *w = lgl_new_constant(k->g, from->name, IR_I8, 2, dim, NULL);
    struct ir_tensor *b = lgl_new_constant(k->g, "", IR_I32, 1, &n, NULL);
    struct lgl_fixed_scale *scale = ARENA_ARRAY(k->g->arena, struct lgl_fixed_scale, (size_t)n);

    w->quant = lgl_new_quant(k->g, 1, 0);
    for (int32_t c = 0; c < n; c++) {
        const int32_t row = row_of(k, r, c, &scale[c]);

        ((int32_t *)(uintptr_t)b->data)[c] = sums[row];
        for (int32_t i = 0; i < of; i++)
            ((uint8_t *)(uintptr_t)w->data)[i * n + c] = from->data[row * of + i];
    }
    *weights = w;
    *bias = b;
    return scale;
}

/* The sums of rows of x, whose columns count as often as the weights have them. */
static struct ir_tensor *multiplied(const struct gru *k, const char *what, struct ir_tensor *x,
                                    const struct ir_tensor *weights, const struct ir_tensor *bias,
                                    const struct lgl_fixed_scale *scale)
{
    const uint32_t copies = (uint32_t)(weights->dim[0] / x->dim[1]);
    struct ir_tensor **copy = ARENA_ARRAY(k->g->arena, struct ir_tensor *, copies);

    for (uint32_t i = 0; i < copies; i++)
        copy[i] = x;
    if (copies > 1)
        x = joined(k, "copies", copies, copy, 1);
    const uint32_t in[3] = {x->id, weights->id, bias->id};
    struct ir_tensor *y = bytes_of(k, what, x->dim[0], weights->dim[1], 0);
    struct ir_op *op = lgl_make_fully_connected(k->g, k->op->row, 3, in, y);
    op->attr[IR_WEIGHTS_KO] = 1;
    return two(k, op, (uint32_t)weights->dim[1], scale);
}

/* --- sums of terms --- */

struct terms {
    struct ir_tensor *rows; /* [weights, columns] */
    const int8_t *weight;
};

/* The sum of the terms, scaled. */
static struct ir_tensor *summed(const struct gru *k, const char *what, const struct terms *t,
                                struct lgl_fixed_scale scale, struct ir_quant quant)
{
    const int32_t n = t->rows->dim[0], columns = t->rows->dim[1], dim[4] = {1, n, 1, columns};
    struct ir_tensor *image = lgl_new_image(k->g, t->rows, t->rows->quant, dim),
                     *y = bytes_of(k, what, 1, columns, 0),
                     *z = lgl_new_image(k->g, y, quant, (const int32_t[]){1, 1, 1, columns}),
                     *w = lgl_new_constant(k->g, "", IR_I8, 4, dim, NULL);
    const uint32_t in[3] = {image->id, w->id,
                            lgl_new_constant(k->g, "", IR_I32, 1, &columns, NULL)->id};

    lgl_new_reshape(k->g, k->op->row, t->rows, image);
    y->quant = quant;
    w->quant = lgl_new_quant(k->g, 1, 0);
    for (int32_t i = 0; i < n * columns; i++)
        ((int8_t *)(uintptr_t)w->data)[i] = t->weight[i / columns];
    lgl_set_scales(k->g, lgl_new_column_sum(k->g, k->op->row, in, z), 1, &scale);
    lgl_new_reshape(k->g, k->op->row, z, y);
    return y;
}

static struct pair number(const struct gru *k, const struct terms *t)
{
    const struct ir_quant one = lgl_new_quant(k->g, 1, 0);

    return (struct pair){summed(k, "coarse", t, (struct lgl_fixed_scale){1 << (31 - BITS), 0}, one),
                         summed(k, "fine", t, rest, one)};
}

/* --- functions and products --- */

static void make_function(const struct gru *k, struct function *f, bool is_tanh, double step)
{
    const double unit = (is_tanh ? STATE : GATE) * FINE;
    int8_t *coarse = arena_alloc(k->g->arena, CODES), *fine = arena_alloc(k->g->arena, CODES),
           *slope = arena_alloc(k->g->arena, CODES);

    *f = (struct function){coarse, fine, slope, is_tanh ? 4 : 1};
    for (int32_t i = 0; i < CODES; i++) {
        const double x = (i + INT8_MIN) * step, y = is_tanh ? tanh(x) : 1 / (1 + exp(-x));
        const double steep = (is_tanh ? 1 - y * y : y * (1 - y)) * step * unit / f->weight;
        const int32_t v = (int32_t)round(y * unit);

        coarse[i] = (int8_t)fmin(floor((v + FINE / 2) / (double)FINE), INT8_MAX);
        fine[i] = (int8_t)fmax(fmin(v - FINE * coarse[i], INT8_MAX), INT8_MIN);
        slope[i] = (int8_t)fmin(round(steep), INT8_MAX);
    }
}

/* The function's terms at x, with their weights. */
static struct terms function(const struct gru *k, const struct function *f, struct pair x)
{
    const int8_t weight[3] = {FINE, 1, f->weight};
    struct ir_tensor *const term[3] = {
        looked_up(k, "value", x.coarse, f->coarse), looked_up(k, "value_rest", x.coarse, f->fine),
        times(k, "rise", looked_up(k, "slope", x.coarse, f->slope), x.fine, by_fine)};

    return (struct terms){joined(k, "function", 3, term, 0),
                          arena_memdup(k->g->arena, weight, sizeof weight)};
}

/* Gate's pair times both rows of x: x's coarse row is its first, its fine row the second. */
static struct terms reset_terms(const struct gru *k, struct ir_tensor *input, struct ir_tensor *x,
                                struct pair gate)
{
    static const int8_t weight[6] = {FINE, 1, FINE, 1, 1, 1};
    struct ir_tensor *coarse = part(k, "state_coarse", x, 0, 0, k->cells);
    struct ir_tensor *const term[4] = {as_rows(k, input, 2),
                                       times(k, "gated", as_rows(k, x, 2), gate.coarse, by_fine),
                                       times(k, "gated_rest", coarse, gate.coarse, rest),
                                       times(k, "gated_fine", coarse, gate.fine, by_fine)};

    return (struct terms){joined(k, "reset", 4, term, 0), weight};
}

/* n + gate * (state - n) */
static struct terms state_terms(const struct gru *k, struct pair gate, struct pair n)
{
    static const int8_t weight[MOST_TERMS] = {FINE, 1, FINE, -FINE, 1, -1, 1, -1, 1, -1};
    struct ir_tensor *const coarse[2] = {k->state.coarse, n.coarse}, *const fine[2] = {
                                                                         k->state.fine, n.fine};
    const struct ir_tensor *a = joined(k, "two_coarse", 2, coarse, 0),
                           *b = joined(k, "two_fine", 2, fine, 0);
    struct ir_tensor *const term[6] = {n.coarse,
                                       n.fine,
                                       times(k, "kept", a, gate.coarse, by_fine),
                                       times(k, "kept_rest", a, gate.coarse, rest),
                                       times(k, "kept_fine", b, gate.coarse, by_fine),
                                       times(k, "kept_gate", a, gate.fine, by_fine)};

    return (struct terms){joined(k, "state", 6, term, 0), weight};
}

/* --- the steps --- */

/* Sum of the input's and the state's sums, `of` gates of one function from column `at` of x on. */
static struct pair added(const struct gru *k, struct ir_tensor *x, int32_t at,
                         const struct ir_tensor *h, int32_t of)
{
    const int32_t half = of * k->cells;
    struct ir_tensor *sum = plus(k, "sums", part(k, "input", x, k->now, at, 2 * half),
                                 part(k, "recurrent", h, 0, at < h->dim[1] ? at : 0, 2 * half));

    return (struct pair){part(k, "sum", sum, 0, 0, half), part(k, "sum_rest", sum, 0, half, half)};
}

/* The terms of n, whose reset gate comes before the product. */
static struct terms reset_before(const struct gru *k, const struct terms *gates)
{
    const struct lgl_fixed_scale share = lgl_fixed_scale(1.0 / 255);
    struct ir_tensor *both = summed(k, "reset_gate", gates, lgl_fixed_scale(255.0 / (GATE * FINE)),
                                    lgl_new_quant(k->g, 1, INT8_MIN)),
                     *r = bytes_of(k, "reset", 1, k->cells, INT8_MIN);

    lgl_new_slice(k->g, k->op->row, both, (const int32_t[]){0, k->cells}, NULL, r);
    struct ir_tensor *h = times(k, "reset_state", r, k->state.coarse, share);
    struct ir_tensor *sum = multiplied(k, "reset_sums", h, k->weights[1], k->bias[1], k->scale[1]);

    return function(k, &k->tanh, added(k, k->x, 4 * k->cells, sum, 1));
}

static struct pair first_part(const struct gru *k, struct pair p)
{
    return (struct pair){part(k, "z", p.coarse, 0, 0, k->cells),
                         part(k, "z_rest", p.fine, 0, 0, k->cells)};
}

/* The terms of the new state. */
static struct terms gru_terms(const struct gru *k, const struct ir_tensor *h)
{
    const struct terms gates = function(k, &k->sigmoid, added(k, k->x, 0, h, 2));
    const struct pair open = number(k, &gates);
    struct terms t;

    if (k->op->attr[IR_LINEAR_BEFORE_RESET]) {
        const struct pair r = {part(k, "r", open.coarse, 0, k->cells, k->cells),
                               part(k, "r_rest", open.fine, 0, k->cells, k->cells)};
        t = reset_terms(k, part(k, "input", k->x, k->now, 4 * k->cells, 2 * k->cells),
                        part(k, "recurrent", h, 0, 4 * k->cells, 2 * k->cells), r);
        t = function(k, &k->tanh, number(k, &t));
    } else {
        t = reset_before(k, &gates);
    }
    return state_terms(k, first_part(k, open), number(k, &t));
}

/* One step; its output. */
static struct ir_tensor *step(struct gru *k)
{
    const struct ir_tensor *y = ir_out(k->g, k->op, 0);
    const double unit = 1.0 / STATE / FINE / (double)y->quant.scale[0];
    const struct ir_tensor *h =
        multiplied(k, "recurrent", k->state.coarse, k->weights[0], k->bias[0], k->scale[0]);
    const struct terms t =
        k->gates == 1 ? function(k, &k->tanh, added(k, k->x, 0, h, 1)) : gru_terms(k, h);

    k->state = number(k, &t);
    return summed(k, "output", &t, lgl_fixed_scale(unit), y->quant);
}

/* Zeros that the device makes of the input's sums. */
static struct pair first_state(const struct gru *k)
{
    struct ir_tensor *zero = looked_up(k, "zero", part(k, "input", k->x, 0, 0, k->cells),
                                       arena_alloc(k->g->arena, CODES));

    return (struct pair){zero, zero};
}

static void make_constants(struct gru *k)
{
    const double unit = (double)ir_in(k->g, k->op, 2)->quant.scale[0] / STATE,
                 of_x = (double)ir_in(k->g, k->op, 0)->quant.scale[0] *
                        (double)ir_in(k->g, k->op, 1)->quant.scale[0];
    const bool parted = k->gates > 1 && !k->op->attr[IR_LINEAR_BEFORE_RESET];
    const int32_t all = k->gates * k->cells, n[2] = {parted ? all - k->cells : all, k->cells};

    for (k->h_shift = 1; ldexp(unit, k->h_shift) < 8.0 / 127;)
        k->h_shift++;
    const double scale = ldexp(unit, k->h_shift);
    k->x_shift = (int32_t)round(log2(scale / of_x));
    make_function(k, &k->sigmoid, false, scale);
    make_function(k, &k->tanh, true, scale / 2);
    for (int32_t i = 0; i < (parted ? 2 : 1); i++)
        k->scale[i] =
            make_product(k, &(struct rows){2, i * n[0], n[i]}, &k->weights[i], &k->bias[i]);
}

static void rewrite(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0), *w, *b;
    struct gru k = {.g = g, .op = op, .name = y->name, .cells = y->dim[2], .steps = x->dim[0]};
    struct ir_tensor **output = ARENA_ARRAY(g->arena, struct ir_tensor *, (size_t)k.steps);

    k.gates = ir_in(g, op, 2)->dim[0] / k.cells;
    make_constants(&k);
    const struct lgl_fixed_scale *scale =
        make_product(&k, &(struct rows){1, 0, k.gates * k.cells}, &w, &b);
    struct ir_tensor *bytes = bytes_of(&k, "bytes", k.steps, x->dim[2], 0);
    lgl_new_reshape(g, op->row, x, bytes)->attr[IR_RECODE] = 1;
    k.x = multiplied(&k, "inputs", bytes, w, b, scale);
    k.state = first_state(&k);
    for (int32_t i = 0; i < k.steps; i++) {
        k.now = op->attr[IR_REVERSE] ? k.steps - 1 - i : i;
        output[k.now] = step(&k);
    }
    struct ir_tensor *all = joined(&k, "outputs", (uint32_t)k.steps, output, 0);
    (void)lgl_new_reshape(g, op->row, all, ir_out(g, op, 0));
    op->dead = true;
}

enum status lgl_gru(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    const uint32_t n_op = g->n_op;

    (void)o;
    for (uint32_t i = 0; i < n_op; i++)
        if (!g->op[i]->dead && strcmp(ir_op_info(g->op[i]->opcode)->name, "gru") == 0)
            rewrite(g, g->op[i]);
    return g->n_op == n_op ? ST_OK : ir_link(g, d);
}
