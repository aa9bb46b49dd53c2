/* tape_native.c - the compiler: a region as text (compiler/ir/IR.md) to a tape.
 * cc -std=c11 -shared -fPIC -I HEDDLE/include tape_native.c -o tape_native.so */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle_target.h"
#include "tape.h"

#define MOST 512 /* tensors, operators */

struct tensor {
    int32_t dim[6], n_dim, n, zero, place; /* n: elements */
    const char *line, *end;                /* its text, up to the next statement */
};

struct region {
    struct tensor tensor[MOST];
    const char *op[MOST]; /* their lines */
    int n_tensor, n_op;
    uint8_t *tape;
    size_t n_bytes;
};

/* The text after " key=(" or " key=" in a statement; NULL: none. */
static const char *find(const char *line, const char *end, const char *key)
{
    const size_t n = strlen(key);
    for (const char *p = line; p + n + 1 < end; p++)
        if (*p == ' ' && strncmp(p + 1, key, n) == 0 && p[n + 1] == '=')
            return p + n + 2 + (p[n + 2] == '(');
    return NULL;
}

/* Up to `most` numbers of a list; how many. */
static int list(const char *line, const char *end, const char *key, int32_t *to, int most)
{
    const char *p = find(line, end, key);
    int n = 0;
    for (; p && n < most; p++) {
        char *after;
        to[n] = (int32_t)strtol(p, &after, 10);
        n += after > p;
        if (after == p || *after != ',')
            break;
        p = after;
    }
    return n;
}

static int32_t number(const char *line, const char *end, const char *key, int32_t fallback)
{
    int32_t v;
    return list(line, end, key, &v, 1) ? v : fallback;
}

static const char *line_end(const char *p)
{
    return p + strcspn(p, "\n");
}

/* Lines that begin with spaces continue. */
static const char *statement_end(const char *p)
{
    for (p = line_end(p); strncmp(p, "\n  ", 3) == 0;)
        p = line_end(p + 1);
    return p;
}

static void read_tensor(struct tensor *t, const char *line)
{
    const char *p = strchr(line, '[') + 1;
    t->line = line;
    for (t->n = 1; *p != ']' && t->n_dim < 6; p += strspn(p, ", ")) {
        t->n *= t->dim[t->n_dim++] = (int32_t)strtol(p, (char **)(uintptr_t)&p, 10);
    }
    t->end = statement_end(line);
    t->zero = number(line, line_end(line), "zero", 0);
}

static void read_region(struct region *r, const char *text)
{
    for (const char *p = text; *p; p = *line_end(p) ? line_end(p) + 1 : line_end(p))
        if (strncmp(p, "tensor ", 7) == 0 && r->n_tensor < MOST)
            read_tensor(&r->tensor[r->n_tensor++], p);
        else if (strncmp(p, "op ", 3) == 0 && r->n_op < MOST)
            r->op[r->n_op++] = p;
}

static int32_t append(struct region *r, const void *data, size_t n)
{
    const size_t at = (r->n_bytes + 7) / 8 * 8;
    r->tape = realloc(r->tape, at + n);
    memset(r->tape + r->n_bytes, 0, at - r->n_bytes);
    memcpy(r->tape + at, data, n);
    r->n_bytes = at + n;
    return (int32_t)at;
}

/* The bytes of a constant: lines of data=, or one that fill= repeats, or values= of int32. */
static int32_t constant(struct region *r, const struct tensor *t)
{
    const size_t n = (size_t)t->n * (strncmp(strchr(t->line + 7, ' '), " i32", 4) == 0 ? 4 : 1);
    uint8_t *bytes = calloc(n, 1);
    size_t at = 0;
    memset(bytes, number(t->line, t->end, "fill", 0), n);
    list(t->line, t->end, "values", (int32_t *)(void *)bytes, t->n);
    for (const char *p = t->line; (p = strstr(p, " data=")) != NULL && p < t->end;)
        for (p += 6; at < n && strspn(p, "0123456789abcdef") > 1; p += 2) {
            const char two[] = {p[0], p[1], 0};
            bytes[at++] = (uint8_t)strtol(two, NULL, 16);
        }
    const int32_t offset = append(r, bytes, n);
    free(bytes);
    return offset;
}

/* The bytes of hexadecimal after table=. */
static int32_t table(struct region *r, const char *op)
{
    const char *p = find(op, statement_end(op), "table");
    uint8_t bytes[256];
    for (int i = 0; p && i < 256; i++, p += 2) {
        const char two[] = {p[0], p[1], 0};
        bytes[i] = (uint8_t)strtol(two, NULL, 16);
    }
    return append(r, bytes, sizeof bytes);
}

static int32_t scales(struct region *r, const char *op, const char *key, int32_t *n)
{
    int32_t v[4096];
    *n = list(op, statement_end(op), key, v, 4096);
    return append(r, v, (size_t)*n * sizeof *v);
}

/* With fewer than four dimensions, the rows are one below the other. */
static void image(const struct tensor *t, int32_t *h, int32_t *w, int32_t *c)
{
    *c = t->n_dim ? t->dim[t->n_dim - 1] : 1;
    *w = t->n_dim > 3 ? t->dim[t->n_dim - 2] : 1;
    *h = t->n / *c / *w;
}

static void window(struct tape_instruction *i, const char *op, const struct tensor *w)
{
    static const char *const keys[] = {"kernel_h", "kernel_w", "stride_h",   "stride_w",
                                       "pad_top",  "pad_left", "dilation_h", "dilation_w"};
    int32_t *to[] = {&i->kernel_h, &i->kernel_w, &i->stride_h,   &i->stride_w,
                     &i->pad_top,  &i->pad_left, &i->dilation_h, &i->dilation_w};
    for (int k = 0; k < 8; k++)
        *to[k] = number(op, statement_end(op), keys[k], 0);
    if (i->kernel_h)
        return;
    i->kernel_h = i->kernel_w = i->stride_h = i->stride_w = i->dilation_h = i->dilation_w = 1;
    i->in_c = w->n / i->out_c; /* a dense layer: rows of in_c */
    i->in_h = i->out_h = i->out_h * i->out_w;
    i->in_w = i->out_w = 1;
}

static struct tape_instruction instruction(struct region *r, const char *op)
{
    const char *end = statement_end(op);
    struct tape_instruction i = {0};
    int32_t in[3], out, n = list(op, end, "in", in, 3), clamp[2] = {0, 0};
    list(op, end, "out", &out, 1);
    const struct tensor *x = &r->tensor[in[0]], *y = &r->tensor[out];
    i.code = strncmp(op, "op add ", 7) == 0   ? TAPE_ADD
             : strncmp(op, "op lut ", 7) == 0 ? TAPE_TABLE
                                              : TAPE_CONV;
    i.x = x->place;
    i.y = y->place;
    i.z_x = x->zero;
    i.z_y = y->zero;
    image(x, &i.in_h, &i.in_w, &i.in_c);
    image(y, &i.out_h, &i.out_w, &i.out_c);
    list(op, end, "clamp", clamp, 2);
    i.low = clamp[0];
    i.high = clamp[1];
    if (i.code == TAPE_TABLE) {
        i.table = table(r, op);
        return i;
    }
    i.multiplier = scales(r, op, "scale_m", &i.n_scale);
    i.shift = scales(r, op, "scale_e", &i.n_scale);
    if (i.code == TAPE_ADD) {
        i.x2 = r->tensor[in[1]].place;
        i.z_x2 = r->tensor[in[1]].zero;
        return i;
    }
    i.z_w = r->tensor[in[1]].zero;
    i.weights = constant(r, &r->tensor[in[1]]);
    i.bias = n > 2 ? constant(r, &r->tensor[in[2]]) : 0;
    window(&i, op, &r->tensor[in[1]]);
    return i;
}

/* Give every tensor that an operator makes a separate place, except inputs and outputs.
 * Returns the number of operators that fit the memory. */
static int places(struct region *r, const char *text)
{
    const char *border = strstr(text, "\nborder ");
    int32_t id[MOST], at = 0;
    for (int i = 0; i < MOST; i++)
        r->tensor[i].place = TAPE_MEMORY;
    int n = border ? list(border + 1, line_end(border + 1), "in", id, MOST) : 0;
    for (int i = 0; i < n; i++)
        r->tensor[id[i]].place = -1 - i;
    n = border ? list(border + 1, line_end(border + 1), "out", id, MOST) : 0;
    for (int i = 0; i < n; i++)
        r->tensor[id[i]].place = TAPE_OUTPUT - i;
    for (int k = 0; k < r->n_op; k++) {
        int32_t out;
        list(r->op[k], statement_end(r->op[k]), "out", &out, 1);
        if (r->tensor[out].place != TAPE_MEMORY)
            continue;
        if (at + r->tensor[out].n > TAPE_MEMORY)
            return k;
        r->tensor[out].place = at;
        at += r->tensor[out].n;
    }
    return r->n_op;
}

static double macs(const struct region *r, const char *op)
{
    int32_t in[3], out;
    list(op, statement_end(op), "out", &out, 1);
    if (list(op, statement_end(op), "in", in, 3) < 2 || strncmp(op, "op add ", 7) == 0)
        return r->tensor[out].n;
    const struct tensor *y = &r->tensor[out];
    return (double)y->n * r->tensor[in[1]].n / y->dim[y->n_dim - 1];
}

static struct region *opened(const struct heddle_region *asked, int *fit)
{
    struct region *r = calloc(1, sizeof *r);
    read_region(r, asked->graph);
    *fit = r->n_tensor < MOST && r->n_op < MOST ? places(r, asked->graph) : 0;
    return r;
}

/* Operands of a sum that are constants have no place. */
static int has_places(const struct region *r, const char *op)
{
    int32_t in[3], n = list(op, statement_end(op), "in", in, 3);
    for (int i = 0; i < n && strncmp(op, "op add ", 7) == 0; i++)
        if (r->tensor[in[i]].place == TAPE_MEMORY)
            return 0;
    return 1;
}

static int region(const struct heddle_region *asked, uint8_t *takes, double *cycles, char *why,
                  size_t why_bytes)
{
    int fit;
    struct region *r = opened(asked, &fit);
    *cycles = 50;
    snprintf(why, why_bytes, "an operand of a sum is a constant");
    if (fit < r->n_op)
        snprintf(why, why_bytes, "the values of the region exceed the %d bytes of its memory",
                 TAPE_MEMORY);
    for (int k = 0; k < (int)asked->n_ops; k++) {
        takes[k] = k < fit && has_places(r, r->op[k]);
        *cycles += k < fit ? 20 + macs(r, r->op[k]) / 64 : 0;
    }
    free(r);
    return 1;
}

static int compile(const struct heddle_region *asked, uint8_t **blob, size_t *n_bytes, char *why,
                   size_t why_bytes)
{
    int fit;
    struct region *r = opened(asked, &fit);
    const struct tape_header head = {TAPE_MAGIC, r->n_op};
    struct tape_instruction *code = calloc((size_t)r->n_op + 1, sizeof *code);
    append(r, &head, sizeof head);
    append(r, code, (size_t)r->n_op * sizeof *code);
    for (int k = 0; k < r->n_op; k++)
        code[k] = instruction(r, r->op[k]);
    memcpy(r->tape + sizeof head, code, (size_t)r->n_op * sizeof *code);
    snprintf(why, why_bytes, "%d of %d operators fit", fit, r->n_op);
    *blob = r->tape;
    *n_bytes = r->n_bytes;
    const int whole = fit == r->n_op;
    free(code);
    free(r);
    return whole;
}

static void release(char *blob)
{
    free(blob);
}

const struct heddle_target_api heddle_target = {.abi = HEDDLE_TARGET_ABI,
                                                .name = "tape",
                                                .region = region,
                                                .compile = compile,
                                                .release = release};
