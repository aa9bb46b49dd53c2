/* onnx_expand.c - a node as nodes of other operators, from text that the importer has of it.
 *
 * Text: nodes "y, z = Op(a, b; attribute=value, ...)" with ';' outside parentheses between them.
 *   $0, $1, ..   inputs of the expanded node; an absent one is absent in the new node too
 *   %0, %1, ..   its outputs
 *   other names  inner values
 *   3, 2.5, [1,2] as an input: constant int64, float32, list of int64
 *   value of an attribute: integer, float with a point, [integers], 'text'; @name: the node's own
 *   attribute, left out if absent; @name|value: with a default
 * Inner names are the first output, the operator with a number, and the text's name. */
#include "compiler/import/onnx/rewrites/onnx_rewrites.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 512 }; /* inputs, outputs, attributes of one node of a text */

struct reader {
    struct ox *m;
    const Onnx__NodeProto *outer;
    const char *p, *scope;
    uint32_t n_const;
};

static void blanks(struct reader *r)
{
    r->p += strspn(r->p, " \n");
}

static bool take(struct reader *r, char c)
{
    blanks(r);
    if (*r->p != c)
        return false;
    r->p++;
    return true;
}

/* The text up to one of `ends`. */
static char *word(struct reader *r, const char *ends)
{
    size_t n;
    char *w;

    blanks(r);
    n = strcspn(r->p, ends);
    w = arena_strndup(r->m->arena, r->p, n);
    r->p += n;
    while (n > 0 && w[n - 1] == ' ')
        w[--n] = '\0';
    return w;
}

static int64_t *integers(struct reader *r, size_t *n)
{
    int64_t *value = ARENA_ARRAY(r->m->arena, int64_t, MAX_PARTS);
    char *end;

    for (*n = 0; !take(r, ']'); r->p = end) {
        assert(*n < MAX_PARTS);
        value[(*n)++] = strtoll(r->p, &end, 10);
        end += *end == ',';
    }
    return value;
}

static void value_of(struct reader *r, Onnx__AttributeProto *a)
{
    if (take(r, '[')) {
        a->ints = integers(r, &a->n_ints);
    } else if (take(r, '\'')) {
        a->s.data = (uint8_t *)word(r, "'");
        a->s.len = strlen((char *)a->s.data);
        a->has_s = true;
        r->p++;
    } else {
        const char *w = word(r, ",;)");

        a->has_f = strpbrk(w, ".fn") != NULL;
        a->has_i = !a->has_f;
        a->f = strtof(w, NULL);
        a->i = strtoll(w, NULL, 10);
    }
}

/* Read after '@': return the node's own attribute or its default, NULL without both. */
static const Onnx__AttributeProto *attribute_of(struct reader *r, const char *ends)
{
    const Onnx__AttributeProto *own = ox_attr(r->m, word(r, ends));
    Onnx__AttributeProto *a = NULL;

    if (take(r, '|')) {
        a = ARENA_NEW(r->m->arena, Onnx__AttributeProto);
        onnx__attribute_proto__init(a);
        value_of(r, a);
    }
    return own ? own : a;
}

/* A constant of the text as a value of its own name. */
static char *constant(struct reader *r)
{
    struct ox *m = r->m;
    char *name = arena_printf(m->arena, "%s/constant_%u", r->scope, r->n_const++);
    struct ox_const c;
    struct ox_value *v;

    if (take(r, '@')) {
        const Onnx__AttributeProto *a = attribute_of(r, "|,;)");

        *(float *)ox_new_const(m, &c, OX_FLOAT, 0, NULL) = a->has_f ? a->f : (float)a->i;
    } else if (take(r, '[')) {
        size_t n;
        const int64_t *value = integers(r, &n);
        const int32_t size = (int32_t)n;

        memcpy(ox_new_const(m, &c, OX_INT64, 1, &size), value, n * sizeof *value);
    } else {
        const char *w = word(r, ",;)");

        if (strpbrk(w, ".fn"))
            *(float *)ox_new_const(m, &c, OX_FLOAT, 0, NULL) = strtof(w, NULL);
        else
            *(int64_t *)ox_new_const(m, &c, OX_INT64, 0, NULL) = strtoll(w, NULL, 10);
    }
    v = ox_called_value(m, name);
    v->kind = OX_CONST;
    v->c = c;
    return name;
}

static char *operand(struct reader *r)
{
    const bool in = take(r, '$');

    if (in || take(r, '%')) {
        const size_t i = (size_t)strtoul(word(r, " ,;)="), NULL, 10);
        char *const *list = in ? r->outer->input : r->outer->output;

        if (i < (in ? r->outer->n_input : r->outer->n_output) && (in || *list[i]))
            return list[i];
        return in ? arena_strndup(r->m->arena, "", 0)
                  : arena_printf(r->m->arena, "%s/output_%zu", r->scope, i);
    }
    blanks(r);
    if (strncmp(r->p, "inf", 3) == 0 || *r->p == '[' || *r->p == '-' || *r->p == '@' ||
        isdigit((unsigned char)*r->p))
        return constant(r);
    return arena_printf(r->m->arena, "%s/%s", r->scope, word(r, " ,;)="));
}

/* NULL: an attribute that the node does not have. */
static Onnx__AttributeProto *attribute(struct reader *r)
{
    Onnx__AttributeProto *a = ARENA_NEW(r->m->arena, Onnx__AttributeProto);
    char *name = word(r, " =");

    onnx__attribute_proto__init(a);
    take(r, '=');
    if (take(r, '@')) {
        const Onnx__AttributeProto *from = attribute_of(r, "|,)");

        if (from == NULL)
            return NULL;
        *a = *from;
    } else {
        value_of(r, a);
    }
    a->name = name;
    return a;
}

static Onnx__NodeProto *one_node(struct reader *r)
{
    struct arena *arena = r->m->arena;
    Onnx__NodeProto *n = ARENA_NEW(arena, Onnx__NodeProto);

    onnx__node_proto__init(n);
    n->output = ARENA_ARRAY(arena, char *, MAX_PARTS);
    n->input = ARENA_ARRAY(arena, char *, MAX_PARTS);
    n->attribute = ARENA_ARRAY(arena, Onnx__AttributeProto *, MAX_PARTS);
    do
        n->output[n->n_output++] = operand(r);
    while (take(r, ','));
    take(r, '=');
    n->op_type = word(r, "(");
    n->name = n->op_type;
    n->domain = arena_strndup(arena, "", 0);
    take(r, '(');
    for (blanks(r); *r->p != ';' && *r->p != ')'; take(r, ','))
        n->input[n->n_input++] = operand(r);
    while (n->n_input > 0 && !*n->input[n->n_input - 1])
        n->n_input--;
    if (take(r, ';'))
        do {
            Onnx__AttributeProto *a = attribute(r);

            if (a)
                n->attribute[n->n_attribute++] = a;
        } while (take(r, ','));
    take(r, ')');
    return n;
}

/* The first part of inner names of the node. Another text inside it may share its output, so each has a number. */
static const char *scope_of(struct ox *m)
{
    const Onnx__NodeProto *n = m->node;
    size_t i = 0;

    while (!*n->output[i] && i + 1 < n->n_output)
        i++;
    if (m->scope == NULL)
        m->scope = arena_printf(m->arena, "%s/%s_%u", n->output[i], m->op, m->n_scope++);
    return m->scope;
}

Onnx__NodeProto **ox_text_nodes(struct ox *m, const char *text, uint32_t *n)
{
    struct reader r = {.m = m, .outer = m->node, .p = text};
    Onnx__NodeProto **node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, strlen(text) / 4);

    r.scope = scope_of(m);
    *n = 0;
    do {
        node[(*n)++] = one_node(&r);
    } while (take(&r, ';') && (blanks(&r), *r.p));
    for (uint32_t k = 0; k < *n; k++) {
        for (size_t i = 0; i < node[k]->n_input; i++)
            ox_called_value(m, node[k]->input[i])->n_use++;
        for (size_t i = 0; i < node[k]->n_output; i++)
            ox_name(m, node[k]->output[i]);
    }
    return node;
}

enum status ox_expand(struct ox *m, const char *text)
{
    const Onnx__NodeProto *outer = m->node;
    const char *op = m->op, *scope = scope_of(m);
    const int64_t opset = m->opset;
    uint32_t n;
    Onnx__NodeProto **node = ox_text_nodes(m, text, &n);

    m->opset = ONNX_LAST_OPSET;
    for (uint32_t k = 0; k < n; k++) {
        const enum status st = m->import_node(m, node[k], IR_NONE);

        if (st != ST_OK) {
            m->opset = opset;
            diag_prefix(m->d, "%s of its definition", node[k]->op_type);
            return st;
        }
    }
    m->opset = opset;
    m->node = outer;
    m->op = op;
    m->scope = scope;
    return ST_OK;
}

const char *ox_list(struct ox *m, uint32_t n, const int64_t *value)
{
    struct text t;

    text_init(&t, m->arena);
    text_add(&t, "[");
    for (uint32_t i = 0; i < n; i++)
        text_printf(&t, "%s%lld", i ? "," : "", (long long)value[i]);
    text_add(&t, "]");
    return t.data;
}

const char *ox_shape_list(struct ox *m, const struct ox_shape *s)
{
    int64_t dim[IR_MAX_RANK];

    for (uint32_t i = 0; i < s->rank; i++)
        dim[i] = s->dim[i];
    return ox_list(m, s->rank, dim);
}

const char *ox_channel_list(struct ox *m, uint32_t rank)
{
    int64_t dim[IR_MAX_RANK];

    for (uint32_t i = 0; i < rank; i++)
        dim[i] = i == 1 ? -1 : 1;
    return ox_list(m, rank, dim);
}

void ox_inner_const(struct ox *m, const char *name, const struct ox_const *c)
{
    struct ox_value *v = ox_called_value(m, ox_inner(m, scope_of(m), name));

    v->kind = OX_CONST;
    v->c = *c;
}

void ox_inner_places(struct ox *m, uint32_t rank, uint32_t axis, int32_t n)
{
    int32_t dim[IR_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    struct ox_const c;
    int64_t *place;

    dim[axis] = n;
    place = ox_new_const(m, &c, OX_INT64, rank, dim);
    for (int32_t i = 0; i < n; i++)
        place[i] = i;
    ox_inner_const(m, "places", &c);
}

/* Operators that are others, whatever their attributes and inputs. */
static const struct {
    const char *name, *text;
} definitions[] = {
#define FUNCTION(name, least, most, attributes, text)      {#name, text},
#define MICROSOFT_ONE(name, least, most, attributes, text) {#name, text},
#include "compiler/import/onnx/onnx_functions.def"
};

enum status ox_function(struct ox *m)
{
    uint32_t i = 0;

    while (strcmp(definitions[i].name, m->op) != 0) /* its rule is of the same table */
        i++;
    return ox_expand(m, definitions[i].text);
}

/* --- a QuantizeLinear inside a text ---
 *
 * A node that becomes an operator between movers quantises its result twice, which is the same as once:
 *
 *   [operator -> Reshape] -> Relu -> QuantizeLinear
 *   becomes   [operator -> Relu -> QuantizeLinear -> DequantizeLinear -> Reshape] -> Relu -> QuantizeLinear */

static const Onnx__NodeProto *only_reader(struct ox *m, const char *name)
{
    const uint32_t i = ox_only_reader(m, name);
    const Onnx__NodeProto *n = i == IR_NONE ? NULL : m->graph->node[i];

    return n && n->n_output == 1 && strcmp(n->input[0], name) == 0 ? n : NULL;
}

/* Give inputs 1 and 2 of the node, if they are constants, to the text as values `first` and `second`. */
static bool give_constants(struct ox *m, const Onnx__NodeProto *n, const char *first,
                           const char *second)
{
    for (size_t i = 1; i < 3; i++)
        if (i >= n->n_input || ox_called_value(m, n->input[i])->kind != OX_CONST)
            return false;
    ox_inner_const(m, first, &ox_called_value(m, n->input[1])->c);
    ox_inner_const(m, second, &ox_called_value(m, n->input[2])->c);
    return true;
}

const char *ox_quantise_inside(struct ox *m, struct text *text, const char *from)
{
    static const char *const relu[] = {"Relu", NULL}, *const clip[] = {"Clip", NULL};
    const Onnx__NodeProto *reader = only_reader(m, ox_out(m, 0)->name);

    if (reader && ox_is_one_of(reader, relu)) {
        text_printf(text, "clamped = Relu(%s);", from);
        from = "clamped";
        reader = only_reader(m, reader->output[0]);
    } else if (reader && ox_is_one_of(reader, clip) && give_constants(m, reader, "low", "high")) {
        text_printf(text, "clamped = Clip(%s, low, high);", from);
        from = "clamped";
        reader = only_reader(m, reader->output[0]);
    }
    if (!reader || !ox_has_one_scale(m, reader) || reader->n_attribute != 0 ||
        !give_constants(m, reader, "scale", "zero"))
        return from;
    text_printf(text,
                "quantised = QuantizeLinear(%s, scale, zero);"
                "real = DequantizeLinear(quantised, scale, zero);",
                from);
    return "real";
}
