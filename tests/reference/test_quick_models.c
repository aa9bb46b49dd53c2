/* test_quick_models.c - whole networks through importer, passes and reference kernels against goldens.
 *   test_quick_models [DIR...]   without DIR: tests/models, models/ next to this file (made by
 *                      tests/oracle/fixed/unary_tflite.py --seed 1) and, if there, ../shared/models.
 *                      DIR holds model.tflite, in_<sample>_<input>.bin, out_<sample>_<output>.bin
 *                      (or in_<input>.bin with all samples one after another) and maybe layers/
 * layers/ holds what the oracle left in memory: where it adds in place, the operand before an ADD
 * holds the sum, and the note "differs" about that row is expected.
 * Each network runs three times: as imported, with the reference's own constants; after the passes
 * that set numbers; after all passes. Exit 1 if a byte differs.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "compiler/graph_passes.h"
#include "compiler/import/tflite/tflite.h"
#include "reference/ref.h"

enum { MAX_FILE = 1 << 28, MAX_SAMPLES = 1000000 };

enum form { IMPORTED, NUMBERS, ALL };

struct bench {
    struct arena *a;
    const char *dir;
    struct ir_graph *g;
    const struct ir_graph *legal; /* of the imported one: what its passes proved constant */
    struct ref *r;
    struct diag d;
    uint64_t n_bytes, n_wrong, n_layer;
    uint32_t n_sample;
    int sample;
};

/* Sample `sample` of border tensor `i`; NULL if there is none. */
static const uint8_t *load(struct bench *b, const char *what, int sample, uint32_t i, size_t n)
{
    const char *one = arena_printf(b->a, "%s/%s_%d_%u.bin", b->dir, what, sample, i);
    const char *all = arena_printf(b->a, "%s/%s_%u.bin", b->dir, what, i);
    struct diag d = {0};
    uint8_t *data;
    size_t size;

    if (file_exists(one) && file_read(b->a, one, MAX_FILE, &data, &size, &d) == ST_OK && size == n)
        return data;
    if (file_exists(all) && file_read(b->a, all, MAX_FILE, &data, &size, &d) == ST_OK &&
        size >= ((size_t)sample + 1) * n)
        return data + (size_t)sample * n;
    return NULL;
}

/* Compare an operator's output with layers/op<row>_t<tensor>.bin where that exists. */
static void on_layer(void *ctx, const struct ir_op *op, const uint8_t *out)
{
    struct bench *b = ctx;
    const size_t n = (size_t)ir_bytes(ir_out(b->g, op, 0));
    struct diag d = {0};

    if (b->legal && lgl_contradicted(b->legal, op->row, ir_out(b->g, op, 0), out)) {
        printf("  row %s has a channel that varies and was proven constant\n",
               b->g->row[op->row].name);
        b->n_wrong++;
    }
    for (uint32_t t = 0; b->sample == 0 && t < 200; t++) {
        const char *path = arena_printf(b->a, "%s/layers/op%03u_t%u.bin", b->dir, op->row, t);
        uint8_t *data;
        size_t size;

        if (!file_exists(path))
            continue;
        b->n_layer++;
        if (file_read(b->a, path, MAX_FILE, &data, &size, &d) != ST_OK || size != n ||
            memcmp(data, out, n) != 0)
            /* expected before an ADD: the oracle adds in place and overwrites its operand */
            printf("  row %s differs from its golden\n", b->g->row[op->row].name);
    }
}

static bool run_sample(struct bench *b, int sample)
{
    const uint8_t **in = ARENA_ARRAY(b->a, const uint8_t *, b->g->n_in);
    uint8_t **out = ARENA_ARRAY(b->a, uint8_t *, b->g->n_out);

    for (uint32_t i = 0; i < b->g->n_in; i++) {
        in[i] = load(b, "in", sample, i, (size_t)ir_bytes(b->g->tensor[b->g->in[i]]));
        if (in[i] == NULL)
            return false;
    }
    for (uint32_t i = 0; i < b->g->n_out; i++)
        out[i] = arena_alloc(b->a, (size_t)ir_bytes(b->g->tensor[b->g->out[i]]));
    b->sample = sample;
    if (ref_run(b->r, in, out, &b->d) != ST_OK)
        return false;
    for (uint32_t i = 0; i < b->g->n_out; i++) {
        const size_t n = (size_t)ir_bytes(b->g->tensor[b->g->out[i]]);
        const uint8_t *golden = load(b, "out", sample, i, n);

        b->n_bytes += n;
        for (size_t k = 0; k < n; k++)
            b->n_wrong += golden == NULL || golden[k] != out[i][k];
    }
    b->n_sample++;
    return true;
}

static enum status prepare(struct bench *b, enum form form)
{
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    uint8_t *data;
    size_t n;

    TRY(file_read(b->a, arena_printf(b->a, "%s/model.tflite", b->dir), MAX_FILE, &data, &n, &b->d));
    TRY(tfl_import(b->a, "model", data, n, &b->g, &b->d));
    TRY(ir_verify(b->g, "import", &b->d));
    if (form == IMPORTED) {
        struct ir_graph *legal = ir_copy(b->a, b->g);
        b->legal = legal;
        return passes_run(legal, &o, &b->d);
    }
    if (form == ALL)
        return passes_run(b->g, &o, &b->d);

    TRY(lgl_padding(b->g, &o, &b->d));
    TRY(lgl_requant(b->g, &o, &b->d));
    TRY(lgl_u8_to_i8(b->g, &o, &b->d));
    TRY(lgl_lut(b->g, &o, &b->d));

    return ir_verify(b->g, "numbers", &b->d);
}

static double now(void)
{
    struct timespec t;

    (void)timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool run_model(const char *dir, enum form form)
{
    static const char *const names[] = {"imported", "numbers", "all"};
    const struct ref_options o = {.legalised = form != IMPORTED};
    struct bench b = {.a = arena_new(0), .dir = dir};
    const double start = now();
    double ready;
    uint64_t macs = 0;
    bool good;

    good = prepare(&b, form) == ST_OK;
    ready = now();
    if (good) {
        b.r = ref_new(b.a, b.g, &o);
        ref_set_tap(b.r, on_layer, &b);
        for (uint32_t i = 0; i < b.g->n_row; i++)
            macs += b.g->row[i].macs;
        for (int s = 0; s < MAX_SAMPLES && run_sample(&b, s); s++)
            continue;
    }
    good = good && b.d.status == ST_OK && b.n_wrong == 0 && b.n_sample > 0;
    printf("%-4s %-8s %s: %u samples, %llu of %llu bytes wrong, %llu layers, %llu MACs, "
           "compile %.1f ms, %.1f ms each%s%s\n",
           good ? "ok" : "FAIL", names[form], dir, b.n_sample, (unsigned long long)b.n_wrong,
           (unsigned long long)b.n_bytes, (unsigned long long)b.n_layer, (unsigned long long)macs,
           (ready - start) * 1e3, (now() - ready) * 1e3 / (b.n_sample > 0 ? b.n_sample : 1),
           b.d.text[0] ? ": " : "", b.d.text);
    arena_free(b.a);
    return good;
}

static bool run_each(const char *dir)
{
    bool good = true;

    for (enum form form = IMPORTED; form <= ALL; form++)
        good = run_model(dir, form) && good;
    return good;
}

/* Every model below `pattern`; `n` counts them. */
static bool run_all(const char *pattern, size_t *n)
{
    bool good = true;

    glob_t found;

    if (glob(pattern, 0, NULL, &found) != 0)
        return true;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        *strrchr(found.gl_pathv[i], '/') = '\0';
        good = run_each(found.gl_pathv[i]) && good;
    }
    *n += found.gl_pathc;
    globfree(&found);
    return good;
}

int main(int argc, char **argv)
{
    bool good = true;
    size_t n = 0;

    for (int i = 1; i < argc; i++, n++)
        good = run_each(argv[i]) && good;
    if (argc == 1) {
        good = run_all("tests/models/*/model.tflite", &n);
        good = run_all("tests/reference/models/*/model.tflite", &n) && good;
        good = run_all("../shared/models/*/model.tflite", &n) && good;
    }
    return good && n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
