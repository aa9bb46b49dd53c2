/* compare_layers.c - see compare_layers.h. */
#include "compare_layers.h"

#include <string.h>

#include "app/engine/watcher.h"
#include "app/job/shared.h"
#include "compare_parts.h"
#include "compiler/target/describe.h"

/* --- which tensors are compared --- */

static bool has_bytes(const struct ir_graph *g, const struct ir_tensor *t)
{
    return t->role == IR_VARIABLE ||
           (t->role == IR_VALUE && t->producer != IR_NONE && !g->op[t->producer]->dead);
}

static void place_kept(struct compare *c)
{
    const struct ir_graph *g = c->graph;

    c->offset = ARENA_ARRAY(c->job->arena, size_t, g->n_tensor + 1);
    for (uint32_t i = 0; i < g->n_tensor; i++) {
        c->offset[i] = SIZE_MAX;
        if (!has_bytes(g, g->tensor[i]))
            continue;
        c->offset[i] = c->kept_bytes;
        c->kept_bytes += ((size_t)ir_bytes(g->tensor[i]) + 15) / 16 * 16;
    }
}

/* List the steps in the order in which emit_model.c writes run(). */
static void find_steps(struct compare *c)
{
    const struct ir_graph *g = c->graph;
    const struct sched_program *p = c->job->p->program;
    uint32_t stream = 0;

    c->steps = ARENA_ARRAY(c->job->arena, struct compare_step, g->n_op + 1);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead)
            continue;
        if (op->region == IR_NONE && ir_ends_call(g, i))
            c->steps[c->n_step++] = (struct compare_step){.host = true, .position = i};
        else if (op->region != IR_NONE && stream < p->n_stream &&
                 p->stream[stream].region == op->region) {
            c->steps[c->n_step++] = (struct compare_step){.stream = stream};
            stream++;
        }
    }
}

/* Maximum products that the reference computes for the comparison: about five seconds of work. */
#define MOST_MACS 2000000000u

/* Return the number of inferences compared: all, or the first ones if they are many; at least
 * four. */
static uint32_t compared_inferences(const struct job *job)
{
    const uint64_t n = MOST_MACS / (1 + ir_graph_macs(job->p->graph)), most = n < 4 ? 4 : n;
    return most < job->n ? (uint32_t)most : job->n;
}

uint32_t compare_inferences(const struct compare *c)
{
    return c->n;
}

static void watcher_attach(void *ctx, struct runner *p, struct run_shared *shared)
{
    compare_attach(ctx, p, shared);
}

static enum status watcher_begin(void *ctx, uint32_t k, struct diag *d)
{
    return compare_begin(ctx, k, d);
}

static void watcher_enter(void *ctx, uint32_t submission)
{
    compare_enter(ctx, submission);
}

static void watcher_end(void *ctx)
{
    compare_end(ctx);
}

static const struct watcher *watcher_of(struct compare *c)
{
    struct watcher *w = ARENA_NEW(c->job->arena, struct watcher);

    *w = (struct watcher){c, watcher_attach, watcher_begin, watcher_enter, watcher_end};
    return w;
}

void compare_open(struct job *job, struct run_results *results)
{
    const struct ir_graph *g = job->p->graph;
    const struct ref_options o = {.legalised = true,
                                  .onnx_rounding =
                                      pipeline_ref_options(&job->options->legalise).onnx_rounding};
    struct arena *a = job->arena;

    results->compare = NULL;
    job->watcher = NULL;
    if (job->options->compare == COMPARE_OUTPUTS || job->options->host != HOST_NATIVE ||
        job->tolerance > 0) /* a difference grows along the network */
        return;
    struct compare *c = ARENA_NEW(a, struct compare);
    *c = (struct compare){.job = job, .graph = g, .legal = ref_new(a, g, &o)};
    c->in = ARENA_ARRAY(a, uint8_t *, g->n_in + 1);
    c->out = ARENA_ARRAY(a, uint8_t *, g->n_out + 1);
    for (uint32_t i = 0; i < g->n_in; i++)
        c->in[i] = arena_alloc(a, (size_t)ir_bytes(g->tensor[g->in[i]]));
    for (uint32_t i = 0; i < g->n_out; i++)
        c->out[i] = arena_alloc(a, (size_t)ir_bytes(g->tensor[g->out[i]]));
    c->row = ARENA_ARRAY(a, struct compare_row, g->n_row + 1);
    c->expected = ARENA_ARRAY(a, const uint8_t *, g->n_tensor + 1);
    c->tensor = ARENA_ARRAY(a, struct compare_tensor, g->n_tensor + 1);
    c->n = compared_inferences(job);
    place_kept(c);
    c->differs = ARENA_ARRAY(a, uint8_t, c->kept_bytes + 1);
    find_steps(c);
    compare_find_pairs(c);
    results->compare = c;
    job->watcher = watcher_of(c);
}

/* --- in a process --- */

enum { SCRATCHPAD, MEMORY }; /* struct hd_sim_commit: spaces */

/* Compare value `index` of a tensor, of `size` bytes. */
static void compare_value(struct compare *c, uint32_t tensor, uint64_t index, const uint8_t *want,
                          const uint8_t *got, uint32_t size)
{
    struct compare_tensor *r = &c->tensor[tensor];

    uint8_t *const counted = &c->differs[c->offset[tensor] + index]; /* a value has >= 1 byte */

    r->compared++;
    if (memcmp(want, got, size) == 0 || *counted)
        return;
    *counted = 1;
    if (r->wrong++ == 0) {
        r->index = index;
        memcpy(r->want, want, size);
        memcpy(r->got, got, size);
    }
}

/* Compare n contiguous bytes that a command wrote, from `address` on. */
static void compare_written(struct compare *c, const struct sched_made *m, uint32_t address,
                            const uint8_t *got, uint32_t n)
{
    const uint64_t n_bytes = ir_bytes(c->graph->tensor[m->tensor]);
    const uint8_t *want = c->expected[m->tensor];

    while (n > 0) {
        const uint32_t at = address - m->address, in_row = at % m->pitch,
                       channel = in_row % m->pixel, left = m->pixel - channel,
                       take = n < left ? n : left;
        const uint64_t first = (uint64_t)m->first + (uint64_t)(at / m->pitch) * m->row +
                               (uint64_t)(in_row / m->pixel) * m->column + channel;
        if (first + take <= n_bytes && memcmp(want + first, got, take) == 0)
            c->tensor[m->tensor].compared += take;
        else
            for (uint32_t i = 0; i < take; i++) {
                const uint8_t other = (uint8_t)~got[i];
                const bool inside = first + i < n_bytes;
                compare_value(c, m->tensor, inside ? first + i : 0,
                              inside ? want + first + i : &other, got + i, 1);
            }
        address += take;
        got += take;
        n -= take;
    }
}

/* Convert the address of a write to that of the command's struct sched_made. */
static uint32_t address_of(const struct compare *c, const struct sched_command *command,
                           const struct hd_sim_commit *w)
{
    if (w->space == SCRATCHPAD)
        return (uint32_t)w->address;
    return (uint32_t)(w->address - DEVICE_BASE -
                      hd_model_region_offset(c->runner->model, command->w.store.region));
}

static void watch(void *ctx, const struct hd_sim_commit *w)
{
    struct compare *c = ctx;

    if (w->space > MEMORY || !c->stream || w->command >= c->stream->n)
        return;
    const struct sched_command *command = &c->stream->cmd[w->command];
    const struct sched_made *m = &command->made;
    if (m->pitch == 0 || m->pixel == 0)
        return;
    const uint32_t address = address_of(c, command, w);
    uint8_t data[sizeof w->data];
    for (uint32_t i = 0; i < w->n_bytes; i++)
        data[i] = w->data[i] ^ (m->flip ? 0x80 : 0);
    for (uint32_t i = 0, n; i < w->n_bytes; i += n) {
        for (n = 0; i + n < w->n_bytes && (w->strobe >> (i + n) & 1); n++)
            continue;
        if (n)
            compare_written(c, m, address + i, data + i, n);
        else
            n = 1;
    }
}

/* Return the address of a tensor in the emitted run(); NULL: only on the devices. */
static const uint8_t *host_bytes(const struct compare *c, const struct runner *runner, uint32_t id)
{
    const struct ir_tensor *t = c->graph->tensor[id];
    const struct sched_place *s = &c->job->p->program->place[id];
    const struct hd_call *call = &runner->call;
    const uint32_t io = s->mem_region - HD_REGION_IO;

    if (t->role == IR_VARIABLE)
        return call->state + c->job->p->emitted->state_offset[id];
    if (!s->in_memory || s->mem_bytes != ir_bytes(t))
        return NULL;
    if (s->mem_region == HD_REGION_ARENA)
        return call->arena + s->mem_offset;
    if (s->mem_region < HD_REGION_IO || io >= c->graph->n_in + c->graph->n_out)
        return NULL;
    return io < c->graph->n_in ? call->in[io] : call->out[io - c->graph->n_in];
}

/* Compare all values of a tensor in the host's memory. */
static void compare_host(struct compare *c, uint32_t id)
{
    const struct ir_tensor *t = c->graph->tensor[id];
    const uint32_t size = ir_type_bytes(t->type);
    const uint8_t *got = host_bytes(c, c->runner, id), *want = c->expected[id];
    const uint8_t flip = c->job->p->program->place[id].flip ? 0x80 : 0;

    if (!got || !want)
        return;
    if (!flip && memcmp(got, want, (size_t)ir_bytes(t)) == 0) {
        c->tensor[id].compared += ir_elements(t);
        return;
    }
    for (uint64_t i = 0; i < ir_elements(t); i++) {
        uint8_t found[8];
        memcpy(found, got + i * size, size);
        found[0] ^= flip;
        compare_value(c, id, i, want + i * size, found, size);
    }
}

/* Return true if the operator's result is a bool used only for ordering. */
static bool writes_state(const struct ir_op *op)
{
    return op->opcode == IR_OP_ASSIGN_VARIABLE || op->opcode == IR_OP_UPDATE_VARIABLE;
}

/* Compare the operands before, and the results after, all operators of the call that ends at
 * `position`. */
static void compare_call(struct compare *c, uint32_t position, bool results)
{
    const struct ir_graph *g = c->graph;
    const uint32_t call = g->op[position]->call;
    const struct target *target = c->job->p->targets.target[g->op[position]->target];

    if (call != IR_NONE &&
        describe_of(target)->region_call) /* it may keep intermediate results of a region in any
                                           * form */
        return;
    for (uint32_t i = position + 1; i-- > 0;) {
        const struct ir_op *op = g->op[i];
        if (i != position && (call == IR_NONE || op->call != call))
            break;
        for (uint32_t k = 0; k < (results ? op->n_out : op->n_in); k++) {
            const uint32_t id = results ? op->out[k] : op->in[k];
            if (id != IR_NONE && g->tensor[id]->role == IR_VALUE && !ir_inside_call(g, id) &&
                !(results && writes_state(op)))
                compare_host(c, id);
        }
    }
}

void compare_attach(struct compare *c, struct runner *p, struct run_shared *shared)
{
    c->runner = p;
    c->shared = shared;
    for (uint32_t k = 0; k < p->n_device; k++)
        if (p->v[k].engine == ENGINE_FUNC)
            hd_func_commits(&p->v[k].func, watch, c);
        else
            p->v[k].sim.api->commits(p->v[k].sim.sim, watch, c);
}

enum status compare_begin(struct compare *c, uint32_t k, struct diag *d)
{
    const struct ir_graph *g = c->graph;

    c->stream = NULL;
    c->active = k < c->n;
    if (!c->active)
        return ST_OK;
    if (!c->kept) {
        if (k == 0)
            ref_reset(c->legal); /* it has run all inferences before */
        TRY(compare_run_legal(c, k, d));
    }
    for (uint32_t i = 0; i < g->n_tensor; i++)
        c->expected[i] = c->offset[i] == SIZE_MAX ? NULL
                         : c->kept                ? c->kept[k] + c->offset[i]
                                                  : ref_bytes(c->legal, i);
    memset(c->tensor, 0, g->n_tensor * sizeof *c->tensor);
    memset(c->differs, 0, c->kept_bytes);
    c->inference = k;
    c->step = 0;
    return ST_OK;
}

/* End the step that precedes the one being entered. */
static void leave(struct compare *c)
{
    if (c->step > 0 && c->steps[c->step - 1].host)
        compare_call(c, c->steps[c->step - 1].position, true);
    c->stream = NULL;
}

void compare_enter(struct compare *c, uint32_t submission)
{
    if (!c->active)
        return;
    leave(c);
    if (c->step == c->n_step)
        return;
    const struct compare_step *s = &c->steps[c->step++];
    if (s->host)
        compare_call(c, s->position, false);
    else if (submission)
        c->stream = &c->job->p->program->stream[s->stream];
}

/* Add one inference of a tensor, computed by the operator at `position`, to the comparison. */
static void add_tensor(struct compare *c, uint32_t position, uint32_t id)
{
    const struct compare_tensor *t = &c->tensor[id];
    struct compare_row *row = &c->shared->row[c->graph->op[position]->row].compare;
    const struct compare_first of = {.inference = c->inference, .position = position, .tensor = id};

    row->compared += t->compared;
    row->wrong += t->wrong;
    if (t->wrong)
        compare_note(&c->shared->first, &of, t);
}

/* Return true for the last operator that writes the variable. */
static bool last_writer(const struct ir_graph *g, uint32_t position, uint32_t id)
{
    for (uint32_t i = g->n_op; i-- > position;)
        for (uint32_t k = 0; !g->op[i]->dead && k < g->op[i]->n_in; k++)
            if (g->op[i]->in[k] == id && !ir_is_read(g->op[i]))
                return i == position;
    return false;
}

void compare_end(struct compare *c)
{
    const struct ir_graph *g = c->graph;

    if (!c->active)
        return;
    leave(c);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        for (uint32_t k = 0; !op->dead && k < op->n_out; k++)
            add_tensor(c, i, op->out[k]);
        for (uint32_t k = 0; !op->dead && k < op->n_in; k++) {
            const uint32_t id = op->in[k];
            if (id == IR_NONE || g->tensor[id]->role != IR_VARIABLE || !last_writer(g, i, id))
                continue;
            compare_host(c, id);
            add_tensor(c, i, id);
        }
    }
}

/* --- afterwards --- */

/* Return true if `x` is earlier; within one inference the operator's position decides. */
static bool earlier(const struct compare_first *x, const struct compare_first *y)
{
    if (!x->found || !y->found)
        return x->found;
    if (x->inference != y->inference)
        return x->inference < y->inference;
    return x->position <= y->position;
}

static struct compare_sums sums(const struct job *job, const struct run_measured *m,
                                const struct run_results *results)
{
    const struct compare *c = results->compare;
    struct compare_sums s = {.n_inferences = c->n, .first = c->first};

    for (uint32_t i = 0; i < c->graph->n_row; i++) {
        const struct compare_row *run = &m->shared->row[i].compare;
        const uint64_t compared = c->row[i].compared + run->compared;
        s.n_layers += compared != 0;
        s.n_equal += compared != 0 && c->row[i].wrong + run->wrong == 0;
    }
    for (uint32_t k = 0; k < m->n_process; k++) {
        const struct compare_first *other = &run_results(job, m, k)->first;
        if (other->found && !earlier(&s.first, other))
            s.first = *other;
    }
    return s;
}

void compare_forget(const struct job *job, struct run_measured *m)
{
    for (uint32_t k = 0; k < m->n_process; k++) {
        struct run_shared *r = run_results(job, m, k);
        r->first = (struct compare_first){0};
        for (uint32_t i = 0; i < job->p->graph->n_row; i++)
            r->row[i].compare = (struct compare_row){0};
    }
}

void compare_judge(const struct job *job, const struct run_measured *m, struct run_results *results)
{
    if (!results->compare || !m->shared)
        return;
    results->layers = sums(job, m, results);
    if (!results->layers.first.found)
        return;
    if (results->n_wrong == 0 || results->layers.first.inference < results->first_wrong)
        results->first_wrong = results->layers.first.inference;
    results->verdict = VERDICT_MISMATCH;
}

uint32_t compare_first_row(const struct job *job, const struct run_results *results)
{
    const struct ir_graph *g = job->p->graph;
    const struct compare_first *first = &results->layers.first;

    return first->found ? g->op[first->position]->row : IR_NONE;
}

const uint8_t *compare_first_address(const struct run_results *results, const struct runner *p)
{
    const struct compare *c = results->compare;
    const struct compare_first *first = &results->layers.first;
    const uint8_t *bytes = host_bytes(c, p, first->tensor);

    return bytes ? bytes + first->index * ir_type_bytes(c->graph->tensor[first->tensor]->type)
                 : NULL;
}

uint32_t compare_first_step(const struct run_results *results)
{
    const struct compare *c = results->compare;

    for (uint32_t i = 0; i < c->n_step; i++)
        if (c->steps[i].host && c->steps[i].position >= results->layers.first.position)
            return i;
    return IR_NONE;
}

const char *compare_first_text(const struct job *job, const struct run_results *results)
{
    const struct ir_graph *g = job->p->graph;
    const struct compare_first *first = &results->layers.first;
    const struct ir_tensor *t = g->tensor[first->tensor];

    return arena_printf(
        job->arena,
        "%s: %llu of %llu values differ in inference %u%s; the first is value %llu: expected %.9g, "
        "found %.9g",
        g->row[compare_first_row(job, results)].name, (unsigned long long)first->wrong,
        (unsigned long long)ir_elements(t), first->inference,
        first->compiler ? " before it is executed (the compiler's passes)" : "",
        (unsigned long long)first->index, ir_element(t, first->want, 0),
        ir_element(t, first->got, 0));
}

enum status compare_fail(const struct run_results *results, struct diag *d)
{
    return FAIL(d, ST_MISMATCH,
                "%u of %u layers differ from the CPU reference, and all outputs are equal",
                results->layers.n_layers - results->layers.n_equal, results->layers.n_layers);
}
