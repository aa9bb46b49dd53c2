/* host_cycles.c - see host_cycles.h: find the table row of an operator's kernel and sum its
 * costs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host_counts.h"
#include "host_kernel.h"
#include "host_window.h"

struct row {
    const char *key;
    enum host_form form;
    double fixed, coefficient[HOST_COUNTS];
};

static const struct row rows[] = {
#define HOST_CYCLES(key, form, fixed, ...) {key, HOST_##form, fixed, {__VA_ARGS__}},
#include "host_cycles.def"
#undef HOST_CYCLES
};

static const char *const counts[] = {
#define FORM(name, counts) counts,
    HOST_FORMS(FORM)
#undef FORM
};

static const char *type_name(const struct ir_tensor *t)
{
    return ir_type_name(t->type);
}

/* Return true if a half of a row is whole words. */
static bool halves_are_words(const struct ir_tensor *x, const struct ir_tensor *y)
{
    const struct ir_tensor *half = x->type == IR_I8 ? x : y;

    return half->dim[2] / 2 * half->dim[3] % 4 == 0;
}

/* Return the key of a kernel's cost: the kernel's name and, after ':', a variant that the shape
 * does not determine. */
static const char *key_of(const struct ir_graph *g, const struct ir_op *op, const char *kernel,
                          char *to, size_t n)
{
    static const char *const path[] = {"rows", "copies", "flat", "windows"};
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    struct host_window w;

    if (strcmp(kernel, "conv2d") == 0) {
        host_window_of(g, op, &w);
        snprintf(to, n, "%s:%s", kernel, path[host_path(&w)]);
    } else if (strcmp(kernel, "depthwise_conv2d") == 0)
        snprintf(to, n, "%s%s", kernel,
                 ir_dim_back(x, 0) == ir_dim_back(y, 0) ? "" : ":multiplied");
    else if (strcmp(kernel, "arithmetic") == 0)
        snprintf(to, n, "%s:%s:%s", kernel, ir_op_info(op->opcode)->name, type_name(x));
    else if (strcmp(kernel, "cast") == 0)
        snprintf(to, n, "%s:%s:%s", kernel, type_name(x), type_name(y));
    else if (strcmp(kernel, "compare") == 0 || strcmp(kernel, "top_k") == 0)
        snprintf(to, n, "%s:%s", kernel, type_name(x));
    else if (strcmp(kernel, "dequantize") == 0)
        snprintf(to, n, "%s%s", kernel, host_dequantize_looks_up(x) ? ":table" : "");
    else if (strcmp(kernel, "split_halves") == 0 || strcmp(kernel, "join_halves") == 0)
        snprintf(to, n, "%s%s", kernel, halves_are_words(x, y) ? ":words" : "");
    else if (strcmp(kernel, "f32_gelu") == 0)
        snprintf(to, n, "%s:%s", kernel, op->attr[IR_APPROXIMATE] ? "tanh" : "erf");
    else if (strcmp(kernel, "scale_sums") == 0)
        snprintf(to, n, "%s:%s", kernel, op->attr[IR_CHANNELS_FIRST] ? "channels" : "rows");
    else
        snprintf(to, n, "%s", kernel);
    return to;
}

/* Return true if `key` belongs to `kernel`: the name itself, or a variant of it. */
static bool belongs(const char *key, const char *kernel)
{
    const size_t n = strlen(kernel);

    return strncmp(key, kernel, n) == 0 && (key[n] == '\0' || key[n] == ':');
}

static double cycles_of(const struct ir_graph *g, const struct ir_op *op, const struct row *row)
{
    double n[HOST_COUNTS], cycles = row->fixed;

    host_count(g, op, row->form, n);
    for (uint32_t i = 0; i < HOST_COUNTS; i++)
        cycles += row->coefficient[i] * n[i];
    return cycles;
}

/* Return the row of a kernel's variant, or the kernel's most expensive row if that variant was not
 * measured. */
static const struct row *find(const struct ir_graph *g, const struct ir_op *op, const char *kernel)
{
    const struct row *dearest = NULL;
    char key[80];

    key_of(g, op, kernel, key, sizeof key);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].key, key) == 0)
            return &rows[i];
        if (belongs(rows[i].key, kernel) &&
            (!dearest || cycles_of(g, op, &rows[i]) > cycles_of(g, op, dearest)))
            dearest = &rows[i];
    }
    return dearest;
}

static const char *kernel_of(const struct ir_graph *g, const struct ir_op *op)
{
    return op->dead || ir_is_reshape(op) ? NULL : host_kernel_of(g, op);
}

uint64_t host_cycles(const struct ir_graph *g, const struct ir_op *op)
{
    const char *kernel = kernel_of(g, op);
    const struct row *row = kernel ? find(g, op, kernel) : NULL;
    const double cycles = row ? cycles_of(g, op, row) : 0;

    return row && cycles < 1 ? 1 : (uint64_t)llround(cycles);
}

bool host_work_of(const struct ir_graph *g, const struct ir_op *op, struct arena *a,
                  struct host_work *w)
{
    const char *kernel = kernel_of(g, op);
    const struct row *row = kernel ? find(g, op, kernel) : NULL;
    char key[80];

    if (!row)
        return false;
    key_of(g, op, kernel, key, sizeof key);
    *w = (struct host_work){.key = arena_strdup(a, key), .form = counts[row->form]};
    host_count(g, op, row->form, w->count);
    return true;
}
