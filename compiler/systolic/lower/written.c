/* written.c - check that a program reads no byte before it is written. Follows submissions, host
 * calls and copies in execution order. For each memory of the host and of the devices it tracks the
 * bytes that hold the last value written. A host write makes a device's copy of the bytes stale,
 * and the other way round. A scratchpad's bytes are valid while their tensor is on chip, a buffer's
 * while its operator runs. in: a graph, the streams of all devices, places. out: nothing, or the
 * first such byte. Shares only the commands with lowering, and the views with layout. */
#include "byte_set.h"
#include "lower.h"
#include "touched.h"

enum { HOST = SCHED_MAX_DEVICES, MEMORIES }; /* owner of a memory: a device or the host */

/* The memories inside a device. */
struct chip {
    const struct sched_program *part;
    struct byte_set spad, kept; /* kept: bytes that stay valid when a group of operators begins */
    struct byte_set words, entries, tables;
    uint32_t plan; /* index in the layout of the next plan to be lowered */
};

struct proof {
    const struct sched_program *p;
    const struct ir_graph *g;
    struct chip chip[SCHED_MAX_DEVICES];
    struct byte_set *region[MEMORIES]; /* regions from the arena to the state; NULL if the device
                                        * does not exist */
    bool *looked_up;                   /* by row: true if a command looks up its table */
    struct diag *d;
    /* at hand: */
    const struct sched_stream *stream;
    uint32_t command;
};

static enum status fail(const struct proof *w, const char *what, int64_t at)
{
    const struct sched_stream *s = w->stream;

    return FAIL(w->d, ST_INTERNAL,
                "written: command %u of submission %u, of %s: byte %lld of %s is read, and nothing "
                "has written it",
                w->command, (uint32_t)(s - w->p->stream), w->g->row[s->cmd[w->command].row].name,
                (long long)at, what);
}

static const char *region_name(const struct proof *w, uint32_t region)
{
    const uint32_t io = region - HD_REGION_IO;

    if (region == HD_REGION_ARENA)
        return "the arena";
    if (region == sched_state_region(w->g))
        return "the state";
    return io < w->g->n_in ? arena_printf(w->p->arena, "input %u", io)
                           : arena_printf(w->p->arena, "output %u", io - w->g->n_in);
}

/* --- memory --- */

/* Record that `who` writes bytes of a region, which makes all other copies stale. */
static void write_memory(struct proof *w, uint32_t who, uint32_t region, uint64_t begin,
                         uint64_t end)
{
    for (uint32_t i = 0; i < MEMORIES; i++)
        if (!w->region[i])
            continue;
        else if (i == who)
            byte_set_add(&w->region[i][region], begin, end);
        else
            byte_set_remove(&w->region[i][region], begin, end);
}

static void forget_memory(struct proof *w, uint32_t region, uint64_t begin, uint64_t end)
{
    for (uint32_t i = 0; i < MEMORIES; i++)
        if (w->region[i])
            byte_set_remove(&w->region[i][region], begin, end);
}

static uint64_t region_bytes(const struct proof *w, uint32_t region)
{
    const struct ir_graph *g = w->g;
    const uint32_t io = region - HD_REGION_IO;

    if (region == HD_REGION_ARENA)
        return w->p->arena_bytes;
    if (io >= g->n_in + g->n_out)
        return sched_state_offset(g, g->n_tensor);
    return ir_border_bytes(g->tensor[io < g->n_in ? g->in[io] : g->out[io - g->n_in]]);
}

static void begin_memory(struct proof *w)
{
    const uint32_t state = sched_state_region(w->g), inputs = HD_REGION_IO + w->g->n_in;

    for (uint32_t i = 0; i < MEMORIES; i++) {
        if (i != HOST && i >= sched_parts(w->p))
            continue;
        w->region[i] = ARENA_ARRAY(w->p->arena, struct byte_set, state + 1);
        for (uint32_t r = HD_REGION_ARENA; r <= state; r++)
            w->region[i][r] = byte_set_new(w->p->arena, region_bytes(w, r));
    }
    for (uint32_t r = HD_REGION_IO; r <= state; r++)
        if (r < inputs || r == state)
            byte_set_add(&w->region[HOST][r], 0, region_bytes(w, r));
}

/* Return the host's place of a tensor. */
static struct sched_place host_place(const struct proof *w, uint32_t id)
{
    struct sched_place s = w->p->place[id];

    if (w->g->tensor[id]->role == IR_VARIABLE) {
        s.in_memory = true;
        s.mem_region = sched_state_region(w->g);
        s.mem_offset = (uint32_t)sched_state_offset(w->g, id);
    }
    return s;
}

/* Check a host read of a tensor, for `row`, or at the end for an output. */
static enum status host_reads(struct proof *w, uint32_t id, const char *what)
{
    const struct sched_place s = host_place(w, id);
    const uint64_t end = s.mem_offset + ir_border_bytes(w->g->tensor[id]);

    if (w->g->tensor[id]->role == IR_CONST)
        return ST_OK;
    if (!s.in_memory)
        return FAIL(w->d, ST_INTERNAL,
                    "written: the host reads tensor %u for %s: it is not in memory", id, what);
    const uint64_t at = byte_set_missing(&w->region[HOST][s.mem_region], s.mem_offset, end);
    if (at < end)
        return FAIL(w->d, ST_INTERNAL,
                    "written: the host reads tensor %u for %s: nothing has written byte %llu of %s",
                    id, what, (unsigned long long)at, region_name(w, s.mem_region));
    return ST_OK;
}

static void host_writes(struct proof *w, uint32_t id)
{
    const struct sched_place s = host_place(w, id);

    if (s.in_memory)
        write_memory(w, HOST, s.mem_region, s.mem_offset,
                     s.mem_offset + ir_border_bytes(w->g->tensor[id]));
}

/* Return true if the operator writes its operand `k`, which any operator with a variable may do. */
static bool writes_operand(const struct proof *w, const struct ir_op *op, uint32_t k)
{
    return op->in[k] != IR_NONE && w->g->tensor[op->in[k]]->role == IR_VARIABLE && !ir_is_read(op);
}

static enum status host_operator(struct proof *w, uint32_t position)
{
    const struct ir_op *op = w->g->op[position];
    const uint64_t scratch = w->p->scratch ? w->p->scratch[position] : 0;

    for (uint32_t k = 0; k < op->n_in; k++)
        if (op->in[k] != IR_NONE && !ir_inside_call(w->g, op->in[k]))
            TRY(host_reads(w, op->in[k], w->g->row[op->row].name));
    if (w->p->scratch_bytes[position])
        forget_memory(w, HD_REGION_ARENA, scratch, scratch + w->p->scratch_bytes[position]);
    for (uint32_t k = 0; k < op->n_in; k++)
        if (writes_operand(w, op, k))
            host_writes(w, op->in[k]);
    for (uint32_t k = 0; k < op->n_out; k++)
        if (!ir_inside_call(w->g, op->out[k]))
            host_writes(w, op->out[k]);
    return ST_OK;
}

/* --- commands --- */

struct range {
    struct proof *w;
    struct byte_set *set;
    uint32_t region;
    int64_t missing; /* -1: none */
};

static bool read_range(void *context, int64_t begin, uint64_t n)
{
    struct range *r = context;

    if (begin < 0) {
        r->missing = begin;
        return false;
    }
    const uint64_t end = (uint64_t)begin + n, at = byte_set_missing(r->set, (uint64_t)begin, end);
    r->missing = at < end ? (int64_t)at : -1;
    return at == end;
}

static bool write_chip(void *context, int64_t begin, uint64_t n)
{
    const struct range *r = context;

    byte_set_add(r->set, (uint64_t)begin, (uint64_t)begin + n);
    return true;
}

static bool write_region(void *context, int64_t begin, uint64_t n)
{
    const struct range *r = context;

    write_memory(r->w, r->w->stream->device, r->region, (uint64_t)begin, (uint64_t)begin + n);
    return true;
}

/* Return the memory region that a LOAD, WEIGHT or STORE names. 0: constants, or a position known at
 * run time only, in constants or a variable, whose bytes are all written before. */
static uint32_t region_of(const struct proof *w, const struct sched_command *c)
{
    const uint32_t region =
        c->w.common.opcode == HD_OPCODE_STORE ? c->w.store.region : c->w.dma_read.region;

    return c->unit != HD_UNIT_LOAD && c->unit != HD_UNIT_STORE && c->unit != HD_UNIT_WEIGHT ? 0
           : region < HD_REGION_ARENA || region > sched_state_region(w->g)                  ? 0
                                                                           : region;
}

static enum status memory_side(struct proof *w, const struct sched_command *c)
{
    const uint32_t region = region_of(w, c);
    struct range r = {w, &w->region[w->stream->device][region], region, -1};
    const bool store = c->w.common.opcode == HD_OPCODE_STORE;
    const struct touched_visit v = {store ? write_region : read_range, &r};

    if (region && !touched_region(c, &v))
        return fail(w, region_name(w, region), r.missing);
    for (uint32_t i = 0; store && !region && i < c->n_access; i++) /* it stores only some of these
                                                                    * bytes */
        if (c->access[i].write)
            byte_set_remove(&w->region[HOST][sched_state_region(w->g)],
                            c->access[i].begin & UINT32_MAX, c->access[i].end & UINT32_MAX);
    return ST_OK;
}

/* Return the set of another memory of a device, in words, entries or table numbers. */
static struct byte_set *set_of(struct chip *m, enum sched_memory memory)
{
    switch (memory) {
    case SCHED_WMEM: return &m->words;
    case SCHED_PARAM: return &m->entries;
    case SCHED_TABLE: return &m->tables;
    default: return NULL;
    }
}

static bool needs_entries(const struct sched_command *c)
{
    const struct hd_cmd_array *m = &c->w.array;

    return c->unit != HD_UNIT_ARRAY || (!m->acc_hold && (m->has_bias || !m->common_scale));
}

static enum status other_memories(struct proof *w, struct chip *m, const struct sched_command *c,
                                  bool write)
{
    static const char *const names[SCHED_MEMORIES] = {[SCHED_WMEM] = "the weight memory, in words,",
                                                      [SCHED_PARAM] = "the parameters, in entries,",
                                                      [SCHED_TABLE] = "the tables, by number,"};

    for (uint32_t i = 0; i < c->n_access; i++) {
        const struct sched_access *a = &c->access[i];
        struct byte_set *s = set_of(m, a->memory);
        if (!s || a->write != write || (a->memory == SCHED_PARAM && !needs_entries(c)))
            continue;
        if (write)
            byte_set_add(s, a->begin, a->end);
        else if (byte_set_missing(s, a->begin, a->end) < a->end)
            return fail(w, names[a->memory], (int64_t)byte_set_missing(s, a->begin, a->end));
    }
    return ST_OK;
}

static enum status run_command(struct proof *w, struct chip *m, const struct sched_command *c)
{
    struct range r = {w, &m->spad, 0, -1};
    const struct touched_visit read = {read_range, &r}, write = {write_chip, &r};
    const uint32_t word = m->part->hw->n;

    if (!touched_read(c, word, &read))
        return fail(w, "the scratchpad", r.missing);
    TRY(other_memories(w, m, c, false));
    TRY(memory_side(w, c));
    (void)touched_written(c, word, &write);
    if ((c->unit == HD_UNIT_ARRAY && c->w.array.look_up) ||
        (c->unit == HD_UNIT_VECTOR && c->w.vector.look_up))
        w->looked_up[c->row] = true;
    return other_memories(w, m, c, true);
}

/* --- groups of operators that are lowered together --- */

/* Keep the bytes of tensors that were on chip before the group and still are. */
static void keep_tensors(const struct proof *w, struct chip *m, uint32_t position)
{
    const struct byte_set old = m->spad;

    m->spad = m->kept;
    m->kept = old;
    byte_set_remove(&m->spad, 0, m->spad.n);
    for (uint32_t t = 0; t < w->g->n_tensor; t++) {
        const struct sched_place *s = &m->part->place[t];
        if (s->on_chip && s->first < position && s->last >= position)
            byte_set_take(&m->spad, &old, s->base, s->base + (uint64_t)s->h * s->pitch);
    }
    byte_set_remove(&m->words, 0, m->words.n);
    byte_set_remove(&m->entries, 0, m->entries.n);
}

/* Mark a tensor in memory that only this operator writes as not written. */
static void forget_result(struct proof *w, const struct chip *m, const struct op_plan *plan)
{
    const uint32_t id = plan->geo.out->id;
    const struct sched_place *s = &m->part->place[id];
    const struct sched_view *v = &m->part->view[id];

    if (s->in_memory && plan->geo.out->role == IR_VALUE && v->root == id &&
        (uint64_t)v->h * v->w * v->n == ir_elements(plan->geo.out) &&
        s->mem_region >= HD_REGION_ARENA)
        forget_memory(w, s->mem_region, s->mem_offset, s->mem_offset + (uint64_t)s->mem_bytes);
}

static void begin_group(struct proof *w, struct chip *m, uint32_t position)
{
    const struct layout *l = m->part->layout;

    keep_tensors(w, m, position);
    while (m->plan < l->n_plan && l->plan[m->plan].position < position)
        m->plan++;
    for (bool more = true; more && m->plan < l->n_plan; m->plan++) {
        const struct op_plan *plan = &l->plan[m->plan];
        forget_result(w, m, plan);
        more = plan->cascaded || plan->channel_wise || plan->strip_wise;
    }
}

/* --- the whole program --- */

static void copy(struct proof *w, bool in)
{
    const struct sched_exchange e = sched_exchange(w->p->arena, w->p, w->stream, in);
    const uint32_t device = w->stream->device;

    for (uint32_t i = 0; i < e.n; i++) {
        const struct sched_place *s = &w->p->place[e.tensor[i]];
        if (s->mem_region >= HD_REGION_ARENA)
            byte_set_take(&w->region[in ? device : HOST][s->mem_region],
                          &w->region[in ? HOST : device][s->mem_region], sched_memory_at(s),
                          sched_memory_at(s) + (uint64_t)s->mem_bytes);
    }
}

/* Check that the start indices from which the host binds a window are written. */
static enum status host_binds(struct proof *w)
{
    for (uint32_t i = 0; i < w->g->n_op; i++) {
        const struct ir_op *op = w->g->op[i];
        if (!op->dead && op->region == w->stream->region && sched_window_op(w->g, op))
            TRY(host_reads(w, op->in[sched_window_start(op)], w->g->row[op->row].name));
    }
    return ST_OK;
}

static enum status run_stream(struct proof *w, const struct sched_stream *s)
{
    struct chip *m = &w->chip[s->device];
    uint32_t group = IR_NONE;

    w->stream = s;
    TRY(host_binds(w));
    copy(w, true);
    for (w->command = 0; w->command < s->n; w->command++) {
        const struct sched_command *c = &s->cmd[w->command];
        if (c->w.common.opcode == HD_OPCODE_END)
            continue;
        if (c->group != group)
            begin_group(w, m, c->group);
        group = c->group;
        TRY(run_command(w, m, c));
    }
    copy(w, false);
    return ST_OK;
}

/* Check that every table applied to another operator's results is looked up. */
static enum status check_tables(struct proof *w, const struct sched_program *part)
{
    for (uint32_t i = 0; part->look_up && i < w->g->n_op; i++)
        if (part->look_up[i] && !w->looked_up[w->g->op[i]->row])
            return FAIL(w->d, ST_INTERNAL,
                        "written: no command of %s looks up the table of %s that goes with it",
                        w->g->row[w->g->op[i]->row].name, w->g->row[part->look_up[i]->row].name);
    return ST_OK;
}

static struct chip new_chip(const struct proof *w, const struct sched_program *part)
{
    struct arena *a = w->p->arena;

    return (struct chip){.part = part,
                         .spad = byte_set_new(a, part->hw->scratchpad_bytes),
                         .kept = byte_set_new(a, part->hw->scratchpad_bytes),
                         .words = byte_set_new(a, part->hw->weight_bytes / part->hw->n),
                         .entries = byte_set_new(a, part->hw->param_entries),
                         .tables = byte_set_new(a, SCHED_TABLES)};
}

static enum status run_all(struct proof *w)
{
    const struct sched_program *p = w->p;
    uint32_t stream = 0;

    for (uint32_t i = 0; i < w->g->n_op; i++) {
        const struct ir_op *op = w->g->op[i];
        if (op->dead)
            continue;
        if (op->region == IR_NONE)
            TRY(host_operator(w, i));
        else if (stream < p->n_stream && p->stream[stream].region == op->region)
            TRY(run_stream(w, &p->stream[stream++]));
    }
    for (uint32_t i = 0; i < w->g->n_out; i++)
        TRY(host_reads(w, w->g->out[i], arena_printf(p->arena, "output %u", i)));
    return ST_OK;
}

enum status lower_written(const struct sched_program *p, struct diag *d)
{
    struct proof w = {.p = p, .g = p->graph, .d = d};

    w.looked_up = ARENA_ARRAY(p->arena, bool, p->graph->n_row + 1);
    for (uint32_t k = 0; k < sched_parts(p); k++)
        w.chip[k] = new_chip(&w, p->n_part ? p->part[k] : p);
    begin_memory(&w);
    TRY(run_all(&w));
    for (uint32_t k = 0; k < sched_parts(p); k++)
        TRY(check_tables(&w, w.chip[k].part));
    return ST_OK;
}
