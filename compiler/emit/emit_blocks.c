/* emit_blocks.c (emit) - layers built from a target's block multiplications: the plan as a
 * parameter struct, and weights and biases in the order in which the loops read them. */
#include "compiler/target/blocks.h"

#include "compiler/target/describe.h"
#include "emit.h"

static enum status plan_of(struct emit_unit *u, const struct ir_op *op, struct hdk_blocks *plan,
                           struct diag *d)
{
    double cycles;
    const char *why = blocks_plan(u->arena, u->graph, op,
                                  &describe_of(emit_outside(u, op))->blocks_unit, plan, &cycles);

    return why ? FAIL(d, ST_INTERNAL, "%s: %s", u->graph->row[op->row].name, why) : ST_OK;
}

enum status emit_blocks_params(struct emit_unit *u, struct text *t, const struct ir_op *op,
                               struct diag *d)
{
    struct hdk_blocks p;

    TRY(plan_of(u, op, &p, d));
    text_printf(t,
                "/* Blocks of %u pixels and %u channels, %u x %u bytes deep; %u rows of the output "
                "and %u blocks of channels in memory. */\n",
                p.rows, p.columns, p.pieces, p.piece_bytes, p.band, p.group);
    text_printf(t,
                "static const struct hdk_blocks %s_%u = {\n"
                "    .in_h = %u, .in_w = %u, .in_c = %u, .out_h = %u, .out_w = %u, .out_c = %u,\n"
                "    .kernel_h = %u, .kernel_w = %u, .stride_h = %u, .stride_w = %u, "
                ".dilation_h = %u,\n"
                "    .pad_top = %d, .pad_left = %d, .z_in = %d, .z_out = %d, .act_min = %d, "
                ".act_max = %d,\n    .scales = %u,\n",
                emit_id(u, op->row), op->id, p.in_h, p.in_w, p.in_c, p.out_h, p.out_w, p.out_c,
                p.kernel_h, p.kernel_w, p.stride_h, p.stride_w, p.dilation_h, p.pad_top, p.pad_left,
                p.z_in, p.z_out, p.act_min, p.act_max, p.scales);
    text_printf(t,
                "    .rows = %u, .columns = %u, .band = %u, .group = %u, .pieces = %u, "
                ".piece_bytes = %u,\n"
                "    .pitch = %u, .weights_at = 0x%x, .sums_at = 0x%x, .sums_bytes = %u};\n\n",
                p.rows, p.columns, p.band, p.group, p.pieces, p.piece_bytes, p.pitch, p.weights_at,
                p.sums_at, p.sums_bytes);
    return ST_OK;
}

/* Reorder weights [kh, kw, C, OC] to [OC rounded up, kh, kw, C] and add the input's zero point to
 * the biases. */
static void constants(struct emit_unit *u, const struct geo *g, uint32_t columns, uint32_t *w_at,
                      uint32_t *bias_at)
{
    size_t depth = (size_t)g->kh * g->kw * g->c, oc = (g->oc + columns - 1) / columns * columns;
    int8_t *w = arena_alloc(u->arena, oc * depth);
    int32_t *bias = ARENA_ARRAY(u->arena, int32_t, g->oc + 1);
    const int8_t *from = (const int8_t *)g->filter->data;
    const int32_t *given = g->bias ? (const int32_t *)(const void *)g->bias->data : NULL;

    for (size_t c = 0; c < oc; c++) {
        int32_t sum = 0;
        for (size_t i = 0; i < depth; i++) {
            w[c * depth + i] = c < g->oc ? from[i * g->oc + c] : 0;
            sum += w[c * depth + i];
        }
        if (c < g->oc)
            bias[c] =
                (int32_t)((given ? (uint32_t)given[c] : 0u) - (uint32_t)g->z_in * (uint32_t)sum);
    }
    *w_at = emit_host_constant(u, w, oc * depth);
    *bias_at = emit_host_constant(u, bias, (size_t)g->oc * 4);
}

void emit_blocks_call(struct emit_unit *u, struct text *t, const struct ir_op *op, const char *dev)
{
    const struct describe *target = describe_of(emit_outside(u, op));
    const struct ir_fixed *f = &op->fixed;
    struct geo g;
    uint32_t w_at, bias_at;

    geo_of(u->graph, op, &g);
    constants(u, &g, target->blocks_unit.columns, &w_at, &bias_at);
    uint32_t multipliers_at = emit_host_constant(u, f->multiplier, (size_t)f->n * 4),
             shifts_at = emit_host_constant(u, f->shift, f->n);
    text_printf(t, "MODEL_TRY(hdk_blocks_run(&%s_%u, &%s, %s,\n", emit_id(u, op->row), op->id,
                target->blocks, dev);
    text_printf(t, "        (const int8_t *)%s, (const int8_t *)(model_constants + 0x%x),\n",
                emit_pointer(u, op->in[0]), w_at);
    text_printf(t,
                "        (const int32_t *)(const void *)(model_constants + 0x%x),\n"
                "        (const int32_t *)(const void *)(model_constants + 0x%x),\n"
                "        (const int8_t *)(model_constants + 0x%x), (int8_t *)%s));\n",
                bias_at, multipliers_at, shifts_at, emit_pointer(u, op->out[0]));
}
