/* ref_islands_emit.c - tensors, operators and movers of the graph that islands become; values and deferred
 * results of the file. */
#include <math.h>
#include <string.h>

#include "ref_islands_own.h"

uint32_t isl_tensor(struct isl *s, const char *name, enum ir_type type, uint32_t rank,
                    const int32_t *dim, const struct ir_quant *q)
{
    struct ir_tensor *t = ir_tensor_new(s->to, name, type, rank, dim);

    if (q != NULL && type != IR_F32)
        t->quant = *q;
    return t->id;
}

uint32_t isl_const(struct isl *s, const char *name, enum ir_type type, uint32_t rank,
                   const int32_t *dim, const void *data, const struct ir_quant *q)
{
    const uint32_t id = isl_tensor(s, name, type, rank, dim, q);

    s->to->tensor[id]->role = IR_CONST;
    s->to->tensor[id]->data = data;
    return id;
}

struct ir_op *isl_op(struct isl *s, enum ir_opcode opcode, uint32_t n_in, const uint32_t *in,
                     uint32_t out)
{
    struct ir_op *op = ir_op_new(s->to, opcode, s->row, n_in, 1);

    memcpy(op->in, in, n_in * sizeof *in);
    op->out[0] = out;
    s->to->tensor[out]->producer = op->id;
    return op;
}

const char *isl_inner(struct isl *s, const char *name, const char *what)
{
    return arena_printf(s->arena, "%s/%s", name, what);
}

struct ir_quant isl_one_scale(struct isl *s, float scale, int32_t zero)
{
    return (struct ir_quant){1, 0, arena_memdup(s->arena, &scale, sizeof scale),
                             arena_memdup(s->arena, &zero, sizeof zero)};
}

uint32_t isl_reshape(struct isl *s, const char *name, uint32_t id, uint32_t rank,
                     const int32_t *dim)
{
    const struct ir_tensor *t = s->to->tensor[id];
    const uint32_t out = isl_tensor(s, name, t->type, rank, dim, &t->quant);

    isl_op_reshape(s, 1, &id, out);
    return out;
}

uint32_t isl_transpose(struct isl *s, const char *name, uint32_t id, const int32_t *perm)
{
    const struct ir_tensor *t = s->to->tensor[id];
    const int32_t rank = (int32_t)t->rank;
    const int32_t *order = arena_memdup(s->arena, perm, t->rank * sizeof *perm);
    uint32_t in[2] = {id, isl_const(s, isl_inner(s, name, "order"), IR_I32, 1, &rank, order, NULL)};
    int32_t dim[IR_MAX_RANK];
    uint32_t out;

    for (uint32_t i = 0; i < t->rank; i++)
        dim[i] = t->dim[perm[i]];
    out = isl_tensor(s, name, t->type, t->rank, dim, &t->quant);
    isl_op_transpose(s, 2, in, out);
    return out;
}

uint32_t isl_to_nhwc(struct isl *s, uint32_t id)
{
    static const int32_t last[] = {0, 2, 3, 1};
    const struct ir_tensor *t = s->to->tensor[id];
    const int32_t wide[4] = {t->dim[0], t->dim[1], 1, t->dim[2]};

    if (t->rank == 3)
        id = isl_reshape(s, isl_inner(s, t->name, "nchw"), id, 4, wide);
    return isl_transpose(s, isl_inner(s, t->name, "nhwc"), id, last);
}

uint32_t isl_from_nhwc(struct isl *s, const char *name, uint32_t id, uint32_t rank)
{
    static const int32_t second[] = {0, 3, 1, 2};
    const struct ir_tensor *t = s->to->tensor[id];
    const int32_t flat[3] = {t->dim[0], t->dim[3], t->dim[2]};

    id = isl_transpose(s, rank == 4 ? name : isl_inner(s, name, "nchw"), id, second);
    return rank == 4 ? id : isl_reshape(s, name, id, 3, flat);
}

void isl_nhwc_shape(const struct ir_tensor *file, int32_t dim[4])
{
    dim[0] = file->dim[0];
    dim[1] = file->rank == 4 ? file->dim[2] : 1;
    dim[2] = file->dim[file->rank - 1];
    dim[3] = file->dim[1];
}

bool isl_same_quant(const struct ir_tensor *t, enum ir_type type, const struct ir_quant *q)
{
    return t->type == type && t->quant.n == 1 && q->n == 1 && t->quant.scale[0] == q->scale[0] &&
           t->quant.zero_point[0] == q->zero_point[0];
}

uint32_t isl_rescale(struct isl *s, const char *name, uint32_t id, enum ir_type type,
                     const struct ir_quant *q)
{
    const struct ir_tensor *t = s->to->tensor[id];
    uint32_t out;

    if (isl_same_quant(t, type, q))
        return id;
    out = isl_tensor(s, name, type, t->rank, t->dim, q);
    isl_op_quantize(s, 1, &id, out);
    return out;
}

/* --- values of the file, results that wait --- */

void isl_set_tensor(struct isl *s, uint32_t file_id, uint32_t id)
{
    s->value[file_id] = (struct isl_value){.kind = ISL_TENSOR, .id = id};
}

/* Constants come over when somebody reads them. */
struct isl_value *isl_value(struct isl *s, uint32_t file_id)
{
    const struct ir_tensor *t = s->from->tensor[file_id];

    if (s->value[file_id].kind == ISL_UNKNOWN && t->role == IR_CONST)
        isl_set_tensor(s, file_id,
                       isl_const(s, t->name, t->type, t->rank, t->dim, t->data, &t->quant));
    return &s->value[file_id];
}

uint32_t isl_float_const(struct isl *s, const struct ir_tensor *t)
{
    return isl_const(s, t->name, IR_F32, t->rank, t->dim, isl_values(s, t), NULL);
}

uint32_t isl_dequantise(struct isl *s, const char *name, uint32_t id)
{
    const struct ir_tensor *t = s->to->tensor[id];
    const uint32_t out = isl_tensor(s, name, IR_F32, t->rank, t->dim, NULL);

    isl_op_dequantize(s, 1, &id, out);
    return out;
}

uint32_t isl_as_float(struct isl *s, uint32_t id)
{
    const struct ir_tensor *t = s->to->tensor[id];

    if (t->type == IR_F32)
        return id;
    if (t->role == IR_CONST)
        return isl_float_const(s, t);
    return isl_dequantise(s, isl_inner(s, t->name, "float"), id);
}

struct isl_deferred *isl_new_deferred(struct isl *s, const struct ir_op *op, uint32_t n_in)
{
    struct isl_deferred *p = ARENA_NEW(s->arena, struct isl_deferred);

    p->y = ir_out(s->from, op, 0);
    p->row = op->row;
    p->opcode = op->opcode;
    memcpy(p->attr, op->attr, sizeof p->attr);
    p->n_in = n_in;
    p->copies = 1;
    p->in = ARENA_ARRAY(s->arena, uint32_t, n_in);
    p->low = -INFINITY;
    p->high = INFINITY;
    return p;
}

void isl_set_deferred(struct isl *s, const struct ir_op *op, const struct isl_deferred *p)
{
    s->value[op->out[0]] = (struct isl_value){.kind = ISL_DEFERRED, .deferred = p};
}

bool isl_reads_wide(const struct isl *s, const struct isl_deferred *p)
{
    for (uint32_t i = 0; i < p->n_in; i++)
        if (s->to->tensor[p->in[i]]->type == IR_I16)
            return true;
    return false;
}

bool isl_can_be_wide(const struct isl_deferred *p)
{
    return ir_op_info(p->opcode)->activation == IR_ACT_CLIP ||
           (ir_op_info(p->opcode)->types >> IR_I16 & 1) != 0;
}

bool isl_is_float(const struct isl *s, const struct isl_deferred *p)
{
    bool found = !ir_op_info(p->opcode)->onnx_quantised ||
                 (p->has_weights && p->w.type == IR_F32) ||
                 (isl_reads_wide(s, p) && !isl_can_be_wide(p));

    for (uint32_t i = 0; i < p->n_in; i++)
        found = found || s->to->tensor[p->in[i]]->type == IR_F32;
    return found;
}

/* The pending result of the file's tensor if it may become part of `op`'s, that is if no other
 * operator would compute it in float32 again. */
struct isl_deferred *isl_grown(struct isl *s, const struct ir_op *op, uint32_t file_id)
{
    const struct isl_value *v = isl_value(s, file_id);
    struct isl_deferred *p;

    if (v->kind != ISL_DEFERRED || (s->uses[file_id] > 1 && isl_is_float(s, v->deferred)))
        return NULL;
    p = arena_memdup(s->arena, v->deferred, sizeof *p);
    p->y = ir_out(s->from, op, 0);
    return p;
}

bool isl_is_clamped(const struct isl_deferred *p)
{
    return p->low > -INFINITY || p->high < INFINITY;
}

void isl_set_bounds(int32_t *attr, const struct isl_deferred *p)
{
    memcpy(&attr[IR_CLIP_LOW_BITS], &p->low, sizeof p->low);
    memcpy(&attr[IR_CLIP_HIGH_BITS], &p->high, sizeof p->high);
}

void isl_set_attributes(struct ir_op *op, const struct isl_deferred *p)
{
    memcpy(op->attr, p->attr, sizeof op->attr);
    if (ir_op_info(op->opcode)->activation == IR_ACT_CLIP)
        isl_set_bounds(op->attr, p);
    if (!ir_op_info(op->opcode)->fuses_clamp || !isl_is_clamped(p))
        return;
    op->attr[IR_ACTIVATION] = IR_ACT_CLIP;
    isl_set_bounds(op->attr, p);
}
