/* emit_host_call.c - write the parameter struct of each host layer and the line that calls its
 * kernel. host_rows.c picks the kernel; a writer fills the struct's fields. */
#include "compiler/systolic/schedule/host_layer.h"
#include "emit_host.h"

enum status emit_host_params(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    const struct host_op *h = emit_host_row(u->graph, op);
    const struct ir_row *row = &u->graph->row[op->row];

    if (!h)
        return FAIL(d, ST_UNSUPPORTED, "operator %s (%s): no host kernel for %s", row->name,
                    row->op, ir_type_name(ir_in(u->graph, op, 0)->type));
    text_printf(t, "/* %s: %s, output %s */\nstatic const struct hdk_%s %s_%u = {\n", row->name,
                row->op, row->shape, h->params, emit_id(u, op->row), op->id);
    TRY(h->write(u, t, op, d));
    text_add(t, "};\n\n");
    return ST_OK;
}

static void add_panels(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    struct geo g;
    uint32_t n;

    geo_of(u->graph, op, &g);
    const uint8_t *panels = host_panels(u->arena, &g, &n);
    text_printf(t, ", model_constants + 0x%x", emit_host_constant(u, panels, n));
}

static const char *c_type(const struct ir_tensor *t)
{
    switch (t->type) {
    case IR_F32: return "float";
    case IR_I16: return "int16_t";
    case IR_I32: return "int32_t";
    case IR_I64: return "int64_t";
    default: return "int8_t";
    }
}

static void add_inputs(struct emit_unit *u, struct text *t, const struct host_op *h,
                       const struct ir_op *op)
{
    if (h->args == HOST_LIST) {
        text_add(t, ",\n        (const void *const[]){");
        for (uint32_t i = 0; i < op->n_in; i++)
            text_printf(t, "%s%s", i ? ", " : "", emit_pointer(u, op->in[i]));
        text_add(t, "}");
        return;
    }
    const bool three = h->args == HOST_ALL || h->args == HOST_UPDATE;
    for (uint32_t i = 0; i < (three ? 3u : h->args == HOST_TWO ? 2u : 1u); i++)
        if (ir_in(u->graph, op, i))
            text_printf(t, ",%s(const %s *)(const void *)%s", i ? " " : "\n        ",
                        c_type(ir_in(u->graph, op, i)), emit_pointer(u, op->in[i]));
        else
            text_add(t, ", NULL");
    if (h->args == HOST_WEIGHTS)
        add_panels(u, t, op);
    for (uint32_t i = 4; h->args == HOST_STATE && i < op->n_in; i++)
        text_printf(t, ", (%s *)(void *)%s", c_type(ir_in(u->graph, op, i)),
                    emit_pointer(u, op->in[i]));
}

void emit_host_call(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    const struct host_op *h = emit_host_row(u->graph, op);
    uint32_t to = h->args == HOST_ASSIGN   ? op->in[1]
                  : h->args == HOST_UPDATE ? op->in[0]
                                           : op->out[0];

    text_printf(t, "hdk_%s(&%s_%u", h->kernel, emit_id(u, op->row), op->id);
    add_inputs(u, t, h, op);
    text_printf(t, ",\n        (%s *)(void *)%s", c_type(u->graph->tensor[to]),
                emit_pointer(u, to));
    if (host_scratch(u->graph, op))
        text_printf(t, ", call->arena + 0x%x", emit_scratch(u, op));
    text_add(t, ");\n");
}
