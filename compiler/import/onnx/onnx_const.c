/* onnx_const.c - arithmetic on constants: chains of shapes (Shape, Gather, Mul, Cast, Concat, ...)
 * and other computations of a file from known values. Integers wrap in 64 bits and are then
 * stored in their type, floats are computed in double and rounded once. */
#include "onnx_import.h"

#include <math.h>
#include <string.h>

enum { MAX_FOLDED = 1 << 24 }; /* elements of one result */

struct number {
    bool real;
    int64_t i;
    double f;
};

static bool is_real(int32_t type)
{
    return type == OX_FLOAT || type == OX_DOUBLE;
}

static struct number load(const struct ox_const *c, uint64_t k)
{
    if (is_real(c->type))
        return (struct number){.real = true, .f = ox_number(c, k)};
    return (struct number){.i = ox_int(c, k)};
}

/* Towards zero, saturated; NaN is 0. */
static int64_t to_int(double v)
{
    if (isnan(v))
        return 0;
    return v <= -0x1p63 ? INT64_MIN : v >= 0x1p63 ? INT64_MAX : (int64_t)v;
}

static void store(struct ox_const *c, uint64_t k, struct number v)
{
    void *to = (uint8_t *)(uintptr_t)c->data + k * ox_type_bytes(c->type);
    const int64_t i = v.real ? to_int(v.f) : v.i;
    const double f = v.real ? v.f : (double)v.i;

    switch (c->type) {
    case OX_FLOAT: *(float *)to = v.real ? (float)f : (float)i; break;
    case OX_DOUBLE: *(double *)to = f; break;
    case OX_INT64: *(int64_t *)to = i; break;
    case OX_INT32: *(int32_t *)to = (int32_t)(uint32_t)(uint64_t)i; break;
    case OX_UINT16:
    case OX_INT16: *(uint16_t *)to = (uint16_t)(uint64_t)i; break;
    case OX_BOOL: *(uint8_t *)to = v.real ? f != 0 : i != 0; break;
    default: *(uint8_t *)to = (uint8_t)(uint64_t)i; break;
    }
}

enum status ox_const_new(struct ox *m, struct ox_const *c, int32_t type, uint32_t rank,
                         const int32_t *dim)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < rank; i++) {
        n *= (uint64_t)dim[i];
        if (n > MAX_FOLDED)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "constant result %s: expected at most %d elements that are known now",
                        ir_shape_text(m->arena, rank, dim), MAX_FOLDED);
    }
    ox_new_const(m, c, type, rank, dim);
    return ST_OK;
}

static bool is(const struct ox *m, const char *op)
{
    return strcmp(m->op, op) == 0;
}

enum status ox_const_input(struct ox *m, uint32_t i, struct ox_const *c)
{
    const struct ox_value *v = ox_in(m, i);

    if (!v)
        return FAIL(m->d, ST_MODEL, "input %u is absent", i);
    if (v->kind != OX_CONST)
        return FAIL(m->d, ST_UNSUPPORTED, "input %u, '%.80s', is computed: expected a constant", i,
                    v->name);
    *c = v->real ? ox_const_values(m, &v->c, &v->quant) : v->c;
    return ST_OK;
}

/* --- element by element --- */

static uint64_t power(uint64_t base, int64_t exponent)
{
    uint64_t y = 1;

    for (; exponent > 0; exponent /= 2, base *= base)
        y *= exponent % 2 ? base : 1;
    return y;
}

static double real_mod(const struct ox *m, double a, double b)
{
    const double r = fmod(a, b);

    return ox_attr_int(m, "fmod", 0) == 0 && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static double real_binary(const struct ox *m, double a, double b)
{
    return is(m, "Add") || is(m, "Sum") ? a + b
           : is(m, "Sub")               ? a - b
           : is(m, "Mul")               ? a * b
           : is(m, "Div")               ? a / b
           : is(m, "Mod")               ? real_mod(m, a, b)
           : is(m, "Pow")               ? pow(a, b)
           : is(m, "Max")               ? (a < b || isnan(b) ? b : a)
                                        : (a > b || isnan(b) ? b : a);
}

/* b is not 0 for Div and Mod. */
static int64_t int_binary(const struct ox *m, int64_t a, int64_t b)
{
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    int64_t r;

    if (is(m, "Div"))
        return b == -1 ? (int64_t)(0 - x) : a / b;
    if (is(m, "Mod")) {
        r = b == -1 ? 0 : a % b;
        return ox_attr_int(m, "fmod", 0) == 0 && r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    return is(m, "Add") || is(m, "Sum") ? (int64_t)(x + y)
           : is(m, "Sub")               ? (int64_t)(x - y)
           : is(m, "Mul")               ? (int64_t)(x * y)
           : is(m, "Pow")               ? (int64_t)power(x, b)
           : is(m, "Max")               ? (a < b ? b : a)
                                        : (a > b ? b : a);
}

static bool compares(const struct ox *m)
{
    return is(m, "Equal") || is(m, "Less") || is(m, "Greater") || is(m, "LessOrEqual") ||
           is(m, "GreaterOrEqual") || is(m, "And") || is(m, "Or") || is(m, "Xor");
}

static bool compare(const struct ox *m, struct number a, struct number b)
{
    const int order = a.real ? (a.f > b.f) - (a.f < b.f) : (a.i > b.i) - (a.i < b.i);
    const bool nan = a.real && (isnan(a.f) || isnan(b.f));

    return is(m, "And")           ? a.i && b.i
           : is(m, "Or")          ? a.i || b.i
           : is(m, "Xor")         ? !a.i != !b.i
           : nan                  ? false
           : is(m, "Equal")       ? order == 0
           : is(m, "Less")        ? order < 0
           : is(m, "Greater")     ? order > 0
           : is(m, "LessOrEqual") ? order <= 0
                                  : order >= 0;
}

static uint64_t broadcast_at(const struct ox_const *c, const struct ox_shape *y, uint64_t k)
{
    uint64_t stride = 1, at = 0;

    for (uint32_t back = 0; back < y->rank; back++) {
        const uint64_t n = back < c->rank ? (uint64_t)c->dim[c->rank - 1 - back] : 1;
        const uint64_t size = (uint64_t)y->dim[y->rank - 1 - back];

        at += n > 1 ? k % size * stride : 0;
        stride *= n;
        k /= size;
    }
    return at;
}

static struct ox_shape shape_of(const struct ox_const *c)
{
    struct ox_shape s = {.rank = c->rank};

    memcpy(s.dim, c->dim, sizeof s.dim);
    return s;
}

/* The shape that `n` constants broadcast to; 0 elements are taken as they come. */
static enum status common_shape(struct ox *m, uint32_t n, const struct ox_const *c,
                                struct ox_shape *y)
{
    *y = shape_of(&c[0]);
    for (uint32_t i = 1; i < n; i++) {
        const struct ox_shape a = *y, b = shape_of(&c[i]);

        TRY(ox_common_shape(m, &a, &b, y));
    }
    for (uint32_t i = 0; i < n; i++)
        if (c[i].n == 0)
            return FAIL(m->d, ST_UNSUPPORTED, "an operand is empty");
    return ST_OK;
}

static enum status two_constants(struct ox *m, const struct ox_const *c, struct ox_const *to)
{
    struct ox_shape y;

    TRY(common_shape(m, 2, c, &y));
    if (c[0].type != c[1].type && !is(m, "Pow"))
        return FAIL(m->d, ST_MODEL, "operands are %s and %s: expected one type",
                    ox_type_name(c[0].type), ox_type_name(c[1].type));
    TRY(ox_const_new(m, to, compares(m) ? OX_BOOL : c[0].type, y.rank, y.dim));
    for (uint64_t k = 0; k < to->n; k++) {
        struct number a = load(&c[0], broadcast_at(&c[0], &y, k)),
                      b = load(&c[1], broadcast_at(&c[1], &y, k));

        if (compares(m)) {
            store(to, k, (struct number){.i = compare(m, a, b)});
            continue;
        }
        if (a.real || b.real) {
            a.f = real_binary(m, a.real ? a.f : (double)a.i, b.real ? b.f : (double)b.i);
            a.real = true;
        } else {
            if ((is(m, "Div") || is(m, "Mod")) && b.i == 0)
                return FAIL(m->d, ST_MODEL, "element %llu is divided by 0", (unsigned long long)k);
            a.i = int_binary(m, a.i, b.i);
        }
        store(to, k, a);
    }
    return ST_OK;
}

static enum status fold_binary(struct ox *m)
{
    struct ox_const c[2], to;

    TRY(ox_const_input(m, 0, &to));
    for (uint32_t i = 1; i < m->node->n_input; i++) {
        c[0] = to;
        TRY(ox_const_input(m, i, &c[1]));
        TRY(two_constants(m, c, &to));
    }
    ox_set_const(m, 0, &to);
    return ST_OK;
}

static double real_unary(const struct ox *m, double v)
{
    return is(m, "Neg")          ? -v
           : is(m, "Abs")        ? fabs(v)
           : is(m, "Sqrt")       ? sqrt(v)
           : is(m, "Floor")      ? floor(v)
           : is(m, "Ceil")       ? ceil(v)
           : is(m, "Round")      ? rint(v)
           : is(m, "Exp")        ? exp(v)
           : is(m, "Log")        ? log(v)
           : is(m, "Sin")        ? sin(v)
           : is(m, "Cos")        ? cos(v)
           : is(m, "Reciprocal") ? 1 / v
           : is(m, "Sigmoid")    ? 1 / (1 + exp(-v))
           : is(m, "Relu")       ? (v < 0 ? 0 : v)
           : is(m, "Sign")       ? (v > 0) - (v < 0)
                                 : tanh(v);
}

static int64_t int_unary(const struct ox *m, int64_t v)
{
    return is(m, "Neg")    ? (int64_t)(0 - (uint64_t)v)
           : is(m, "Abs")  ? (v < 0 ? (int64_t)(0 - (uint64_t)v) : v)
           : is(m, "Not")  ? !v
           : is(m, "Sign") ? (v > 0) - (v < 0)
           : is(m, "Relu") ? (v < 0 ? 0 : v)
                           : v;
}

static enum status fold_unary(struct ox *m)
{
    struct ox_const x, to;

    TRY(ox_const_input(m, 0, &x));
    TRY(ox_const_new(m, &to, x.type, x.rank, x.dim));
    for (uint64_t k = 0; k < to.n; k++) {
        struct number v = load(&x, k);

        v.f = real_unary(m, v.f);
        v.i = int_unary(m, v.i);
        store(&to, k, v);
    }
    ox_set_const(m, 0, &to);
    return ST_OK;
}

static struct number plus(struct number a, struct number b)
{
    return (struct number){a.real, (int64_t)((uint64_t)a.i + (uint64_t)b.i), a.f + b.f};
}

/* Each sum is rounded to the type, in the order of the axis. */
static enum status fold_cumsum(struct ox *m)
{
    const bool exclusive = ox_attr_int(m, "exclusive", 0), back = ox_attr_int(m, "reverse", 0);
    struct ox_const x, axis, to;
    uint64_t step = 1;
    uint32_t k;

    TRY(ox_const_input(m, 0, &x));
    TRY(ox_const_input(m, 1, &axis));
    if (axis.n != 1 || is_real(axis.type))
        return FAIL(m->d, ST_MODEL, "axis: expected one integer, found %llu of %s",
                    (unsigned long long)axis.n, ox_type_name(axis.type));
    TRY(ox_axis(m, "axis", ox_int(&axis, 0), x.rank, &k));
    TRY(ox_const_new(m, &to, x.type, x.rank, x.dim));
    for (uint32_t i = k + 1; i < x.rank; i++)
        step *= (uint64_t)x.dim[i];
    for (uint64_t i = 0; i < to.n; i++) {
        const uint64_t at = back ? to.n - 1 - i : i, last = back ? at + step : at - step;
        const bool first = at / step % (uint64_t)x.dim[k] == (back ? (uint64_t)x.dim[k] - 1 : 0);
        const struct number zero = {.real = is_real(x.type)};
        const struct number v = !exclusive ? load(&x, at) : first ? zero : load(&x, last);

        store(&to, at, first ? v : plus(load(&to, last), v));
    }
    ox_set_const(m, 0, &to);
    return ST_OK;
}

static enum status fold_where(struct ox *m)
{
    struct ox_const c[3], to;
    struct ox_shape y;

    for (uint32_t i = 0; i < 3; i++)
        TRY(ox_const_input(m, i, &c[i]));
    if (c[0].type != OX_BOOL || c[1].type != c[2].type)
        return FAIL(m->d, ST_MODEL, "expected bool and two of one type, found %s, %s and %s",
                    ox_type_name(c[0].type), ox_type_name(c[1].type), ox_type_name(c[2].type));
    TRY(common_shape(m, 3, c, &y));
    TRY(ox_const_new(m, &to, c[1].type, y.rank, y.dim));
    for (uint64_t k = 0; k < to.n; k++) {
        const struct ox_const *from = ox_int(&c[0], broadcast_at(&c[0], &y, k)) ? &c[1] : &c[2];

        store(&to, k, load(from, broadcast_at(from, &y, k)));
    }
    ox_set_const(m, 0, &to);
    return ST_OK;
}

static enum status fold_cast(struct ox *m)
{
    int64_t type = ox_attr_int(m, "to", 0);
    struct ox_const x, to;

    type = type == OX_HALF || type == OX_BFLOAT     ? OX_FLOAT
           : type == OX_UINT32 || type == OX_UINT64 ? OX_INT64
                                                    : type;
    TRY(ox_const_input(m, 0, &x));
    if (type < 0 || type > 32 || ox_type_bytes((int32_t)type) == 0)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "to: expected float32, double, bool, int64, int32, or 8 or 16 bits, found %s",
                    ox_type_name((int32_t)(type > 1000 || type < 0 ? 1000 : type)));
    TRY(ox_const_new(m, &to, (int32_t)type, x.rank, x.dim));
    for (uint64_t k = 0; k < to.n; k++)
        store(&to, k, load(&x, k));
    ox_set_const(m, 0, &to);
    return ST_OK;
}

/* --- sizes and indices --- */

enum status ox_read_shape(struct ox *m, const struct ox_const *c, struct ox_shape *s)
{
    if (c->rank != 1 || c->type != OX_INT64 || c->n > IR_MAX_RANK)
        return FAIL(m->d, ST_UNSUPPORTED, "shape: expected at most %d int64, found %llu of %s",
                    IR_MAX_RANK, (unsigned long long)c->n, ox_type_name(c->type));
    *s = (struct ox_shape){.rank = (uint32_t)c->n};
    for (uint32_t i = 0; i < s->rank; i++) {
        const int64_t v = ox_int(c, i);

        if (v < 0 || v > INT32_MAX)
            return FAIL(m->d, ST_MODEL, "shape: dimension %u is %lld", i, (long long)v);
        s->dim[i] = (int32_t)v;
    }
    return ST_OK;
}

enum status ox_constant_of_shape(struct ox *m)
{
    const Onnx__AttributeProto *a = ox_attr(m, "value");
    struct ox_const x, value, to;
    struct ox_shape s;

    TRY(ox_const_input(m, 0, &x));
    TRY(ox_read_shape(m, &x, &s));
    if (a && a->t) {
        TRY(ox_initializer(m, a->t, &value));
        if (value.n != 1)
            return FAIL(m->d, ST_MODEL, "value: expected one element, found %llu",
                        (unsigned long long)value.n);
    } else {
        *(float *)ox_new_const(m, &value, OX_FLOAT, 0, NULL) = 0;
    }
    TRY(ox_const_new(m, &to, value.type, s.rank, s.dim));
    for (uint64_t k = 0; k < to.n; k++)
        store(&to, k, load(&value, 0));
    ox_set_const(m, 0, &to);
    return ST_OK;
}

enum status ox_range(struct ox *m)
{
    struct ox_const c[3], to;
    struct number from, step;
    double count;
    int32_t n;

    for (uint32_t i = 0; i < 3; i++) {
        TRY(ox_const_input(m, i, &c[i]));
        if (c[i].n != 1 || c[i].type != c[0].type)
            return FAIL(m->d, ST_MODEL, "input %u: expected one number of the first one's type", i);
    }
    from = load(&c[0], 0);
    step = load(&c[2], 0);
    count = ceil((ox_number(&c[1], 0) - ox_number(&c[0], 0)) / ox_number(&c[2], 0));
    if (!(count <= MAX_FOLDED))
        return FAIL(m->d, ST_MODEL, "%.9g elements: expected at most %d", count, MAX_FOLDED);
    n = count > 0 ? (int32_t)count : 0;
    TRY(ox_const_new(m, &to, c[0].type, 1, &n));
    for (int32_t k = 0; k < n; k++) {
        struct number v = from;

        v.i = (int64_t)((uint64_t)v.i + (uint64_t)k * (uint64_t)step.i);
        v.f += k * step.f;
        store(&to, (uint64_t)k, v);
    }
    ox_set_const(m, 0, &to);
    return ST_OK;
}

enum status ox_size(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ox_const c;
    int64_t n = 1;

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    for (uint32_t i = 0; i < ox_rank(m, x); i++)
        n *= ox_dim(m, x)[i];
    *(int64_t *)ox_new_const(m, &c, OX_INT64, 0, NULL) = n;
    ox_set_const(m, 0, &c);
    return ST_OK;
}

/* --- which nodes --- */

static const struct {
    const char *name;
    ox_handler *fn;
} folded[] = {
    {"Add", fold_binary},         {"Sub", fold_binary},  {"Mul", fold_binary},
    {"Div", fold_binary},         {"Mod", fold_binary},  {"Pow", fold_binary},
    {"Max", fold_binary},         {"Min", fold_binary},  {"Sum", fold_binary},
    {"Equal", fold_binary},       {"Less", fold_binary}, {"Greater", fold_binary},
    {"LessOrEqual", fold_binary}, {"And", fold_binary},  {"GreaterOrEqual", fold_binary},
    {"Or", fold_binary},          {"Xor", fold_binary},  {"Where", fold_where},
    {"Not", fold_unary},          {"Neg", fold_unary},   {"Abs", fold_unary},
    {"Sqrt", fold_unary},         {"Floor", fold_unary}, {"Ceil", fold_unary},
    {"Round", fold_unary},        {"Exp", fold_unary},   {"Log", fold_unary},
    {"Sin", fold_unary},          {"Cos", fold_unary},   {"Reciprocal", fold_unary},
    {"Sigmoid", fold_unary},      {"Tanh", fold_unary},  {"Relu", fold_unary},
    {"Sign", fold_unary},         {"Cast", fold_cast},   {"CumSum", fold_cumsum},
};

ox_handler *ox_folder(const struct ox *m)
{
    for (uint32_t i = 0; i < m->node->n_input; i++)
        if (!ox_in(m, i) || ox_in(m, i)->kind != OX_CONST)
            return NULL;
    for (uint32_t i = 0; i < sizeof folded / sizeof *folded && m->node->n_input != 0; i++)
        if (is(m, folded[i].name))
            return folded[i].fn;
    return NULL;
}
