/* emit_model.c (emit) - write model.h and model.c of the emitted network: parameter structs, one
 * run() with a line per layer, names, and the table that runners use. */
#include <string.h>

#include "compiler/target/describe.h"
#include "emit.h"

static bool host_op(const struct ir_op *op)
{
    return !op->dead && op->region == IR_NONE;
}

/* "call->dev" for the first device, "call->devices[1]" for the second. */
static const char *device_of(struct emit_unit *u, uint32_t device)
{
    return device ? arena_printf(u->arena, "call->devices[%u]", device) : "call->dev";
}

/* Write the copies of tensors that the device exchanges with others before and after one
 * submission. */
static void add_copies(struct emit_unit *u, struct text *t, const struct sched_stream *s, bool in)
{
    const struct sched_exchange e = sched_exchange(u->arena, u->program, s, in);

    for (uint32_t i = 0; i < e.n; i++) {
        const struct sched_place *at = &u->program->place[e.tensor[i]];
        text_printf(t, "    MODEL_TRY(hd_copy_%s(%s, %u, 0x%x, %u));\n", in ? "in" : "out",
                    device_of(u, s->device), at->mem_region, sched_memory_at(at), at->mem_bytes);
    }
}

/* Write the regions whose address is known at this point. */
static void add_windows(struct emit_unit *u, struct text *t, const struct sched_stream *s)
{
    const struct ir_graph *g = u->graph;
    uint32_t bound = 0;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i], *first = sched_window_op(g, op);
        const uint32_t region = sched_window(g, op);
        if (!first || op->region != s->region || (bound >> region & 1))
            continue;
        const bool gather = ir_gathers(op);
        bound |= 1u << region;
        text_printf(t, "    MODEL_TRY(hd_bind_part(%s, %u, %u,\n        hdk_%s_at(&%s_%u, %s)));\n",
                    device_of(u, s->device), region,
                    gather ? (uint32_t)HD_REGION_CONSTANTS : sched_state_region(g),
                    gather ? "gather" : "update", emit_id(u, first->row), first->id,
                    emit_pointer(u, op->in[sched_window_start(op)]));
    }
}

static void add_submission(struct emit_unit *u, struct text *t, uint32_t k)
{
    const struct sched_stream *s = &u->program->stream[k];
    uint32_t first = s->cmd[0].row, last = s->cmd[s->n - 1].row;

    text_printf(t, "\n    /* accelerator: %s to %s, about %llu cycles */\n",
                u->graph->row[first].name, u->graph->row[last].name,
                (unsigned long long)s->est_cycles);
    text_printf(t, "    model_enter(call, %u, %u);\n", first, 1 + s->device);
    add_copies(u, t, s, true);
    add_windows(u, t, s);
    text_printf(t, "    MODEL_TRY(hd_run(%s, 0x%x, %u));\n", device_of(u, s->device), s->offset,
                s->n_bytes);
    add_copies(u, t, s, false);
}

static void add_host_call(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    const struct ir_row *row = &u->graph->row[op->row];
    const struct target *target = emit_outside(u, op);

    const struct target *named = u->targets->target[op->target];

    text_printf(t, "\n    /* %s: %s (%s)",
                target || named->desc->outside ? describe_label(u->arena, named) : "host",
                row->name, row->op);
    if (row->reason) {
        text_add(t, ", ");
        text_add_escaped(t, row->reason, 200);
    }
    text_printf(t, " */\n    model_enter(call, %u, 0);\n    ", op->row);
    if (target)
        emit_outside_call(u, t, op);
    else
        emit_host_call(u, t, op);
}

/* Copy outputs that are an input, a constant, or a tensor listed twice. */
static void add_output_copies(struct emit_unit *u, struct text *t)
{
    const struct ir_graph *g = u->graph;

    for (uint32_t i = 0; i < g->n_out; i++) {
        if (sched_output_copied(u->program, i))
            text_printf(t, "    hdk_copy(&(const struct hdk_copy){%u}, %s, call->out[%u]);\n",
                        u->program->place[g->out[i]].mem_bytes, emit_pointer(u, g->out[i]), i);
    }
}

static void add_run(struct emit_unit *u, struct text *t)
{
    const struct ir_graph *g = u->graph;
    uint32_t stream = 0;

    text_add(t, "static int run(const struct hd_call *call)\n{");
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (host_op(op) && !ir_ends_call(g, i))
            continue;
        if (host_op(op))
            add_host_call(u, t, op);
        else if (!op->dead && stream < u->program->n_stream &&
                 u->program->stream[stream].region == op->region)
            add_submission(u, t, stream++);
    }
    text_add(t, "\n");
    add_output_copies(u, t);
    text_add(t, "    return HD_OK;\n}\n\n");
}

/* Write the initial values of the variables. */
static void add_reset(struct emit_unit *u, struct text *t)
{
    const struct ir_graph *g = u->graph;

    if (!u->state_bytes)
        return;
    text_printf(t,
                "static void reset_state(uint8_t *state)\n{\n"
                "    for (uint32_t i = 0; i < %u; i++)\n        state[i] = 0;\n",
                u->state_bytes);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (g->tensor[i]->role == IR_VARIABLE && g->tensor[i]->data)
            text_printf(
                t,
                "    hdk_copy(&(const struct hdk_copy){%llu}, model_constants + 0x%x, state "
                "+ 0x%x);\n",
                (unsigned long long)ir_bytes(g->tensor[i]),
                emit_host_constant(u, g->tensor[i]->data, (size_t)ir_bytes(g->tensor[i])),
                u->state_offset[i]);
    text_add(t, "}\n\n");
}

static void add_quoted(struct text *t, const char *s)
{
    text_add(t, "\"");
    for (const char *p = s; *p && p - s < 200; p++)
        if (*p == '"' || *p == '\\' || *p == '?')
            text_printf(t, "\\%c", *p);
        else
            text_add_n(t, *p >= 0x20 && *p < 0x7f ? p : "_", 1);
    text_add(t, "\"");
}

static void add_io(struct emit_unit *u, struct text *t, const char *what, const uint32_t *id,
                   uint32_t n, uint32_t region)
{
    text_printf(t, "static const struct hd_io %s[] = {\n", what);
    for (uint32_t i = 0; i < n; i++) {
        const struct ir_tensor *x = ir_border(u->graph, id[i]);
        text_add(t, "    {");
        add_quoted(t, x->name);
        text_printf(t, ", %llu, %u, \"%s\", \"", (unsigned long long)ir_bytes(x), region + i,
                    ir_type_name(x->type));
        for (uint32_t k = 0; k < x->rank; k++)
            text_printf(t, "%s%d", k ? "x" : "", x->dim[k]);
        text_add(t, "\"},\n");
    }
    text_add(t, "};\n");
}

/* List the targets whose cores the caller must open. */
static void add_ports(struct emit_unit *u, struct text *t)
{
    const struct target *port[TARGET_MAX];
    uint32_t n = emit_outside_ports(u, port);

    if (n == 0)
        return;
    text_printf(t, "    .n_ports = %u,\n    .port_names = (const char *const[]){", n);
    for (uint32_t i = 0; i < n; i++)
        text_printf(t, "%s\"%s\"", i ? ", " : "", port[i]->name);
    text_add(t, "},\n");
}

/* List the devices that the caller must open, if there are several. */
static void add_devices(struct emit_unit *u, struct text *t)
{
    const struct sched_program *p = u->program;

    if (p->n_device < 2)
        return;
    text_printf(t, "    .n_devices = %u,\n    .devices = (const struct hd_model_device[]){\n",
                p->n_device);
    for (uint32_t i = 0; i < p->n_device; i++)
        text_printf(t, "        {\"%s\", \"%s\", 0x%08xu},\n",
                    u->targets->target[p->device[i].target]->name, p->device[i].hw->name,
                    p->device[i].hw->hash);
    text_add(t, "    },\n");
}

static void add_table(struct emit_unit *u, struct text *t)
{
    const struct ir_graph *g = u->graph;
    const struct sched_program *p = u->program;

    add_io(u, t, "inputs", g->in, g->n_in, HD_REGION_IO);
    add_io(u, t, "outputs", g->out, g->n_out, HD_REGION_IO + g->n_in);
    text_add(t, "static const char *const layer_names[] = {\n");
    for (uint32_t i = 0; i < g->n_row; i++)
        text_printf(t, "    \"%s\",\n", g->row[i].name);
    text_add(t, "};\n\nconst struct hd_model hd_model = {\n    .abi = HD_MODEL_ABI,\n    .name = ");
    add_quoted(t, g->name);
    text_printf(t, ",\n    .hw = \"%s\",\n    .config_hash = MODEL_CONFIG_HASH,\n",
                p->n_stream ? p->hw->name : "");
    text_printf(t,
                "    .n_inputs = %u,\n    .n_outputs = %u,\n    .inputs = inputs,\n    .outputs = "
                "outputs,\n",
                g->n_in, g->n_out);
    if (p->n_stream)
        text_add(t, "    .commands = (const uint8_t *)&model_commands,\n    .command_bytes = "
                    "MODEL_COMMAND_BYTES,\n"
                    "    .constants = model_constants,\n    .constant_bytes = "
                    "MODEL_DEVICE_CONSTANT_BYTES,\n");
    add_ports(u, t);
    add_devices(u, t);
    if (u->state_bytes)
        text_printf(t, "    .state_bytes = %u,\n    .reset_state = reset_state,\n", u->state_bytes);
    text_printf(t,
                "    .arena_bytes = %u,\n    .n_layers = %u,\n    .layer_names = layer_names,\n    "
                ".run = run,\n};\n",
                p->arena_bytes, g->n_row);
}

uint32_t emit_io_bytes(const struct emit_unit *u)
{
    const struct ir_graph *g = u->graph;
    uint64_t n = 0;

    for (uint32_t i = 0; i < g->n_in + g->n_out; i++) {
        uint32_t id = i < g->n_in ? g->in[i] : g->out[i - g->n_in];
        n += (ir_border_bytes(g->tensor[id]) + 63) / 64 * 64;
    }
    return (uint32_t)n;
}

static void add_header(struct emit_unit *u, struct text *t, uint32_t device_constants)
{
    const struct sched_program *p = u->program;
    size_t all = p->constants.length ? p->constants.length : 1;

    text_add(t, "/* model.h - shared by the files of this network, emitted by heddle. */\n#ifndef "
                "MODEL_H\n#define MODEL_H\n\n"
                "#include \"hd_model.h\"\n#include \"kernels/hdk.h\"\n\n");
    text_printf(t, "#define MODEL_CONFIG_HASH 0x%08xu /* configuration %s */\n",
                p->n_stream ? p->hw->hash : 0u, p->n_stream ? p->hw->name : "none: host only");
    text_printf(t,
                "#define MODEL_COMMAND_BYTES %u\n#define MODEL_DEVICE_CONSTANT_BYTES %u /* region "
                "1; the host's follow */\n"
                "#define MODEL_ALL_CONSTANT_BYTES %zu\n#define MODEL_ARENA_BYTES %u\n#define "
                "MODEL_STATE_BYTES %u\n"
                "#define MODEL_IO_BYTES %u /* inputs and outputs, each rounded up to 64 */\n\n",
                p->command_bytes, device_constants, all, p->arena_bytes, u->state_bytes,
                emit_io_bytes(u));
    if (p->n_device > 1)
        text_printf(t, "#define MODEL_DEVICES %u\n", p->n_device);
    text_add(t, "struct model_commands;\nextern const struct model_commands model_commands;\n"
                "extern const uint8_t model_constants[MODEL_ALL_CONSTANT_BYTES];\n"
                "extern const struct hd_model hd_model;\n\n#endif\n");
}

static void add_prologue(struct emit_unit *u, struct text *t)
{
    text_add(t, "/* model.c - network '");
    text_add_escaped(t, u->graph->name, 60);
    text_printf(
        t,
        "', emitted by heddle. Accelerator parts: commands.c; host parts: kernels of hdk.h.\n"
        " * Memory: arena of %u bytes; inputs and outputs are the caller's. */\n#include "
        "\"model.h\"\n\n",
        u->program->arena_bytes);
    text_add(
        t,
        "#define MODEL_TRY(expr)        \\\n    do {                       \\\n        int error_ "
        "= (expr);   \\\n"
        "        if (error_ != HD_OK)   \\\n            return error_;     \\\n    } while (0)\n\n"
        "static inline void model_enter(const struct hd_call *call, uint32_t layer, uint32_t "
        "submission)\n{\n"
        "    if (call->enter)\n        call->enter(call->ctx, layer, submission);\n}\n\n");
}

enum status emit_model(struct emit_unit *u, struct diag *d)
{
    uint32_t device_constants = (uint32_t)u->program->constants.length;
    struct text *h = emit_new_file(u, "model.h"), *t = emit_new_file(u, "model.c");

    add_prologue(u, t);
    emit_outside_includes(u, t);
    for (uint32_t i = 0; i < u->graph->n_op; i++)
        if (!host_op(u->graph->op[i]) &&
            sched_window_op(u->graph, u->graph->op[i]) != u->graph->op[i])
            continue;
        else if (emit_outside(u, u->graph->op[i]))
            TRY(emit_outside_params(u, t, u->graph->op[i], d));
        else
            TRY(emit_host_params(u, t, u->graph->op[i], d));
    add_run(u, t);
    add_reset(u, t);
    add_table(u, t);
    add_header(u, h, device_constants);
    return ST_OK;
}
