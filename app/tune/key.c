/* key.c - see key.h. */
#include "key.h"

#include <string.h>

#include "base/file.h"
#include "base/home.h"
#include "compiler/systolic/schedule/sched.h"
#include "compiler/target/describe.h"
#include "sim/build/build_files.h"

static void hash_number(struct hash128 *h, int64_t v)
{
    hash_bytes(h, &v, sizeof v);
}

static void hash_tensor(struct hash128 *h, const struct ir_tensor *t)
{
    hash_number(h, t->type);
    hash_number(h, t->role);
    hash_number(h, t->is_output);
    hash_number(h, t->rank);
    for (uint32_t i = 0; i < t->rank; i++)
        hash_number(h, t->dim[i]);
    hash_number(h, ir_zero_point(t)); /* not 0: commands contain it */
}

static void hash_op(struct hash128 *h, const struct pipeline *p, const struct ir_op *op)
{
    hash_string(h, ir_op_info(op->opcode)->name);
    hash_number(h, op->dead);
    hash_number(h, op->row);
    hash_number(h, op->region);
    hash_string(h, op->target < p->targets.n ? p->targets.target[op->target]->name : "");
    hash_number(h, op->n_in);
    for (uint32_t i = 0; i < op->n_in; i++)
        hash_number(h, op->in[i]);
    for (uint32_t i = 0; i < op->n_out; i++)
        hash_number(h, op->out[i]);
    for (uint32_t i = 0; i < IR_ATTR_COUNT; i++)
        hash_number(h, op->attr[i]);
    hash_number(h, op->fixed.n);
}

static const char *graph_hash(const struct pipeline *p)
{
    const struct ir_graph *g = p->graph;
    struct hash128 h;

    hash_init(&h);
    hash_number(&h, g->n_tensor);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        hash_tensor(&h, g->tensor[i]);
    for (uint32_t i = 0; i < g->n_op; i++)
        hash_op(&h, p, g->op[i]);
    for (uint32_t i = 0; i < g->n_in; i++)
        hash_number(&h, g->in[i]);
    for (uint32_t i = 0; i < g->n_out; i++)
        hash_number(&h, g->out[i]);
    return hash_text(p->arena, &h);
}

static bool is_knob(const struct target_desc *desc, const char *attr)
{
    for (uint32_t i = 0; i < desc->n_knob; i++)
        if (strcmp(desc->knob[i], attr) == 0)
            return true;
    return false;
}

/* Hash an external target: its settings without the knobs, its C and Verilog, and the description
 * of a device. */
static enum status hash_outside(struct hash128 *h, struct arena *a, const struct target *t,
                                struct diag *d)
{
    const char *const description[] = {"target.json"};
    const struct describe_files device = {t->desc->detail->device != NULL, description};
    const struct describe_files *files[] = {&t->desc->detail->headers, &t->desc->detail->sources,
                                            &t->desc->detail->verilog, &device};

    hash_string(h, t->desc->version);
    for (uint32_t i = 0; i < t->desc->n_attr; i++)
        if (!is_knob(t->desc, t->desc->attr[i].name))
            hash_string(h, t->setting[i].text);
    for (uint32_t i = 0; i < sizeof files / sizeof *files; i++)
        for (uint32_t k = 0; k < files[i]->n; k++) {
            uint8_t *data;
            size_t n_bytes;
            const char *path;
            TRY(describe_path(a, t->desc->origin, files[i]->name[k], &path, d));
            TRY(file_read(a, path, (size_t)64 << 20, &data, &n_bytes, d));
            hash_bytes(h, data, n_bytes);
        }
    return ST_OK;
}

static enum status hardware_hash(struct pipeline *p, const struct options *o, const char **text,
                                 struct diag *d)
{
    struct sim_paths paths = {0};
    struct build_files files = {0};
    struct hash128 h;

    TRY(home_find(p->arena, &paths.home, d));
    TRY(build_files_collect(p->arena, &paths, &p->hw, &files, d));
    hash_init(&h);
    for (uint32_t i = 0; i < p->graph->n_op; i++) {
        const struct ir_op *op = p->graph->op[i];
        if (!op->dead && op->region != IR_NONE)
            hash_number(&h, target_hw(p->targets.target[op->target], &p->hw)->hash);
    }
    for (uint32_t i = 0; i < files.n; i++)
        if (strncmp(files.file[i].name, "rtl/", 4) == 0) {
            hash_string(&h, files.file[i].name);
            hash_bytes(&h, files.file[i].data, files.file[i].n_bytes);
        }
    for (uint32_t i = 0; i < p->targets.n; i++)
        if (p->targets.target[i]->desc->outside)
            TRY(hash_outside(&h, p->arena, p->targets.target[i], d));
    hash_number(&h, o->mem_latency);
    hash_number(&h, o->mem_bytes ? o->mem_bytes : p->hw.axi_bytes);
    *text = hash_text(p->arena, &h);
    return ST_OK;
}

enum status tune_key_of(struct pipeline *p, const struct options *o, struct tune_key *key,
                        struct diag *d)
{
    key->graph = graph_hash(p);
    key->schedule = sched_version();
    return hardware_hash(p, o, &key->hardware, d);
}
