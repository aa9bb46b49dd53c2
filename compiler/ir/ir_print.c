/* ir_print.c - print the text form of a graph (IR.md). parse.c restores all of it; floats have nine
 * digits, which is exact for float32. */
#include <string.h>

#include "ir.h"

static const char *const role_name[] = {"value", "input", "const", "variable"};

enum { HEX_PER_LINE = 48, FILL_MIN = 8 };

/* "..." with \", \\ and \xHH for characters that are not printable ASCII. */
static void print_string(struct text *t, const char *key, const char *s)
{
    text_printf(t, " %s=\"", key);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            text_printf(t, "\\%c", *s);
        else if ((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e)
            text_printf(t, "\\x%02x", (unsigned)(unsigned char)*s);
        else
            text_add_n(t, s, 1);
    }
    text_add(t, "\"");
}

static void print_hex(struct text *t, const uint8_t *p, size_t n)
{
    static const char digit[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++)
        text_add_n(t, (const char[]){digit[p[i] >> 4], digit[p[i] & 15]}, 2);
}

static void print_row(struct text *t, const struct ir_row *row, uint32_t i)
{
    text_printf(t, "row %u", i);
    print_string(t, "name", row->name);
    print_string(t, "op", row->op);
    print_string(t, "tensor", row->tensor);
    print_string(t, "shape", row->shape);
    text_printf(t, " macs=%llu", (unsigned long long)row->macs);
    if (row->fused_into != IR_NONE)
        text_printf(t, " fused=%u", row->fused_into);
    if (row->target != NULL)
        print_string(t, "target", row->target);
    if (row->reason != NULL)
        print_string(t, "reason", row->reason);
    text_add(t, "\n");
}

static void print_quant(struct text *t, const struct ir_quant *q)
{
    bool one_zero = true;

    if (q->n == 0)
        return;
    for (uint32_t i = 1; i < q->n; i++)
        one_zero = one_zero && q->zero_point[i] == q->zero_point[0];
    text_add(t, " scale=(");
    for (uint32_t i = 0; i < q->n; i++)
        text_printf(t, "%s%.9g", i == 0 ? "" : ",", (double)q->scale[i]);
    if (q->n > 1)
        text_printf(t, ") axis=%u zero=(", q->axis);
    else
        text_add(t, ") zero=(");
    for (uint32_t i = 0; i < (one_zero ? 1 : q->n); i++)
        text_printf(t, "%s%d", i == 0 ? "" : ",", q->zero_point[i]);
    text_add(t, ")");
}

/* Print data: int32 in decimal; `fill` if all bytes are equal; otherwise hexadecimal lines. */
static void print_data(struct text *t, const struct ir_tensor *tensor)
{
    const size_t n = (size_t)ir_bytes(tensor);
    size_t same = 1;

    while (same < n && tensor->data[same] == tensor->data[0])
        same++;
    if (n >= FILL_MIN && same == n) {
        text_printf(t, " fill=%u", tensor->data[0]);
    } else if (tensor->type == IR_I32) {
        for (size_t i = 0; i < n; i += 4) {
            int32_t v;

            memcpy(&v, tensor->data + i, 4);
            text_printf(t, "%s%d", i == 0 ? " values=(" : ",", v);
        }
        text_add(t, ")");
    } else {
        for (size_t i = 0; i < n; i += HEX_PER_LINE) {
            text_add(t, "\n  data=");
            print_hex(t, tensor->data + i, n - i < HEX_PER_LINE ? n - i : HEX_PER_LINE);
        }
    }
}

static void print_tensor(struct text *t, const struct ir_tensor *tensor)
{
    text_printf(t, "tensor %u %s [", tensor->id, ir_type_name(tensor->type));
    for (uint32_t i = 0; i < tensor->rank; i++)
        text_printf(t, "%s%d", i == 0 ? "" : ",", tensor->dim[i]);
    text_printf(t, "] %s", role_name[tensor->role]);
    print_string(t, "name", tensor->name);
    print_quant(t, &tensor->quant);
    if (tensor->flipped)
        text_add(t, " flipped=1");
    if (tensor->quantised)
        text_add(t, " quantised=1");
    if (tensor->data != NULL)
        print_data(t, tensor);
    text_add(t, "\n");
}

static void print_ids(struct text *t, const char *before, const uint32_t *id, uint32_t n)
{
    text_add(t, before);
    for (uint32_t i = 0; i < n; i++) {
        text_add(t, i == 0 ? "" : ",");
        if (id[i] == IR_NONE)
            text_add(t, "-");
        else
            text_printf(t, "%u", id[i]);
    }
    text_add(t, ")");
}

static void print_fixed(struct text *t, const struct ir_fixed *f)
{
    if (f->act_min != 0 || f->act_max != 0)
        text_printf(t, " clamp=(%d,%d)", f->act_min, f->act_max);
    for (uint32_t i = 0; i < f->n; i++)
        text_printf(t, "%s%d", i == 0 ? "\n  scale_m=(" : ",", f->multiplier[i]);
    for (uint32_t i = 0; i < f->n; i++)
        text_printf(t, "%s%d", i == 0 ? ") scale_e=(" : ",", f->shift[i]);
    if (f->n != 0)
        text_add(t, ")");
    for (uint32_t i = 0; i < f->n_real; i++)
        text_printf(t, "%s%.9g", i == 0 ? "\n  real=(" : ",", (double)f->real[i]);
    if (f->n_real != 0)
        text_add(t, ")");
    if (f->table != NULL) {
        text_add(t, "\n  table=");
        print_hex(t, (const uint8_t *)f->table, 256);
    }
    if (f->n_wide != 0) {
        text_add(t, "\n  wide=");
        print_hex(t, (const uint8_t *)f->wide, (size_t)f->n_wide * 2);
    }
}

static void print_op(struct text *t, const struct ir_op *op)
{
    text_printf(t, "op %s", ir_op_info(op->opcode)->name);
    if (op->row != IR_NONE)
        text_printf(t, " row=%u", op->row);
    print_ids(t, " in=(", op->in, op->n_in);
    print_ids(t, " out=(", op->out, op->n_out);
    for (uint32_t i = 0; i < IR_ATTR_COUNT; i++)
        if (op->attr[i] != 0)
            text_printf(t, " %s=%d", ir_attr_name((enum ir_attr)i), op->attr[i]);
    if (op->target != IR_NONE)
        text_printf(t, " target=%u", op->target);
    if (op->region != IR_NONE)
        text_printf(t, " region=%u", op->region);
    if (op->call != IR_NONE)
        text_printf(t, " call=%u", op->call);
    if (op->scratch != 0)
        text_printf(t, " scratch=%u", op->scratch);
    if (op->reason != NULL)
        print_string(t, "reason", op->reason);
    print_fixed(t, &op->fixed);
    text_add(t, "\n");
}

void ir_print(const struct ir_graph *g, struct text *t)
{
    text_add(t, "heddle-ir 1\ngraph");
    print_string(t, "name", g->name);
    text_add(t, "\n");
    for (uint32_t i = 0; i < g->n_row; i++)
        print_row(t, &g->row[i], i);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        print_tensor(t, g->tensor[i]);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead)
            print_op(t, g->op[i]);
    print_ids(t, "border in=(", g->in, g->n_in);
    print_ids(t, " out=(", g->out, g->n_out);
    text_add(t, "\n");
}
