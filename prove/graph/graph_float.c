/* graph_float.c - float32 of a byte: where all bytes of all operands are functions of one integer, the
 * reference's kernel is run on each of at most 256 values, and the results are the function. */
#include <string.h>

#include "graph.h"

static uint32_t width(const struct ir_tensor *t)
{
    return t->type == IR_F32 ? 4 : 1;
}

static bool is_ruled(const struct ir_tensor *t)
{
    return t && (t->type == IR_F32 || t->type == IR_I8 || t->type == IR_U8);
}

/* Operators whose elements are functions of their operands' elements at the same place. */
static bool is_elementwise(const struct prove_op *o)
{
    ref_kernel *kernel = ref_kernel_of(o->op->opcode, o->in[0]->type);
    const uint32_t n = o->op->n_in;

    if (n < 1 || n > 2 || !is_ruled(o->out) || !is_ruled(o->in[0]) ||
        (n > 1 && !is_ruled(o->in[1])))
        return false;
    return kernel == ref_f32_unary || kernel == ref_f32_binary ||
           (o->op->opcode == IR_OP_QUANTIZE && o->in[0]->type == IR_F32);
}

/* Run the kernel on the n values of the operands' bytes; byte b of result i is y[b][i]. */
static bool run_kernel(const struct prove_op *o, const struct prove_joint *j, int8_t y[4][256])
{
    struct ir_tensor flat[3];
    const struct ir_tensor *in[2] = {&flat[0], &flat[1]}, *out = &flat[2];
    uint8_t bytes[3][1024];
    const uint8_t *x[2] = {bytes[0], bytes[1]};
    uint8_t *to = bytes[2];
    uint32_t first = 0;
    struct diag d = {0};

    for (uint32_t k = 0; k < 3; k++) {
        const struct ir_tensor *t = k == 2 ? o->out : k < o->op->n_in ? o->in[k] : o->in[0];

        flat[k] = *t;
        flat[k].rank = 1;
        flat[k].dim[0] = (int32_t)j->n;
        for (uint32_t b = 0; k < o->op->n_in && b < width(t); b++)
            for (uint32_t i = 0; i < j->n; i++)
                bytes[k][i * width(t) + b] = (uint8_t)j->value[first + b][i];
        first += k < o->op->n_in ? width(t) : 0;
    }
    const struct ref_call c = {o->op, in, x, &out, &to, o->k};
    if (ref_kernel_of(o->op->opcode, o->in[0]->type)(&c, &d) != ST_OK)
        return false;
    for (uint32_t b = 0; b < width(o->out); b++)
        for (uint32_t i = 0; i < j->n; i++)
            y[b][i] = (int8_t)to[i * width(o->out) + b];
    return true;
}

bool prove_graph_float(const struct prove_op *o)
{
    const size_t n = (size_t)ir_elements(o->out);
    struct prove_joint *j = ARENA_NEW(o->p->arena, struct prove_joint);
    uint32_t t[PROVE_JOINT];
    int8_t y[4][256];

    if (!is_elementwise(o))
        return false;
    for (size_t i = 0; i < n; i++) {
        uint32_t count = 0;

        for (uint32_t k = 0; k < o->op->n_in; k++)
            for (uint32_t b = 0; b < width(o->in[k]); b++)
                t[count++] = o->x[k][ref_broadcast_at(o->in[k], o->out, i) * width(o->in[k]) + b];
        if (!prove_joint(o->p, t, count, j) || !run_kernel(o, j, y))
            return false;
        for (uint32_t b = 0; b < width(o->out); b++)
            o->y[i * width(o->out) + b] = prove_pieces(o->p, j->at, y[b], j->n, j->arg, j->span);
    }
    return true;
}
