/* import_fold.c - see import_fold.h. */
#include "import_fold.h"

#include "compiler/ir/rules.h"
#include "reference/ref_kernels.h"

static bool folds(enum ir_opcode opcode, enum ir_type type)
{
    const struct ir_op_info *info = ir_op_info(opcode);

    return info->moves || opcode == IR_OP_CAST || opcode == IR_OP_DEQUANTIZE || type == IR_BOOL ||
           (ir_is_int(type) && (info->has_int || info->compares));
}

enum { MAX_OPERANDS = 64 };

static enum status evaluate(struct ir_graph *g, struct ir_op *op, struct diag *d)
{
    struct ir_tensor *y = ir_out(g, op, 0);
    const struct ir_tensor *in[MAX_OPERANDS], *out[1] = {y};
    const uint8_t *x[MAX_OPERANDS];
    uint8_t *data = arena_alloc(g->arena, (size_t)ir_bytes(y));
    const struct ref_call call = {op, in, x, out, &data, NULL};

    TRY(ir_check_op(g, op, d));
    for (uint32_t i = 0; i < op->n_in; i++) {
        in[i] = ir_in(g, op, i);
        x[i] = in[i]->data;
    }
    TRY(ref_kernel_of(op->opcode, in[0]->type)(&call, d));
    y->role = IR_CONST;
    y->data = data;
    y->producer = IR_NONE;
    op->dead = true;
    return ST_OK;
}

enum status import_fold(struct ir_graph *g, struct ir_op *op, struct diag *d)
{
    if (op->n_in == 0 || op->n_in > MAX_OPERANDS)
        return ST_OK;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i] == IR_NONE || g->tensor[op->in[i]]->role != IR_CONST)
            return ST_OK;
    return folds(op->opcode, ir_in(g, op, 0)->type) ? evaluate(g, op, d) : ST_OK;
}
