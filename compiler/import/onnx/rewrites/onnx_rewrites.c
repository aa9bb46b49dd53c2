/* onnx_rewrites.c - the file's nodes before any is imported: their order, what is known of them, others instead. */
#include "onnx_rewrites.h"

#include <math.h>
#include <string.h>

bool ox_is_one_of(const Onnx__NodeProto *n, const char *const *list)
{
    while (n->op_type && *list && strcmp(*list, n->op_type) != 0)
        list++;
    return n->op_type && *list;
}

/* A maximum belongs to them, since quantisation keeps the order of values. */
bool ox_moves_values(const Onnx__NodeProto *n)
{
    static const char *const movers[] = {
        "DepthToSpace", "Flatten", "Gather",    "MaxPool",   "Reshape", "Slice",
        "SpaceToDepth", "Squeeze", "Transpose", "Unsqueeze", NULL};

    return n->n_input > 0 && n->n_output == 1 && ox_is_one_of(n, movers) &&
           (!n->domain || !*n->domain);
}

bool ox_is_node(const Onnx__NodeProto *n, const char *op)
{
    return n->op_type && strcmp(n->op_type, op) == 0 && (!n->domain || !*n->domain);
}

int64_t ox_node_int(const Onnx__NodeProto *n, const char *name, int64_t otherwise)
{
    for (size_t i = 0; i < n->n_attribute; i++)
        if (strcmp(n->attribute[i]->name, name) == 0)
            return n->attribute[i]->i;
    return otherwise;
}

const Onnx__NodeProto *ox_maker_of(struct ox *m, const char *name)
{
    const uint32_t i = ox_called_value(m, name)->maker;

    return i < m->graph->n_node ? m->graph->node[i] : NULL;
}

uint32_t ox_only_reader(struct ox *m, const char *name)
{
    const uint32_t n = ox_called_value(m, name)->n_use == 1 ? (uint32_t)m->graph->n_node : 0;

    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < m->graph->node[i]->n_input; k++)
            if (strcmp(m->graph->node[i]->input[k], name) == 0)
                return i;
    return IR_NONE;
}

static void set_maker(struct ox *m, const Onnx__NodeProto *n, uint32_t i)
{
    for (size_t k = 0; k < n->n_output; k++)
        if (*n->output[k])
            ox_called_value(m, n->output[k])->maker = i;
}

void ox_insert_nodes(struct ox *m, Onnx__NodeProto *const *node, const struct ox_added *added)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__GraphProto *g = arena_memdup(m->arena, m->graph, sizeof *g);
    uint32_t *place, room = n;

    for (uint32_t i = 0; i < n; i++)
        room += added[i].n;
    g->n_node = 0;
    g->node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, room);
    place = ARENA_ARRAY(m->arena, uint32_t, room);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k <= added[i].n; k++) {
            Onnx__NodeProto *one = k < added[i].n ? added[i].node[k] : node[i];

            if (!one)
                continue;
            place[g->n_node] = m->place[i];
            set_maker(m, one, (uint32_t)g->n_node);
            g->node[g->n_node++] = one;
        }
    m->graph = g;
    m->place = place;
}

void ox_rewrite_quantisers(struct ox *m, ox_quantiser_rule *rule)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__NodeProto **node = arena_memdup(m->arena, m->graph->node, n * sizeof *node);
    struct ox_added *added = ARENA_ARRAY(m->arena, struct ox_added, n);

    for (uint32_t i = 0; i < n && !m->options->exact; i++)
        if (ox_has_one_scale(m, m->graph->node[i]))
            rule(m, i, node, added);
    ox_insert_nodes(m, node, added);
}

/* A constant that a node makes. */
static bool is_constant(struct ox *m, const Onnx__NodeProto *n)
{
    return ox_is_node(n, "Constant") || (ox_is_node(n, "Identity") && n->n_input == 1 &&
                                         ox_called_value(m, n->input[0])->kind == OX_CONST);
}

/* Add node `i` to the list `to` after the nodes that make its inputs, as far as they are not in `done`. The nodes on the
 * way are a stack: a cycle ends there, and import reports it. */
static void add_after_makers(struct ox *m, uint32_t i, bool *done, uint32_t *stack, uint32_t *to,
                             uint32_t *n_to)
{
    uint32_t depth = 0;

    for (stack[depth++] = i, done[i] = true; depth > 0;) {
        const Onnx__NodeProto *n = m->graph->node[stack[depth - 1]];
        uint32_t before = IR_NONE;

        for (size_t k = 0; k < n->n_input && before == IR_NONE; k++) {
            const uint32_t maker = ox_called_value(m, n->input[k])->maker;

            if (*n->input[k] && maker < m->graph->n_node && !done[maker])
                before = maker;
        }
        if (before == IR_NONE) {
            to[(*n_to)++] = stack[--depth];
        } else {
            done[before] = true;
            stack[depth++] = before;
        }
    }
}

bool ox_sort_nodes(struct ox *m)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__GraphProto *g = arena_memdup(m->arena, m->graph, sizeof *g);
    uint32_t *to = ARENA_ARRAY(m->arena, uint32_t, n + 1), n_to = 0,
             *stack = ARENA_ARRAY(m->arena, uint32_t, n + 1);
    bool *done = ARENA_ARRAY(m->arena, bool, n + 1);

    for (uint32_t i = 0; i < n; i++)
        if (is_constant(m, m->graph->node[i]))
            add_after_makers(m, i, done, stack, to, &n_to);
    for (uint32_t i = 0; i < n; i++)
        if (!done[i])
            add_after_makers(m, i, done, stack, to, &n_to);
    g->node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        g->node[i] = m->graph->node[to[i]];
        set_maker(m, g->node[i], i);
        if (m->place)
            to[i] = m->place[to[i]];
    }
    m->graph = g;
    m->place = to;
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < g->node[i]->n_input; k++) {
            const uint32_t maker = ox_called_value(m, g->node[i]->input[k])->maker;

            if (*g->node[i]->input[k] && maker < n && maker >= i)
                return false;
        }
    return true;
}

char *ox_add_node(struct ox *m, struct ox_added *to, const char *op, char *name, size_t n_in,
                  char *const *in)
{
    Onnx__NodeProto *n = ARENA_NEW(m->arena, Onnx__NodeProto);

    onnx__node_proto__init(n);
    n->op_type = arena_strndup(m->arena, op, strlen(op));
    n->domain = arena_strndup(m->arena, "", 0);
    n->name = name;
    n->n_input = n_in;
    n->input = arena_memdup(m->arena, in, n_in * sizeof *in);
    n->n_output = 1;
    n->output = arena_memdup(m->arena, &name, sizeof name);
    ox_called_value(m, name)->n_use = 1;
    to->node[to->n++] = n;
    return name;
}

char *ox_add_border(struct ox *m, struct ox_added *to, const char *x, char *name, char *scale,
                    char *zero)
{
    char *in[3] = {(char *)(uintptr_t)x, scale, zero};

    in[0] = ox_add_node(m, to, "QuantizeLinear", ox_name_of(m, name, "codes"), 3, in);
    return ox_add_node(m, to, "DequantizeLinear", name, 3, in);
}

char *ox_name_of(struct ox *m, const char *name, const char *what)
{
    return arena_printf(m->arena, "%s/%s", name, what);
}

char *ox_new_floats(struct ox *m, char *name, uint32_t rank, int32_t n, float **value)
{
    struct ox_const c;
    struct ox_value *v;

    *value = ox_new_const(m, &c, OX_FLOAT, rank, &n);
    v = ox_called_value(m, name);
    v->kind = OX_CONST;
    v->c = c;
    v->n_use = 1;
    return name;
}

char *ox_new_zero(struct ox *m, char *name, int32_t type, int64_t zero)
{
    struct ox_const c;

    *(uint8_t *)ox_new_const(m, &c, type, 0, NULL) = (uint8_t)zero;
    ox_called_value(m, name)->kind = OX_CONST;
    ox_called_value(m, name)->c = c;
    return name;
}

const struct ox_const *ox_known_before(struct ox *m, const char *name)
{
    static const char *const constant[] = {"Constant", NULL}, *const identity[] = {"Identity",
                                                                                   NULL};
    const struct ox_value *v = ox_called_value(m, name);
    const Onnx__NodeProto *n = v->maker < m->graph->n_node ? m->graph->node[v->maker] : NULL;
    struct ox_const *c;

    if (v->kind == OX_CONST)
        return &v->c;
    if (n && ox_is_one_of(n, identity) && n->n_input == 1)
        v = ox_called_value(m, n->input[0]);
    if (v->kind == OX_CONST)
        return &v->c;
    if (!n || !ox_is_one_of(n, constant) || n->n_attribute != 1 || !n->attribute[0]->t)
        return NULL;
    c = ARENA_NEW(m->arena, struct ox_const);
    if (ox_initializer(m, n->attribute[0]->t, c) == ST_OK)
        return c;
    *m->d = (struct diag){0}; /* refused when the node is imported */
    return NULL;
}

bool ox_has_one_scale(struct ox *m, const Onnx__NodeProto *quantize)
{
    static const char *const names[] = {"QuantizeLinear", NULL};

    if (!ox_is_one_of(quantize, names) || quantize->n_input < 2 || quantize->n_output != 1)
        return false;
    for (size_t i = 1; i < quantize->n_input; i++) {
        const struct ox_const *c = ox_known_before(m, quantize->input[i]);

        if (*quantize->input[i] && (!c || c->n != 1))
            return false;
    }
    return true;
}

Onnx__NodeProto *ox_renamed(struct ox *m, const Onnx__NodeProto *n, const char *in, const char *out)
{
    Onnx__NodeProto *to = arena_memdup(m->arena, n, sizeof *n);

    to->input = arena_memdup(m->arena, n->input, n->n_input * sizeof *n->input);
    to->input[0] = (char *)(uintptr_t)in;
    to->output = ARENA_ARRAY(m->arena, char *, 1);
    to->output[0] = (char *)(uintptr_t)out;
    return to;
}

bool ox_read_scale(struct ox *m, const Onnx__NodeProto *n, double *scale, int32_t *zero,
                   int32_t *type)
{
    const struct ox_const *s, *z = NULL;

    if (n->n_input < 2 || n->n_input > 3)
        return false;
    s = ox_known_before(m, n->input[1]);
    if (n->n_input == 3 && *n->input[2]) {
        z = ox_known_before(m, n->input[2]);
        if (!z || z->n != 1)
            return false;
    }
    if (!s || s->n != 1 || s->type != OX_FLOAT)
        return false;
    *scale = ox_number(s, 0);
    *zero = z ? (int32_t)ox_int(z, 0) : 0;
    *type = z ? z->type : OX_UINT8;
    return (*type == OX_INT8 || *type == OX_UINT8) && *scale > 0 && isfinite(*scale);
}
