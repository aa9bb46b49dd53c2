/* gguf_nodes.c - see gguf_nodes.h. */
#define _GNU_SOURCE /* strsep */
#include "gguf_nodes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 512 }; /* bytes of one node */

void gguf_nodes_init(struct gguf_nodes *b, struct arena *a)
{
    *b = (struct gguf_nodes){.arena = a};
    onnx__graph_proto__init(&b->graph);
    onnx__operator_set_id_proto__init(&b->opset);
    onnx__model_proto__init(&b->model);
    b->opset.has_version = true;
    b->opset.version = ONNX_LAST_OPSET;
    b->opsets[0] = &b->opset;
    b->model.n_opset_import = 1;
    b->model.opset_import = b->opsets;
    b->model.graph = &b->graph;
}

/* Split `text` at blanks in place. */
static char **words(struct arena *a, char *text, size_t *n)
{
    char **list = ARENA_ARRAY(a, char *, strlen(text) / 2 + 1), *rest = text, *w;

    for (*n = 0; (w = strsep(&rest, " ")) != NULL;)
        if (*w)
            list[(*n)++] = w;
    return list;
}

static Onnx__AttributeProto *attribute(struct arena *a, char *text)
{
    Onnx__AttributeProto *at = ARENA_NEW(a, Onnx__AttributeProto);
    char *value = strchr(text, '='), *w;

    onnx__attribute_proto__init(at);
    *value++ = '\0';
    at->name = text;
    at->has_f = strchr(value, '.') != NULL;
    at->f = strtof(value, NULL);
    if (strchr(value, ',')) {
        at->ints = ARENA_ARRAY(a, int64_t, strlen(value));
        while ((w = strsep(&value, ",")) != NULL)
            at->ints[at->n_ints++] = strtoll(w, NULL, 10);
        return at;
    }
    at->has_i = !at->has_f;
    at->i = strtoll(value, NULL, 10);
    return at;
}

void gguf_node(struct gguf_nodes *b, const char *format, ...)
{
    Onnx__NodeProto *n = ARENA_NEW(b->arena, Onnx__NodeProto);
    Onnx__GraphProto *g = &b->graph;
    char *text = arena_alloc(b->arena, MOST_TEXT), *inputs, *attributes, **list;
    va_list args;
    size_t count;

    va_start(args, format);
    (void)vsnprintf(text, MOST_TEXT, format, args);
    va_end(args);
    onnx__node_proto__init(n);
    inputs = strchr(text, '=');
    *inputs++ = '\0';
    attributes = strchr(inputs, ';');
    if (attributes)
        *attributes++ = '\0';
    n->output = words(b->arena, text, &n->n_output);
    n->input = words(b->arena, inputs, &n->n_input);
    n->op_type = *n->input++;
    n->n_input--;
    n->name = n->output[0];
    list = words(b->arena, attributes ? attributes : arena_strdup(b->arena, ""), &count);
    n->attribute = ARENA_ARRAY(b->arena, Onnx__AttributeProto *, count + 1);
    for (; n->n_attribute < count; n->n_attribute++)
        n->attribute[n->n_attribute] = attribute(b->arena, list[n->n_attribute]);
    ARENA_GROW(b->arena, g->node, (uint32_t)g->n_node, &b->cap_node);
    g->node[g->n_node++] = n;
}

void *gguf_constant(struct gguf_nodes *b, const char *name, enum ox_type type, uint32_t rank,
                    const int64_t *dim)
{
    Onnx__TensorProto *t = ox_new_initializer(b->arena, name, (int32_t)type, rank, dim, NULL);
    Onnx__GraphProto *g = &b->graph;

    ARENA_GROW(b->arena, g->initializer, (uint32_t)g->n_initializer, &b->cap_constant);
    g->initializer[g->n_initializer++] = t;
    return t->raw_data.data;
}
