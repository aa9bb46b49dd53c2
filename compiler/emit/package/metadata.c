/* metadata.c - write metadata.json of a package: what a build system or a reader needs to know
 * about the network without reading C. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "base/json/json_doc.h"
#include "compiler/host/host_kernel.h"
#include "compiler/systolic/schedule/host_layer.h"
#include "compiler/target/describe.h"
#include "emit_package.h"

/* Return text of the model file as plain ASCII. */
static void add_name(struct arena *a, cJSON *o, const char *key, const char *name)
{
    struct text t;

    text_init(&t, a);
    text_add(&t, "");
    text_add_escaped(&t, name, 200);
    cJSON_AddStringToObject(o, key, t.data);
}

static void add_quantisation(cJSON *o, const struct ir_tensor *t)
{
    if (t->quant.n == 0)
        return;
    if (t->quant.n == 1) {
        cJSON_AddNumberToObject(o, "scale", (double)t->quant.scale[0]);
        cJSON_AddNumberToObject(o, "zero_point", ir_zero_point(t));
        return;
    }
    cJSON *scale = cJSON_AddArrayToObject(o, "scale"),
          *zero = cJSON_AddArrayToObject(o, "zero_point");
    for (uint32_t i = 0; i < t->quant.n; i++) {
        cJSON_AddItemToArray(scale, cJSON_CreateNumber((double)t->quant.scale[i]));
        cJSON_AddItemToArray(zero, cJSON_CreateNumber(t->quant.zero_point[i]));
    }
    cJSON_AddNumberToObject(o, "axis", t->quant.axis);
}

static cJSON *tensor(struct arena *a, const struct ir_tensor *t)
{
    cJSON *o = cJSON_CreateObject();

    add_name(a, o, "name", t->name);
    cJSON_AddStringToObject(o, "type", ir_type_name(t->type));
    cJSON *shape = cJSON_AddArrayToObject(o, "shape");
    for (uint32_t i = 0; i < t->rank; i++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber(t->dim[i]));
    add_quantisation(o, t);
    return o;
}

static void add_tensors(const struct emit_unit *u, cJSON *o, const char *key, const uint32_t *id,
                        uint32_t n)
{
    cJSON *list = cJSON_AddArrayToObject(o, key);

    for (uint32_t i = 0; i < n; i++) {
        if (id[i] == IR_NONE)
            continue;
        cJSON *t = tensor(u->arena, ir_border(u->graph, id[i]));
        cJSON_AddNumberToObject(t, "bytes", (double)ir_border_bytes(u->graph->tensor[id[i]]));
        cJSON_AddItemToArray(list, t);
    }
}

static void add_memory(const struct emit_unit *u, cJSON *o)
{
    const struct sched_program *p = u->program;
    cJSON *m = cJSON_AddObjectToObject(o, "memory");

    cJSON_AddNumberToObject(m, "arena_bytes", p->arena_bytes);
    cJSON_AddNumberToObject(m, "constant_bytes", (double)p->constants.length);
    cJSON_AddNumberToObject(m, "command_bytes", p->command_bytes);
    cJSON_AddNumberToObject(m, "io_bytes", emit_io_bytes(u));
    cJSON_AddNumberToObject(m, "state_bytes", u->state_bytes);
    cJSON_AddNumberToObject(m, "alignment", 64);
}

static void add_functions(const struct emit_unit *u, cJSON *o)
{
    cJSON *list = cJSON_AddArrayToObject(o, "functions"), *f = cJSON_CreateObject();

    cJSON_AddStringToObject(f, "name", "hd_model.run");
    cJSON_AddStringToObject(f, "file", "model.c");
    cJSON_AddStringToObject(f, "signature", "int run(const struct hd_call *call)");
    cJSON_AddNumberToObject(f, "submissions", u->program->n_stream);
    cJSON_AddItemToArray(list, f);
}

/* Write the target's name in the run, kind, version and attributes. */
static cJSON *target_of(const struct emit_unit *u, const struct target *target)
{
    cJSON *t = cJSON_CreateObject(), *attributes;

    cJSON_AddStringToObject(t, "name", target->name);
    cJSON_AddStringToObject(t, "kind", target->desc->name);
    cJSON_AddStringToObject(t, "version", target->desc->version);
    if (target->desc->n_attr == 0 || !target->setting)
        return t;
    attributes = cJSON_AddObjectToObject(t, "attributes");
    for (uint32_t i = 0; i < target->desc->n_attr; i++)
        add_name(u->arena, attributes, target->desc->attr[i].name, target->setting[i].text);
    return t;
}

static void add_names(cJSON *o, const char *key, const char *const *name, uint32_t n)
{
    cJSON *list = cJSON_AddArrayToObject(o, key);

    for (uint32_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(name[i]));
}

static void add_targets(const struct emit_unit *u, cJSON *o)
{
    cJSON *list = cJSON_AddArrayToObject(o, "targets"), *t;

    for (uint32_t i = 0; i < u->program->n_device && u->program->n_stream; i++) {
        const struct sched_device *device = &u->program->device[i];
        t = target_of(u, u->targets->target[device->target]);
        cJSON_AddStringToObject(t, "hw", device->hw->name);
        cJSON_AddNumberToObject(t, "config_hash", device->hw->hash);
        cJSON_AddItemToArray(list, t);
    }
    for (uint32_t i = 0; i < u->targets->n; i++) {
        if (u->targets->target[i]->desc->accelerator)
            continue;
        cJSON_AddItemToArray(list, target_of(u, u->targets->target[i]));
    }
    add_names(o, "libraries", u->library, u->n_library);
    add_names(o, "include_dirs", u->include_dir, u->n_include_dir);
    add_names(o, "library_dirs", u->library_dir, u->n_library_dir);
}

/* Write the tolerance as a fraction of the output range; absent if outputs must be equal. */
static void add_tolerance(const struct emit_unit *u, cJSON *o)
{
    double tolerance = describe_tolerance(u->arena, u->graph, u->targets, u->program->hw);

    if (tolerance > 0)
        cJSON_AddNumberToObject(o, "tolerance", tolerance);
}

static void add_compared(const struct emit_compared *c, cJSON *o)
{
    if (!c)
        return;
    o = cJSON_AddObjectToObject(o, "compared");
    cJSON_AddStringToObject(o, "verdict", c->verdict);
    cJSON_AddStringToObject(o, "statement", c->statement);
    if (c->n_inferences == 0)
        return;
    cJSON_AddNumberToObject(o, "layers", c->n_layers);
    cJSON_AddNumberToObject(o, "outputs", c->n_outputs);
    cJSON_AddNumberToObject(o, "inferences", c->n_inferences);
    cJSON_AddNumberToObject(o, "seed", (double)c->seed);
}

/* Write the core's parameters in this run and the ports that "ports" declares. */
static void add_core_details(struct arena *a, const struct target *target, cJSON *core)
{
    const struct describe *t = target->desc->detail;
    cJSON *list = t->n_parameter ? cJSON_AddArrayToObject(core, "parameters") : NULL;

    for (uint32_t k = 0; k < t->n_parameter; k++)
        cJSON_AddItemToArray(
            list, cJSON_CreateString(describe_parameter_text(a, target, &t->parameter[k])));
    if (t->ports_json)
        cJSON_AddItemToObject(core, "ports", cJSON_Parse(t->ports_json));
}

/* In the order of hd_model.port_names. */
static void add_cores(const struct emit_unit *u, cJSON *o)
{
    const struct target *port[TARGET_MAX];
    uint32_t n = emit_outside_ports(u, port);
    cJSON *list = n ? cJSON_AddArrayToObject(o, "cores") : NULL;

    for (uint32_t i = 0; i < n; i++) {
        const struct describe *t = port[i]->desc->detail;
        cJSON *core = cJSON_CreateObject(), *files;
        cJSON_AddStringToObject(core, "name", port[i]->name);
        cJSON_AddStringToObject(core, "folder", port[i]->desc->name);
        cJSON_AddStringToObject(core, "top", t->core_top);
        cJSON_AddNumberToObject(core, "memory_bytes", t->core_bytes);
        if (t->on_host)
            cJSON_AddBoolToObject(core, "host", true);
        files = cJSON_AddArrayToObject(core, "verilog");
        for (uint32_t k = 0; k < t->verilog.n; k++)
            cJSON_AddItemToArray(files, cJSON_CreateString(t->verilog.name[k]));
        add_core_details(u->arena, port[i], core);
        cJSON_AddItemToArray(list, core);
    }
}

/* Write one operator of the compiled graph; several may belong to one row of the model. */
static cJSON *operator_of(const struct emit_unit *u, uint32_t position)
{
    const struct ir_op *op = u->graph->op[position];
    cJSON *o = cJSON_CreateObject();
    const struct target *outside = emit_outside(u, op);
    bool host = op->region == IR_NONE && !outside;

    cJSON_AddStringToObject(o, "operator", ir_op_info(op->opcode)->name);
    if (outside) {
        const char *function = emit_outside_function(u, op);
        cJSON_AddStringToObject(o, function ? "function" : "blocks_of",
                                function ? function : outside->name);
    }
    if (host && host_kernel(op->opcode))
        cJSON_AddStringToObject(o, "kernel",
                                arena_printf(u->arena, "hdk_%s", host_kernel(op->opcode)));
    if ((host || op->scratch) && host_scratch(u->graph, op))
        cJSON_AddNumberToObject(o, "scratch_bytes", host_scratch(u->graph, op));
    if (emit_outside(u, op))
        cJSON_AddStringToObject(o, "pattern", emit_outside_pattern(u, op));
    add_tensors(u, o, "inputs", op->in, op->n_in);
    add_tensors(u, o, "outputs", op->out, op->n_out);
    for (uint32_t i = 0; i < IR_ATTR_COUNT; i++)
        if (op->attr[i])
            cJSON_AddNumberToObject(o, ir_attr_name((enum ir_attr)i), (double)op->attr[i]);
    if (op->fixed.act_min != op->fixed.act_max) {
        cJSON_AddNumberToObject(o, "act_min", op->fixed.act_min);
        cJSON_AddNumberToObject(o, "act_max", op->fixed.act_max);
    }
    return o;
}

static void add_layers(const struct emit_unit *u, cJSON *o)
{
    const struct ir_graph *g = u->graph;
    cJSON *list = cJSON_AddArrayToObject(o, "layers");

    for (uint32_t r = 0; r < g->n_row; r++) {
        const struct ir_row *row = &g->row[r];
        cJSON *layer = cJSON_CreateObject();
        cJSON_AddStringToObject(layer, "name", row->name);
        add_name(u->arena, layer, "op", row->op);
        cJSON_AddStringToObject(layer, "output", row->shape);
        cJSON_AddNumberToObject(layer, "macs", (double)row->macs);
        cJSON_AddStringToObject(layer, "target", row->target ? row->target : "none");
        if (row->fused_into != IR_NONE)
            cJSON_AddStringToObject(layer, "fused_into", g->row[row->fused_into].name);
        cJSON *ops = cJSON_AddArrayToObject(layer, "operators");
        for (uint32_t i = 0; i < g->n_op; i++)
            if (!g->op[i]->dead && g->op[i]->row == r)
                cJSON_AddItemToArray(ops, operator_of(u, i));
        cJSON_AddItemToArray(list, layer);
    }
}

void package_metadata(const struct emit_unit *u, struct text *t)
{
    errno = 0; /* without memory cJSON drops a member silently */
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "schema", "heddle.package.v1");
    cJSON_AddStringToObject(o, "heddle", HEDDLE_VERSION);
    add_name(u->arena, o, "name", u->graph->name);
    add_targets(u, o);
    add_tolerance(u, o);
    add_compared(u->compared, o);
    add_cores(u, o);
    add_memory(u, o);
    add_functions(u, o);
    add_tensors(u, o, "inputs", u->graph->in, u->graph->n_in);
    add_tensors(u, o, "outputs", u->graph->out, u->graph->n_out);
    add_layers(u, o);
    json_doc_print(t, o);
}
