/* ref_run.c - interpret a graph, operator by operator in its order. */
#include "reference/ref.h"

#include <string.h>

#include "reference/ref_kernels.h"

static const struct {
    ref_kernel *any, *f32;
} kernels[] = {
#define OPERATOR(code, name, columns) {columns},
#define REFERENCE(kernel)             .any = ref_##kernel,
#define F32(kernel)                   .f32 = ref_##kernel,
#define F32_UNARY(fn)                 .f32 = ref_f32_unary,
#define F32_BINARY(fn)                .f32 = ref_f32_binary,
#include "operators/operators.def"
};

ref_kernel *ref_kernel_of(enum ir_opcode opcode, enum ir_type type)
{
    if (type == IR_F32 && kernels[opcode].f32 != NULL)
        return kernels[opcode].f32;
    if (ir_is_int(type) && ir_op_info(opcode)->has_int)
        return ref_arithmetic;
    return kernels[opcode].any != NULL ? kernels[opcode].any : ref_none;
}

struct ref {
    const struct ir_graph *g;
    const struct ref_constants **constants; /* of each operator */
    uint8_t **bytes;                        /* of each tensor */
    const struct ir_tensor **in, **out;
    const uint8_t **x;
    uint8_t **y;
    ref_tap *tap;
    void *ctx;
};

static uint32_t most_operands(const struct ir_graph *g)
{
    uint32_t most = 1;

    for (uint32_t i = 0; i < g->n_op; i++) {
        most = g->op[i]->n_in > most ? g->op[i]->n_in : most;
        most = g->op[i]->n_out > most ? g->op[i]->n_out : most;
    }
    return most;
}

struct ref *ref_new(struct arena *a, const struct ir_graph *g, const struct ref_options *o)
{
    struct ref *r = ARENA_NEW(a, struct ref);
    const uint32_t most = most_operands(g);

    r->g = g;
    r->bytes = ARENA_ARRAY(a, uint8_t *, g->n_tensor);
    r->in = ARENA_ARRAY(a, const struct ir_tensor *, most);
    r->out = ARENA_ARRAY(a, const struct ir_tensor *, most);
    r->x = ARENA_ARRAY(a, const uint8_t *, most);
    r->y = ARENA_ARRAY(a, uint8_t *, most);
    for (uint32_t i = 0; i < g->n_tensor; i++) {
        const struct ir_tensor *t = g->tensor[i];

        if (t->role == IR_CONST)
            continue;
        if (t->role != IR_VALUE || t->producer != IR_NONE)
            r->bytes[i] = arena_alloc(a, (size_t)ir_bytes(t));
    }
    r->constants = ARENA_ARRAY(a, const struct ref_constants *, g->n_op);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead)
            r->constants[i] = ref_constants_of(a, g, g->op[i], o);
    ref_reset(r);
    return r;
}

void ref_set_tap(struct ref *r, ref_tap *tap, void *ctx)
{
    r->tap = tap;
    r->ctx = ctx;
}

void ref_reset(struct ref *r)
{
    for (uint32_t i = 0; i < r->g->n_tensor; i++) {
        const struct ir_tensor *t = r->g->tensor[i];

        if (t->role != IR_VARIABLE)
            continue;
        if (t->data != NULL)
            memcpy(r->bytes[i], t->data, (size_t)ir_bytes(t));
        else
            memset(r->bytes[i], 0, (size_t)ir_bytes(t));
    }
}

const uint8_t *ref_bytes(const struct ref *r, uint32_t id)
{
    return r->bytes[id];
}

static enum status run_op(struct ref *r, uint32_t index, struct diag *d)
{
    const struct ir_op *op = r->g->op[index];
    const struct ref_call c = {op, r->in, r->x, r->out, r->y, r->constants[index]};

    for (uint32_t i = 0; i < op->n_in; i++) {
        r->in[i] = ir_in(r->g, op, i);
        r->x[i] = NULL;
        if (r->in[i] != NULL)
            r->x[i] = r->in[i]->role == IR_CONST ? r->in[i]->data : r->bytes[op->in[i]];
    }
    for (uint32_t i = 0; i < op->n_out; i++) {
        r->out[i] = ir_out(r->g, op, i);
        r->y[i] = r->bytes[op->out[i]];
    }
    TRY(ref_kernel_of(op->opcode, r->in[0]->type)(&c, d));
    if (r->tap != NULL)
        r->tap(r->ctx, op, r->y[0]);
    return ST_OK;
}

enum status ref_run(struct ref *r, const uint8_t *const *in, uint8_t *const *out, struct diag *d)
{
    const struct ir_graph *g = r->g;

    for (uint32_t i = 0; i < g->n_in; i++)
        memcpy(r->bytes[g->in[i]], in[i], (size_t)ir_bytes(g->tensor[g->in[i]]));
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead)
            TRY(run_op(r, i, d));
    for (uint32_t i = 0; i < g->n_out; i++)
        memcpy(out[i], r->bytes[g->out[i]], (size_t)ir_bytes(g->tensor[g->out[i]]));
    return ST_OK;
}
