/* mlf_interface.c - tvmgen_default_run and its structs: how TVM's "c" interface calls a network. Arena and
 * state are static; inputs and outputs are the caller's. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "mlf.h"

/* As in TVM, replace each character other than a letter or digit by _. */
static char *sanitised(struct arena *a, const char *name)
{
    const bool digit = isdigit((unsigned char)*name) || !*name;
    char *s = arena_printf(a, "%s%s", digit ? "_" : "", name);

    for (char *p = s; *p; p++)
        if (!isalnum((unsigned char)*p) || (unsigned char)*p > 127)
            *p = '_';
    return s;
}

const char *const *mlf_fields(const struct emit_unit *u, const uint32_t *id, uint32_t n)
{
    const char **field = ARENA_ARRAY(u->arena, const char *, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        field[i] = sanitised(u->arena, u->graph->tensor[id[i]]->name);
        for (uint32_t k = 0; k < i;)
            if (strcmp(field[i], field[k++]) == 0) {
                field[i] = arena_printf(u->arena, "%s_%u", field[i], i);
                k = 0; /* start again: the new name may be taken too */
            }
    }
    return field;
}

static char *upper(struct arena *a, const char *s)
{
    char *all = arena_strdup(a, s);

    for (char *p = all; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return all;
}

/* If names are equal up to case, only the first (an input's) is defined. */
static void add_sizes(const struct emit_unit *u, struct text *t)
{
    const struct ir_graph *g = u->graph;
    const char *const *in = mlf_fields(u, g->in, g->n_in), *const *out =
                                                               mlf_fields(u, g->out, g->n_out);
    const char **seen = ARENA_ARRAY(u->arena, const char *, g->n_in + g->n_out + 1);

    for (uint32_t i = 0; i < g->n_in + g->n_out; i++) {
        const bool is_in = i < g->n_in;
        const uint32_t id = is_in ? g->in[i] : g->out[i - g->n_in];
        bool again = false;
        seen[i] = upper(u->arena, is_in ? in[i] : out[i - g->n_in]);
        for (uint32_t k = 0; k < i && !again; k++)
            again = strcmp(seen[i], seen[k]) == 0;
        if (!again)
            text_printf(t, "#define TVMGEN_DEFAULT_%s_SIZE %llu\n", seen[i],
                        (unsigned long long)ir_border_bytes(g->tensor[id]));
    }
}

static void add_struct(const struct emit_unit *u, struct text *t, const char *name,
                       const uint32_t *id, uint32_t n)
{
    const char *const *field = mlf_fields(u, id, n);

    text_printf(t, "struct tvmgen_default_%s {\n", name);
    for (uint32_t i = 0; i < n; i++)
        text_printf(
            t, "    void *%s; /* %s, %s */\n", field[i],
            ir_shape_text(u->arena, u->graph->tensor[id[i]]->rank, u->graph->tensor[id[i]]->dim),
            ir_type_name(u->graph->tensor[id[i]]->type));
    text_add(t, "};\n\n");
}

void mlf_header(const struct emit_unit *u, struct text *t)
{
    const struct ir_graph *g = u->graph;

    text_add(t, "/* tvmgen_default.h - a network, emitted by heddle in TVM's Model Library Format. "
                "Pointers are aligned as\n * their elements; arena and state are static, so one "
                "call at a time. */\n"
                "#ifndef TVMGEN_DEFAULT_H_\n#define TVMGEN_DEFAULT_H_\n\n#include <stdint.h>\n\n"
                "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    add_sizes(u, t);
    text_printf(t, "#define TVMGEN_DEFAULT_WORKSPACE_SIZE %u\n\n",
                u->program->arena_bytes + u->state_bytes);
    add_struct(u, t, "inputs", g->in, g->n_in);
    add_struct(u, t, "outputs", g->out, g->n_out);
    text_add(t, "/* 0, or a negative enum hd_error of hd.h. */\n"
                "int32_t tvmgen_default_run(struct tvmgen_default_inputs *inputs,\n"
                "                           struct tvmgen_default_outputs *outputs);\n\n"
                "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

static void add_pointers(const struct emit_unit *u, struct text *t, const char *name,
                         const uint32_t *id, uint32_t n)
{
    const char *const *field = mlf_fields(u, id, n);

    text_printf(t, "    uint8_t *const %s[] = {", name);
    for (uint32_t i = 0; i < n; i++)
        text_printf(t, "%s%sputs->%s", i ? ", " : "", name, field[i]);
    text_add(t, n ? "};\n" : "NULL};\n");
}

void mlf_source(const struct emit_unit *u, struct text *t)
{
    const struct ir_graph *g = u->graph;

    text_add(t, "/* default_lib0.c - TVM's entry to the network of model.c, emitted by heddle. */\n"
                "#include \"tvmgen_default.h\"\n\n#include \"model.h\"\n\n"
                "#ifndef NULL\n#define NULL ((void *)0)\n#endif\n\n"
                "static _Alignas(64) uint8_t arena[MODEL_ARENA_BYTES + 1];\n"
                "static _Alignas(64) uint8_t state[MODEL_STATE_BYTES + 1];\n"
                "static int32_t begun;\n\n"
                "int32_t tvmgen_default_run(struct tvmgen_default_inputs *inputs,\n"
                "                           struct tvmgen_default_outputs *outputs)\n{\n");
    add_pointers(u, t, "in", g->in, g->n_in);
    add_pointers(u, t, "out", g->out, g->n_out);
    text_add(t, "    const struct hd_call call = {.arena = arena, .in = in, .out = out, "
                ".state = state};\n\n"
                "    if (!begun && hd_model.reset_state)\n        hd_model.reset_state(state);\n"
                "    begun = 1;\n    return hd_model.run(&call);\n}\n");
}
