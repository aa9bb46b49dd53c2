/* mlf_metadata.c - metadata.json and parameters of TVM's Model Library Format, version 7, as TVM's own
 * tools and MLonMCU read them. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "base/json/json_doc.h"
#include "compiler/host/host_kernel.h"
#include "compiler/systolic/schedule/host_layer.h"
#include "compiler/target/describe.h"
#include "mlf.h"

enum { CPU = 1 }; /* DLPack's number of the device */

/* "int8" of "i8" */
static const char *dtype(struct arena *a, enum ir_type type)
{
    const char *name = ir_type_name(type);

    if (strcmp(name, "bool") == 0)
        return name;
    return arena_printf(a, "%s%s",
                        *name == 'i'   ? "int"
                        : *name == 'u' ? "uint"
                                       : "float",
                        name + 1);
}

static void add_io(const struct emit_unit *u, cJSON *o, const char *key, const uint32_t *id,
                   uint32_t n)
{
    cJSON *all = cJSON_AddObjectToObject(o, key);
    const char *const *field = mlf_fields(u, id, n);

    for (uint32_t i = 0; i < n; i++) {
        const struct ir_tensor *t = ir_border(u->graph, id[i]);
        cJSON *one = cJSON_AddObjectToObject(all, field[i]);
        cJSON_AddNumberToObject(one, "size", (double)ir_bytes(t));
        cJSON_AddStringToObject(one, "dtype", dtype(u->arena, t->type));
    }
}

static void add_workspace(cJSON *list, uint32_t n_bytes)
{
    cJSON *w = cJSON_CreateObject();

    cJSON_AddNumberToObject(w, "device", CPU);
    cJSON_AddNumberToObject(w, "workspace_size_bytes", n_bytes);
    cJSON_AddItemToArray(list, w);
}

/* Return the C function that an operator calls, or NULL if none. */
static const char *function_of(const struct emit_unit *u, const struct ir_op *op)
{
    if (emit_outside(u, op)) {
        const char *const function = emit_outside_function(u, op);
        if (function)
            return function;
        return describe_of(emit_outside(u, op))->device ? "hdk_described_run" : "hdk_blocks_run";
    }
    return host_kernel(op->opcode) ? arena_printf(u->arena, "hdk_%s", host_kernel(op->opcode))
                                   : NULL;
}

static uint32_t scratch_of(const struct emit_unit *u, const struct ir_op *op)
{
    return emit_outside(u, op) ? 0 : host_scratch(u->graph, op);
}

/* List each C function that computes an operator, with the largest scratch that one of its calls
 * uses in the arena. */
static void add_functions(const struct emit_unit *u, cJSON *functions)
{
    cJSON *list = cJSON_AddArrayToObject(functions, "operator_functions");
    const struct ir_graph *g = u->graph;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const char *name = g->op[i]->dead ? NULL : function_of(u, g->op[i]);
        bool again = !name;
        uint32_t most = 0;
        for (uint32_t k = 0; k < g->n_op && !again; k++) {
            const char *other = g->op[k]->dead ? NULL : function_of(u, g->op[k]);
            if (!other || strcmp(other, name) != 0)
                continue;
            again = k < i;
            most = scratch_of(u, g->op[k]) > most ? scratch_of(u, g->op[k]) : most;
        }
        if (again)
            continue;
        cJSON *f = cJSON_CreateObject();
        cJSON_AddStringToObject(f, "function_name", name);
        add_workspace(cJSON_AddArrayToObject(f, "workspace"), most);
        cJSON_AddItemToArray(list, f);
    }
}

static void add_memory(const struct emit_unit *u, cJSON *module)
{
    cJSON *functions =
              cJSON_AddObjectToObject(cJSON_AddObjectToObject(module, "memory"), "functions"),
          *all = cJSON_AddArrayToObject(functions, "main"), *m;

    add_workspace(all, u->program->arena_bytes + u->state_bytes);
    m = cJSON_GetArrayItem(all, 0);
    cJSON_AddNumberToObject(m, "constants_size_bytes", (double)u->program->constants.length);
    cJSON_AddNumberToObject(m, "io_size_bytes", emit_io_bytes(u));
    add_io(u, m, "inputs", u->graph->in, u->graph->n_in);
    add_io(u, m, "outputs", u->graph->out, u->graph->n_out);
    add_functions(u, functions);
}

/* Return the target as text, such as "c -mcpu=cortex-m55"; the flags come from the target that
 * names the processor (compiler/target/processor.c). */
static const char *target_text(const struct emit_unit *u)
{
    for (uint32_t t = 0; t < u->targets->n; t++) {
        const struct target *target = u->targets->target[t];
        for (uint32_t i = 0; i < target->desc->n_attr && target->setting; i++) {
            const char *name = target->desc->attr[i].name, *word = target->setting[i].text;
            if ((strcmp(name, "mcpu") == 0 || strcmp(name, "march") == 0) &&
                strcmp(word, "any") != 0)
                return arena_printf(u->arena, "c -%s=%s", name, word);
        }
    }
    return "c";
}

static void add_flags(const struct emit_unit *u, cJSON *list, const char *flag,
                      const char *const *name, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "short_name", name[i]);
        cJSON_AddStringToObject(one, "url", arena_printf(u->arena, "%s%s", flag, name[i]));
        cJSON_AddStringToObject(one, "url_type", "compiler_option");
        cJSON_AddStringToObject(one, "version_spec", "");
        cJSON_AddItemToArray(list, one);
    }
}

/* Add the dependencies other than a C compiler: libraries of targets and their folders. */
static void add_dependencies(const struct emit_unit *u, cJSON *module)
{
    cJSON *list = cJSON_AddArrayToObject(module, "external_dependencies");

    add_flags(u, list, "-I", u->include_dir, u->n_include_dir);
    add_flags(u, list, "-L", u->library_dir, u->n_library_dir);
    add_flags(u, list, "-l", u->library, u->n_library);
}

void mlf_metadata(const struct emit_unit *u, struct text *t)
{
    errno = 0; /* without memory cJSON drops a member silently */
    cJSON *o = cJSON_CreateObject(), *module;

    cJSON_AddNumberToObject(o, "version", 7);
    module = cJSON_AddObjectToObject(cJSON_AddObjectToObject(o, "modules"), "default");
    cJSON_AddStringToObject(module, "model_name", "default");
    cJSON_AddStringToObject(module, "export_datetime", "1970-01-01 00:00:00Z"); /* same bytes */
    add_memory(u, module);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(module, "target"),
                         cJSON_CreateString(target_text(u)));
    cJSON_AddItemToArray(cJSON_AddArrayToObject(module, "executors"), cJSON_CreateString("aot"));
    cJSON_AddStringToObject(module, "style", "full-model");
    add_dependencies(u, module);
    json_doc_print(t, o);
}

/* --- parameters: TVM's list of named arrays (DLPack's types, little-endian) --- */

static void put(struct text *t, uint64_t value, int n_bytes)
{
    for (int i = 0; i < n_bytes; i++) {
        const char c = (char)(value >> (8 * i) & 0xff);
        text_add_n(t, &c, 1);
    }
}

static void put_array(struct text *t, const struct ir_tensor *x)
{
    const char kind = *ir_type_name(x->type);

    put(t, 0xdd5e40f096b4a13f, 8); /* an array */
    put(t, 0, 8);
    put(t, CPU, 4);
    put(t, 0, 4);
    put(t, x->rank, 4);
    put(t, kind == 'i' ? 0 : kind == 'f' ? 2 : 1, 1);
    put(t, 8 * ir_type_bytes(x->type), 1);
    put(t, 1, 2);
    for (uint32_t i = 0; i < x->rank; i++)
        put(t, (uint64_t)x->dim[i], 8);
    put(t, ir_bytes(x), 8);
    text_add_n(t, (const char *)x->data, (size_t)ir_bytes(x));
}

/* List the constants that an operator reads, by id, and return their number. */
static uint32_t constants_of(const struct emit_unit *u, uint32_t *id)
{
    const struct ir_graph *g = u->graph;
    bool *read = ARENA_ARRAY(u->arena, bool, g->n_tensor + 1);
    uint32_t n = 0;

    memset(read, 0, g->n_tensor * sizeof *read);
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; !g->op[i]->dead && k < g->op[i]->n_in; k++)
            if (ir_in(g, g->op[i], k))
                read[g->op[i]->in[k]] = true;
    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (read[i] && g->tensor[i]->role == IR_CONST && g->tensor[i]->data)
            id[n++] = i;
    return n;
}

void mlf_parameters(const struct emit_unit *u, struct text *t)
{
    uint32_t *id = ARENA_ARRAY(u->arena, uint32_t, u->graph->n_tensor + 1);
    const uint32_t n = constants_of(u, id);
    const char *const *name = mlf_fields(u, id, n);

    put(t, 0xf7e58d4f05049cb7, 8); /* TVM's magic number of a list of arrays */
    put(t, 0, 8);
    put(t, n, 8);
    for (uint32_t i = 0; i < n; i++) {
        put(t, strlen(name[i]), 8);
        text_add(t, name[i]);
    }
    put(t, n, 8);
    for (uint32_t i = 0; i < n; i++)
        put_array(t, u->graph->tensor[id[i]]);
}
