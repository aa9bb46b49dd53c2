/* graph_bytes.c - operators of one byte, or of two: the reference's kernel is run on all bytes, or on
 * all pairs, and the results are the function. */
#include <string.h>

#include "graph.h"

static struct ir_tensor *flat(const struct prove_op *o, const struct ir_tensor *t, int32_t n)
{
    struct ir_tensor *f = arena_memdup(o->p->arena, t, sizeof *t);

    f->rank = 1;
    f->dim[0] = n;
    return f;
}

/* y of n elements each of a and b (or of a alone). */
static bool run_kernel(const struct prove_op *o, int32_t n, const uint8_t *a, const uint8_t *b,
                       uint8_t *y)
{
    const struct ir_tensor *in[2] = {flat(o, o->in[0], n), b ? flat(o, o->in[1], n) : NULL},
                           *out = flat(o, o->out, n);
    const uint8_t *x[2] = {a, b};
    const struct ref_call c = {o->op, in, x, &out, &y, o->k};
    struct diag d = {0};

    return ref_kernel_of(o->op->opcode, o->in[0]->type)(&c, &d) == ST_OK;
}

static bool is_byte(const struct ir_tensor *t)
{
    return t && (t->type == IR_I8 || t->type == IR_U8);
}

/* DEQUANTIZE, and QUANTIZE to int16: the bytes of a result, each a function of one byte. */
static bool widened(const struct prove_op *o)
{
    const size_t n = (size_t)ir_elements(o->out), wide = ir_type_bytes(o->out->type);
    uint8_t a[256], y[256 * 4];
    int8_t table[4][256];

    if (!is_byte(o->in[0]) || (o->out->type != IR_F32 && o->out->type != IR_I16))
        return false;
    for (uint32_t i = 0; i < 256; i++)
        a[i] = (uint8_t)(i ^ 0x80);
    if (!run_kernel(o, 256, a, NULL, y))
        return false;
    for (uint32_t i = 0; i < 256 * wide; i++)
        table[i % wide][i / wide] = (int8_t)y[i];
    for (size_t i = 0; i < n * wide; i++)
        o->y[i] = prove_table(o->p, table[i % wide], o->x[0][i / wide]);
    return true;
}

static bool quantize(const struct prove_op *o)
{
    const size_t n = (size_t)ir_elements(o->out);

    if (!is_byte(o->out) || (o->k && o->k->n_real))
        return false;
    for (size_t i = 0; i < n; i++) {
        o->y[i] = prove_quantize(o->p, o->x[0] + 4 * i, o->out->quant.scale[0], prove_zero(o->out));
        if (o->out->type == IR_U8)
            o->y[i] = prove_flip(o->p, o->y[i]);
    }
    return true;
}

bool prove_graph_unary(const struct prove_op *o)
{
    const struct ir_op_info *info = ir_op_info(o->op->opcode);
    const bool is_quantize = o->op->opcode == IR_OP_QUANTIZE;
    const size_t n = (size_t)ir_elements(o->out);
    uint8_t a[256], y[256];
    int8_t table[256];

    if (o->op->opcode == IR_OP_DEQUANTIZE || (is_quantize && o->out->type == IR_I16))
        return widened(o);
    if (is_quantize && o->in[0]->type == IR_F32)
        return quantize(o);
    if (o->op->n_in != 1 || !is_byte(o->in[0]) || !is_byte(o->out) ||
        !(info->becomes_lut || is_quantize || o->op->opcode == IR_OP_LUT))
        return false;
    for (uint32_t i = 0; i < 256; i++)
        a[i] = (uint8_t)(i ^ 0x80);
    if (!run_kernel(o, 256, a, NULL, y))
        return false;
    memcpy(table, y, sizeof table);
    for (size_t i = 0; i < n; i++)
        o->y[i] = prove_table(o->p, table, o->x[0][i]);
    return true;
}

static bool is_binary(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_ADD:
    case IR_OP_SUB:
    case IR_OP_MUL:
    case IR_OP_MAXIMUM:
    case IR_OP_MINIMUM:
    case IR_OP_PRELU:
    case IR_OP_SQUARED_DIFFERENCE: return true;
    default: return false;
    }
}

bool prove_graph_binary(const struct prove_op *o)
{
    struct arena *m = o->p->arena;
    const size_t n = (size_t)ir_elements(o->out);

    if (!is_binary(o->op->opcode) || o->op->n_in != 2 || !is_byte(o->in[0]) || !is_byte(o->in[1]) ||
        !is_byte(o->out))
        return false;
    const uint8_t first = o->in[0]->type == IR_U8 ? 0x80 : 0,
                  second = o->in[1]->type == IR_U8 ? 0x80 : 0,
                  flips = o->out->type == IR_U8 ? 0x80 : 0;
    uint8_t *a = arena_alloc(m, 65536), *b = arena_alloc(m, 65536), *y = arena_alloc(m, 65536);
    for (uint32_t i = 0; i < 65536; i++) {
        a[i] = (uint8_t)((i / 256 ^ 0x80) ^ first);
        b[i] = (uint8_t)((i % 256 ^ 0x80) ^ second);
    }
    if (!run_kernel(o, 65536, a, b, y))
        return false;
    for (uint32_t i = 0; i < 65536; i++)
        y[i] ^= flips;
    const uint32_t *x = prove_signed(o, o->in[0], o->x[0]), *w = prove_signed(o, o->in[1], o->x[1]);
    for (size_t i = 0; i < n; i++) {
        o->y[i] = prove_pair(o->p, (const int8_t *)y, x[ref_broadcast_at(o->in[0], o->out, i)],
                             w[ref_broadcast_at(o->in[1], o->out, i)]);
        if (flips)
            o->y[i] = prove_flip(o->p, o->y[i]);
    }
    return true;
}
