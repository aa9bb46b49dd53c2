/* replay.c - see replay.h. The layer is cut from the reference's graph, with the layers that were
 * fused into it, so that the file is compiled like the network. */
#include "replay.h"

#include <string.h>

#include "app/job/job.h"
#include "app/job/shared.h"
#include "base/file.h"
#include "base/text.h"

struct cut {
    struct arena *a;
    const struct job *job;
    const struct ir_graph *from;
    struct ir_graph *to;
    uint32_t *id;       /* by tensor of `from`: the tensor of `to`, or IR_NONE */
    uint32_t *row;      /* alike */
    uint32_t *in, *out; /* tensors of `from` that are inputs and outputs of `to` */
};

/* Return the layer into which `row` was fused, or itself. */
static uint32_t root(const struct ir_graph *g, uint32_t row)
{
    for (uint32_t n = 0; n < g->n_row && g->row[row].fused_into != IR_NONE; n++)
        row = g->row[row].fused_into;
    return row;
}

static bool inside(const struct cut *c, const struct ir_op *op, uint32_t row)
{
    return !op->dead && root(c->job->p->graph, op->row) == row;
}

static uint32_t tensor_copy(struct cut *c, uint32_t id)
{
    const struct ir_tensor *from = c->from->tensor[id];

    if (c->id[id] != IR_NONE)
        return c->id[id];
    struct ir_tensor *t = ir_tensor_new(c->to, from->name, from->type, from->rank, from->dim);
    c->id[id] = t->id;
    t->quant = from->quant;
    t->role = from->role == IR_CONST ? IR_CONST : IR_VALUE;
    t->data = from->role == IR_CONST ? from->data : NULL;
    return t->id;
}

static uint32_t row_copy(struct cut *c, uint32_t row)
{
    if (c->row[row] == IR_NONE) {
        c->row[row] = c->to->n_row++;
        c->to->row[c->row[row]] = c->from->row[row];
        c->to->row[c->row[row]].fused_into = IR_NONE;
        c->to->row[c->row[row]].target = c->to->row[c->row[row]].reason = NULL;
    }
    return c->row[row];
}

static void op_copy(struct cut *c, const struct ir_op *from)
{
    struct ir_op *op =
        ir_op_new(c->to, from->opcode, row_copy(c, from->row), from->n_in, from->n_out);

    for (uint32_t i = 0; i < from->n_in; i++)
        op->in[i] = from->in[i] == IR_NONE ? IR_NONE : tensor_copy(c, from->in[i]);
    for (uint32_t i = 0; i < from->n_out; i++)
        op->out[i] = tensor_copy(c, from->out[i]);
    memcpy(op->attr, from->attr, sizeof op->attr);
    op->fixed = from->fixed;
    op->target = op->region = IR_NONE;
    op->reason = NULL;
}

/* Return true if the tensor, computed inside, is an output of the network or read outside. */
static bool leaves(const struct cut *c, uint32_t id, uint32_t row)
{
    for (uint32_t i = 0; i < c->from->n_out; i++)
        if (c->from->out[i] == id)
            return true;
    for (uint32_t k = 0; k < c->from->n_op; k++)
        for (uint32_t i = 0; i < c->from->op[k]->n_in; i++)
            if (c->from->op[k]->in[i] == id && !c->from->op[k]->dead &&
                !inside(c, c->from->op[k], row))
                return true;
    return false;
}

static bool made(const struct ir_graph *g, uint32_t id)
{
    for (uint32_t k = 0; k < g->n_op; k++)
        for (uint32_t i = 0; i < g->op[k]->n_out; i++)
            if (g->op[k]->out[i] == id)
                return true;
    return false;
}

/* Set inputs, the tensors that nothing inside computes, and outputs, those read outside. */
static enum status borders(struct cut *c, uint32_t row, struct diag *d)
{
    struct ir_graph *g = c->to;

    g->in = ARENA_ARRAY(c->a, uint32_t, g->n_tensor + 1);
    g->out = ARENA_ARRAY(c->a, uint32_t, g->n_tensor + 1);
    c->in = ARENA_ARRAY(c->a, uint32_t, g->n_tensor + 1);
    c->out = ARENA_ARRAY(c->a, uint32_t, g->n_tensor + 1);
    for (uint32_t i = 0; i < c->from->n_tensor; i++) {
        struct ir_tensor *t = c->id[i] == IR_NONE ? NULL : g->tensor[c->id[i]];
        if (!t || t->role == IR_CONST)
            continue;
        if (c->from->tensor[i]->role == IR_VARIABLE)
            return FAIL(d, ST_UNSUPPORTED, "the layer has state");
        if (!made(g, t->id)) {
            t->role = IR_INPUT;
            c->in[g->n_in] = i;
            g->in[g->n_in++] = t->id;
        } else if (leaves(c, i, row)) {
            t->is_output = true;
            c->out[g->n_out] = i;
            g->out[g->n_out++] = t->id;
        }
    }
    return g->n_out ? ST_OK : FAIL(d, ST_UNSUPPORTED, "the layer has no output of its own");
}

static enum status cut_out(struct cut *c, uint32_t row, struct diag *d)
{
    const struct ir_graph *compiled = c->job->p->graph;

    if (c->from->n_row != compiled->n_row)
        return FAIL(d, ST_UNSUPPORTED, "the reference has other layers than the compiled network");
    c->to = ir_graph_new(c->a, compiled->row[row].name);
    c->to->row = ARENA_ARRAY(c->a, struct ir_row, compiled->n_row + 1);
    c->id = ARENA_ARRAY(c->a, uint32_t, c->from->n_tensor + 1);
    c->row = ARENA_ARRAY(c->a, uint32_t, compiled->n_row + 1);
    memset(c->id, 0xff, c->from->n_tensor * sizeof *c->id);
    memset(c->row, 0xff, compiled->n_row * sizeof *c->row);
    for (uint32_t k = 0; k < c->from->n_op; k++)
        if (inside(c, c->from->op[k], row))
            op_copy(c, c->from->op[k]);
    TRY(borders(c, row, d));
    return ir_link(c->to, d);
}

/* --- write its bytes --- */

enum status replay_open(struct replayer *r, struct diag *d)
{
    const struct job *const job = &r->run->job;
    const uint32_t first_wrong = r->run->results.first_wrong;
    const struct ir_graph *g = job->p->reference;
    const struct ref_options options = pipeline_ref_options(&job->options->legalise);
    const uint8_t **in = ARENA_ARRAY(job->arena, const uint8_t *, g->n_in + 1);
    bool state = false;

    r->engine = job->options->engine;
    r->out = ARENA_ARRAY(job->arena, uint8_t *, g->n_out + 1);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        state = state || g->tensor[i]->role == IR_VARIABLE;
    for (uint32_t i = 0; i < g->n_out; i++)
        r->out[i] = arena_alloc(job->arena, (size_t)ir_bytes(g->tensor[g->out[i]]));
    r->ref = ref_new(job->arena, g, &options);
    for (uint32_t k = state && !job->options->reset_state ? 0 : first_wrong; k <= first_wrong;
         k++) {
        for (uint32_t i = 0; i < g->n_in; i++)
            in[i] = job->in[i].bytes + k * job->in[i].n_bytes;
        TRY(ref_run(r->ref, in, r->out, d));
    }
    return ST_OK;
}

static enum status write_tensor(const struct cut *c, const struct ref *r, uint32_t id,
                                const char *path, struct diag *d)
{
    return file_write(path, ref_bytes(r, id), (size_t)ir_bytes(c->from->tensor[id]), d);
}

/* --- write its command --- */

/* Return true for options that affect a layer alone as they affect the network, including those of
 * targets. */
static bool kept(const char *name)
{
    static const char *const names[] = {
        "hw",       "target",        "target-dir",  "uma-backends", "allow-native-targets",
        "fc-scale", "onnx-rounding", "mem-latency", "mem-bytes",    "memory",
        "wait",     "max-cycles",    "checked",     "no-overlap",   "no-search"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "target-", 7) == 0;
}

/* Select the target on which the layer ran in the network. */
static void same_place(const struct ir_row *layer, struct arena *a, struct options *o)
{
    bool host = strcmp(layer->target, "c") == 0, none = strcmp(layer->target, "none") == 0;

    o->offload[0] = arena_printf(a, "%s=%s", layer->name, layer->target);
    o->keep[0] = layer->name;
    o->partition.offload = o->offload;
    o->partition.keep = o->keep;
    o->partition.n_offload = !host && !none;
    o->partition.n_keep = host;
}

/* Set the options for the layer alone. */
static void own_options(const struct replayer *r, const struct ir_graph *g,
                        const struct ir_row *layer, struct options *o)
{
    struct arena *a = r->run->job.arena;

    *o = *r->run->job.options;
    o->command = COMMAND_RUN;
    o->engine = r->engine;
    o->model = arena_printf(a, "%s/replay.ir", r->folder);
    o->out = o->stats = o->dump_ir = o->labels = o->waves = o->teacher = o->tuned = NULL;
    o->input_shapes = o->signature = NULL;
    o->n_input = g->n_in;
    o->n_expect = g->n_out;
    for (uint32_t i = 0; i < g->n_in; i++)
        o->input[i] = arena_printf(a, "%s/replay_in_%u.bin", r->folder, i);
    for (uint32_t i = 0; i < g->n_out; i++)
        o->expect[i] = arena_printf(a, "%s/replay_out_%u.bin", r->folder, i);
    o->stall_seed = o->stall_seed ? o->stall_seed + r->run->results.first_wrong : 0;
    o->jobs = 1;
    o->tolerance = 0;
    same_place(layer, a, o);
}

void replay_options(struct text *t, const struct options *o, struct arena *a)
{
    for (uint32_t i = 0; i < o->n_given; i++) {
        const struct option_given *g = &o->given[i];

        if (kept(g->name))
            text_printf(t, " %s",
                        text_shell_word(a, arena_printf(a, "--%s%s%s", g->name, g->value ? "=" : "",
                                                        g->value ? g->value : "")));
    }
}

static const char *command_of(const struct options *o, struct arena *a)
{
    struct text t;

    text_init(&t, a);
    text_printf(&t, "heddle run %s", text_shell_word(a, o->model));
    for (uint32_t i = 0; i < o->n_input; i++)
        text_printf(&t, " -i %s", text_shell_word(a, o->input[i]));
    for (uint32_t i = 0; i < o->n_expect; i++)
        text_printf(&t, " --expect %s", text_shell_word(a, o->expect[i]));
    if (o->partition.n_offload)
        text_printf(&t, " --offload=%s", text_shell_word(a, o->offload[0]));
    if (o->partition.n_keep)
        text_printf(&t, " --keep-on-host=%s", o->keep[0]);
    if (o->engine == ENGINE_FUNC)
        text_add(&t, " --engine=func");
    replay_options(&t, o, a);
    if (o->stall_seed)
        text_printf(&t, " --stall-seed=%llu", (unsigned long long)o->stall_seed);
    return t.data;
}

/* Run the layer alone; *wrong: its answer differs from the reference's. */
static enum status run_alone(const struct replayer *r, const struct options *o, bool *wrong,
                             struct diag *d)
{
    struct pipeline p = {.arena = r->run->job.arena};
    struct run own = {.job = {.arena = r->run->job.arena, .options = o, .p = &p}};
    const enum status st = r->answer(&own, d);

    *wrong = st == ST_OK && own.results.verdict == VERDICT_MISMATCH;
    run_release(&own);
    return st;
}

bool replay_is_layer(const struct job *job, uint32_t row)
{
    return job->p->graph->row[row].fused_into == IR_NONE && job->p->graph->row[row].target;
}

enum status replay_layer(const struct replayer *r, uint32_t row, struct replay *replay,
                         struct diag *d)
{
    const struct job *job = &r->run->job;
    struct arena *a = job->arena;
    struct cut c = {.a = a, .job = job, .from = job->p->reference};
    struct diag own = {0};
    struct text t;
    struct options o;

    row = root(job->p->graph, row);
    TRY(cut_out(&c, row, d));
    if (c.to->n_in > OPTIONS_MAX_FILES || c.to->n_out > OPTIONS_MAX_FILES)
        return FAIL(d, ST_UNSUPPORTED, "the layer has more than %d inputs or outputs",
                    OPTIONS_MAX_FILES);
    own_options(r, c.to, &job->p->graph->row[row], &o);
    text_init(&t, a);
    ir_print(c.to, &t);
    TRY(file_write(o.model, t.data, t.length, d));
    for (uint32_t i = 0; i < c.to->n_in; i++)
        TRY(write_tensor(&c, r->ref, c.in[i], o.input[i], d));
    for (uint32_t i = 0; i < c.to->n_out; i++)
        TRY(write_tensor(&c, r->ref, c.out[i], o.expect[i], d));
    *replay = (struct replay){.command = command_of(&o, a)};
    replay->ran = run_alone(r, &o, &replay->wrong, &own) == ST_OK;
    return ST_OK;
}
