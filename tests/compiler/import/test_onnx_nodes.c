/* The node tests of Debian's libonnx-testdata (ONNX's own): each is a network of one operator (or
 * its expansion) with inputs and outputs. Imported, legalised in ONNX's rounding and computed by
 * the reference, in one process. Inputs that heddle wants constant (scales, weights, shapes) become
 * initializers: first as the file has it, then all but the first, then all after it that are
 * needed.
 *
 * onnx_nodes.txt lists every test by what becomes of it: "pass", or why not, below the reason that
 * a group of them shares. It is made anew (`-u` prints it) and must be the same, so that its
 * numbers and reasons are true. Exit status 77 where the package is not installed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "compiler/graph_passes.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/onnx_scan.h"
#include "reference/islands/ref_islands.h"
#include "reference/ref.h"

#define DATA         "/usr/share/libonnx-testdata/data/node"
#define MAX_OPERANDS 16
#define MAX_TESTS    2000

struct tensors {
    size_t n;
    Onnx__TensorProto *t[MAX_OPERANDS];
    const uint8_t *bytes[MAX_OPERANDS];
};

/* Read input_0.pb, .. or output_0.pb, ..; false if one is not a tensor. */
static bool read_tensors(struct arena *a, const char *test, const char *what, struct tensors *t)
{
    for (t->n = 0; t->n < MAX_OPERANDS; t->n++) {
        const char *path = arena_printf(a, DATA "/%s/test_data_set_0/%s_%zu.pb", test, what, t->n);
        struct diag d = {0};
        uint8_t *data;
        size_t n;

        if (access(path, R_OK) != 0)
            return true;
        if (file_read(a, path, (size_t)64 << 20, &data, &n, &d) != ST_OK)
            return false;
        t->t[t->n] = onnx__tensor_proto__unpack(NULL, n, data);
        if (!t->t[t->n])
            return false;
    }
    return false;
}

static void free_tensors(struct tensors *t)
{
    for (size_t i = 0; i < t->n; i++)
        onnx__tensor_proto__free_unpacked(t->t[i], NULL);
}

/* Bytes of an element; 0 for types that are not compared. */
static size_t size_of(int32_t type)
{
    switch (type) {
    case 1: return 4; /* float32 */
    case 6: return 4; /* int32 */
    case 7: return 8; /* int64 */
    case 2:
    case 3:
    case 9: return 1; /* uint8, int8, bool */
    default: return 0;
    }
}

static const uint8_t *raw(const Onnx__TensorProto *t)
{
    return t->has_raw_data ? t->raw_data.data : NULL;
}

/* Return the model's bytes, in `a`, with the inputs of `mask` as initializers. */
static uint8_t *bind(struct arena *a, Onnx__ModelProto *m, const struct tensors *in, uint32_t mask,
                     size_t *n)
{
    Onnx__GraphProto *g = m->graph, was = *g;
    Onnx__TensorProto **init = ARENA_ARRAY(a, Onnx__TensorProto *, g->n_initializer + in->n);
    char *names[MAX_OPERANDS];
    uint8_t *data;

    if (g->n_initializer != 0)
        memcpy(init, g->initializer, g->n_initializer * sizeof *init);
    for (size_t i = 0; i < in->n; i++) {
        names[i] = in->t[i]->name;
        in->t[i]->name = g->input[i]->name;
        if (mask >> i & 1)
            init[g->n_initializer++] = in->t[i];
    }
    g->initializer = init;
    data = arena_alloc(a, onnx__model_proto__get_packed_size(m));
    *n = onnx__model_proto__pack(m, data);
    for (size_t i = 0; i < in->n; i++)
        in->t[i]->name = names[i];
    *g = was;
    return data;
}

/* Integers exactly, float32 within 1e-3 relative and 1e-5 absolute (ONNX's own bounds are wider).
 */
static bool equal(const Onnx__TensorProto *want, const uint8_t *got, size_t n_bytes)
{
    const size_t size = size_of(want->data_type);

    if (size == 0 || !raw(want) || want->raw_data.len != n_bytes)
        return false;
    if (want->data_type != 1)
        return memcmp(raw(want), got, n_bytes) == 0;
    for (size_t i = 0; i < n_bytes; i += 4) {
        float x, y;

        memcpy(&x, raw(want) + i, 4);
        memcpy(&y, got + i, 4);
        if (!(fabsf(x - y) <= 1e-5f + 1e-3f * fabsf(x)) && !(isnan(x) && isnan(y)) && x != y)
            return false;
    }
    return true;
}

static const char *run_graph(struct arena *a, const struct ir_graph *g, const struct ref_options *o,
                             const struct tensors *in, uint32_t mask, const struct tensors *out,
                             uint8_t **y, struct diag *d)
{
    const uint8_t *x[MAX_OPERANDS];
    size_t n = 0;

    if (g->n_out != out->n)
        return "another number of outputs";
    for (size_t i = 0; i < in->n; i++)
        if ((mask >> i & 1) == 0) {
            if (n >= g->n_in || !raw(in->t[i]) ||
                in->t[i]->raw_data.len != ir_bytes(g->tensor[g->in[n]]))
                return "an input of another size";
            x[n++] = raw(in->t[i]);
        }
    for (size_t i = 0; i < out->n; i++)
        y[i] = arena_alloc(a, (size_t)ir_bytes(g->tensor[g->out[i]]) + 1);
    return ref_run(ref_new(a, g, o), x, y, d) == ST_OK ? NULL : d->text;
}

/* Run the graph in which the importer fuses nothing and only the reference makes islands: the bytes
 * are equal. */
static const char *run_islands(struct arena *a, const uint8_t *data, size_t n,
                               const struct tensors *in, uint32_t mask, const struct tensors *out,
                               uint8_t *const *y, struct diag *d)
{
    const struct onnx_options literal = {.literal = true};
    const struct ref_options o = {.onnx_rounding = true};
    struct ir_graph *file, *g;
    uint8_t *again[MAX_OPERANDS];
    const char *why;

    if (onnx_import(a, "node", data, n, &literal, &file, d) != ST_OK ||
        ref_islands(a, file, false, &g, d) != ST_OK)
        return d->text;
    if ((why = run_graph(a, g, &o, in, mask, out, again, d)) != NULL)
        return why;
    for (size_t i = 0; i < out->n; i++)
        if (memcmp(y[i], again[i], (size_t)ir_bytes(g->tensor[g->out[i]])) != 0)
            return "the reference's islands have other bytes";
    return NULL;
}

/* NULL, or why not, in `a`. */
static const char *try_bound(struct arena *a, Onnx__ModelProto *m, const struct tensors *in,
                             uint32_t mask, const struct tensors *out)
{
    const struct lgl_options lgl = {.rounding = LGL_ROUND_ONNX};
    const struct onnx_options o = {0};
    const struct ref_options legalised = {.legalised = true};
    uint8_t *y[MAX_OPERANDS];
    struct ir_graph *g = NULL;
    struct diag d = {0};
    uint8_t *data;
    size_t n;
    const char *why;

    data = bind(a, m, in, mask, &n);
    if (onnx_import(a, "node", data, n, &o, &g, &d) != ST_OK ||
        ir_verify(g, "import", &d) != ST_OK || passes_run(g, &lgl, &d) != ST_OK)
        return arena_printf(a, "%s", d.text);
    why = run_graph(a, g, &legalised, in, mask, out, y, &d);
    if (!why)
        why = run_islands(a, data, n, in, mask, out, y, &d);
    for (size_t i = 0; !why && i < out->n; i++)
        if (!equal(out->t[i], y[i], (size_t)ir_bytes(g->tensor[g->out[i]])))
            why = "another answer";
    return why ? arena_printf(a, "%s", why) : NULL;
}

/* NULL, or why not, in `a`. */
static const char *run_node(struct arena *a, const char *test)
{
    struct tensors in = {0}, out = {0};
    const char *why = NULL;
    struct diag d = {0};
    Onnx__ModelProto *m = NULL;
    uint8_t *data;
    size_t n;

    if (!read_tensors(a, test, "input", &in) || !read_tensors(a, test, "output", &out))
        why = "inputs or outputs are no tensors";
    else if (file_read(a, arena_printf(a, DATA "/%s/model.onnx", test), (size_t)64 << 20, &data, &n,
                       &d) != ST_OK ||
             !(m = onnx__model_proto__unpack(NULL, n, data)) || m->graph->n_input < in.n)
        why = "the model cannot be read";
    if (!why && (why = try_bound(a, m, &in, 0, &out)) != NULL && in.n > 1 && in.n < 16) {
        const char *first = why;

        why = try_bound(a, m, &in, (1u << in.n) - 2, &out); /* all inputs except the first */
        if (why && strcmp(first, "another answer") == 0)
            why = first;
    }
    free_tensors(&in);
    free_tensors(&out);
    if (m)
        onnx__model_proto__free_unpacked(m, NULL);
    return why;
}

static bool is_quantised(const char *test)
{
    return strstr(test, "quantize") || strstr(test, "qlinear") || strstr(test, "integer");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool update;

/* A group: tests whose name or message contains one of `words`, in this order; the last takes all.
 */
static const struct {
    const char *title;
    const char *words[12];
} groups[] = {
    {"training, not inference",
     {"Loss (", "adagrad", "adam", "momentum", "training_", "nllloss", "sce_"}},
    {"sequences, optional values, strings: no tensors of a quantised network",
     {"expected a tensor", "string", "no tensors", "test_optional", "test_sequence", "TfIdf",
      "StringNormalizer"}},
    {"control flow", {" If (", " Loop (", " Scan ("}},
    {"random numbers", {"andom", "Bernoulli", "Multinomial", "bernoulli"}},
    {"sizes that depend on values",
     {"NonZero", "Unique", "Compress", "NonMaxSuppression", " Range (", "ConstantOfShape ("}},
    {"numbers of other types",
     {"float16", "double", "uint16", "uint32", "uint64", "int16", "bfloat16"}},
    {"more than six dimensions, images of three, empty tensors",
     {"expected at most 6", "found 5", "at least one element", "leave nothing", "is empty"}},
    {"opsets before 7, models without one", {"opset of ai.onnx", "no opset"}},
    {"signals", {"DFT", "STFT", "Window (", "MelWeight"}},
    {"plain int8 and uint8 that are no quantised values, powers of integers, fmod",
     {"is not the output of", "is int32", "is int64", " Mod (", "BitShift"}},
    {"ONNX Runtime, too, differs: the size is not rounded before its corners are aligned",
     {"another answer"}},
    {"operators that are not imported", {"this operator is not supported"}},
    {"rare forms of operators that are there", {""}},
};

enum { N_GROUPS = sizeof groups / sizeof *groups };

static int group_of(const char *test, const char *why)
{
    int g = 0;

    for (; g < N_GROUPS - 1; g++)
        for (int i = 0; i < 12 && groups[g].words[i]; i++)
            if (strstr(test, groups[g].words[i]) || strstr(why, groups[g].words[i]))
                return g;
    return g;
}

struct result {
    const char *name, *why; /* why: NULL for a pass */
};

/* Return the whole list as text; free() it. */
static char *list_of(const struct result *r, size_t n)
{
    size_t size, passed = 0, quantised = 0, passed_quantised = 0, count[N_GROUPS] = {0};
    char *text;
    FILE *f = open_memstream(&text, &size);

    assert_non_null(f);
    for (size_t i = 0; i < n; i++) {
        passed += !r[i].why;
        quantised += is_quantised(r[i].name);
        passed_quantised += is_quantised(r[i].name) && !r[i].why;
        count[r[i].why ? group_of(r[i].name, r[i].why) : 0] += r[i].why != NULL;
    }
    fprintf(f,
            "# ONNX's node tests (Debian's libonnx-testdata), printed by test_onnx_nodes -u.\n"
            "# %zu of %zu pass; of quantised operators %zu of %zu.\n",
            passed, n, passed_quantised, quantised);
    for (size_t i = 0; i < n; i++)
        if (!r[i].why)
            fprintf(f, "%s: pass\n", r[i].name);
    for (int g = 0; g < N_GROUPS; g++) {
        fprintf(f, "# %zu: %s\n", count[g], groups[g].title);
        for (size_t i = 0; i < n; i++)
            if (r[i].why && group_of(r[i].name, r[i].why) == g)
                fprintf(f, "%s: %s\n", r[i].name, r[i].why);
    }
    fclose(f);
    return text;
}

/* Check that both texts are equal; otherwise report the first line that differs. */
static void same_lines(const char *want, const char *found)
{
    while (*want && *want == *found) {
        const size_t a = strcspn(want, "\n"), b = strcspn(found, "\n");

        if (a != b || memcmp(want, found, a) != 0)
            break;
        want += a + (want[a] != '\0');
        found += b + (found[b] != '\0');
    }
    if (*want || *found)
        fail_msg("onnx_nodes.txt has '%.*s', found '%.*s'", (int)strcspn(want, "\n"), want,
                 (int)strcspn(found, "\n"), found);
}

static void test_nodes(void **state)
{
    struct arena *all = arena_new((size_t)64 << 20);
    char **name = ARENA_ARRAY(all, char *, MAX_TESTS), *text;
    struct result *r = ARENA_ARRAY(all, struct result, MAX_TESTS);
    uint8_t *list = NULL;
    size_t n = 0, n_list;
    struct diag d = {0};
    struct dirent *e;
    DIR *dir = opendir(DATA);

    (void)state;
    while ((e = readdir(dir)) != NULL && n < MAX_TESTS)
        if (*e->d_name != '.')
            name[n++] = arena_printf(all, "%s", e->d_name);
    closedir(dir);
    qsort(name, n, sizeof *name, by_name);
    for (size_t i = 0; i < n; i++) {
        struct arena *a = arena_new((size_t)256 << 20);
        const char *why = run_node(a, name[i]);

        r[i] = (struct result){name[i], why ? arena_printf(all, "%s", why) : NULL};
        arena_free(a);
    }
    text = list_of(r, n);
    if (update) {
        fputs(text, stdout);
    } else {
        assert_int_equal(file_read(all,
                                   arena_printf(all, "%s/tests/compiler/import/onnx_nodes.txt",
                                                getenv("HEDDLE_HOME")),
                                   1 << 20, &list, &n_list, &d),
                         ST_OK);
        same_lines(arena_printf(all, "%.*s", (int)n_list, (const char *)list), text);
    }
    free(text);
    arena_free(all);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nodes)};

    update = argc > 1 && strcmp(argv[1], "-u") == 0;
    if (access(DATA, R_OK) != 0) {
        printf("SKIPPED: " DATA " not found (Debian package libonnx-testdata)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
