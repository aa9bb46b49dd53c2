/* data.c - see data.h. */
#include "data.h"

#include <string.h>

#include "base/file.h"
#include "npz.h"
#include "stored.h"

/* The file being read, for messages, and its tensor. */
struct wanted {
    const struct job *job;
    const struct ir_tensor *tensor;
    const char *path, *what;
    uint32_t index, n_tensor, n_file; /* of this side */
};

bool data_is_npz(const char *path)
{
    return text_ends(path, ".npz");
}

/* Return a shape as Python prints it: "(1, 8, 8, 1)". */
static const char *shape_text(struct arena *a, uint32_t rank, const uint64_t *dim)
{
    struct text t;

    text_init(&t, a);
    text_add(&t, "(");
    for (uint32_t i = 0; i < rank; i++)
        text_printf(&t, "%s%llu", i ? ", " : "", (unsigned long long)dim[i]);
    text_add(&t, rank == 1 ? ",)" : ")");
    return t.data;
}

/* Return the number of inferences in the array's shape; 0: the shape does not fit. */
static uint64_t inferences(const struct ir_tensor *t, const struct npy *npy)
{
    const bool before = npy->rank == t->rank + 1;
    const uint32_t from = before || t->rank < 2 ? 0 : 1; /* first dimension that must match */

    if (npy->rank != t->rank && !before)
        return 0;
    for (uint32_t i = from; i < t->rank; i++)
        if (npy->dim[i + before] != (uint64_t)t->dim[i])
            return 0;
    if (before)
        return npy->dim[0];
    if (from == 0)
        return 1;
    return npy->dim[0] % (uint64_t)t->dim[0] ? 0 : npy->dim[0] / (uint64_t)t->dim[0];
}

/* Return "(1, 8, 8, 1), or (N, 8, 8, 1) for N inferences". */
static const char *expected_shape(struct arena *a, const struct ir_tensor *t)
{
    uint64_t dim[IR_MAX_RANK] = {0};
    const char *own;

    for (uint32_t i = 0; i < t->rank; i++)
        dim[i] = (uint64_t)t->dim[i];
    own = shape_text(a, t->rank, dim);
    if (t->rank < 2)
        return arena_printf(a, "%s, or (N%s%s for N inferences", own, t->rank ? ", " : ",",
                            t->rank ? arena_printf(a, "%llu)", (unsigned long long)dim[0]) : ")");
    if (dim[0] == 1)
        return arena_printf(a, "%s, or (N%s for N inferences", own, strchr(own, ','));
    return arena_printf(a, "%s, or N * %llu in the first dimension for N inferences", own,
                        (unsigned long long)dim[0]);
}

/* Return the part of a file's bytes that belongs to the tensor. */
static enum status loaded(const struct wanted *w, const uint8_t *data, size_t n_bytes,
                          uint8_t **bytes, struct diag *d)
{
    const struct ir_tensor *t = w->tensor;

    if (t->stored)
        return stored_load(w->job->arena, t, data, n_bytes / stored_bytes(t) * ir_elements(t),
                           bytes, d);
    *bytes = arena_memdup(w->job->arena, data, n_bytes);
    return ST_OK;
}

static enum status take_array(const struct wanted *w, const char *name, const uint8_t *file,
                              size_t n_bytes, uint8_t **bytes, uint64_t *count, struct diag *d)
{
    struct arena *a = w->job->arena;
    const struct ir_tensor *t = w->tensor;
    struct npy npy;

    TRY(npy_parse(name, file, n_bytes, &npy, d));
    if (strcmp(npy.type, stored_npy_type(t)) != 0)
        return FAIL(d, ST_USAGE, "%s: %s has type %s, expected %s (%s)", name, w->what, npy.type,
                    stored_npy_type(t), t->stored ? "as the model" : ir_type_name(t->type));
    *count = inferences(t, &npy);
    if (*count == 0)
        return FAIL(d, ST_USAGE, "%s: %s '%s' has shape %s, expected %s", name, w->what, t->name,
                    shape_text(a, npy.rank, npy.dim), expected_shape(a, t));
    if (*count > SIZE_MAX / stored_bytes(t) || *count * stored_bytes(t) != npy.n_bytes)
        return FAIL(d, ST_USAGE, "%s: %s has shape %s, but %zu bytes of data", name, w->what,
                    shape_text(a, npy.rank, npy.dim), npy.n_bytes);
    return loaded(w, npy.data, npy.n_bytes, bytes, d);
}

static enum status take_npz(const struct wanted *w, const uint8_t *file, size_t n_bytes,
                            uint8_t **bytes, uint64_t *count, struct diag *d)
{
    struct arena *a = w->job->arena;
    struct npz_array *array;
    uint32_t n, take;
    struct text names;

    TRY(npz_read(a, w->path, file, n_bytes, DATA_MAX_BYTES, &array, &n, d));
    text_init(&names, a);
    for (take = 0; take < n && strcmp(array[take].name, w->tensor->name) != 0; take++)
        text_printf(&names, "%s'%.80s'", take ? ", " : "", array[take].name);
    if (take == n && n == (w->n_file == 1 ? w->n_tensor : 1))
        take = w->n_file == 1 ? w->index : 0;
    if (take == n)
        return FAIL(d, ST_USAGE,
                    "%s: no array '%s' for this %s; found %.1000s. Name it so, or save %s in the "
                    "model's order",
                    w->path, w->tensor->name, w->what, names.data,
                    w->n_file == 1 ? "one for each" : "that one alone");
    return take_array(w, arena_printf(a, "%s, array '%s'", w->path, array[take].name),
                      array[take].file, array[take].n_bytes, bytes, count, d);
}

static enum status take_raw(const struct wanted *w, uint64_t one, size_t n_bytes, uint64_t *count,
                            struct diag *d)
{
    if (n_bytes == 0 || n_bytes % one != 0)
        return FAIL(d, ST_USAGE,
                    "%s: %s has %zu bytes, expected a multiple of %llu (one inference)", w->path,
                    w->what, n_bytes, (unsigned long long)one);
    *count = n_bytes / one;
    return ST_OK;
}

enum status data_read(const struct job *job, bool input, uint32_t index, const char *path,
                      const struct run_bytes *given, uint8_t **bytes, uint64_t *count,
                      struct diag *d)
{
    const struct ir_graph *g = job->p->graph;
    const struct options *o = job->options;
    const struct wanted w = {.job = job,
                             .tensor = ir_border(g, input ? g->in[index] : g->out[index]),
                             .path = path,
                             .what = input ? "input" : "expected output",
                             .index = index,
                             .n_tensor = input ? g->n_in : g->n_out,
                             .n_file = input ? o->n_input : o->n_expect};
    size_t n = 0;

    if (given) {
        *bytes = (uint8_t *)(uintptr_t)given->data;
        return take_raw(&w, ir_bytes(w.tensor), given->n_bytes, count, d);
    }
    TRY(file_read(job->arena, path, DATA_MAX_BYTES, bytes, &n, d));
    if (data_is_npz(path))
        return take_npz(&w, *bytes, n, bytes, count, d);
    if (text_ends(path, ".npy") || (n > 6 && memcmp(*bytes, "\x93NUMPY", 6) == 0))
        return take_array(&w, path, *bytes, n, bytes, count, d);
    TRY(take_raw(&w, stored_bytes(w.tensor), n, count, d));
    return w.tensor->stored ? loaded(&w, *bytes, n, bytes, d) : ST_OK;
}
