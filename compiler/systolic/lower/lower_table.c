/* lower_table.c - tables as WEIGHT commands. Those of 256 bytes fill the slots of the requantisation
 * lanes in turn; a table stays until another needs its slot. The thresholds by which LOAD quantises
 * are the least float of each byte, found with the host's kernel: both round alike for all floats.
 * The floats to which STORE dequantises are what that kernel makes of each byte. */
#include <string.h>

#include "kernels/hdk.h"
#include "lower.h"

enum { VALUES = 256 };

/* Pack one table for all lanes: 4 entries a word, repeated for each lane of a quarter. */
static uint32_t pack(struct lower *l, const struct op_plan *p, uint32_t n)
{
    if (l->program->dry)
        return sched_constant(l->program, NULL, n);
    int8_t *bytes = ARENA_ARRAY(l->arena, int8_t, n);
    for (uint32_t i = 0; i < n; i++)
        bytes[i] = p->look_up->fixed.table[i / l->hw->n * 4 + i % 4];
    return sched_constant(l->program, bytes, n);
}

/* Pack one table per lane for each column tile: 4 entries of each lane, then the next 4. */
static uint32_t pack_channels(struct lower *l, const struct op_plan *p, uint32_t n)
{
    const uint32_t lanes = l->hw->n, columns = geo_tile_lanes(&p->geo, l->hw);
    const int8_t *from = (const int8_t *)ir_in(l->graph, p->look_up, 1)->data;

    if (l->program->dry)
        return sched_constant(l->program, NULL, n);
    int8_t *bytes = ARENA_ARRAY(l->arena, int8_t, n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t lane = i / 4 % lanes, column = i / (VALUES * lanes) * columns + lane,
                       entry = i / (4 * lanes) % (VALUES / 4) * 4 + i % 4;
        if (lane < columns)
            bytes[i] = from[VALUES * geo_channel(&p->geo, column) + entry];
    }
    return sched_constant(l->program, bytes, n);
}

static void fetch(struct lower *l, const struct op_plan *p, const struct lower_table *t)
{
    const uint32_t n = VALUES * l->hw->n;

    if (t->by_channel)
        lower_fetch(l, p->op->row, HD_SPACE_TABLE, pack_channels(l, p, t->n * n), 1, t->n * n,
                    t->first * VALUES, "tables by channel");
    else
        lower_fetch(l, p->op->row, HD_SPACE_TABLE_ALL, pack(l, p, n / 4), 1, n / 4,
                    t->first * (VALUES / 4), "table");
}

struct lower_table lower_have_table(struct lower *l, const struct op_plan *p)
{
    const uint32_t most = hd_config_tables(l->hw), n = layout_tables(p, l->hw),
                   channel = p->geo.box[GEO_RESULT].channel;
    struct lower_table *t = &l->table[p->position];

    if (n == 0)
        return (struct lower_table){0};
    if (t->n == 0 || l->tables - t->number > most || t->channel != channel) {
        if (l->tables % most + n > most) /* they are contiguous */
            l->tables += most - l->tables % most;
        *t = (struct lower_table){n, l->tables, l->tables % most, channel, p->look_up->n_in == 2};
        l->tables += n;
        fetch(l, p, t);
    }
    return *t;
}

void lower_access_table(struct sched_command *c, const struct lower_table *t)
{
    lower_access(c, SCHED_TABLE, false, t->first, t->n);
}

/* --- thresholds --- */

/* Keys order the bits of floats as the floats; those of the infinities are the ends. */
#define KEY_LOW  UINT32_C(0x007fffff)
#define KEY_HIGH UINT32_C(0xff800000)

static int8_t quantised(const struct hdk_quantize *p, uint32_t key)
{
    const uint32_t bits = key >> 31 ? key ^ 0x80000000u : ~key;
    float x;
    int8_t y;

    memcpy(&x, &bits, sizeof x);
    hdk_quantize(p, &x, &y);
    return y;
}

/* Return the least key whose byte is at least `byte`; one that no float has if there is none. */
static uint32_t least_key(const struct hdk_quantize *p, int8_t byte)
{
    uint32_t low = KEY_LOW, high = KEY_HIGH;

    if (quantised(p, high) < byte)
        return UINT32_MAX;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (quantised(p, middle) >= byte)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Fill the subtree of `entry` in the order of its thresholds, `next` first; return the one after. */
static int32_t plant(const struct hdk_quantize *p, uint32_t *tree, uint32_t entry, int32_t next)
{
    if (entry >= VALUES)
        return next;
    next = plant(p, tree, 2 * entry, next);
    tree[entry] = least_key(p, (int8_t)next++);
    return plant(p, tree, 2 * entry + 1, next);
}

static uint32_t pack_thresholds(struct lower *l, const struct ir_tensor *t)
{
    const struct hdk_quantize p = {
        .n = 1, .scale = t->quant.scale[0], .zero = t->quant.zero_point[0]};
    const uint32_t each = hd_config_thresholds(l->hw), words = VALUES / each;
    uint32_t tree[VALUES], packed[VALUES];

    if (l->program->dry)
        return sched_constant(l->program, NULL, sizeof packed);
    tree[0] = (uint8_t)p.zero; /* of NaN */
    (void)plant(&p, tree, 1, INT8_MIN + 1);
    for (uint32_t i = 0; i < VALUES; i++)
        packed[i % words * each + i / words] = tree[i];
    return sched_constant(l->program, packed, sizeof packed);
}

void lower_thresholds(struct lower *l, uint32_t row, const struct ir_tensor *t)
{
    const uint32_t each = hd_config_thresholds(l->hw);

    if (l->thresholds != t)
        lower_fetch(l, row, HD_SPACE_THRESHOLD, pack_thresholds(l, t), VALUES / each,
                    each * (uint32_t)sizeof(uint32_t), 0, "thresholds");
    l->thresholds = t;
}

/* --- floats --- */

static uint32_t pack_floats(struct lower *l, const struct ir_tensor *t)
{
    const struct hdk_dequantize p = {
        .n = VALUES, .scale = t->quant.scale[0], .zero = t->quant.zero_point[0]};
    int8_t byte[VALUES];
    float value[VALUES];

    if (l->program->dry)
        return sched_constant(l->program, NULL, sizeof value);
    for (uint32_t i = 0; i < VALUES; i++)
        byte[i] = (int8_t)i;
    hdk_dequantize(&p, byte, value);
    return sched_constant(l->program, value, sizeof value);
}

void lower_floats(struct lower *l, uint32_t row, const struct ir_tensor *t)
{
    if (l->floats == NULL || l->floats->quant.scale[0] != t->quant.scale[0] ||
        l->floats->quant.zero_point[0] != t->quant.zero_point[0])
        lower_fetch(l, row, HD_SPACE_FLOAT, pack_floats(l, t), VALUES, (uint32_t)sizeof(float), 0,
                    "floats");
    l->floats = t;
}
