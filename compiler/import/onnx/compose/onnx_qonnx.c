/* onnx_qonnx.c - Quant and BipolarQuant of QONNX, as Brevitas and FINN write them: numbers rounded to the values of few
 * bits.
 *
 *   Quant of up to 8 bits   QuantizeLinear, a Clip if there are fewer codes than the type has, DequantizeLinear
 *   of a constant           DequantizeLinear of its codes; with more bits its rounded values in float32
 *   BipolarQuant            s where x >= 0, else -s: codes 1 and -1
 *
 * The graph's own nodes are replaced before any is imported, so that other rules see QuantizeLinear. */
#include "compiler/import/onnx/rewrites/onnx_rewrites.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum {
    BIPOLAR_IN = 2, /* inputs: x and scale */
    QUANT_IN = 4,   /* zero point and bit width, too */
    MOST_NODES = 16 /* between two quantisers */
};

struct quant {
    const struct ox_const *x; /* NULL: computed */
    const struct ox_const *scale;
    uint32_t axis; /* of the scale's dimensions, with more than one number; its rank: none */
    int32_t bits, type;
    double low, high, zero;
    bool bipolar, coded; /* 8 bits hold its values, with scales along one axis at most */
    int32_t finer; /* quantised values times two to this, of a scale that is as much smaller */
};

static bool is_quant(const Onnx__NodeProto *n)
{
    const char *op = n->op_type ? n->op_type : "";
    const bool bipolar = strcmp(op, "BipolarQuant") == 0;

    return (bipolar || strcmp(op, "Quant") == 0 || strcmp(op, "IntQuant") == 0) && n->domain &&
           ox_is_qonnx(n->domain) && n->n_input == (bipolar ? BIPOLAR_IN : QUANT_IN) &&
           n->n_output == 1;
}

/* Constant input `i` as numbers, or NULL. */
static const struct ox_const *known(struct ox *m, uint32_t i)
{
    const struct ox_value *v = ox_in(m, i);
    struct ox_const *c;

    if (!v || v->kind != OX_CONST || !v->real)
        return v ? ox_known_before(m, m->node->input[i]) : NULL;
    c = ARENA_NEW(m->arena, struct ox_const);
    *c = ox_const_values(m, &v->c, &v->quant);
    return c;
}

static enum status constant(struct ox *m, uint32_t i, const char *what, const struct ox_const **c)
{
    *c = known(m, i);
    if (!*c || (*c)->n == 0)
        return FAIL(m->d, ST_UNSUPPORTED, "%s: expected a constant", what);
    return ST_OK;
}

/* Input `i` is one whole number, perhaps several times. */
static enum status whole(struct ox *m, uint32_t i, const char *what, double *value)
{
    const struct ox_const *c;

    TRY(constant(m, i, what, &c));
    *value = ox_number(c, 0);
    for (uint64_t k = 0; k < c->n; k++)
        if (ox_number(c, k) != rint(*value))
            return FAIL(m->d, ST_UNSUPPORTED, "%s: expected one whole number, found %g", what,
                        ox_number(c, k));
    return ST_OK;
}

static enum status read_codes(struct ox *m, struct quant *q)
{
    const char *mode = ox_attr_text(m, "rounding_mode", "ROUND");
    const bool narrow = ox_attr_int(m, "narrow", 0) != 0;
    double bits;

    TRY(whole(m, 2, "zero point", &q->zero));
    TRY(whole(m, 3, "bit width", &bits));
    if (!(bits >= 1 && bits <= 32))
        return FAIL(m->d, ST_UNSUPPORTED, "bit width: expected 1 to 32, found %g", bits);
    if (strcasecmp(mode, "ROUND") != 0 && strcasecmp(mode, "HALF_EVEN") != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "rounding_mode: expected ROUND, found %.40s", mode);
    q->bits = (int32_t)bits;
    if (ox_attr_int(m, "signed", 1) != 0) {
        q->type = OX_INT8;
        q->high = ldexp(1, q->bits - 1) - 1;
        q->low = -q->high - !narrow;
    } else {
        q->type = OX_UINT8;
        q->high = ldexp(1, q->bits) - 1 - narrow;
        q->low = 0;
    }
    return ST_OK;
}

static enum status read_quant(struct ox *m, struct quant *q)
{
    uint32_t axes = 0;

    *q = (struct quant){.bits = 1, .type = OX_INT8, .low = -1, .high = 1};
    q->bipolar = m->node->n_input == BIPOLAR_IN;
    q->x = known(m, 0);
    TRY(constant(m, 1, "scale", &q->scale));
    for (uint64_t i = 0; i < q->scale->n; i++)
        if (!(ox_number(q->scale, i) > 0 && ox_number(q->scale, i) <= (double)INFINITY))
            return FAIL(m->d, ST_UNSUPPORTED, "scale: expected numbers above 0, found %g",
                        ox_number(q->scale, i));
    q->axis = q->scale->rank;
    for (uint32_t k = 0; k < q->scale->rank; k++)
        if (q->scale->dim[k] != 1) {
            q->axis = k;
            axes++;
        }
    if (!q->bipolar)
        TRY(read_codes(m, q));
    q->coded = q->bits <= 8 && axes <= 1 && q->zero >= ox_lowest(q->type) &&
               q->zero <= ox_highest(q->type);
    return ST_OK;
}

/* Index of the scale for element i of q->x. */
static uint64_t scale_at(const struct quant *q, uint64_t i)
{
    const struct ox_const *s = q->scale, *x = q->x;
    uint64_t at = 0, stride = 1;

    for (uint32_t back = 1; back <= s->rank; back++) {
        const uint64_t n = (uint64_t)s->dim[s->rank - back],
                       size = (uint64_t)x->dim[x->rank - back];

        at += n > 1 ? i % size * stride : 0;
        stride *= n;
        i /= size;
    }
    return at;
}

static enum status check_scale(struct ox *m, const struct quant *q)
{
    const struct ox_const *s = q->scale, *x = q->x;
    bool fits = s->rank <= x->rank;

    for (uint32_t back = 1; fits && back <= s->rank; back++)
        fits = s->dim[s->rank - back] == 1 || s->dim[s->rank - back] == x->dim[x->rank - back];
    if (!fits)
        return FAIL(m->d, ST_UNSUPPORTED, "scale of shape %s: expected one that broadcasts to %s",
                    ir_shape_text(m->arena, s->rank, s->dim),
                    ir_shape_text(m->arena, x->rank, x->dim));
    return ST_OK;
}

/* The code of element i of q->x, in float32 as Brevitas computes it. */
static double code_of(const struct quant *q, uint64_t i)
{
    const float x = (float)ox_number(q->x, i);
    const float v = x / (float)ox_number(q->scale, scale_at(q, i)) + (float)q->zero;

    if (q->bipolar)
        return x >= 0 ? 1 : -1;
    return isnan(v) ? q->zero : fmin(fmax((double)rintf(v), q->low), q->high);
}

/* Inner value `name`: one code. */
static void give_code(struct ox *m, const struct quant *q, const char *name, double code)
{
    struct ox_const c;

    *(uint8_t *)ox_new_const(m, &c, q->type, 0, NULL) = (uint8_t)(int32_t)code;
    ox_inner_const(m, name, &c);
}

/* Inner values "s" and "z": one number, or one for each index of an axis. */
static void give_scales(struct ox *m, const struct quant *q)
{
    const int32_t n = (int32_t)q->scale->n;
    const uint32_t rank = n > 1;
    struct ox_const s, z;
    float *to = ox_new_const(m, &s, OX_FLOAT, rank, &n);
    uint8_t *zero = ox_new_const(m, &z, q->type, rank, &n);

    for (int32_t i = 0; i < n; i++) {
        to[i] = ldexpf((float)ox_number(q->scale, (uint64_t)i), -q->finer);
        zero[i] = (uint8_t)(int32_t)q->zero;
    }
    ox_inner_const(m, "s", &s);
    ox_inner_const(m, "z", &z);
}

static enum status constant_text(struct ox *m, const struct quant *q, const char **text)
{
    const int64_t axis = (int64_t)q->x->rank + q->axis - q->scale->rank;
    struct ox_const c;

    TRY(check_scale(m, q));
    if (!q->coded) {
        float *to = ox_new_const(m, &c, OX_FLOAT, q->x->rank, q->x->dim);

        for (uint64_t i = 0; i < c.n; i++)
            to[i] = ((float)code_of(q, i) - (float)q->zero) *
                    (float)ox_number(q->scale, scale_at(q, i));
        ox_inner_const(m, "q", &c);
        *text = "%0 = Identity(q)";
        return ST_OK;
    }
    uint8_t *to = ox_new_const(m, &c, q->type, q->x->rank, q->x->dim);

    for (uint64_t i = 0; i < c.n; i++)
        to[i] = (uint8_t)(int32_t)code_of(q, i);
    ox_inner_const(m, "q", &c);
    give_scales(m, q);
    *text = q->scale->n == 1 ? "%0 = DequantizeLinear(q, s, z)"
                             : arena_printf(m->arena, "%%0 = DequantizeLinear(q, s, z; axis=%lld)",
                                            (long long)axis);
    return ST_OK;
}

/* --- how large a product is --- */

static bool is_one_of(const Onnx__NodeProto *n, const char *const *list)
{
    while (*list && !ox_is_node(n, *list))
        list++;
    return *list != NULL;
}

static bool moves_values(const Onnx__NodeProto *n)
{
    static const char *const movers[] = {"Flatten", "Identity",  "MaxPool",   "Reshape",
                                         "Squeeze", "Transpose", "Unsqueeze", NULL};

    return is_one_of(n, movers) && n->n_input > 0;
}

static double greatest(const struct ox_const *c)
{
    double most = 0;

    for (uint64_t i = 0; i < c->n; i++)
        most = fmax(most, fabs(ox_number(c, i)));
    return most;
}

/* Return a bound of the magnitude of what Quant, BipolarQuant or DequantizeLinear makes of its input, moved; 0: of others.
 * `*from`: that input. */
static double quantised_bound(struct ox *m, const char *name, const char **from)
{
    const Onnx__NodeProto *n = ox_maker_of(m, name);
    const struct ox_const *scale, *bits;
    double steps = 1;

    for (uint32_t i = 0; i < MOST_NODES && n && moves_values(n); i++)
        n = ox_maker_of(m, n->input[0]);
    if (!n || n->n_input < 2 || !(is_quant(n) || ox_is_node(n, "DequantizeLinear")))
        return 0;
    scale = ox_known_before(m, n->input[1]);
    bits = n->n_input > 3 ? ox_known_before(m, n->input[3]) : NULL;
    if (n->n_input != BIPOLAR_IN || !is_quant(n))
        steps = bits && bits->n != 0 ? ldexp(1, (int)fmin(32, fmax(0, ox_number(bits, 0)))) : 256;
    *from = n->input[0];
    return scale ? greatest(scale) * steps : 0;
}

/* A bound of Conv, Gemm or MatMul of quantised operands, or 0. */
static double product_bound(struct ox *m, const Onnx__NodeProto *n)
{
    static const char *const products[] = {"Conv", "Gemm", "MatMul", NULL};
    const char *from = NULL;
    const struct ox_const *weight, *bias = NULL;
    double bound, terms;

    if (!is_one_of(n, products) || n->n_input < 2)
        return 0;
    bound = quantised_bound(m, n->input[0], &from) * quantised_bound(m, n->input[1], &from);
    weight = from ? ox_known_before(m, from) : NULL;
    if (!weight || weight->rank < 2 || weight->n == 0)
        return 0;
    terms = weight->rank == 2 ? fmax(weight->dim[0], weight->dim[1])
                              : (double)weight->n / weight->dim[0];
    if (n->n_input > 2 && *n->input[2]) {
        if (quantised_bound(m, n->input[2], &from) == 0)
            from = n->input[2];
        bias = ox_known_before(m, from);
        if (!bias)
            return 0;
    }
    return bound * terms + (bias ? greatest(bias) : 0);
}

/* A bound of BatchNormalization of numbers up to `bound`, or 0. */
static double normalised_bound(struct ox *m, const Onnx__NodeProto *n, double bound)
{
    const Onnx__AttributeProto *epsilon = NULL;
    const struct ox_const *c[5];
    double most = 0;

    for (uint32_t i = 1; i < 5; i++) {
        c[i] = i < n->n_input ? ox_known_before(m, n->input[i]) : NULL;
        if (!c[i] || c[i]->n != c[1]->n)
            return 0;
    }
    for (size_t i = 0; i < n->n_attribute; i++)
        if (strcmp(n->attribute[i]->name, "epsilon") == 0)
            epsilon = n->attribute[i];
    for (uint64_t i = 0; i < c[1]->n; i++) {
        const double a =
            ox_number(c[1], i) / sqrt(ox_number(c[4], i) + (epsilon ? epsilon->f : 1e-5));

        most = fmax(most, fabs(a) * (bound + fabs(ox_number(c[3], i))) + fabs(ox_number(c[2], i)));
    }
    return isfinite(most) ? most : 0;
}

/* Return a bound of what only this node reads of a product, perhaps normalised and moved, up to `nodes` nodes before; 0: it
 * is something else. */
static double bound_of(struct ox *m, const char *name, uint32_t nodes)
{
    const Onnx__NodeProto *n = ox_maker_of(m, name);
    double bound = 0;

    if (nodes == 0 || !n || n->n_input == 0 || ox_called_value(m, name)->n_use != 1)
        return 0;
    if (moves_values(n))
        return bound_of(m, n->input[0], nodes - 1);
    if (ox_is_node(n, "BatchNormalization")) {
        bound = bound_of(m, n->input[0], nodes - 1);
        return bound > 0 ? normalised_bound(m, n, bound) : 0;
    }
    for (size_t i = 0; i < 2 && ox_is_node(n, "Add"); i++) {
        const struct ox_const *c = ox_known_before(m, n->input[i]);

        bound = c && n->n_input == 2 ? bound_of(m, n->input[1 - i], nodes - 1) : 0;
        if (bound > 0)
            return bound + greatest(c);
    }
    return product_bound(m, n);
}

/* --- computed values --- */

/* Codes times a power of two that 8 bits hold, of a scale that is as much smaller: so is a product's unit, to which its
 * bias is rounded. */
static int32_t finer_bits(const struct quant *q)
{
    const double up = log2(ox_highest(q->type) / q->high), down = log2(ox_lowest(q->type) / q->low);

    return q->zero != 0 ? 0 : (int32_t)fmax(0, floor(fmin(7, q->low < 0 ? fmin(up, down) : up)));
}

/* Return the scale with which QuantizeLinear keeps the sign of x: of a product the least one with which int32 holds its
 * sums after a shift, of a graph input a tiny one; 0: there is none. */
static float sign_step(struct ox *m)
{
    enum { BITS = 28, LEAST = -100 };
    const double step = ox_in(m, 0)->is_input
                            ? ldexp(1, LEAST)
                            : ldexp(bound_of(m, m->node->input[0], MOST_NODES), -BITS);

    return step >= ldexp(1, LEAST) && isfinite((float)step) ? (float)step : 0;
}

/* s where x >= 0, else -s. */
static const char *sign_text(struct ox *m, struct quant *q)
{
    const float step = sign_step(m);
    struct ox_const c;
    float *to = ox_new_const(m, &c, OX_FLOAT, q->scale->rank, q->scale->dim);

    for (uint64_t i = 0; i < c.n; i++)
        to[i] = -(float)ox_number(q->scale, i);
    ox_inner_const(m, "minus", &c);
    if (q->scale->n != 1)
        return "up = GreaterOrEqual($0, 0.0); %0 = Where(up, $1, minus)";
    q->finer = finer_bits(q);
    give_scales(m, q);
    *(float *)ox_new_const(m, &c, OX_FLOAT, 0, NULL) = step;
    ox_inner_const(m, "t", &c);
    return arena_printf(m->arena,
                        "%s up = GreaterOrEqual(%s, 0.0); w = Where(up, $1, minus);"
                        "q = QuantizeLinear(w, s, z); %%0 = DequantizeLinear(q, s, z)",
                        step > 0 ? "e = QuantizeLinear($0, t, z); d = DequantizeLinear(e, t, z);"
                                 : "",
                        step > 0 ? "d" : "$0");
}

static enum status computed_text(struct ox *m, struct quant *q, const char **text)
{
    const char *axis = q->scale->n == 1 ? ""
                                        : arena_printf(m->arena, "; axis=%d",
                                                       (int32_t)q->axis - (int32_t)q->scale->rank);
    struct ox_const c;

    if (q->bipolar) {
        *text = sign_text(m, q);
        return ST_OK;
    }
    if (!q->coded)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "bit width %d of computed values: expected up to 8, and scales along one axis; "
                    "export activations with at most 8 bits",
                    q->bits);
    give_scales(m, q);
    give_code(m, q, "low", q->low);
    give_code(m, q, "high", q->high);
    *text = arena_printf(
        m->arena, "q = QuantizeLinear($0, s, z%s); %%0 = DequantizeLinear(q, s, z%s)", axis, axis);
    if (q->low == ox_lowest(q->type) && q->high == ox_highest(q->type))
        return ST_OK;
    *text = arena_printf(m->arena,
                         "q = QuantizeLinear($0, s, z%s); c = Clip(q, low, high);"
                         "%%0 = DequantizeLinear(c, s, z%s)",
                         axis, axis);
    q->finer = finer_bits(q);
    if (q->scale->n != 1 || q->finer == 0)
        return ST_OK;
    *(float *)ox_new_const(m, &c, OX_FLOAT, 0, NULL) =
        ldexpf((float)ox_number(q->scale, 0), -q->finer);
    ox_inner_const(m, "t", &c);
    *text = "q = QuantizeLinear($0, s, z); c = Clip(q, low, high); d = DequantizeLinear(c, s, z);"
            "e = QuantizeLinear(d, t, z); %0 = DequantizeLinear(e, t, z)";
    return ST_OK;
}

/* The text of m->node, which no longer reads its inputs itself. */
static enum status text_of(struct ox *m, const char **text)
{
    struct quant q;

    if (!ox_in(m, 0))
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    TRY(read_quant(m, &q));
    TRY(q.x ? constant_text(m, &q, text) : computed_text(m, &q, text));
    for (uint32_t i = 0; i < m->node->n_input; i++)
        ox_in(m, i)->n_use--; /* none is absent: x is there, and the others are constants */
    return ST_OK;
}

enum status ox_quant(struct ox *m)
{
    const char *text;

    TRY(text_of(m, &text));
    return ox_expand(m, text);
}

bool ox_is_qonnx(const char *domain)
{
    static const char *const names[] = {"qonnx.custom_op.general", "finn.custom_op.general",
                                        "onnx.brevitas", NULL};
    uint32_t i = 0;

    while (names[i] && strcmp(names[i], domain) != 0)
        i++;
    return names[i] != NULL;
}

/* A node that is refused stays, and is refused again when it is imported. */
void ox_replace_quants(struct ox *m)
{
    const uint32_t n = (uint32_t)m->graph->n_node;
    Onnx__NodeProto **node = arena_memdup(m->arena, m->graph->node, n * sizeof *node);
    struct ox_added *added = ARENA_ARRAY(m->arena, struct ox_added, n);
    const char *text;
    uint32_t replaced = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (!is_quant(node[i]) || ox_called(m, node[i]))
            continue;
        m->node = node[i];
        m->op = m->node->op_type;
        m->scope = NULL;
        if (ox_check_attributes(m) == ST_OK && text_of(m, &text) == ST_OK) {
            added[i].node = ox_text_nodes(m, text, &added[i].n);
            node[i] = NULL;
            replaced++;
        }
        *m->d = (struct diag){0};
    }
    if (replaced != 0)
        ox_insert_nodes(m, node, added);
}
