/* ref_islands.c - see ref_islands.h. The file's operators in their order: what DEQUANTIZE read
 * stays quantised through operators that only move values; arithmetic waits (ref_islands_defer.c)
 * until QUANTIZE specifies the result's scale or something else wants floats
 * (ref_islands_make.c). */
#include <math.h>
#include <string.h>

#include "ref_islands_own.h"

static const char *node_of(const struct isl *s, const struct ir_op *op)
{
    return s->from->row[op->row].op;
}

static bool is_node(const char *node, const char *const *list)
{
    while (*list != NULL && strcmp(*list, node) != 0)
        list++;
    return *list != NULL;
}

/* --- operators that are as they are --- */

/* A new tensor for output `i`. */
static uint32_t result(struct isl *s, const struct ir_op *op, uint32_t i)
{
    const struct ir_tensor *y = ir_out(s->from, op, i);
    const uint32_t id = isl_tensor(s, y->name, y->type, y->rank, y->dim, &y->quant);

    isl_set_tensor(s, op->out[i], id);
    return id;
}

static enum status copied(struct isl *s, const struct ir_op *op)
{
    uint32_t *in = ARENA_ARRAY(s->arena, uint32_t, op->n_in);
    struct ir_op *to;

    for (uint32_t i = 0; i < op->n_in; i++) {
        in[i] = IR_NONE;
        if (op->in[i] != IR_NONE)
            TRY(isl_float(s, op->in[i], &in[i]));
    }
    to = isl_op(s, op->opcode, op->n_in, in, result(s, op, 0));
    memcpy(to->attr, op->attr, sizeof to->attr);
    return ST_OK;
}

/* --- operators that only move values --- */

/* The number that PAD fills quantised `t` with, as a tensor of its scale. False: `t` has no such
 * value. */
static enum status quantised_fill(struct isl *s, const struct ir_tensor *t, uint32_t file_fill,
                                  uint32_t *id, bool *has)
{
    const int32_t low = t->type == IR_I16 ? -32768 : t->type == IR_I8 ? -128 : 0;
    const int32_t high = t->type == IR_I16 ? 32767 : low + 255;
    const double *v;
    double q;
    int32_t *code = ARENA_NEW(s->arena, int32_t);

    TRY(isl_read_numbers(s, file_fill, 1, &v));
    q = v == NULL ? (double)NAN : *v / (double)t->quant.scale[0] + (double)t->quant.zero_point[0];
    *has = q >= low && q <= high && rint(q) == q;
    if (!*has)
        return ST_OK;
    *code = (int32_t)q; /* its first bytes */
    *id = isl_const(s, isl_inner(s, t->name, "fill"), t->type, 0, NULL, code, &t->quant);
    return ST_OK;
}

/* A maximum over windows of an image [N,C,..]. */
static uint32_t windows(struct isl *s, const struct ir_op *op, uint32_t x)
{
    const struct ir_tensor *y = ir_out(s->from, op, 0), *t = s->to->tensor[x];
    int32_t dim[4];
    uint32_t in, out;

    isl_nhwc_shape(y, dim);
    in = isl_to_nhwc(s, x);
    out = isl_tensor(s, isl_inner(s, y->name, "nhwc"), t->type, 4, dim, &t->quant);
    memcpy(isl_op(s, op->opcode, 1, &in, out)->attr, op->attr, sizeof op->attr);
    return isl_from_nhwc(s, y->name, out, y->rank);
}

/* Find the first input of `op`: a tensor of any type, or quantised values of one scale. */
static enum status movable(struct isl *s, const struct ir_op *op, const struct isl_value **x)
{
    const struct isl_value *v = isl_value(s, op->in[0]);
    const struct ir_tensor *t;

    TRY(isl_settle(s, op->in[0]));
    t = s->to->tensor[v->id];
    if (v->kind == ISL_QUANTISED && (t->quant.n != 1 || t->type == IR_I32))
        isl_set_tensor(s, op->in[0], isl_float_const(s, t)); /* constants only */
    *x = v;
    return ST_OK;
}

static enum status isl_max_pool(struct isl *s, const struct ir_op *op)
{
    const struct isl_value *x;

    TRY(movable(s, op, &x));
    s->value[op->out[0]] = (struct isl_value){.kind = x->kind, .id = windows(s, op, x->id)};
    return ST_OK;
}

/* Its first input is quantised or a tensor of any type, and so is the result. */
static enum status isl_moved(struct isl *s, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(s->from, op, 0), *t;
    uint32_t *in = ARENA_ARRAY(s->arena, uint32_t, op->n_in), id;
    const struct isl_value *x;
    bool has = true;

    TRY(movable(s, op, &x));
    t = s->to->tensor[x->id];
    if (x->kind != ISL_QUANTISED ||
        (t->type == IR_I16 && (ir_op_info(op->opcode)->types >> IR_I16 & 1) == 0))
        return copied(s, op);
    in[0] = x->id;
    for (uint32_t i = 1; i < op->n_in; i++) {
        in[i] = IR_NONE;
        if (i >= ir_n_data(op) + ir_op_info(op->opcode)->n_rows &&
            ir_op_info(op->opcode)->n_rows > 0) /* the number that is filled in */
            TRY(quantised_fill(s, t, op->in[2], &in[2], &has));
        else if (op->in[i] != IR_NONE)
            TRY(isl_float(s, op->in[i], &in[i]));
    }
    if (!has)
        return copied(s, op);
    if (y->type != IR_F32) { /* places: argmax */
        id = result(s, op, 0);
    } else {
        id = isl_tensor(s, y->name, t->type, y->rank, y->dim, &t->quant);
        s->value[op->out[0]] = (struct isl_value){.kind = ISL_QUANTISED, .id = id};
    }
    memcpy(isl_op(s, op->opcode, op->n_in, in, id)->attr, op->attr, sizeof op->attr);
    return ST_OK;
}

/* Parts of one scale are put together as they are. */
static enum status isl_concatenated(struct isl *s, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(s->from, op, 0), *first = NULL;
    uint32_t *in = ARENA_ARRAY(s->arena, uint32_t, op->n_in), id;
    bool same = isl_defers(s, op);

    if (!same)
        return copied(s, op);
    for (uint32_t i = 0; i < op->n_in; i++) {
        TRY(isl_operand(s, op->in[i], &in[i]));
        first = s->to->tensor[in[0]];
        same = same && isl_same_quant(s->to->tensor[in[i]], first->type, &first->quant);
    }
    if (!same)
        return isl_defer(s, op);
    id = isl_tensor(s, y->name, first->type, y->rank, y->dim, &first->quant);
    memcpy(isl_op(s, op->opcode, op->n_in, in, id)->attr, op->attr, sizeof op->attr);
    s->value[op->out[0]] = (struct isl_value){.kind = ISL_QUANTISED, .id = id};
    return ST_OK;
}

/* Return true for a node whose RESHAPE is its input under another name: a copy, no bounds, no axes, no other size. */
static bool is_alias(const struct isl *s, const struct ir_op *op)
{
    static const char *const list[] = {"Identity", "Dropout", "Cast",     "Clip", "Expand",
                                       "Max",      "Mean",    "Min",      "Pad",  "Resize",
                                       "Sum",      "Tile",    "Upsample", NULL};
    const char *node = node_of(s, op);

    return ir_is_reshape(op) && op->attr[IR_RECODE] == 0 &&
           (is_node(node, list) || strncmp(node, "Reduce", 6) == 0) &&
           ir_same_shape(ir_in(s->from, op, 0), ir_out(s->from, op, 0));
}

/* --- borders of islands --- */

static enum status isl_dequantised(struct isl *s, const struct ir_op *op)
{
    s->value[op->out[0]] =
        (struct isl_value){.kind = ISL_QUANTISED, .id = isl_value(s, op->in[0])->id};
    return ST_OK;
}

/* Quantised `id`, or in float32 if int16 has no such ratio of scales to y's. */
static uint32_t near(struct isl *s, uint32_t id, const struct ir_tensor *y)
{
    const struct ir_tensor *x = s->to->tensor[id];

    if ((x->type == IR_I16 || y->type == IR_I16) && isl_is_far(x, &y->quant))
        return isl_as_float(s, id);
    return id;
}

static enum status isl_quantised(struct isl *s, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(s->from, op, 0);
    const struct isl_value *x = isl_value(s, op->in[0]);
    bool done = false;
    uint32_t id;

    TRY(isl_layer_norm(s, op, &done));
    if (!done)
        TRY(isl_resize(s, op, &done));
    if (done)
        return ST_OK;
    if (x->kind == ISL_TENSOR)
        return copied(s, op);
    if (x->kind == ISL_DEFERRED)
        TRY(isl_make(s, x->deferred, y->name, y->type, &y->quant, &id));
    else
        id = isl_rescale(s, y->name, near(s, x->id, y), y->type, &y->quant);
    isl_set_tensor(s, op->out[0], id);
    return ST_OK;
}

/* Return true for zeros that an average counts, which are read with it. */
static bool belongs_to_pool(const struct isl *s, const struct ir_op *op)
{
    return op->opcode == IR_OP_PAD && strcmp(node_of(s, op), "AveragePool") == 0;
}

static const struct {
    enum status (*take)(struct isl *s, const struct ir_op *op);
} takers[] = {
#define OPERATOR(code, name, columns) {columns},
#define ISLAND(fn)                    isl_##fn
#include "operators/operators.def"
};

static enum status one_operator(struct isl *s, const struct ir_op *op)
{
    bool done;

    s->row = op->row;
    if (!s->whole[op->row])
        isl_cells(s, op);
    if (s->whole[op->row] || belongs_to_pool(s, op))
        return ST_OK;
    if (is_alias(s, op)) {
        s->value[op->out[0]] = *isl_value(s, op->in[0]);
        return ST_OK;
    }
    TRY(isl_squares(s, op, &done));
    if (done)
        return ST_OK;
    if (takers[op->opcode].take)
        return takers[op->opcode].take(s, op);
    if (ir_op_info(op->opcode)->moves)
        return isl_moved(s, op);
    return isl_defers(s, op) ? isl_defer(s, op) : copied(s, op);
}

/* --- the graph --- */

static void count(struct isl *s)
{
    const struct ir_graph *g = s->from;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];

        for (uint32_t k = 0; k < op->n_in; k++)
            if (op->in[k] != IR_NONE)
                s->uses[op->in[k]]++;
        s->row_ops[op->row] +=
            op->opcode != IR_OP_DEQUANTIZE && op->opcode != IR_OP_QUANTIZE ? 1 : 0;
    }
    for (uint32_t i = 0; i < g->n_out; i++)
        s->uses[g->out[i]]++;
}

/* Add the file's tensor `id`, an input or a variable. */
static uint32_t given(struct isl *s, uint32_t id)
{
    const struct ir_tensor *t = s->from->tensor[id];
    const uint32_t to = isl_tensor(s, t->name, t->type, t->rank, t->dim, &t->quant);

    s->to->tensor[to]->role = t->role;
    s->to->tensor[to]->data = t->data;
    isl_set_tensor(s, id, to);
    return to;
}

/* The file's graph with operators that read past those of another name. */
static const struct ir_graph *without_aliases(const struct isl *s)
{
    struct ir_graph *g = arena_memdup(s->arena, s->from, sizeof *g);

    g->op = arena_memdup(s->arena, g->op, g->n_op * sizeof *g->op);
    for (uint32_t i = 0; i < g->n_op; i++) {
        g->op[i] = arena_memdup(s->arena, g->op[i], sizeof *g->op[i]);
        g->op[i]->in = arena_memdup(s->arena, g->op[i]->in, g->op[i]->n_in * sizeof *g->op[i]->in);
        for (uint32_t k = 0; k < g->op[i]->n_in; k++) {
            const uint32_t in = g->op[i]->in[k],
                           by = in == IR_NONE ? IR_NONE : g->tensor[in]->producer;

            if (by != IR_NONE && is_alias(s, g->op[by]))
                g->op[i]->in[k] = g->op[by]->in[0];
        }
    }
    return g;
}

static void begin(struct isl *s)
{
    const struct ir_graph *g = s->from;

    s->plain = without_aliases(s);
    s->to = ir_graph_new(s->arena, g->name);
    s->to->row = arena_memdup(s->arena, g->row, g->n_row * sizeof *g->row);
    s->to->n_row = g->n_row;
    s->value = ARENA_ARRAY(s->arena, struct isl_value, g->n_tensor);
    s->uses = ARENA_ARRAY(s->arena, uint32_t, g->n_tensor);
    s->whole = ARENA_ARRAY(s->arena, bool, g->n_row);
    s->row_ops = ARENA_ARRAY(s->arena, uint32_t, g->n_row);
    s->to->in = ARENA_ARRAY(s->arena, uint32_t, g->n_in);
    for (uint32_t i = 0; i < g->n_in; i++)
        s->to->in[i] = given(s, g->in[i]);
    s->to->n_in = g->n_in;
    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (g->tensor[i]->role == IR_VARIABLE)
            (void)given(s, i);
    count(s);
}

/* A tensor that is made, and no other output. */
static enum status one_output(struct isl *s, uint32_t file_id)
{
    const struct ir_tensor *y = s->from->tensor[file_id];
    struct ir_tensor *t;
    uint32_t id;

    s->row = s->from->op[y->producer]->row;
    if (isl_value(s, file_id)->kind == ISL_QUANTISED)
        isl_set_tensor(s, file_id, isl_dequantise(s, y->name, isl_value(s, file_id)->id));
    TRY(isl_float(s, file_id, &id));
    t = s->to->tensor[id];
    if (t->role != IR_VALUE || t->is_output) {
        id = isl_reshape(s, y->name, id, t->rank, t->dim);
        t = s->to->tensor[id];
    }
    t->is_output = true;
    s->to->out[s->to->n_out++] = id;
    return ST_OK;
}

enum status ref_islands(struct arena *a, const struct ir_graph *file, bool exact,
                        struct ir_graph **graph, struct diag *d)
{
    struct isl s = {.arena = a, .d = d, .exact = exact, .from = file};

    begin(&s);
    for (uint32_t i = 0; i < file->n_op; i++) {
        const enum status st = one_operator(&s, file->op[i]);

        if (st != ST_OK) {
            diag_prefix(d, "operator %u %s", file->op[i]->row, node_of(&s, file->op[i]));
            return st;
        }
    }
    s.to->out = ARENA_ARRAY(a, uint32_t, file->n_out);
    for (uint32_t i = 0; i < file->n_out; i++)
        TRY(one_output(&s, file->out[i]));
    TRY(ir_link(s.to, d));
    TRY(ir_verify(s.to, "islands", d));
    *graph = s.to;
    return ST_OK;
}
