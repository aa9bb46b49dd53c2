/* constants_text.c - which channels of which layers are constant, for "heddle inspect":
 *   06_conv2d                  5 of 16: 0-3,9 = -128, as it is never outside -300 to -129 before the clamp */
#include "partition.h"

/* The last of the consecutive channels from entry `i` on that have its value. */
static uint32_t end_of_run(const struct ir_row *row, uint32_t i)
{
    const struct ir_constant *c = row->constant;

    while (i + 1 < row->n_constant && c[i + 1].channel == c[i].channel + 1 &&
           c[i + 1].value == c[i].value)
        i++;
    return i;
}

static uint32_t count(const struct ir_row *row, int32_t value)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < row->n_constant; i++)
        n += row->constant[i].value == value;
    return n;
}

/* All channels with one value, and the interval that holds what each is before the clamp. */
static void print_value(const struct ir_row *row, int32_t value, struct text *t)
{
    struct ir_range all = {INT32_MAX, INT32_MIN};
    const char *comma = "";

    text_printf(t, "%-26s %u of %u: ", row->name, count(row, value), row->n_channel);
    for (uint32_t i = 0; i < row->n_constant; i++) {
        const struct ir_constant *c = &row->constant[i];
        const uint32_t last = end_of_run(row, i);
        if (c->value != value)
            continue;
        for (uint32_t k = i; k <= last; k++) {
            const struct ir_range v = row->constant[k].unclamped;
            all.low = v.low < all.low ? v.low : all.low;
            all.high = v.high > all.high ? v.high : all.high;
        }
        text_printf(t, "%s%u", comma, c->channel);
        if (last > i)
            text_printf(t, "-%u", row->constant[last].channel);
        comma = ",";
        i = last;
    }
    if (all.low == all.high)
        text_printf(t, " = %d before the clamp, too\n", value);
    else
        text_printf(t, " = %d, as it is never outside %d to %d before the clamp\n", value, all.low,
                    all.high);
}

void partition_print_constants(const struct ir_graph *g, struct text *t)
{
    bool any = false;

    for (uint32_t r = 0; r < g->n_row; r++) {
        const struct ir_row *row = &g->row[r];
        for (uint32_t i = 0; i < row->n_constant; i++) {
            bool printed = false;
            for (uint32_t k = 0; k < i; k++)
                printed = printed || row->constant[k].value == row->constant[i].value;
            if (printed)
                continue;
            if (!any)
                text_printf(t, "\n%-26s %s\n", "constant channels", "whatever the input, because");
            any = true;
            print_value(row, row->constant[i].value, t);
        }
    }
}
