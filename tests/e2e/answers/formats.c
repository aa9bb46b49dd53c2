/* formats.c - the same network from two files, TFLite and ONNX state, compared layer by layer.
 *   formats FOLDER FOLDER [onnx]     onnx: the second one with ONNX's own rounding
 * Each holds model.tflite or model.onnx and in_<sample>_<input>.bin, in the file's own shapes and
 * types. Every operator of the first is paired with the one of the second that has its kind and
 * shape and comes closest on sample 0; a line for each: the largest and the mean difference of the
 * real values, and the largest in units of the first one's scale. Then each sample's class, the
 * place of the largest output; several if they tie. Exit status 1 unless every sample has a class
 * in common and some operators were paired. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compiler/graph_passes.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/tflite/tflite.h"
#include "reference/ref.h"

enum { MAX_FILE = 1 << 28 };

/* The real numbers that an operator computed on sample 0. */
struct layer {
    const struct ir_op *op;
    const struct ir_tensor *out;
    double *real;
    bool paired;
};

struct network {
    struct arena *a;
    const char *folder;
    struct ir_graph *g;
    struct ref *r;
    struct layer *layer;
    uint32_t n_layer, sample;
};

static double real_at(const struct ir_tensor *t, const uint8_t *p, uint64_t i)
{
    float f;

    if (t->type == IR_F32) {
        memcpy(&f, p + 4 * i, 4);
        return (double)f;
    }
    return (double)t->quant.scale[0] *
           ((t->type == IR_U8 ? p[i] : (int8_t)p[i]) - t->quant.zero_point[0]);
}

/* Return true for operators whose results mean the same in both files: not tables, movers, or graph
 * inputs and outputs. */
static bool is_compared(const struct ir_op *op)
{
    switch (op->opcode) {
    case IR_OP_CONV2D:
    case IR_OP_DEPTHWISE_CONV2D:
    case IR_OP_FULLY_CONNECTED:
    case IR_OP_ADD:
    case IR_OP_SOFTMAX:
    case IR_OP_AVERAGE_POOL2D:
    case IR_OP_MEAN: return true;
    default: return false;
    }
}

static void keep(void *ctx, const struct ir_op *op, const uint8_t *out)
{
    struct network *n = ctx;
    const struct ir_tensor *t = ir_out(n->g, op, 0);
    struct layer *l = &n->layer[n->n_layer];

    if (n->sample != 0 || !is_compared(op) || (t->type != IR_F32 && t->type != IR_I8))
        return;
    *l = (struct layer){op, t, ARENA_ARRAY(n->a, double, ir_elements(t)), false};
    for (uint64_t i = 0; i < ir_elements(t); i++)
        l->real[i] = real_at(t, out, i);
    n->n_layer++;
}

static enum status open_network(struct network *n, struct arena *a, const char *folder,
                                enum lgl_rounding rounding, struct diag *d)
{
    const struct lgl_options options = {.rounding = rounding};
    const struct onnx_options onnx = {0};
    const char *tflite = arena_printf(a, "%s/model.tflite", folder);
    const bool is_onnx = !file_exists(tflite);
    uint8_t *data;
    size_t size;

    *n = (struct network){.a = a, .folder = folder};
    TRY(file_read(a, is_onnx ? arena_printf(a, "%s/model.onnx", folder) : tflite, MAX_FILE, &data,
                  &size, d));
    if (is_onnx)
        TRY(onnx_import(a, folder, data, size, &onnx, &n->g, d));
    else
        TRY(tfl_import(a, folder, data, size, &n->g, d));
    TRY(passes_run(n->g, &options, d));
    n->layer = ARENA_ARRAY(a, struct layer, n->g->n_op);
    n->r = ref_new(a, n->g, &(struct ref_options){.legalised = true});
    ref_set_tap(n->r, keep, n);
    return ST_OK;
}

/* Return the first output on `sample`; NULL if it has no input files. */
static enum status answer(struct network *n, uint32_t sample, const uint8_t **bytes, struct diag *d)
{
    const uint8_t **in = ARENA_ARRAY(n->a, const uint8_t *, n->g->n_in);
    uint8_t **out = ARENA_ARRAY(n->a, uint8_t *, n->g->n_out);

    *bytes = NULL;
    for (uint32_t i = 0; i < n->g->n_in; i++) {
        const char *path = arena_printf(n->a, "%s/in_%u_%u.bin", n->folder, sample, i);
        uint8_t *data;
        size_t size;

        if (!file_exists(path))
            return ST_OK;
        TRY(file_read(n->a, path, MAX_FILE, &data, &size, d));
        if (size != ir_bytes(n->g->tensor[n->g->in[i]]))
            return FAIL(d, ST_USAGE, "%s: expected %llu bytes, found %zu", path,
                        (unsigned long long)ir_bytes(n->g->tensor[n->g->in[i]]), size);
        in[i] = data;
    }
    for (uint32_t i = 0; i < n->g->n_out; i++)
        out[i] = arena_alloc(n->a, (size_t)ir_bytes(n->g->tensor[n->g->out[i]]));
    n->sample = sample;
    ref_reset(n->r);
    TRY(ref_run(n->r, in, out, d));
    *bytes = out[0];
    return ST_OK;
}

static double mean_difference(const struct layer *a, const struct layer *b, double *largest)
{
    const uint64_t n = ir_elements(a->out);
    double sum = 0;

    *largest = 0;
    for (uint64_t i = 0; i < n; i++) {
        sum += fabs(a->real[i] - b->real[i]);
        *largest = fmax(*largest, fabs(a->real[i] - b->real[i]));
    }
    return sum / (double)n;
}

/* Return the operator of `other` that is closest to `l`; NULL: none of its kind and size is
 * left. A mean may be an average pool in the other file, or, over equal windows, a depthwise
 * convolution. */
static struct layer *nearest(struct network *other, const struct layer *l)
{
    struct layer *best = NULL;
    double least = INFINITY, largest;

    for (uint32_t i = 0; i < other->n_layer; i++) {
        struct layer *c = &other->layer[i];

        if (c->paired || ir_elements(c->out) != ir_elements(l->out) ||
            ir_dim_back(c->out, 0) != ir_dim_back(l->out, 0) ||
            (c->op->opcode == IR_OP_SOFTMAX) != (l->op->opcode == IR_OP_SOFTMAX) ||
            (c->op->opcode == IR_OP_ADD) != (l->op->opcode == IR_OP_ADD))
            continue;
        if (best == NULL || mean_difference(l, c, &largest) < least) {
            least = mean_difference(l, c, &largest);
            best = c;
        }
    }
    return best;
}

static uint32_t print_layers(struct network *a, struct network *b)
{
    uint32_t n = 0;

    printf("%-26s %-26s %-14s %10s %10s %6s\n", "first", "second", "shape", "largest", "mean",
           "units");
    for (uint32_t i = 0; i < a->n_layer; i++) {
        struct layer *l = &a->layer[i], *other = nearest(b, l);
        double largest, mean;

        if (other == NULL) {
            printf("%-26s -\n", a->g->row[l->op->row].name);
            continue;
        }
        other->paired = true;
        mean = mean_difference(l, other, &largest);
        printf("%-26s %-26s %-14s %10.4g %10.4g", a->g->row[l->op->row].name,
               b->g->row[other->op->row].name, ir_shape_text(a->a, l->out->rank, l->out->dim),
               largest, mean);
        if (l->out->quant.n == 1)
            printf(" %6.1f", largest / (double)l->out->quant.scale[0]);
        printf("\n");
        n++;
    }
    return n;
}

/* Print the indices of the largest value of output 0; return true if `other` has one of them. */
static bool print_classes(const struct network *n, const uint8_t *out, const struct network *other,
                          const uint8_t *other_out)
{
    const struct ir_tensor *t[2] = {n->g->tensor[n->g->out[0]], other->g->tensor[other->g->out[0]]};
    double most[2] = {-INFINITY, -INFINITY};
    bool common = false;

    for (uint64_t i = 0; i < ir_elements(t[0]); i++) {
        most[0] = fmax(most[0], real_at(t[0], out, i));
        most[1] = fmax(most[1], real_at(t[1], other_out, i));
    }
    for (uint64_t i = 0; i < ir_elements(t[0]); i++) {
        if (real_at(t[0], out, i) < most[0])
            continue;
        printf(" %llu", (unsigned long long)i);
        common |= real_at(t[1], other_out, i) == most[1];
    }
    return common;
}

static enum status compare(const char *const folder[2], enum lgl_rounding second, bool *same,
                           struct diag *d)
{
    struct network n[2];
    const uint8_t *out[2];
    struct arena *a = arena_new(0);

    TRY(open_network(&n[0], a, folder[0], LGL_ROUND_TFLITE, d));
    TRY(open_network(&n[1], a, folder[1], second, d));
    if (ir_elements(n[0].g->tensor[n[0].g->out[0]]) != ir_elements(n[1].g->tensor[n[1].g->out[0]]))
        return FAIL(d, ST_USAGE, "the two networks' first outputs have different sizes");
    *same = true;
    for (uint32_t sample = 0;; sample++) {
        TRY(answer(&n[0], sample, &out[0], d));
        TRY(answer(&n[1], sample, &out[1], d));
        if (out[0] == NULL || out[1] == NULL) {
            *same &= sample > 0;
            break;
        }
        if (sample == 0)
            *same &= print_layers(&n[0], &n[1]) > 0;
        printf("sample %u: class", sample);
        const bool common = print_classes(&n[0], out[0], &n[1], out[1]);
        printf(" and");
        (void)print_classes(&n[1], out[1], &n[0], out[0]);
        printf("%s\n", common ? "" : ": different");
        *same &= common;
    }
    arena_free(a);
    return ST_OK;
}

int main(int argc, char **argv)
{
    struct diag d = {.status = ST_OK};
    bool same = false;

    const bool onnx = argc == 4 && strcmp(argv[3], "onnx") == 0;

    if (argc != 3 && !onnx) {
        fprintf(stderr, "usage: formats FOLDER FOLDER [onnx]\n");
        return 2;
    }
    if (compare((const char *const[2]){argv[1], argv[2]}, onnx ? LGL_ROUND_ONNX : LGL_ROUND_TFLITE,
                &same, &d) != ST_OK) {
        fprintf(stderr, "formats: %s\n", d.text);
        return status_exit_code(d.status);
    }
    printf("%s\n", same ? "same classes" : "the classes differ");
    return same ? 0 : 1;
}
