/* values.c - see values.h. */
#include "values.h"

#include <string.h>

#include "compiler/systolic/layout/geometry.h"

static const struct {
    const char *name, *help;
} table[] = {
#define TARGET_VALUE(code, name, help) {name, help},
#include "values.def"
#undef TARGET_VALUE
};

const char *target_value_name(enum target_value v)
{
    return table[v].name;
}

const char *target_value_help(enum target_value v)
{
    return table[v].help;
}

enum target_value target_value_find(const char *name, size_t n_bytes)
{
    uint32_t i = 0;

    while (i < TARGET_VALUE_COUNT &&
           (strlen(table[i].name) != n_bytes || memcmp(table[i].name, name, n_bytes) != 0))
        i++;
    return (enum target_value)i;
}

static int64_t bytes_of(const struct ir_tensor *t)
{
    return t ? (int64_t)ir_bytes(t) : 0;
}

static void shapes(const struct geo *g, int64_t *v)
{
    const int32_t *a = g->op->attr;

    v[TARGET_IN_H] = g->h;
    v[TARGET_IN_W] = g->w;
    v[TARGET_IN_C] = g->c;
    v[TARGET_OUT_H] = g->oh;
    v[TARGET_OUT_W] = g->ow;
    v[TARGET_OUT_C] = g->oc;
    v[TARGET_KERNEL_H] = g->kh;
    v[TARGET_KERNEL_W] = g->kw;
    v[TARGET_STRIDE_H] = g->sy;
    v[TARGET_STRIDE_W] = g->sx;
    v[TARGET_DILATION_H] = g->dy;
    v[TARGET_DILATION_W] = g->dx;
    v[TARGET_PAD_TOP] = g->pt;
    v[TARGET_PAD_LEFT] = g->pl;
    v[TARGET_PAD_BOTTOM] = a[IR_PAD_BOTTOM];
    v[TARGET_PAD_RIGHT] = a[IR_PAD_RIGHT];
}

static void products(const struct geo *g, int64_t *v)
{
    v[TARGET_Z_W] = g->z_w;
    v[TARGET_W_BYTES] = bytes_of(g->filter);
    v[TARGET_MULTIPLIER] = g->kind == GEO_DEPTHWISE ? g->oc / g->c : 0;
    if (g->kind == GEO_DENSE)
        v[TARGET_BATCH] = g->w;
}

/* Return true for a mean, sum or extremum over the last dimension, which `geo` supports for rows
 * and columns only. */
static bool over_channels(const struct ir_tensor *x, const struct ir_op *op)
{
    return ir_op_has(op->opcode, IR_KEEP_DIMS) && x->rank > 0 &&
           (op->attr[IR_AXIS] >> (x->rank - 1) & 1);
}

void target_values_of(const struct ir_graph *graph, const struct ir_op *op,
                      struct target_values *values)
{
    int64_t *v = values->v;
    struct geo g;

    *values = (struct target_values){{0}};
    bool known = geo_of(graph, op, &g);
    const struct ir_tensor *x = ir_in(graph, op, 0), *y = ir_out(graph, op, 0);
    v[TARGET_BATCH] = x ? ir_dim_back(x, 3) : 0;
    v[TARGET_ELEMENTS] = (int64_t)ir_elements(y);
    v[TARGET_IN_BYTES] = bytes_of(x);
    v[TARGET_IN_ELEMENTS] = x ? (int64_t)ir_elements(x) : 0;
    v[TARGET_OUT_BYTES] = bytes_of(y);
    v[TARGET_Z_IN] = ir_zero_point(x);
    v[TARGET_Z_OUT] = ir_zero_point(y);
    v[TARGET_ACT_MIN] = op->fixed.act_min;
    v[TARGET_ACT_MAX] = op->fixed.act_max;
    v[TARGET_SCALES] = op->fixed.n;
    v[TARGET_ROUND_UP] = op->attr[IR_ROUND_UP];
    if (op->fixed.n) {
        v[TARGET_SCALE_M] = op->fixed.multiplier[0];
        v[TARGET_SCALE_E] = op->fixed.shift[0];
        v[TARGET_SHIFT_BITS] = 1 - op->fixed.shift[0];
    }
    if (known)
        shapes(&g, v);
    if (known && over_channels(x, op))
        v[TARGET_OUT_C] = 1;
    if (known && g.filter) {
        v[TARGET_MACS] = (int64_t)ir_macs(graph, op);
        v[TARGET_DEPTH] = v[TARGET_ELEMENTS] > 0 ? v[TARGET_MACS] / v[TARGET_ELEMENTS] : 0;
        products(&g, v);
    }
    if (known && g.y2) {
        v[TARGET_Z_IN2] = ir_zero_point(g.y2);
        v[TARGET_IN2_BYTES] = bytes_of(g.y2);
        v[TARGET_IN2_ELEMENTS] = (int64_t)ir_elements(g.y2);
        v[TARGET_IN2_C] = ir_dim_back(g.y2, 0);
    }
}

const char *const target_cost_names[COST_TERMS] = {[COST_FIXED] = "fixed",
                                                   [COST_MAC] = "per_mac",
                                                   [COST_OUTPUT] = "per_output",
                                                   [COST_WINDOW] = "per_window",
                                                   [COST_BYTE] = "per_byte",
                                                   [COST_IN_BYTE] = "per_in_byte",
                                                   [COST_W_BYTE] = "per_weight_byte",
                                                   [COST_OUT_BYTE] = "per_out_byte"};

void target_amounts(const struct target_values *values, double amount[COST_TERMS])
{
    const int64_t *const v = values->v;

    amount[COST_FIXED] = 1;
    amount[COST_MAC] = (double)v[TARGET_MACS];
    amount[COST_OUTPUT] = (double)v[TARGET_ELEMENTS];
    amount[COST_WINDOW] =
        (double)v[TARGET_ELEMENTS] * (double)v[TARGET_KERNEL_H] * (double)v[TARGET_KERNEL_W];
    amount[COST_IN_BYTE] = (double)(v[TARGET_IN_BYTES] + v[TARGET_IN2_BYTES]);
    amount[COST_W_BYTE] = (double)v[TARGET_W_BYTES];
    amount[COST_OUT_BYTE] = (double)v[TARGET_OUT_BYTES];
    amount[COST_BYTE] = amount[COST_IN_BYTE] + amount[COST_W_BYTE] + amount[COST_OUT_BYTE];
}

double target_cycles(const double rate[COST_TERMS], const double amount[COST_TERMS])
{
    double cycles = 0;

    for (uint32_t i = 0; i < COST_TERMS; i++)
        cycles += rate[i] * amount[i];
    return cycles;
}
