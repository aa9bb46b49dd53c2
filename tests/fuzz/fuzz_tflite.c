/* fuzz_tflite.c - TFLite files, as they are and with one more row in input 0 (--input-shapes); their
 * labels (--labels=auto). */
#include "app/inputs/zip.h"
#include "compiler/import/tflite/tfl_shim.h"
#include "compiler/import/tflite/tflite.h"
#include "fuzz.h"

static enum status read_file(struct arena *a, const uint8_t *data, size_t n_bytes,
                             struct ir_graph **graph, struct diag *d)
{
    return tfl_import(a, "fuzz", data, n_bytes, graph, d);
}

static enum status read_sized(struct arena *a, const uint8_t *data, size_t n_bytes,
                              struct ir_graph **graph, struct diag *d)
{
    struct tfl_choice choice = {NULL, ""};
    struct tfl_file *f;
    struct tfl_tensor *t;

    TRY(tfl_read(a, data, n_bytes, &f, d));
    if (f->in.n == 0 || f->in.v[0] < 0 || (uint32_t)f->in.v[0] >= f->n_tensor)
        return FAIL(d, ST_MODEL, "no input");
    t = &f->tensor[f->in.v[0]];
    choice.sizes = arena_printf(a, "%s:[", t->name);
    for (uint32_t i = 0; i < t->shape.n && i < IR_MAX_RANK; i++)
        choice.sizes = arena_printf(a, "%s%s%u", choice.sizes, i ? "," : "",
                                    (uint32_t)t->shape.v[i] + (i == 0));
    choice.sizes = arena_printf(a, "%s]", choice.sizes);
    return tfl_import_with(a, "fuzz", data, n_bytes, &choice, graph, d);
}

/* The file of labels that the metadata name, and all members of the archive at the end. */
static enum status read_labels(struct arena *a, const uint8_t *data, size_t n_bytes,
                               struct ir_graph **graph, struct diag *d)
{
    struct zip z = {a, "fuzz", "archive", data, n_bytes, 1 << 20, d};
    struct zip_member *member;
    const char *name;
    uint32_t n;

    *graph = NULL;
    (void)tfl_labels(a, data, n_bytes, &name, d);
    *d = (struct diag){.status = ST_OK};
    TRY(zip_members(&z, 64, &member, &n));
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *content;
        size_t size;

        TRY(zip_data(&z, &member[i], &content, &size));
    }
    return ST_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    fuzz_one(read_file, data, n_bytes);
    fuzz_one(read_sized, data, n_bytes);
    fuzz_one(read_labels, data, n_bytes);
    return 0;
}
