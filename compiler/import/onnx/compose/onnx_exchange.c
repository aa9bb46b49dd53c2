/* onnx_exchange.c - QuantizeLinear before nodes that only move values.
 *
 *   float operator -> Reshape -> QuantizeLinear   becomes   float operator -> QuantizeLinear -> Reshape
 *
 * A node that becomes an operator between movers quantises its result twice, which is the same as once:
 *
 *   [operator -> Reshape] -> Relu -> QuantizeLinear
 *   becomes   [operator -> Relu -> QuantizeLinear -> DequantizeLinear -> Reshape] -> Relu -> QuantizeLinear
 *
 * A number c > 0 between an operator and QuantizeLinear is quantised on both sides, too:
 *
 *   operator -> Mul (c) -> QuantizeLinear (s)
 *   becomes   operator -> QuantizeLinear (s / c) -> DequantizeLinear (s / c) -> Mul (c) -> QuantizeLinear (s)
 *
 * A quantiser may know the mover's result but not the operator before it. With one scale for all values the
 * results are the same bits, and the float operator then has a scale (docs/ONNX.md, "Islands"). */
#include "onnx_exchange.h"

#include <math.h>
#include <string.h>

static bool is_one_of(const Onnx__NodeProto *n, const char *const *list)
{
    while (n->op_type && *list && strcmp(*list, n->op_type) != 0)
        list++;
    return n->op_type && *list;
}

/* A maximum belongs to them, since quantisation keeps the order of values. */
static bool moves_values(const Onnx__NodeProto *n)
{
    static const char *const movers[] = {
        "DepthToSpace", "Flatten", "Gather",    "MaxPool",   "Reshape", "Slice",
        "SpaceToDepth", "Squeeze", "Transpose", "Unsqueeze", NULL};

    return n->n_input > 0 && n->n_output == 1 && is_one_of(n, movers) &&
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

void ox_sort_nodes(struct ox *m)
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
    }
    m->graph = g;
    m->place = to;
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

const struct ox_const *ox_known_before(struct ox *m, const char *name)
{
    static const char *const constant[] = {"Constant", NULL}, *const identity[] = {"Identity",
                                                                                   NULL};
    const struct ox_value *v = ox_called_value(m, name);
    const Onnx__NodeProto *n = v->maker < m->graph->n_node ? m->graph->node[v->maker] : NULL;
    struct ox_const *c;

    if (v->kind == OX_CONST)
        return &v->c;
    if (n && is_one_of(n, identity) && n->n_input == 1)
        v = ox_called_value(m, n->input[0]);
    if (v->kind == OX_CONST)
        return &v->c;
    if (!n || !is_one_of(n, constant) || n->n_attribute != 1 || !n->attribute[0]->t)
        return NULL;
    c = ARENA_NEW(m->arena, struct ox_const);
    if (ox_initializer(m, n->attribute[0]->t, c) == ST_OK)
        return c;
    *m->d = (struct diag){0}; /* refused when the node is imported */
    return NULL;
}

static bool has_one_scale(struct ox *m, const Onnx__NodeProto *quantize)
{
    static const char *const names[] = {"QuantizeLinear", NULL};

    if (!is_one_of(quantize, names) || quantize->n_input < 2 || quantize->n_output != 1)
        return false;
    for (size_t i = 1; i < quantize->n_input; i++) {
        const struct ox_const *c = ox_known_before(m, quantize->input[i]);

        if (*quantize->input[i] && (!c || c->n != 1))
            return false;
    }
    return true;
}

static Onnx__NodeProto *renamed(struct ox *m, const Onnx__NodeProto *n, const char *in,
                                const char *out)
{
    Onnx__NodeProto *to = arena_memdup(m->arena, n, sizeof *n);

    to->input = arena_memdup(m->arena, n->input, n->n_input * sizeof *n->input);
    to->input[0] = (char *)(uintptr_t)in;
    to->output = ARENA_ARRAY(m->arena, char *, 1);
    to->output[0] = (char *)(uintptr_t)out;
    return to;
}

/* Return true if a node other than DequantizeLinear, before node `at`, makes the value. */
static bool is_computed(struct ox *m, const char *name, uint32_t at)
{
    static const char *const borders[] = {"DequantizeLinear", NULL};
    const uint32_t maker = ox_called_value(m, name)->maker;

    return maker < at && !is_one_of(m->graph->node[maker], borders);
}

/* Return true if another node than `i` takes the value's shape, which is no use of it. */
static bool shape_is_read(const struct ox *m, const char *name, uint32_t i)
{
    for (uint32_t k = 0; k < m->graph->n_node; k++)
        for (size_t in = 0; k != i && in < m->graph->node[k]->n_input; in++)
            if (strcmp(m->graph->node[k]->input[in], name) == 0)
                return true;
    return false;
}

/* Return the mover whose only reader is node `i`, a QuantizeLinear, and whose input is computed; or IR_NONE. */
static uint32_t mover_before(struct ox *m, uint32_t i)
{
    const struct ox_value *x = ox_called_value(m, m->graph->node[i]->input[0]);
    const uint32_t at = x->maker;
    const Onnx__NodeProto *mover;

    if (at >= i || x->n_use != 1)
        return IR_NONE;
    mover = m->graph->node[at];
    return moves_values(mover) && is_computed(m, mover->input[0], at) &&
                   !shape_is_read(m, x->name, i)
               ? at
               : IR_NONE;
}

/* Exchange node `i` with the one at `at`, before it. */
static void exchange(struct ox *m, Onnx__NodeProto **node, uint32_t at, uint32_t i)
{
    const char *between = arena_printf(m->arena, "%s/quantized", node[at]->output[0]);
    const char *from = node[at]->input[0], *to = node[i]->output[0];
    Onnx__NodeProto *quantize = renamed(m, node[i], from, between);

    node[i] = renamed(m, node[at], between, to);
    node[at] = quantize;
    ox_called_value(m, between)->n_use = 1;
    ox_called_value(m, between)->maker = at;
}

void ox_quantise_first(struct ox *m)
{
    Onnx__GraphProto *g = arena_memdup(m->arena, m->graph, sizeof *g);

    g->node = arena_memdup(m->arena, g->node, g->n_node * sizeof *g->node);
    m->graph = g;
    for (uint32_t i = 0; i < g->n_node; i++) {
        uint32_t at, last = i;

        if (!has_one_scale(m, g->node[i]))
            continue;
        while ((at = mover_before(m, last)) != IR_NONE) {
            exchange(m, g->node, at, last);
            last = at;
        }
    }
}

/* --- numbers before QuantizeLinear --- */

enum { MOST_DEPTH = 8 };

static const Onnx__NodeProto *maker_of(struct ox *m, const char *name)
{
    const uint32_t i = ox_called_value(m, name)->maker;

    return i < m->graph->n_node ? m->graph->node[i] : NULL;
}

static bool is_dequantised(struct ox *m, const char *name)
{
    const Onnx__NodeProto *n = maker_of(m, name);

    return n && ox_is_node(n, "DequantizeLinear");
}

/* Return true if the value waits for its scale: a product, an average or a sum of quantised values; perhaps with a bias,
 * normalised, clamped or moved. */
static bool waits(struct ox *m, const char *name, int depth)
{
    static const char *const operators[] = {"AveragePool", "Conv",   "ConvTranspose",
                                            "Gemm",        "MatMul", "GlobalAveragePool",
                                            "ReduceMean",  NULL};
    static const char *const sums[] = {"Add", "Sub", NULL};
    static const char *const kept[] = {"BatchNormalization", "Clip", "Relu", NULL};
    const Onnx__NodeProto *n = maker_of(m, name);

    if (!n || n->n_input == 0 || n->n_output != 1 || (n->domain && *n->domain) ||
        depth == MOST_DEPTH || ox_called_value(m, name)->n_use != 1)
        return false;
    if (is_one_of(n, operators))
        return is_dequantised(m, n->input[0]) ||
               (maker_of(m, n->input[0]) && moves_values(maker_of(m, n->input[0])));
    if (is_one_of(n, kept) || moves_values(n))
        return waits(m, n->input[0], depth + 1);
    if (!is_one_of(n, sums) || n->n_input != 2)
        return false;
    for (int i = 0; i < 2; i++)
        if (ox_known_before(m, n->input[i]))
            return waits(m, n->input[1 - i], depth + 1);
    return is_dequantised(m, n->input[0]) || is_dequantised(m, n->input[1]);
}

/* Return the operand of the node that is multiplied by a number, *c; 2: none. */
static uint32_t multiplied(struct ox *m, const Onnx__NodeProto *n, float *c)
{
    const bool divides = ox_is_node(n, "Div");

    if (n->n_input != 2 || n->n_output != 1 || (!divides && !ox_is_node(n, "Mul")))
        return 2;
    for (uint32_t i = divides ? 1 : 0; i < 2; i++) {
        const struct ox_const *v = ox_known_before(m, n->input[i]);

        if (!v || v->n != 1 || v->type != OX_FLOAT)
            continue;
        *c = (float)(divides ? 1 / ox_number(v, 0) : ox_number(v, 0));
        return 1 - i;
    }
    return 2;
}

/* The scale that times c is s, or next to it. */
static float scale_before(float s, float c)
{
    const float first = (float)((double)s / (double)c);
    const float tried[] = {first, nextafterf(first, 0), nextafterf(first, INFINITY)};

    for (int i = 0; i < 3; i++)
        if ((float)((double)tried[i] * (double)c) == s)
            return tried[i];
    return first;
}

/* Put the pair before the node that makes what `quantize` reads, if that is a waiting value times a number. */
static void quantise_factor(struct ox *m, const Onnx__NodeProto *quantize, Onnx__NodeProto **node,
                            struct ox_added *added)
{
    const uint32_t at = ox_called_value(m, quantize->input[0])->maker;
    const struct ox_const *s = ox_known_before(m, quantize->input[1]), *zero;
    float c = 0, step, *scale;
    uint32_t of;
    char *x;

    if (at >= m->graph->n_node || quantize->n_input != 3 || !s || s->type != OX_FLOAT ||
        ox_called_value(m, quantize->input[0])->n_use != 1)
        return;
    zero = ox_known_before(m, quantize->input[2]);
    if (!zero || ox_type_bytes(zero->type) != 1)
        return;
    of = multiplied(m, node[at], &c);
    step = of < 2 ? scale_before(*(const float *)s->data, c) : 0;
    if (!(step >= 0x1p-126f) || !isfinite(step) || !waits(m, node[at]->input[of], 0))
        return;
    added[at].node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, 2);
    x = ox_name_of(m, node[at]->output[0], "factor");
    x = ox_add_border(m, &added[at], node[at]->input[of], x,
                      ox_new_floats(m, ox_name_of(m, x, "scale"), 0, 1, &scale),
                      quantize->input[2]);
    *scale = step;
    node[at] = renamed(m, node[at], node[at]->input[0], node[at]->output[0]);
    node[at]->input[of] = x;
}

void ox_quantise_factors(struct ox *m)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__NodeProto **node = arena_memdup(m->arena, m->graph->node, n * sizeof *node);
    struct ox_added *added = ARENA_ARRAY(m->arena, struct ox_added, n);

    for (uint32_t i = 0; i < n && !m->options->exact; i++)
        if (has_one_scale(m, m->graph->node[i]))
            quantise_factor(m, m->graph->node[i], node, added);
    ox_insert_nodes(m, node, added);
}

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

    if (reader && is_one_of(reader, relu)) {
        text_printf(text, "clamped = Relu(%s);", from);
        from = "clamped";
        reader = only_reader(m, reader->output[0]);
    } else if (reader && is_one_of(reader, clip) && give_constants(m, reader, "low", "high")) {
        text_printf(text, "clamped = Clip(%s, low, high);", from);
        from = "clamped";
        reader = only_reader(m, reader->output[0]);
    }
    if (!reader || !has_one_scale(m, reader) || reader->n_attribute != 0 ||
        !give_constants(m, reader, "scale", "zero"))
        return from;
    text_printf(text,
                "quantised = QuantizeLinear(%s, scale, zero);"
                "real = DequantizeLinear(quantised, scale, zero);",
                from);
    return "real";
}
