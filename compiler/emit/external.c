/* external.c - operators on targets that a target.json describes: what the words of a call stand for,
 * and the target's own headers and sources next to the emitted C, in a folder of its name. */
#include "compiler/ir/float_numbers.h"
#include "compiler/target/describe.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "compiler/systolic/layout/geometry.h"
#include "emit.h"
#include "emit_host.h"
#include "emit_outside.h"

#define MAX_SOURCE ((size_t)16 << 20)

/* List each kind that is used once, in list order; instances of one kind share its files. */
static uint32_t used(const struct emit_unit *u, const struct target_desc *desc[TARGET_MAX])
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < u->targets->n; i++) {
        const struct target_desc *one = u->targets->target[i]->desc;
        bool again = !one->outside || !emit_outside_used(u, one);
        for (uint32_t k = 0; k < n; k++)
            again = again || desc[k] == one;
        if (!again)
            desc[n++] = one;
    }
    return n;
}

void emit_outside_includes(struct emit_unit *u, struct text *t)
{
    const struct target_desc *desc[TARGET_MAX];
    uint32_t n = used(u, desc);

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < desc[i]->detail->headers.n; k++)
            text_printf(t, "#include \"%s/%s\"\n", desc[i]->name, desc[i]->detail->headers.name[k]);
    if (n)
        text_add(t, "\n");
    for (uint32_t i = 0; i < n; i++)
        if (desc[i]->detail->device)
            emit_described_device(t, desc[i]);
}

static enum status copy_files(struct emit_unit *u, const struct target_desc *desc,
                              const struct describe_files *f, struct diag *d)
{
    for (uint32_t i = 0; i < f->n; i++) {
        uint8_t *data;
        size_t n;
        if (u->n == EMIT_MAX_FILES)
            return FAIL(d, ST_UNSUPPORTED, "target %s: more than %d files in one network",
                        desc->name, EMIT_MAX_FILES);
        TRY(file_read(u->arena, arena_printf(u->arena, "%s/%s", desc->origin, f->name[i]),
                      MAX_SOURCE, &data, &n, d));
        text_add_n(emit_new_file(u, arena_printf(u->arena, "%s/%s", desc->name, f->name[i])),
                   (const char *)data, n);
    }
    return ST_OK;
}

static enum status add_names(const struct target_desc *desc, const struct describe_files *f,
                             const char **name, uint32_t *n, struct diag *d)
{
    for (uint32_t i = 0; i < f->n; i++) {
        if (*n == EMIT_MAX_LIBRARIES)
            return FAIL(d, ST_UNSUPPORTED,
                        "target %s: more than %d libraries or folders in one network", desc->name,
                        EMIT_MAX_LIBRARIES);
        name[(*n)++] = f->name[i];
    }
    return ST_OK;
}

enum status emit_outside_files(struct emit_unit *u, struct diag *d)
{
    const struct target_desc *desc[TARGET_MAX];
    uint32_t n = used(u, desc);

    for (uint32_t i = 0; i < n; i++) {
        const struct describe *t = desc[i]->detail;
        TRY(copy_files(u, desc[i], &t->headers, d));
        TRY(copy_files(u, desc[i], &t->sources, d));
        TRY(add_names(desc[i], &t->libraries, u->library, &u->n_library, d));
        TRY(add_names(desc[i], &t->include_dirs, u->include_dir, &u->n_include_dir, d));
        TRY(add_names(desc[i], &t->library_dirs, u->library_dir, &u->n_library_dir, d));
    }
    return ST_OK;
}

static const char *constant(struct emit_unit *u, const char *type, const void *data, size_t n_bytes)
{
    return arena_printf(u->arena, "(const %s *)(const void *)(model_constants + 0x%x)", type,
                        emit_host_constant(u, data, n_bytes));
}

/* Transpose elements of `bytes` bytes each from [n_outer, n_inner] to [n_inner, n_outer]. */
static uint8_t *transposed(struct arena *a, const uint8_t *from, size_t n_outer, size_t n_inner,
                           size_t bytes)
{
    uint8_t *to = arena_alloc(a, n_outer * n_inner * bytes);

    for (size_t i = 0; i < n_outer; i++)
        for (size_t k = 0; k < n_inner; k++)
            memcpy(to + (k * n_outer + i) * bytes, from + (i * n_inner + k) * bytes, bytes);
    return to;
}

/* The compiler's filters of int8 and uint8 are [kh, kw, C, OC], those of int16 and float32 [OC, kh,
 * kw, C], which most C libraries expect. Depthwise filters are [kh, kw, OC] in both orders. */
static uint32_t weights(struct emit_unit *u, const struct ir_op *op,
                        const struct describe_pattern *p)
{
    struct geo g;

    geo_of(u->graph, op, &g);
    size_t n = (size_t)ir_bytes(g.filter), taps = (size_t)ir_elements(g.filter) / g.oc;
    const uint8_t *w = g.filter->data;
    const bool as_in_file = p->dtype == IR_I16 || p->dtype == IR_F32;
    const size_t bytes = n / (size_t)ir_elements(g.filter);
    if (g.kind != GEO_DEPTHWISE && p->hwio == as_in_file)
        w = as_in_file ? transposed(u->arena, w, g.oc, taps, bytes)
                       : transposed(u->arena, w, taps, g.oc, bytes);
    return emit_host_constant(u, w, n);
}

static const char *float_scales(struct emit_unit *u, const struct ir_op *op)
{
    float *scale = ARENA_ARRAY(u->arena, float, op->fixed.n + 1);

    for (uint32_t i = 0; i < op->fixed.n; i++)
        scale[i] = (float)ldexp(op->fixed.multiplier[i], op->fixed.shift[i] - 31);
    return constant(u, "float", scale, op->fixed.n * sizeof *scale);
}

const char *emit_outside_dev(struct emit_unit *u, const struct ir_op *op)
{
    const struct target *port[TARGET_MAX];

    if (u->part)
        return u->part->dev;
    uint32_t n = emit_outside_ports(u, port);

    for (uint32_t i = 0; i < n; i++)
        if (port[i] == u->targets->target[op->target])
            return arena_printf(u->arena, "(call->ports ? call->ports[%u] : NULL)", i);
    return "NULL";
}

static const char *c_type(enum ir_type type)
{
    switch (type) {
    case IR_U8: return "uint8_t";
    case IR_I16: return "int16_t";
    case IR_F32: return "float";
    default: return "int8_t";
    }
}

const char *emit_outside_cast(struct emit_unit *u, const char *is_const, enum ir_type type)
{
    return arena_printf(u->arena, "(%s%s *)%s", is_const, c_type(type),
                        ir_type_bytes(type) == 1 ? ""
                        : *is_const              ? "(const void *)"
                                                 : "(void *)");
}

static const char *operand(struct emit_unit *u, const struct ir_op *op, uint32_t i,
                           enum ir_type type)
{
    return i < op->n_in && op->in[i] != IR_NONE
               ? arena_printf(u->arena, "%s%s", emit_outside_cast(u, "const ", type),
                              u->part ? u->part->x[i] : emit_pointer(u, op->in[i]))
               : "NULL";
}

/* Write the table of a uint8 pattern: int8 quantised values plus 128. */
static const char *table(struct emit_unit *u, const struct ir_op *op,
                         const struct describe_pattern *p)
{
    const int8_t *from = op->fixed.table;

    if (!from)
        return "NULL";
    uint8_t *to = arena_memdup(u->arena, from, 256);
    for (uint32_t i = 0; i < 256 && p->dtype == IR_U8; i++)
        to[i] ^= 0x80;
    return constant(u, p->dtype == IR_U8 ? "uint8_t" : "int8_t",
                    p->dtype == IR_U8 ? to : (const void *)from, 256);
}

/* Write one end of a float32 operator's clamp. */
static const char *clamp_end(struct emit_unit *u, const struct ir_op *op, bool high)
{
    const struct ir_two_floats clamp = ir_fused_bounds(op);
    const float end = high ? clamp.b : clamp.a;

    if (isinf(end))
        return end < 0 ? "-__builtin_inff()" : "__builtin_inff()";
    return arena_printf(u->arena, "%af", (double)end);
}

static const char *sum_type(enum ir_type type)
{
    return type == IR_F32 ? "float" : type == IR_I16 ? "int64_t" : "int32_t";
}

/* Memory of the call alone. */
static const char *scratch(struct emit_unit *u, const struct ir_op *op)
{
    if (u->part ? u->part->scratch == 0 : op->scratch == 0)
        return "NULL";
    return arena_printf(u->arena, "(void *)(call->arena + 0x%x)",
                        u->part ? u->part->scratch_at : emit_scratch(u, op));
}

static const char *sums(struct emit_unit *u, const struct describe_pattern *p, bool in)
{
    const char *at = !u->part ? NULL : in ? u->part->sums_in : u->part->sums_out;

    return at ? arena_printf(u->arena, "(%s%s *)(%svoid *)%s", in ? "const " : "",
                             sum_type(p->dtype), in ? "const " : "", at)
              : "NULL";
}

const char *emit_outside_pointer(struct emit_unit *u, const struct ir_op *op,
                                 const struct describe_pattern *p, enum describe_pointer what)
{
    const struct ir_tensor *bias = ir_in(u->graph, op, 2);
    const struct ir_fixed *f = &op->fixed;

    switch (what) {
    case POINTER_X: return operand(u, op, 0, p->dtype);
    case POINTER_X2: return operand(u, op, 1, p->dtype);
    case POINTER_Y:
        return arena_printf(u->arena, "%s%s", emit_outside_cast(u, "", p->dtype),
                            u->part ? u->part->y : emit_pointer(u, op->out[0]));
    case POINTER_W:
        return arena_printf(u->arena, "%s(model_constants + 0x%x)",
                            emit_outside_cast(u, "const ", p->dtype == IR_I16 ? IR_I8 : p->dtype),
                            weights(u, op, p));
    case POINTER_BIAS:
        return bias ? constant(u, sum_type(p->dtype), bias->data, ir_bytes(bias)) : "NULL";
    case POINTER_LOW: return clamp_end(u, op, false);
    case POINTER_HIGH: return clamp_end(u, op, true);
    case POINTER_SCALES: return constant(u, "int32_t", f->multiplier, (size_t)f->n * 4);
    case POINTER_SHIFTS: return constant(u, "int8_t", f->shift, f->n);
    case POINTER_FLOATS: return float_scales(u, op);
    case POINTER_TABLE: return table(u, op, p);
    case POINTER_PARAMS: return arena_printf(u->arena, "&%s_%u", emit_id(u, op->row), op->id);
    case POINTER_DEV: return emit_outside_dev(u, op);
    case POINTER_SCRATCH: return scratch(u, op);
    case POINTER_SCRATCH_BYTES:
        return arena_printf(u->arena, "%u", u->part ? u->part->scratch : op->scratch);
    case POINTER_SUMS_IN: return sums(u, p, true);
    case POINTER_SUMS_OUT: return sums(u, p, false);
    case POINTER_STAGE: return arena_printf(u->arena, "%u", u->stage);
    case POINTER_HALF: return arena_printf(u->arena, "%u", u->half);
    default: return "NULL";
    }
}

const char *emit_outside_setting(struct emit_unit *u, const struct target *t, uint32_t attr)
{
    const struct target_setting *s = &t->setting[attr];

    return t->desc->attr[attr].type == TARGET_STRING
               ? arena_printf(u->arena, "\"%s\"", s->text)
               : arena_printf(u->arena, "%lld", (long long)s->number);
}
