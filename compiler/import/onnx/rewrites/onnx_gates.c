/* onnx_gates.c - a product of quantised values whose float32 result goes through a function of one number before it is
 * quantised, as exporters leave it that quantise operands alone.
 *
 *   product -> f -> QuantizeLinear (s)
 *   becomes   product -> QuantizeLinear (s') -> DequantizeLinear (s') -> f -> QuantizeLinear (s)
 *   or, with f(0) = 0, where one scale is too coarse: one of the negative values, one of the positive ones,
 *     product -> QuantizeLinear (s-) -> DequantizeLinear (s-) -> f -> QuantizeLinear (s) -> DequantizeLinear (s) +
 *     product -> QuantizeLinear (s+) -> DequantizeLinear (s+) -> f -> QuantizeLinear (s) -> DequantizeLinear (s)
 *     -> QuantizeLinear (s)
 *
 * f is of elementwise operators and constant numbers: SiLU, GELU, hard-swish, .. as one node or several. The range of
 * s' is where f's quantised value still changes; rounding to s' is less than a step of s (docs/ONNX.md, rule 19). */
#include "onnx_rewrites.h"

#include <math.h>
#include <string.h>

enum {
    MOST_NODES = 12, /* of f */
    GRID = 1 << 14,  /* numbers at which f is taken, on each side of 0 */
    MOST_DEPTH = 10,
    MOST_OPERANDS = 3,
    MOST_MOVERS = 4,
    NODE_X = MOST_NODES,
    NODE_NUMBER
};

struct gate {
    const char *x,
        *product; /* f's argument, and what it is before nodes that move it, the last one first */
    uint32_t n_mover, mover[MOST_MOVERS];
    uint32_t n, node[MOST_NODES]; /* f, in the file's order */
    /* Operands of each node: a number, or f's argument (NODE_X) or the result of one of the nodes before. */
    struct {
        int row; /* of `functions` */
        float alpha, beta;
        uint32_t from[MOST_OPERANDS];
        double number[MOST_OPERANDS];
    } term[MOST_NODES];
    uint32_t quantize;
    double scale, low, high; /* of the result: its step, least and greatest value */
    int32_t type;            /* of the product's input */
    double least, most;      /* of x: beyond, the result is the same to half a step */
    double slope[2];         /* the greatest of f below 0 and above */
};

/* --- f --- */

struct numbers {
    double x, y; /* operands */
    float alpha, beta;
};

#define FUNCTION(name, value)                                                                      \
    static double f_##name(const struct numbers *v)                                                \
    {                                                                                              \
        return value;                                                                              \
    }
FUNCTION(add, v->x + v->y)
FUNCTION(sub, v->x - v->y)
FUNCTION(mul, v->x * v->y)
FUNCTION(div, v->x / v->y)
FUNCTION(max, fmax(v->x, v->y))
FUNCTION(min, fmin(v->x, v->y))
FUNCTION(power, pow(v->x, v->y))
FUNCTION(same, v->x)
FUNCTION(relu, fmax(v->x, 0))
FUNCTION(sigmoid, 1 / (1 + exp(-v->x)))
FUNCTION(tanh, tanh(v->x))
FUNCTION(erf, erf(v->x))
FUNCTION(softplus, v->x > 30 ? v->x : log1p(exp(v->x)))
FUNCTION(mish, v->x *tanh(f_softplus(v)))
FUNCTION(gelu, v->x *(1 + erf(v->x * sqrt(0.5))) / 2)
FUNCTION(hard_sigmoid, fmin(fmax((double)v->alpha * v->x + (double)v->beta, 0), 1))
FUNCTION(hard_swish, v->x *fmin(fmax(v->x / 6 + 0.5, 0), 1))
FUNCTION(elu, v->x < 0 ? (double)v->alpha * expm1(v->x) : v->x)
#undef FUNCTION

static const struct {
    const char *op;
    double (*f)(const struct numbers *v);
    bool curved; /* others are the product's own clamps and scales */
    float alpha, beta;
} functions[] = {
    {"Add", f_add, false, 0, 0},
    {"Sub", f_sub, false, 0, 0},
    {"Mul", f_mul, false, 0, 0},
    {"Div", f_div, false, 0, 0},
    {"Max", f_max, false, 0, 0},
    {"Min", f_min, false, 0, 0},
    {"Relu", f_relu, false, 0, 0},
    {"Identity", f_same, false, 0, 0},
    {"Cast", f_same, false, 0, 0}, /* to float32 */
    {"Clip", f_max, false, 0, 0},  /* two bounds */
    {"Sigmoid", f_sigmoid, true, 0, 0},
    {"Tanh", f_tanh, true, 0, 0},
    {"Erf", f_erf, true, 0, 0},
    {"Softplus", f_softplus, true, 0, 0},
    {"Mish", f_mish, true, 0, 0},
    {"Gelu", f_gelu, true, 0, 0},
    {"HardSigmoid", f_hard_sigmoid, true, 0.2F, 0.5F},
    {"HardSwish", f_hard_swish, true, 0, 0},
    {"Elu", f_elu, true, 1, 0},
    {"Pow", f_power, true, 0, 0},
};

/* The row of `functions` of node n, or -1. */
static int function_of(const Onnx__NodeProto *n)
{
    for (int i = 0; i < (int)(sizeof functions / sizeof *functions); i++)
        if (ox_is_node(n, functions[i].op) && n->n_output == 1 &&
            ox_node_int(n, "to", OX_FLOAT) == OX_FLOAT &&
            n->n_input <= (i < 6 || strcmp(n->op_type, "Pow") == 0 ? 2U
                           : strcmp(n->op_type, "Clip") == 0       ? 3U
                                                                   : 1U))
            return i;
    return -1;
}

static bool number_of(struct ox *m, const char *name, double *v)
{
    const struct ox_const *c = *name ? ox_known_before(m, name) : NULL;

    if (!c || c->n != 1 || c->type != OX_FLOAT)
        return false;
    *v = ox_number(c, 0);
    return true;
}

/* The value that `name` is a function of alone, itself if there is none before it. */
static const char *argument_of(struct ox *m, const char *name, int depth)
{
    const Onnx__NodeProto *n = ox_maker_of(m, name);
    const char *x = NULL;
    double v;

    if (!n || function_of(n) < 0 || depth == MOST_DEPTH)
        return name;
    for (size_t i = 0; i < n->n_input; i++) {
        const char *of;

        if (!*n->input[i] || number_of(m, n->input[i], &v))
            continue;
        of = argument_of(m, n->input[i], depth + 1);
        if (x && strcmp(x, of) != 0)
            return name;
        x = of;
    }
    return x ? x : name;
}

static float number_attribute(const Onnx__NodeProto *n, const char *name, float otherwise)
{
    for (size_t i = 0; i < n->n_attribute; i++)
        if (strcmp(n->attribute[i]->name, name) == 0)
            return n->attribute[i]->f;
    return otherwise;
}

/* f(x). */
static double value_at(const struct gate *g, double x)
{
    double y[MOST_NODES + 1];

    y[NODE_X] = x;
    for (uint32_t i = 0; i < g->n; i++) {
        double of[MOST_OPERANDS];
        struct numbers v = {0, 0, g->term[i].alpha, g->term[i].beta};

        for (int k = 0; k < MOST_OPERANDS; k++)
            of[k] =
                g->term[i].from[k] == NODE_NUMBER ? g->term[i].number[k] : y[g->term[i].from[k]];
        v.x = of[0];
        v.y = of[1];
        y[i] = functions[g->term[i].row].f(&v);
        if (of[2] < y[i]) /* Clip */
            y[i] = of[2];
    }
    return y[g->n - 1];
}

/* --- where it is --- */

/* Add the nodes of f that make `name`. */
static bool collect(struct ox *m, struct gate *g, const char *name, bool *curved)
{
    const uint32_t at = ox_called_value(m, name)->maker;
    const Onnx__NodeProto *n;
    double v;

    if (strcmp(name, g->x) == 0 || number_of(m, name, &v))
        return true;
    for (uint32_t i = 0; i < g->n; i++)
        if (g->node[i] == at)
            return true;
    n = m->graph->node[at];
    for (size_t i = 0; i < n->n_input; i++)
        if (*n->input[i] && !collect(m, g, n->input[i], curved))
            return false;
    if (g->n == MOST_NODES || (ox_is_node(n, "Clip") && n->n_attribute != 0))
        return false;
    g->node[g->n++] = at;
    *curved = *curved || functions[function_of(n)].curved;
    return true;
}

/* Find what each node of f reads. An operand that is absent bounds nothing. */
static void set_terms(struct ox *m, struct gate *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        const Onnx__NodeProto *n = m->graph->node[g->node[i]];
        const int row = function_of(n);

        g->term[i].row = row;
        g->term[i].alpha = number_attribute(n, "alpha", functions[row].alpha);
        g->term[i].beta = number_attribute(n, "beta", functions[row].beta);
        for (size_t k = 0; k < MOST_OPERANDS; k++) {
            const char *name = k < n->n_input ? n->input[k] : "";

            g->term[i].from[k] = NODE_NUMBER;
            g->term[i].number[k] = k == 2 ? (double)INFINITY : -(double)INFINITY;
            if (!*name || number_of(m, name, &g->term[i].number[k]))
                continue;
            g->term[i].from[k] = NODE_X;
            for (uint32_t j = 0; j < i; j++)
                if (strcmp(name, m->graph->node[g->node[j]]->output[0]) == 0)
                    g->term[i].from[k] = j;
        }
    }
}

/* Return true if nothing but f reads x and what f makes. */
static bool is_alone(struct ox *m, const struct gate *g)
{
    uint32_t reads[MOST_NODES + 1] = {0};

    for (uint32_t i = 0; i < g->n; i++) {
        const Onnx__NodeProto *n = m->graph->node[g->node[i]];

        for (size_t k = 0; k < n->n_input; k++) {
            reads[MOST_NODES] += strcmp(n->input[k], g->x) == 0;
            for (uint32_t j = 0; j < i; j++)
                reads[j] += strcmp(n->input[k], m->graph->node[g->node[j]]->output[0]) == 0;
        }
    }
    for (uint32_t j = 0; j + 1 < g->n; j++)
        if (ox_called_value(m, m->graph->node[g->node[j]]->output[0])->n_use != reads[j])
            return false;
    return ox_called_value(m, g->x)->n_use == reads[MOST_NODES];
}

static const Onnx__NodeProto *unmoved_maker(struct ox *m, const char *name)
{
    const Onnx__NodeProto *n = ox_maker_of(m, name);

    while (n && ox_moves_values(n))
        n = ox_maker_of(m, n->input[0]);
    return n;
}

/* Find the product that x is, its bias added or normalised, perhaps moved; false: it is none of quantised values. */
static bool find_product(struct ox *m, struct gate *g)
{
    const Onnx__NodeProto *n = ox_maker_of(m, g->x), *of;
    const struct ox_const *zero;

    for (g->product = g->x; n && ox_moves_values(n) && g->n_mover < MOST_MOVERS;
         n = ox_maker_of(m, g->product)) {
        g->mover[g->n_mover++] = ox_called_value(m, g->product)->maker;
        g->product = n->input[0];
        if (ox_called_value(m, g->product)->n_use != 1)
            return false;
    }
    if (n && ox_is_node(n, "BatchNormalization"))
        n = ox_maker_of(m, n->input[0]);
    if (n && ox_is_node(n, "Add") && n->n_input == 2)
        n = ox_maker_of(m, n->input[ox_known_before(m, n->input[0]) ? 1 : 0]);
    if (!n || n->n_input < 2 ||
        (!ox_is_node(n, "Conv") && !ox_is_node(n, "Gemm") && !ox_is_node(n, "MatMul")))
        return false;
    of = unmoved_maker(m, n->input[1]);
    if (!ox_known_before(m, n->input[1]) && (!of || !ox_is_node(of, "DequantizeLinear")))
        return false;
    of = unmoved_maker(m, n->input[0]);
    zero = of && ox_is_node(of, "DequantizeLinear") && of->n_input == 3
               ? ox_known_before(m, of->input[2])
               : NULL;
    g->type = zero && zero->n == 1 ? zero->type : OX_FLOAT;
    return ox_type_bytes(g->type) == 1;
}

static double clamped_at(const struct gate *g, double x)
{
    const double y = value_at(g, x);

    return fmin(fmax(y, g->low), g->high);
}

/* Return the end of x's range on one side: beyond it the result is the same to half a step; the greatest slope before it
 * in *slope. */
static double end_of(const struct gate *g, double side, double *slope)
{
    const double step = side * (16 + 16 * fmax(fabs(g->low), fabs(g->high))) / GRID;
    double y = clamped_at(g, step * GRID), least = y, most = y, next;
    int i = GRID;

    while (i > 0 && most - least <= g->scale / 2) {
        y = clamped_at(g, step * --i);
        least = fmin(least, y);
        most = fmax(most, y);
    }
    if (!(most - least > g->scale / 2)) /* also NaN */
        return 0;
    *slope = 0;
    for (int k = i + 1; k > 0; k--, y = next) {
        next = clamped_at(g, step * (k - 1));
        if (k <= i)
            *slope = fmax(*slope, fabs((y - next) / step));
    }
    return step * (i + 1);
}

static bool find_gate(struct ox *m, uint32_t i, struct gate *g)
{
    const Onnx__NodeProto *q = m->graph->node[i];
    const struct ox_const *zero;
    bool curved = false;

    *g = (struct gate){.quantize = i};
    if (!ox_is_node(q, "QuantizeLinear") || q->n_input < 3 || !number_of(m, q->input[1], &g->scale))
        return false;
    zero = ox_known_before(m, q->input[2]);
    g->x = argument_of(m, q->input[0], 0);
    if (!zero || zero->n != 1 || ox_type_bytes(zero->type) != 1 || !(g->scale > 0) ||
        strcmp(g->x, q->input[0]) == 0 || !find_product(m, g) ||
        !collect(m, g, q->input[0], &curved) || !curved || !is_alone(m, g) ||
        ox_called_value(m, q->input[0])->n_use != 1)
        return false;
    g->low = g->scale * (double)(ox_lowest(zero->type) - ox_int(zero, 0));
    g->high = g->scale * (double)(ox_highest(zero->type) - ox_int(zero, 0));
    set_terms(m, g);
    g->least = end_of(g, -1, &g->slope[0]);
    g->most = end_of(g, 1, &g->slope[1]);
    return g->most > g->least;
}

/* --- the nodes instead --- */

/* Add a copy of node n that reads `x` instead of its value `of`; return the result's name, a new one. */
static char *add_copy(struct ox *m, struct ox_added *to, const Onnx__NodeProto *n, const char *what,
                      const char *of, char *x)
{
    char *name =
        ox_add_node(m, to, n->op_type, ox_name_of(m, n->output[0], what), n->n_input, n->input);
    Onnx__NodeProto *copy = to->node[to->n - 1];

    copy->n_attribute = n->n_attribute;
    copy->attribute = n->attribute;
    for (size_t k = 0; k < n->n_input; k++)
        if (strcmp(n->input[k], of) == 0)
            copy->input[k] = x;
    return name;
}

/* x in 8 bits of a range that has 0. */
static char *add_range(struct ox *m, struct ox_added *to, const struct gate *g, const char *what,
                       double least, double most)
{
    char *name = ox_name_of(m, m->graph->node[g->quantize]->output[0], what);
    const double step = (most - least) / 255;
    float *scale;
    char *s = ox_new_floats(m, ox_name_of(m, name, "scale"), 0, 1, &scale);

    *scale = (float)step;
    name = ox_add_border(m, to, g->product, name, s,
                         ox_new_zero(m, ox_name_of(m, name, "zero"), g->type,
                                     ox_lowest(g->type) + (int64_t)rint(-least / step)));
    for (uint32_t i = g->n_mover; i-- > 0;) {
        const Onnx__NodeProto *n = m->graph->node[g->mover[i]];

        name = add_copy(m, to, n, what, n->input[0], name);
    }
    return name;
}

/* Add f of `x`; return its result's name. The nodes have new names. */
static char *add_function(struct ox *m, struct ox_added *to, const struct gate *g, char *x,
                          const char *what)
{
    char *name[MOST_NODES];

    for (uint32_t i = 0; i < g->n; i++) {
        const Onnx__NodeProto *n = m->graph->node[g->node[i]];
        Onnx__NodeProto *copy;

        name[i] = add_copy(m, to, n, what, g->x, x);
        copy = to->node[to->n - 1];
        for (size_t k = 0; k < n->n_input; k++)
            for (uint32_t j = 0; j < i; j++)
                if (strcmp(n->input[k], m->graph->node[g->node[j]]->output[0]) == 0)
                    copy->input[k] = name[j];
    }
    for (uint32_t i = 0; i + 1 < g->n; i++)
        ox_called_value(m, name[i])->n_use =
            ox_called_value(m, m->graph->node[g->node[i]]->output[0])->n_use;
    ox_called_value(m, x)->n_use = ox_called_value(m, g->x)->n_use;
    return name[g->n - 1];
}

/* Set the nodes before its QuantizeLinear. Half a step of x is `half` times its range, in steps of the result. Return the
 * name that this one reads instead, or NULL: no scale of 8 bits is fine enough. */
static char *new_nodes(struct ox *m, const struct gate *g, struct ox_added *to)
{
    const Onnx__NodeProto *q = m->graph->node[g->quantize];
    const double half = 1 / (510 * g->scale), one = half * (g->most - g->least);
    const double below = -half * g->least * g->slope[0], above = half * g->most * g->slope[1];
    const double off = one * fmax(g->slope[0], g->slope[1]);
    static const char *const what[] = {"below", "above"};
    char *y[2];

    if (off < 0.5 || (off < 1 && (g->least == 0 || g->most == 0))) {
        char *x = add_range(m, to, g, "all", g->least, g->most);

        ox_called_value(m, g->product)->n_use = 1;
        return add_function(m, to, g, x, "all");
    }
    if (fabs(value_at(g, 0)) > g->scale * 0x1p-10 || below >= 1 || above >= 1)
        return NULL;
    for (int i = 0; i < 2; i++) {
        char *x = add_range(m, to, g, what[i], i == 0 ? g->least : 0, i == 0 ? 0 : g->most);

        y[i] = add_function(m, to, g, x, what[i]);
        y[i] = ox_add_border(m, to, y[i], ox_name_of(m, y[i], "result"), q->input[1], q->input[2]);
    }
    ox_called_value(m, g->product)->n_use = 2;
    return ox_add_node(m, to, "Add", ox_name_of(m, q->output[0], "sum"), 2, y);
}

void ox_quantise_arguments(struct ox *m)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__NodeProto **node = arena_memdup(m->arena, m->graph->node, n * sizeof *node);
    struct ox_added *added = ARENA_ARRAY(m->arena, struct ox_added, n);

    for (uint32_t i = 0; i < n && !m->options->exact; i++) {
        struct gate g;
        char *name;

        if (!find_gate(m, i, &g))
            continue;
        added[i].node =
            ARENA_ARRAY(m->arena, Onnx__NodeProto *, 9 + 2 * (MOST_NODES + MOST_MOVERS));
        name = new_nodes(m, &g, &added[i]);
        if (!name)
            continue;
        node[i] = arena_memdup(m->arena, node[i], sizeof **node);
        node[i]->input = arena_memdup(m->arena, node[i]->input, node[i]->n_input * sizeof(char *));
        node[i]->input[0] = name;
        for (uint32_t k = 0; k < g.n; k++)
            node[g.node[k]] = NULL;
        for (uint32_t k = 0; k < g.n_mover; k++)
            node[g.mover[k]] = NULL;
    }
    ox_insert_nodes(m, node, added);
}
