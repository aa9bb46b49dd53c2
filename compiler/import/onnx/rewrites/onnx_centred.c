/* onnx_centred.c - quantised values of 16 bits get zero point 0, with which there are operators (docs/ONNX.md, rule 23).
 *
 *   x -> QuantizeLinear (s, z) -> DequantizeLinear (s, z)
 *   becomes   x -> Clip -> QuantizeLinear (s', int16 0) -> DequantizeLinear (s', int16 0)
 *
 * s' is the least scale that reaches the file's values. Clip keeps the file's range where values could be beyond it. A
 * border of the network keeps its own codes, with such a pair next to it. */
#include "onnx_rewrites.h"

#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 16 };

/* Scale and zero point of a QuantizeLinear or DequantizeLinear of 16 bits. */
struct codes {
    int32_t type, low, high; /* codes less the zero point */
    int64_t zero;
    double scale;
};

struct range {
    double low, high;
};

static const struct range all = {-INFINITY, INFINITY};

static bool is_border(const Onnx__NodeProto *n, const char *op)
{
    return n->op_type && strcmp(n->op_type, op) == 0 && n->n_input > 1 && n->n_output == 1;
}

/* Read the one scale of node n's quantised values, of 8 or 16 bits; false: it has others. */
static bool read_codes(struct ox *m, const Onnx__NodeProto *n, struct codes *c)
{
    const struct ox_const *s = ox_known_before(m, n->input[1]);
    const struct ox_const *z =
        n->n_input > 2 && *n->input[2] ? ox_known_before(m, n->input[2]) : NULL;

    if (!s || s->n != 1 || s->type != OX_FLOAT || (n->n_input > 2 && *n->input[2] && !z) ||
        (z && z->n != 1) || ox_node_int(n, "block_size", 0) != 0)
        return false;
    c->type = z ? z->type : (int32_t)ox_node_int(n, "output_dtype", OX_UINT8);
    c->zero = z ? ox_int(z, 0) : 0;
    c->scale = ox_number(s, 0);
    if ((ox_type_bytes(c->type) != 1 && !ox_is_wide(c->type)) || (z && z->halves) ||
        !(c->scale > 0) || !isfinite(c->scale))
        return false;
    c->low = (int32_t)(ox_lowest(c->type) - c->zero);
    c->high = (int32_t)(ox_highest(c->type) - c->zero);
    return true;
}

static bool is_plain(const struct codes *c)
{
    return c->type == OX_INT16 && c->zero == 0;
}

/* --- the range of a value --- */

static struct range range_of(struct ox *m, const char *name, int depth);

static struct range joined(struct ox *m, const Onnx__NodeProto *n, int depth)
{
    struct range r = range_of(m, n->input[0], depth);

    for (size_t i = 1; i < n->n_input; i++) {
        const struct range next = range_of(m, n->input[i], depth);

        r = (struct range){fmin(r.low, next.low), fmax(r.high, next.high)};
    }
    return r;
}

/* x times a number, or divided by it. */
static struct range scaled(struct ox *m, const Onnx__NodeProto *n, int depth)
{
    const struct ox_const *c = n->n_input == 2 ? ox_known_before(m, n->input[1]) : NULL;
    const struct range r = range_of(m, n->input[0], depth);
    double factor;

    if (!c || c->n != 1 || c->type != OX_FLOAT || !isfinite(r.low) || !isfinite(r.high))
        return all;
    factor = ox_is_node(n, "Div") ? 1 / ox_number(c, 0) : ox_number(c, 0);
    if (!isfinite(factor))
        return all;
    return (struct range){fmin(r.low * factor, r.high * factor),
                          fmax(r.low * factor, r.high * factor)};
}

/* Values that a node's result can have. */
static struct range range_of(struct ox *m, const char *name, int depth)
{
    static const char *const means[] = {"GlobalAveragePool", "ReduceMean", "Identity", NULL},
                             *const shares[] = {"Softmax", "Sigmoid", "HardSigmoid", NULL},
                             *const factors[] = {"Mul", "Div", NULL};
    const Onnx__NodeProto *n = ox_maker_of(m, name);
    struct range r;
    struct codes c;

    if (!n || n->n_input == 0 || depth == MOST_DEPTH)
        return all;
    if (is_border(n, "DequantizeLinear") && read_codes(m, n, &c))
        return (struct range){c.scale * c.low, c.scale * c.high};
    if (n->domain && *n->domain)
        return all;
    if (ox_is_one_of(n, shares))
        return (struct range){0, 1};
    if (ox_is_node(n, "Tanh"))
        return (struct range){-1, 1};
    if (ox_is_one_of(n, factors))
        return scaled(m, n, depth + 1);
    if (ox_is_node(n, "Concat"))
        return joined(m, n, depth + 1);
    if (ox_moves_values(n) || ox_is_one_of(n, means))
        return range_of(m, n->input[0], depth + 1);
    r = all;
    if (ox_is_node(n, "Relu") || ox_is_node(n, "AveragePool"))
        r = range_of(m, n->input[0], depth + 1);
    if (ox_is_node(n, "Relu"))
        r.low = fmax(r.low, 0);
    return (struct range){fmin(r.low, 0), fmax(r.high, 0)}; /* a pool may count zeros */
}

/* --- the nodes instead --- */

/* The pair's constants. */
struct centred {
    char *scale, *zero;
    double step;
};

static struct centred new_scale(struct ox *m, char *name, double scale, int32_t low, int32_t high)
{
    const int32_t most = -low > high ? -low : high;
    struct centred c;
    float *value;

    c.scale = ox_new_floats(m, ox_name_of(m, name, "scale"), 0, 1, &value);
    c.zero = ox_new_zero(m, ox_name_of(m, name, "zero"), OX_INT16, 0);
    *value = (float)(scale * most / INT16_MAX);
    c.step = (double)*value;
    return c;
}

/* `n` with this scale and zero point. */
static Onnx__NodeProto *with_scale(struct ox *m, const Onnx__NodeProto *n, const struct centred *c)
{
    Onnx__NodeProto *to = arena_memdup(m->arena, n, sizeof *n);

    to->n_input = 3;
    to->input = ARENA_ARRAY(m->arena, char *, 3);
    to->input[0] = n->input[0];
    to->input[1] = c->scale;
    to->input[2] = c->zero;
    to->n_attribute = 0;
    return to;
}

static char *bound(struct ox *m, char *name, bool needed, double v)
{
    float *value;

    if (!needed)
        return arena_strndup(m->arena, "", 0);
    name = ox_new_floats(m, name, 0, 1, &value);
    *value = (float)v;
    return name;
}

/* Return `x` with values of the file's range, by a Clip if they may be beyond it and int16 reaches further. */
static char *clipped(struct ox *m, struct ox_added *to, char *x, char *name, const struct codes *c,
                     const struct centred *by)
{
    const struct range r = range_of(m, x, 0);
    const double low = c->scale * c->low, high = c->scale * c->high, half = c->scale / 2;
    const bool below = r.low < low - half && by->step * INT16_MAX > half - low,
               above = r.high > high + half && by->step * INT16_MAX > half + high;
    char *in[3] = {x};

    if (!below && !above)
        return x;
    in[1] = bound(m, ox_name_of(m, name, "low"), below, low);
    in[2] = bound(m, ox_name_of(m, name, "high"), above, high);
    return ox_add_node(m, to, "Clip", ox_name_of(m, name, "clipped"), 3, in);
}

static bool has_codes(struct ox *m, const Onnx__NodeProto *n, const struct codes *c)
{
    struct codes other;

    return read_codes(m, n, &other) && other.type == c->type && other.zero == c->zero &&
           other.scale == c->scale;
}

/* Add each DequantizeLinear that reads value `name`, perhaps moved, with scale c to `reader`; false: something else reads
 * it. */
static bool find_readers(struct ox *m, const char *name, const struct codes *c, uint32_t *reader,
                         uint32_t *n)
{
    uint32_t uses = 0;

    for (uint32_t i = 0; i < m->graph->n_node; i++) {
        const Onnx__NodeProto *r = m->graph->node[i];

        for (size_t k = 0; k < r->n_input; k++) {
            const bool reads = strcmp(r->input[k], name) == 0;

            uses += reads;
            if (!reads)
                continue;
            if (k == 0 && ox_moves_values(r) && find_readers(m, r->output[0], c, reader, n))
                continue;
            if (k != 0 || !is_border(r, "DequantizeLinear") || !has_codes(m, r, c))
                return false;
            reader[(*n)++] = i;
        }
    }
    return uses == ox_called_value(m, name)->n_use;
}

/* QuantizeLinear `i`. */
static void centre_codes(struct ox *m, uint32_t i, const struct codes *c, Onnx__NodeProto **node,
                         struct ox_added *added)
{
    const Onnx__NodeProto *q = m->graph->node[i], *maker = ox_maker_of(m, q->input[0]);
    uint32_t *reader = ARENA_ARRAY(m->arena, uint32_t, m->graph->n_node), n = 0;
    const bool alone = find_readers(m, q->output[0], c, reader, &n);
    struct centred by;
    char *x;

    if (ox_known_before(m, q->input[0]) ||
        (!alone && (!maker || is_border(maker, "DequantizeLinear"))))
        return;
    by = new_scale(m, q->output[0], c->scale, c->low, c->high);
    added->node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, 3);
    x = clipped(m, added, q->input[0], q->output[0], c, &by);
    if (!alone)
        x = ox_add_border(m, added, x, ox_name_of(m, q->output[0], "centred"), by.scale, by.zero);
    node[i] = alone ? with_scale(m, q, &by) : arena_memdup(m->arena, q, sizeof *q);
    node[i]->input = arena_memdup(m->arena, node[i]->input, node[i]->n_input * sizeof(char *));
    node[i]->input[0] = x;
    for (uint32_t k = 0; alone && k < n; k++)
        node[reader[k]] = with_scale(m, m->graph->node[reader[k]], &by);
}

/* Return true if a product reads the value as weights or bias. */
static bool is_weights(struct ox *m, const char *name)
{
    static const char *const products[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", NULL};

    for (uint32_t i = 0; i < m->graph->n_node; i++)
        for (size_t k = 1; k < m->graph->node[i]->n_input; k++)
            if (strcmp(m->graph->node[i]->input[k], name) == 0 &&
                ox_is_one_of(m->graph->node[i], products))
                return true;
    return false;
}

/* DequantizeLinear `n` of constant `x`; NULL: as it is. */
static Onnx__NodeProto *centre_constant(struct ox *m, const Onnx__NodeProto *n,
                                        const struct ox_const *x, const struct codes *c)
{
    int32_t low = 0, high = 0;
    struct ox_const to;
    Onnx__NodeProto *y;
    struct centred by;
    int16_t *code;

    for (uint64_t i = 0; i < x->n; i++) {
        const int32_t v = (int32_t)(ox_int(x, i) - c->zero);

        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    if (x->n == 0 || x->type != c->type || is_weights(m, n->output[0]))
        return NULL;
    if (low >= -INT16_MAX && high <= INT16_MAX)
        low = -(high = INT16_MAX); /* the same scale */
    by = new_scale(m, n->output[0], c->scale, low, high);
    code = ox_new_const(m, &to, OX_INT16, x->rank, x->dim);
    for (uint64_t i = 0; i < x->n; i++)
        code[i] = (int16_t)rint((double)(ox_int(x, i) - c->zero) * c->scale / by.step);
    y = with_scale(m, n, &by);
    y->input[0] = ox_name_of(m, n->output[0], "codes");
    ox_called_value(m, y->input[0])->kind = OX_CONST;
    ox_called_value(m, y->input[0])->c = to;
    return y;
}

/* Return true if a node reads the value that does not quantise it. */
static bool is_computed_with(struct ox *m, const char *name)
{
    for (uint32_t i = 0; i < m->graph->n_node; i++)
        for (size_t k = 0; k < m->graph->node[i]->n_input; k++)
            if (strcmp(m->graph->node[i]->input[k], name) == 0 &&
                !is_border(m->graph->node[i], "QuantizeLinear"))
                return true;
    return false;
}

/* DequantizeLinear `i`: constants, and the network's inputs. */
static void centre_values(struct ox *m, uint32_t i, const struct codes *c, Onnx__NodeProto **node,
                          struct ox_added *added)
{
    const Onnx__NodeProto *n = m->graph->node[i];
    const struct ox_const *x = ox_known_before(m, n->input[0]);
    Onnx__NodeProto *y = x ? centre_constant(m, n, x, c) : NULL;
    struct centred by;
    char *in[3];

    if (y)
        node[i] = y;
    if (x || ox_called_value(m, n->input[0])->maker != IR_NONE ||
        !is_computed_with(m, n->output[0]))
        return;
    by = new_scale(m, n->output[0], c->scale, c->low, c->high);
    added->node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, 2);
    in[0] = ox_name_of(m, n->output[0], "file");
    in[1] = by.scale;
    in[2] = by.zero;
    added->node[added->n++] = ox_renamed(m, n, n->input[0], in[0]);
    ox_called_value(m, in[0])->n_use = 1;
    in[0] = ox_add_node(m, added, "QuantizeLinear", ox_name_of(m, n->output[0], "codes"), 3, in);
    node[i] = with_scale(m, n, &by);
    node[i]->input[0] = in[0];
}

void ox_centre_codes(struct ox *m)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__NodeProto **node = arena_memdup(m->arena, m->graph->node, n * sizeof *node);
    struct ox_added *added = ARENA_ARRAY(m->arena, struct ox_added, n);
    struct codes c;

    for (uint32_t i = 0; i < n && !m->options->exact; i++) {
        const bool quantises = is_border(m->graph->node[i], "QuantizeLinear");

        if ((!quantises && !is_border(m->graph->node[i], "DequantizeLinear")) ||
            !read_codes(m, m->graph->node[i], &c) || !ox_is_wide(c.type) || is_plain(&c))
            continue;
        if (quantises)
            centre_codes(m, i, &c, node, &added[i]);
        else if (node[i] == m->graph->node[i])
            centre_values(m, i, &c, node, &added[i]);
    }
    ox_insert_nodes(m, node, added);
}

/* --- clamps between equal scales --- */

/* Return true if nodes `a` and `b` have the scale of c, int16 with zero point 0. */
static bool is_scale(struct ox *m, const Onnx__NodeProto *n, double scale)
{
    struct codes c;

    return read_codes(m, n, &c) && is_plain(&c) && c.scale == scale;
}

/* QuantizeLinear -> DequantizeLinear -> Relu or Clip -> QuantizeLinear of one scale is that without the first two. */
void ox_clamp_once(struct ox *m)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__NodeProto **node = arena_memdup(m->arena, m->graph->node, n * sizeof *node);
    struct codes c;

    for (uint32_t i = 0; i < n && !m->options->exact; i++) {
        const Onnx__NodeProto *of[3] = {
            m->graph->node[i]}; /* clamp, DequantizeLinear, QuantizeLinear */
        uint32_t at = i;
        bool alone = is_border(of[0], "QuantizeLinear") && read_codes(m, of[0], &c) && is_plain(&c);

        for (uint32_t k = 0; alone && k < 3; k++) {
            const struct ox_value *x = ox_called_value(m, (k == 0 ? of[0] : of[k - 1])->input[0]);

            at = x->maker;
            alone = at < i && x->n_use == 1;
            of[k] = alone ? m->graph->node[at] : NULL;
        }
        if (!alone || !(ox_is_node(of[0], "Relu") || ox_is_node(of[0], "Clip")) ||
            !is_border(of[1], "DequantizeLinear") || !is_border(of[2], "QuantizeLinear") ||
            !is_scale(m, of[1], c.scale) || !is_scale(m, of[2], c.scale))
            continue;
        node[ox_called_value(m, of[0]->output[0])->maker] =
            ox_renamed(m, of[0], of[2]->input[0], of[0]->output[0]);
        node[ox_called_value(m, of[1]->output[0])->maker] = NULL;
        node[at] = NULL;
    }
    ox_insert_nodes(m, node, ARENA_ARRAY(m->arena, struct ox_added, n));
}
