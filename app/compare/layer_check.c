/* layer_check.c - see layer_check.h. The reference runs the graph as imported, whose tensors have
 * the file's names, order and types. */
#include "layer_check.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define GOLDEN_MAX_BYTES ((size_t)1 << 30)

struct golden {
    const char *tensor;
    bool is_uint8;
    uint8_t *bytes;
    size_t n_bytes;
};

struct layer_check {
    const struct pipeline *p;
    const char *folder;
    uint32_t sample, n;
    struct golden *golden;
    struct text *report;
    uint64_t n_wrong, n_compared, n_operators;
};

static const char *text_of(const cJSON *o, const char *name)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, name);

    return cJSON_IsString(v) ? v->valuestring : "";
}

static enum status read_golden(struct layer_check *l, const cJSON *t, struct golden *g,
                               struct diag *d)
{
    struct arena *a = l->p->arena;
    const char *dtype = text_of(t, "dtype");

    g->tensor = arena_strdup(a, text_of(t, "tensor"));
    g->is_uint8 = strcmp(dtype, "uint8") == 0;
    if (strcmp(dtype, "int8") != 0 && !g->is_uint8)
        return FAIL(d, ST_USAGE,
                    "%s/meta.json: tensor '%.80s': expected dtype int8 or uint8, found '%s'",
                    l->folder, g->tensor, dtype);
    return file_read(a, arena_printf(a, "%s/%s", l->folder, text_of(t, "file")), GOLDEN_MAX_BYTES,
                     &g->bytes, &g->n_bytes, d);
}

/* Read meta.json: {"layers": {"sample": 0, "tensors": [{"tensor", "file", "dtype"}]}}. */
static enum status read_meta(struct layer_check *l, const cJSON *meta, struct diag *d)
{
    const cJSON *layers = cJSON_GetObjectItemCaseSensitive(meta, "layers");
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(layers, "tensors"), *t;
    const cJSON *sample = cJSON_GetObjectItemCaseSensitive(layers, "sample");

    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) == 0)
        return FAIL(d, ST_USAGE,
                    "%s/meta.json: expected \"layers\" with \"tensors\": [{\"tensor\", \"file\", "
                    "\"dtype\"}]",
                    l->folder);
    l->sample =
        cJSON_IsNumber(sample) && sample->valuedouble > 0 ? (uint32_t)sample->valuedouble : 0;
    l->golden = ARENA_ARRAY(l->p->arena, struct golden, (size_t)cJSON_GetArraySize(list));
    cJSON_ArrayForEach(t, list) TRY(read_golden(l, t, &l->golden[l->n++], d));
    return ST_OK;
}

static enum status read_folder(struct layer_check *l, struct diag *d)
{
    uint8_t *data;
    size_t n;

    TRY(file_read(l->p->arena, arena_printf(l->p->arena, "%s/meta.json", l->folder),
                  (size_t)16 << 20, &data, &n, d));
    errno = 0;
    cJSON *meta = cJSON_ParseWithLengthOpts((const char *)data, n + 1, NULL, 1);
    if (!meta && errno == ENOMEM)
        return FAIL(d, ST_NO_MEMORY, "%s/meta.json: no memory to read it", l->folder);
    if (!meta)
        return FAIL(d, ST_USAGE, "%s/meta.json: not JSON", l->folder);
    enum status st = read_meta(l, meta, d);
    cJSON_Delete(meta);
    return st;
}

static const struct golden *golden_of(const struct layer_check *l, const struct ir_tensor *t)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (strcmp(l->golden[i].tensor, t->name) == 0 && l->golden[i].n_bytes == ir_bytes(t))
            return &l->golden[i];
    return NULL;
}

/* Compare an operator's result with its golden, then replace it by the golden for the readers. */
static void teach(void *ctx, const struct ir_op *op, const uint8_t *out)
{
    struct layer_check *l = ctx;
    const struct ir_graph *g = l->p->reference;
    const struct ir_tensor *t = ir_out(g, op, 0);
    const struct golden *gold = golden_of(l, t);
    uint8_t *bytes = (uint8_t *)(uintptr_t)out; /* ref.h: a tap may change the bytes that readers
                                                 * get */
    uint64_t one = 0, more = 0;
    int32_t largest = 0;

    if (!gold || t->type != (gold->is_uint8 ? IR_U8 : IR_I8))
        return;
    for (size_t i = 0; i < gold->n_bytes; i++) {
        const uint8_t want = gold->bytes[i];
        int32_t diff = t->type == IR_I8 ? (int8_t)bytes[i] - (int8_t)want : bytes[i] - want;
        diff = diff < 0 ? -diff : diff;
        one += diff == 1;
        more += diff > 1;
        largest = diff > largest ? diff : largest;
        bytes[i] = want;
    }
    const char *row = op->row < g->n_row ? g->row[op->row].name : "";
    text_printf(l->report, "%-26s %9zu %9llu %9llu %8d\n", row, gold->n_bytes,
                (unsigned long long)one, (unsigned long long)more, largest);
    l->n_wrong += more;
    l->n_compared += gold->n_bytes;
    l->n_operators++;
}

static enum status run_lesson(struct layer_check *l, const struct options *o, struct diag *d)
{
    const struct ir_graph *g = l->p->reference;
    const struct ref_options options = pipeline_ref_options(&o->legalise);
    struct arena *a = l->p->arena;
    const uint8_t **in = ARENA_ARRAY(a, const uint8_t *, g->n_in + 1);
    uint8_t **out = ARENA_ARRAY(a, uint8_t *, g->n_out + 1);
    struct ref *r = ref_new(a, g, &options);

    for (uint32_t i = 0; i < g->n_in; i++) {
        const char *path = arena_printf(a, "%s/in_%u_%u.bin", l->folder, l->sample, i);
        uint8_t *data;
        size_t n;
        TRY(file_read(a, path, GOLDEN_MAX_BYTES, &data, &n, d));
        if (n != ir_bytes(g->tensor[g->in[i]]))
            return FAIL(d, ST_USAGE, "%s: expected %llu bytes, found %zu", path,
                        (unsigned long long)ir_bytes(g->tensor[g->in[i]]), n);
        in[i] = data;
    }
    for (uint32_t i = 0; i < g->n_out; i++)
        out[i] = arena_alloc(a, (size_t)ir_bytes(g->tensor[g->out[i]]));
    ref_set_tap(r, teach, l);
    return ref_run(r, in, out, d);
}

enum status layer_check_run(struct pipeline *p, const struct options *o, const char *path,
                            const char *name, struct text *report, bool *agrees, struct diag *d)
{
    struct layer_check *l = ARENA_NEW(p->arena, struct layer_check);

    *l = (struct layer_check){.p = p, .folder = o->teacher, .report = report};
    TRY(read_folder(l, d));
    text_printf(report, "%-26s %9s %9s %9s %8s\n", "operator, golden inputs", "elements",
                "off by 1", "more", "largest");
    p->options = options_pipeline(o);
    TRY(pipeline_front(p, path, name, d));
    TRY(run_lesson(l, o, d));
    text_printf(report, "%llu operators, %llu elements compared, %llu off by more than one unit\n",
                (unsigned long long)l->n_operators, (unsigned long long)l->n_compared,
                (unsigned long long)l->n_wrong);
    if (l->n_operators == 0)
        return FAIL(d, ST_USAGE, "--teacher: no tensor of %s/meta.json is in the model",
                    o->teacher);
    *agrees = l->n_wrong == 0;
    return ST_OK;
}
