/* host_rows.c - the arguments of a host kernel's call and the writer of its parameter struct: one
 * row per operator and form, made from column KERNEL of operators.def. */
#include "compiler/host/host_kernel.h"
#include "emit_host.h"

static const struct {
    struct host_op of[FORM_COUNT];
} rows[] = {
#define OPERATOR(code, name, columns) {.of = {columns}},
#define KERNEL(form, kernel, params, writer, args)                                                 \
    [FORM_##form] = {#kernel, #params, emit_##writer, HOST_##args},
#include "operators/operators.def"
};

const struct host_op *emit_host_row(const struct ir_graph *g, const struct ir_op *op)
{
    const enum kernel_form form = host_kernel_form(g, op);

    return form < FORM_COUNT ? &rows[op->opcode].of[form] : NULL;
}
