/* run_package.c - "heddle run" of a package of "heddle compile": its C, driver and kernels are
 * built as one object and run on the functional or the Verilated model. There is no graph: inputs,
 * outputs and layers come from the object's table, and only --expect gives expected outputs. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/build/object.h"
#include "app/compare/difference.h"
#include "app/compare/verdict_text.h"
#include "app/engine/core_targets.h"
#include "app/engine/host_core.h"
#include "app/engine/host_iss.h"
#include "app/engine/processes.h"
#include "app/engine/qemu.h"
#include "app/inputs/inputs.h"
#include "app/job/job.h"
#include "base/file.h"
#include "base/home.h"
#include "base/json/json_doc.h"
#include "base/private.h"
#include "compiler/emit/package/tar.h"
#include "driver/hd_model.h"
#include "run_package.h"
#include "sim/build/cached.h"
#include "sim/build/hash.h"

#define MAX_TAR ((size_t)512 << 20)

static bool ends_with_tar(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".tar") == 0;
}

bool run_is_package(struct arena *a, const char *path)
{
    return ends_with_tar(path) || (file_exists(arena_printf(a, "%s/metadata.json", path)) &&
                                   file_exists(arena_printf(a, "%s/model.c", path)));
}

struct below {
    struct arena *arena;
    const char *folder;
};

static enum status write_below(void *ctx, const struct tar_file *file, struct diag *d)
{
    const struct below *b = ctx;
    char *full = arena_printf(b->arena, "%s/%s", b->folder, file->path);
    char *slash = strrchr(full, '/');

    *slash = '\0';
    TRY(file_make_dirs(full, d));
    *slash = '/';
    return file_write(full, file->data, file->n_bytes, d);
}

/* Return a folder in the cache, named by a hash of the text or bytes. */
static enum status cache_folder(struct arena *a, const void *data, size_t n_bytes,
                                const char **folder, struct diag *d)
{
    struct hash128 h;
    const char *cache;

    TRY(home_cache(a, &cache, d));
    hash_init(&h);
    hash_bytes(&h, data, n_bytes);
    const char *name = arena_printf(a, "package/%s", hash_text(a, &h));
    *folder = arena_printf(a, "%s/%s", cache, name);
    return private_dirs(a, cache, name, d);
}

/* Refuse a package that qemu cannot run before it is compiled. *links: its libraries are those of this
 * machine. */
static enum status check_engine(struct arena *a, const struct options *o, const char *folder,
                                bool *links, struct diag *d)
{
    struct run_qemu q = {0};

    if (o->engine == ENGINE_QEMU)
        TRY(run_qemu_find(a, folder, &q, d));
    *links = !q.library;
    return ST_OK;
}

/* The object that is not linked has a name of its own: the next run may want the other. */
static const char *object_of(struct arena *a, const char *cache, bool links)
{
    return arena_printf(a, "%s/%s.so", cache, links ? "model" : "model_data");
}

/* Build the package's C as an object, with the folder of its files. A tar file, identified by its
 * bytes, is compiled once. */
static enum status build(struct arena *a, const struct options *o, const char **folder,
                         const char **so_path, struct diag *d)
{
    const char *const path = o->model;
    const char *cache;
    char real[PATH_MAX];
    uint8_t *tar;
    size_t n_bytes;
    bool whole, links;

    if (!ends_with_tar(path)) {
        if (!realpath(path, real))
            return FAIL(d, ST_USAGE, "%s: no such folder", path);
        TRY(cache_folder(a, real, strlen(real), &cache, d));
        *folder = arena_strdup(a, real);
        TRY(check_engine(a, o, *folder, &links, d));
        *so_path = object_of(a, cache, links);
        return run_compile_package(a, *folder, *so_path, links, d);
    }
    TRY(file_read(a, path, MAX_TAR, &tar, &n_bytes, d));
    TRY(cache_folder(a, tar, n_bytes, &cache, d));
    *folder = cache;
    TRY(tar_read(tar, n_bytes, write_below, &(struct below){a, cache}, d));
    if (!file_exists(arena_printf(a, "%s/model.c", cache)))
        return FAIL(d, ST_USAGE,
                    "%s: no model.c in it; expected what heddle compile wrote without --format",
                    path);
    TRY(check_engine(a, o, cache, &links, d));
    *so_path = object_of(a, cache, links);
    TRY(cached_find(a, *so_path, &whole, d));
    if (whole)
        return ST_OK;
    TRY(run_compile_package(a, cache, *so_path, links, d));
    return cached_seal(a, *so_path, d);
}

/* Read "1x8x8x1" as dimensions; false if the form is wrong. */
static bool parse_shape(const char *text, struct ir_tensor *t)
{
    char *end = (char *)(uintptr_t)text;

    t->rank = 0;
    while (*end && t->rank < IR_MAX_RANK) {
        long n = strtol(end, &end, 10);
        if (n < 1 || n > INT32_MAX)
            return false;
        t->dim[t->rank++] = (int32_t)n;
        end += *end == 'x';
    }
    return *end == '\0';
}

static enum status add_tensor(struct ir_graph *g, const struct hd_io *io, enum ir_role role,
                              uint32_t *id, struct diag *d)
{
    struct ir_tensor shape = {0};
    enum ir_type type = IR_I8;

    while (type < IR_TYPE_COUNT && strcmp(ir_type_name(type), io->type) != 0)
        type++;
    if (type == IR_TYPE_COUNT || !parse_shape(io->shape, &shape) ||
        !ir_shape_ok(shape.rank, shape.dim, type))
        return FAIL(d, ST_USAGE, "the package's table has an input or output %s of %s", io->shape,
                    io->type);
    struct ir_tensor *t = ir_tensor_new(g, io->name, type, shape.rank, shape.dim);
    if (ir_bytes(t) != io->n_bytes)
        return FAIL(d, ST_USAGE, "the package's table gives %s %s %u bytes, expected %llu",
                    io->shape, io->type, io->n_bytes, (unsigned long long)ir_bytes(t));
    t->role = role;
    *id = t->id;
    return ST_OK;
}

/* Describe the accelerators for which the package has commands. */
static enum status describe_devices(const struct job *job, const struct hd_model *m, struct diag *d)
{
    struct sched_program *p = job->p->program;
    const struct hd_model_device one = {"", m->hw, m->config_hash};
    uint32_t n = m->n_devices ? m->n_devices : m->command_bytes > 0;

    if (n > SCHED_MAX_DEVICES)
        return FAIL(d, ST_USAGE, "the package's table has %u accelerators, at most %d", n,
                    SCHED_MAX_DEVICES);
    for (p->n_device = 0; p->n_device < n; p->n_device++) {
        const struct hd_model_device *from = m->n_devices ? &m->devices[p->n_device] : &one;
        struct hd_config *hw = ARENA_NEW(job->p->arena, struct hd_config);
        TRY(pipeline_config(job->p->arena, from->hw, hw, d));
        if (from->config_hash != hw->hash)
            return FAIL(d, ST_USAGE,
                        "the package is for configuration %s with hash 0x%08x, heddle's has "
                        "0x%08x; compile it again",
                        from->hw, from->config_hash, hw->hash);
        p->device[p->n_device] = (struct sched_device){IR_NONE, hw};
    }
    return ST_OK;
}

/* Describe the parts of a graph that the runner needs: inputs, outputs and layer names. */
static enum status describe(const struct job *job, const struct hd_model *m, struct diag *d)
{
    struct arena *a = job->p->arena;
    struct ir_graph *g = ir_graph_new(a, m->name);

    g->n_in = m->n_inputs;
    g->n_out = m->n_outputs;
    g->n_row = m->n_layers;
    g->in = ARENA_ARRAY(a, uint32_t, g->n_in + 1);
    g->out = ARENA_ARRAY(a, uint32_t, g->n_out + 1);
    g->row = ARENA_ARRAY(a, struct ir_row, g->n_row + 1);
    for (uint32_t i = 0; i < g->n_row; i++)
        g->row[i] = (struct ir_row){
            .name = m->layer_names[i], .op = "", .target = "its target", .fused_into = IR_NONE};
    for (uint32_t i = 0; i < g->n_in; i++)
        TRY(add_tensor(g, &m->inputs[i], IR_INPUT, &g->in[i], d));
    for (uint32_t i = 0; i < g->n_out; i++)
        TRY(add_tensor(g, &m->outputs[i], IR_VALUE, &g->out[i], d));
    job->p->graph = g;
    job->p->program = ARENA_NEW(a, struct sched_program);
    job->p->program->n_stream = m->command_bytes > 0;
    TRY(describe_devices(job, m, d));
    job->p->emitted = ARENA_NEW(a, struct emit_unit); /* has no cores of external targets */
    job->p->emitted->graph = g;
    job->p->emitted->targets = &job->p->targets;
    return ST_OK;
}

/* --- cores: metadata.json names the Verilog for each port --- */

static bool is_word(const char *s, const char *more)
{
    const char *p = s;

    while (*p && (isalnum((unsigned char)*p) || strchr(more, *p)))
        p++;
    return p > s && *p == '\0' && !strstr(s, "..") && *s != '/';
}

static const char *word_of(const cJSON *o, const char *name, const char *more)
{
    const cJSON *s = cJSON_GetObjectItemCaseSensitive(o, name);

    return cJSON_IsString(s) && is_word(s->valuestring, more) ? s->valuestring : NULL;
}

/* Read its parameters, and target.json's declarations of its ports, which were checked at compile
 * time. */
static bool read_core_details(struct arena *a, const cJSON *o, struct core *core)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, "parameters"), *p;
    const char **parameter = ARENA_ARRAY(a, const char *, (size_t)cJSON_GetArraySize(list) + 1);
    struct describe_ports ports;

    core->verilog.parameter = parameter;
    cJSON_ArrayForEach(p, list)
    {
        if (!cJSON_IsString(p))
            return false;
        parameter[core->verilog.n_parameter++] = arena_strdup(a, p->valuestring);
    }
    describe_read_ports(a, cJSON_GetObjectItemCaseSensitive(o, "ports"), &ports);
    core_targets_declare(a, &ports, &core->verilog);
    return true;
}

static bool read_core(struct arena *a, const char *folder, const cJSON *o, struct core *core)
{
    const char *name = word_of(o, "name", "_"), *below = word_of(o, "folder", "_"),
               *top = word_of(o, "top", "_");
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(o, "verilog"), *f,
                *bytes = cJSON_GetObjectItemCaseSensitive(o, "memory_bytes");
    const char **list = ARENA_ARRAY(a, const char *, (size_t)cJSON_GetArraySize(files) + 1);

    if (!name || !below || !top || !cJSON_IsNumber(bytes) || bytes->valuedouble < 64 ||
        bytes->valuedouble > 1 << 28 || cJSON_GetArraySize(files) < 1)
        return false;
    *core = (struct core){.name = arena_strdup(a, name),
                          .verilog = {.folder = arena_printf(a, "%s/%s", folder, below),
                                      .top = arena_strdup(a, top),
                                      .verilog = list},
                          .memory_bytes = (uint32_t)bytes->valuedouble,
                          .on_host = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "host"))};
    cJSON_ArrayForEach(f, files)
    {
        if (!cJSON_IsString(f) || !is_word(f->valuestring, "_-./$"))
            return false;
        list[core->verilog.n_verilog++] = arena_strdup(a, f->valuestring);
    }
    return read_core_details(a, o, core);
}

/* Read the scales of the outputs, so that values and steps are those of the model. */
static void read_scales(const struct job *job, const cJSON *list)
{
    const struct ir_graph *g = job->p->graph;

    for (uint32_t i = 0; i < g->n_out; i++) {
        struct ir_quant *q = &g->tensor[g->out[i]]->quant;
        const cJSON *o = cJSON_GetArrayItem(list, (int)i),
                    *scale = cJSON_GetObjectItemCaseSensitive(o, "scale"),
                    *zero = cJSON_GetObjectItemCaseSensitive(o, "zero_point");
        if (!cJSON_IsNumber(scale) || !cJSON_IsNumber(zero) || scale->valuedouble <= 0)
            continue;
        const float s = (float)scale->valuedouble;
        const int32_t z = zero->valueint;
        *q = (struct ir_quant){1, 0, arena_memdup(job->p->arena, &s, sizeof s),
                               arena_memdup(job->p->arena, &z, sizeof z)};
    }
}

/* Read the tolerance, the scales, and a core for each named port of the object's table. */
static enum status read_metadata(struct job *job, struct run_measured *m, const char *folder,
                                 const struct hd_model *model, struct diag *d)
{
    struct arena *a = job->p->arena;
    struct json_doc doc = {0};
    const char *path = arena_printf(a, "%s/metadata.json", folder);

    m->cores = ARENA_NEW(a, struct core_targets);
    enum status st = json_doc_read(a, path, &doc, d);
    const cJSON *tolerance = cJSON_GetObjectItemCaseSensitive(doc.root, "tolerance");
    job->tolerance = cJSON_IsNumber(tolerance) ? tolerance->valuedouble : 0;
    read_scales(job, cJSON_GetObjectItemCaseSensitive(doc.root, "outputs"));
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(doc.root, "cores"), *o;
    cJSON_ArrayForEach(o, list)
    {
        uint32_t i = m->cores->n;
        if (st != ST_OK || i == TARGET_MAX || i == model->n_ports ||
            !read_core(a, folder, o, &m->cores->core[i]) ||
            strcmp(m->cores->core[i].name, model->port_names[i]) != 0)
            break;
        m->cores->n++;
    }
    json_doc_free(&doc);
    if (st == ST_OK && m->cores->n != model->n_ports)
        return FAIL(
            d, ST_USAGE,
            "%s: \"cores\": expected one with name, folder, top, verilog and memory_bytes for "
            "each of the %u ports of the package, in their order",
            path, model->n_ports);
    return st;
}

static enum status load(struct job *job, struct run_measured *m, const char *folder,
                        const char *so_path, struct diag *d)
{
    void *so = NULL;

    TRY((job->options->engine == ENGINE_QEMU ? cached_load_data
                                             : cached_load)(so_path, "the package's code", &so, d));
    const struct hd_model *model = dlsym(so, "hd_model");
    if (!model || model->abi != HD_MODEL_ABI)
        return FAIL(
            d, ST_USAGE,
            "%s: found no hd_model of version %u; was the package compiled by another heddle?",
            so_path, HD_MODEL_ABI);
    TRY(pipeline_config(job->p->arena, *model->hw ? model->hw : job->options->hw, &job->p->hw, d));
    TRY(describe(job, model, d));
    return read_metadata(job, m, folder, model, d);
}

/* Return the verdict as the report states it, or ST_MISMATCH. */
static enum status check(struct run *run, const char **verdict, struct diag *d)
{
    double largest;
    uint64_t n_values;

    *verdict = "";
    difference_judge(&run->job, &run->measured, &run->results);
    difference_sums(&run->job, &run->results, &largest, &n_values);
    switch (run->results.verdict) {
    case VERDICT_MISMATCH: return difference_fail(&run->job, &run->measured, &run->results, d);
    case VERDICT_UNCHECKED: *verdict = "unchecked, no --expect"; break;
    case VERDICT_MATCH: *verdict = run_match_text(&run->job, &run->measured, &run->results); break;
    case VERDICT_WITHIN:
        *verdict =
            run->job.options->tolerance && run->results.difference == 0
                ? arena_printf(run->job.arena,
                               "within %u steps (largest %.4g, %llu values) of the expected "
                               "outputs",
                               run->job.options->tolerance, largest, (unsigned long long)n_values)
                : arena_printf(run->job.arena,
                               "within %.3g of the output's range against the expected "
                               "outputs, not bit for bit: the package's patterns may add up "
                               "to %.3g",
                               run->results.difference, run->job.tolerance);
    }
    return ST_OK;
}

static enum status write_outputs(struct run *run, struct diag *d)
{
    enum status st = ST_OK;

    if (!run->job.out_dir)
        return ST_OK;
    TRY(stage_begin(&run->folder.stage, run->job.out_dir, d));
    for (uint32_t i = 0; i < run->job.p->graph->n_out && st == ST_OK; i++)
        st = write_below(&(struct below){run->job.arena, run->folder.stage.path},
                         &(struct tar_file){arena_printf(run->job.arena, "out_%u.bin", i),
                                            run->measured.out[i].bytes,
                                            run->measured.out[i].n_bytes * run->job.n},
                         d);
    return stage_end(&run->folder.stage, st, d);
}

enum status run_package_load(struct job *job, struct run_measured *m, struct diag *d)
{
    const struct options *o = job->options;
    struct arena *a = job->p->arena;
    struct run_package *package = ARENA_NEW(a, struct run_package);

    if (!o->allow_native)
        return FAIL(d, ST_USAGE,
                    "%s holds C that would be compiled and executed; if you trust it, give "
                    "--allow-native-targets",
                    o->model);
    if (o->engine == ENGINE_REF || o->stats || o->waves || o->prove)
        return FAIL(
            d, ST_USAGE,
            "%s: a package has no graph: --engine=ref, --stats, --waves and --prove need the "
            "model",
            o->model);
    package->is_tar = ends_with_tar(o->model);
    TRY(build(a, o, &package->folder, &package->so_path, d));
    TRY(load(job, m, package->folder, package->so_path, d));
    job->package = package;
    return ST_OK;
}

/* Print the cycles of an inference on the simulated processor, by part. */
static void add_host(const struct job *job, const struct run_measured *m, struct text *t)
{
    const struct board_host *h = &m->shared->host;

    text_printf(t, "end to end %.1f cycles (%s): host operators %.1f, driver %.1f, waiting %.1f\n",
                (double)h->total / job->n, run_iss_name(job->options),
                (double)h->operators / job->n, (double)h->driver / job->n,
                (double)h->waiting / job->n);
}

enum status run_package(struct run *run, struct diag *d)
{
    const struct options *o = run->job.options;
    const char *verdict, *program = run->job.package->so_path;
    struct run_qemu qemu;
    struct text t;

    TRY(run_inputs(&run->job, d));
    run_outputs(&run->job, &run->measured);
    TRY(run_expectations(&run->job, d));
    TRY(difference_options(&run->job, d));
    if (o->host != HOST_NATIVE)
        TRY(run_iss_compile(&run->job, &run->measured, &program, d));
    TRY(o->engine == ENGINE_QEMU ? run_qemu(&run->job, &run->measured, program, &qemu, d)
                                 : run_engine(&run->job, &run->measured, program, d));
    TRY(write_outputs(run, d));
    TRY(check(run, &verdict, d));
    text_init(&t, run->job.arena);
    text_printf(&t, "verdict: %s\n", verdict);
    if (!o->quiet)
        text_printf(&t, "%s, engine %s: %s", run->job.p->graph->name, options_engines[o->engine],
                    o->engine == ENGINE_QEMU
                        ? run_qemu_text(run->job.arena, &qemu, run->job.n)
                        : arena_printf(run->job.arena, "%u inferences", run->job.n));
    if (!o->quiet && run->measured.shared->cycles)
        text_printf(&t, ", %.1f cycles each", (double)run->measured.shared->cycles / run->job.n);
    text_add(&t, o->quiet ? "" : "\n");
    if (!o->quiet && o->host != HOST_NATIVE)
        add_host(&run->job, &run->measured, &t);
    output_text(o->output, OUTPUT_RESULT, t.data);
    return ST_OK;
}
