/* emit_calls.c - write the calls of external targets, for a pattern or a composite, with every
 * $word replaced. */
#include <string.h>

#include "compiler/cut/cut.h"
#include "compiler/target/region.h"
#include "emit_host.h"
#include "emit_outside.h"

/* A region that its target has compiled. */
struct emit_region {
    struct region_blob blob;
    struct ir_part part;
};

/* The subject of a call: one operator, by its pattern, or a composite. */
struct call {
    const struct target *target;
    const struct ir_op *op; /* its last one */
    const char *text;       /* NULL: built from the target's blocks or instructions */
    const struct describe_pattern *pattern;
    const struct describe_composite *composite; /* NULL: the call is a pattern's */
    struct composite_match match;
    bool region;
};

static void find(const struct emit_unit *u, const struct ir_op *op, struct call *c)
{
    const struct target_question q = {u->arena,       u->graph, op, emit_outside(u, op),
                                      u->program->hw, {0, 0}};

    c->target = q.target;
    c->op = op;
    c->region = op->call != IR_NONE && describe_of(q.target)->region_call;
    c->composite = c->region ? &describe_region_words : composite_of(&q, &c->match);
    c->pattern = c->composite ? NULL : describe_pattern_of(&q);
    c->text = c->region      ? describe_of(q.target)->region_call
              : c->composite ? c->composite->call
                             : native_call(c->pattern, &q);
}

const char *emit_outside_pattern(const struct emit_unit *u, const struct ir_op *op)
{
    struct call c;

    find(u, op, &c);
    return c.composite ? c.composite->name : c.pattern->name;
}

const char *emit_outside_function(const struct emit_unit *u, const struct ir_op *op)
{
    struct call c;

    find(u, op, &c);
    return c.text ? arena_strndup(u->arena, c.text, strcspn(c.text, " (")) : NULL;
}

/* Write the kernel parameters, in the host kernels' form, of each step that the call names. */
static enum status composite_params(struct emit_unit *u, struct text *t, const struct call *c,
                                    struct diag *d)
{
    for (uint32_t s = 0; s < c->composite->n_step; s++) {
        const struct ir_op op = composite_op(u->graph, &c->match, s);
        if (strstr(c->text, arena_printf(u->arena, "$%s.params", c->composite->step[s].name)))
            TRY(emit_host_params(u, t, &op, d));
    }
    return ST_OK;
}

/* Write the region that ends with `op`. */
static enum status compile_region(struct emit_unit *u, const struct ir_op *op, struct diag *d)
{
    const struct target_question q = {u->arena,       u->graph, op, emit_outside(u, op),
                                      u->program->hw, {0, 0}};
    uint32_t first = op->id;

    while (first > 0 && u->graph->op[first - 1]->call == op->call)
        first--;
    if (!u->region)
        u->region = ARENA_ARRAY(u->arena, struct emit_region, u->graph->n_op);
    return region_compile(&q, first, op->id, &u->region[op->id].part, &u->region[op->id].blob, d);
}

/* --- the parts of an operator that exceeds the target's limits (compiler/cut) --- */

struct parts {
    struct emit_unit *u;
    struct ir_graph const *whole;
    const struct ir_op *op;
    struct cut_form form;
    struct cut_alone alone;
    struct cut_part part;
};

static void begin_parts(struct emit_unit *u, const struct ir_op *op, struct parts *s)
{
    *s = (struct parts){u,
                        u->graph,
                        op,
                        {0},
                        cut_alone(u->arena, u->graph, op),
                        {{{0}, {0}}, {{0}, {0}}, {0}, {0}, false, false}};
    (void)cut_form(u->graph, op, op->cut->pattern->accumulate, &s->form);
}

/* Make part `i` the operator that is written of; its number names its parameters. */
static void enter_part(struct parts *s, uint32_t i)
{
    struct cut_range r;

    cut_range(s->op->cut, i, &r);
    (void)cut_part_of(&s->form, &r, &s->part);
    cut_shape(&s->alone, &s->form, &s->part, true);
    s->alone.op->id = s->whole->n_op + s->op->id * CUT_MOST_PARTS + i;
    s->u->graph = s->alone.graph;
}

static void leave_part(struct parts *s)
{
    s->u->graph = s->whole;
}

static enum status part_params(struct emit_unit *u, struct text *t, const struct ir_op *op,
                               struct diag *d)
{
    enum status st = ST_OK;
    struct parts s;

    begin_parts(u, op, &s);
    for (uint32_t i = 0; i < op->cut->n_parts && st == ST_OK; i++) {
        enter_part(&s, i);
        st = emit_host_params(u, t, s.alone.op, d);
        leave_part(&s);
    }
    return st;
}

enum status emit_outside_params(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                struct diag *d)
{
    struct call c;

    find(u, op, &c);
    if (c.composite && !ir_ends_call(u->graph, op->id))
        return ST_OK;
    if (c.composite)
        return c.region ? compile_region(u, op, d) : composite_params(u, t, &c, d);
    if (!c.text && describe_of(c.target)->device) {
        emit_described_params(u, t, op);
        return ST_OK;
    }
    if (!c.text)
        return emit_blocks_params(u, t, op, d);
    if (!strstr(c.text, "$params"))
        return ST_OK;
    return op->cut ? part_params(u, t, op, d) : emit_host_params(u, t, op, d);
}

/* "(void *const[]){a, b}". */
static const char *pointers(struct emit_unit *u, const char *type, const uint32_t *id, uint32_t n)
{
    struct text t;

    text_init(&t, u->arena);
    text_printf(&t, "(%s *const[]){", type);
    for (uint32_t i = 0; i < n; i++)
        text_printf(&t, "%s%s", i ? ", " : "", emit_pointer(u, id[i]));
    text_add(&t, "}");
    return t.data;
}

static const char *region_word(struct emit_unit *u, const struct call *c, uint32_t word)
{
    const struct emit_region *r = &u->region[c->op->id];
    const struct ir_graph *g = r->part.graph;

    switch (word) {
    case REGION_BLOB:
        return arena_printf(u->arena, "(model_constants + 0x%x)",
                            emit_host_constant(u, r->blob.bytes, r->blob.n_bytes));
    case REGION_BYTES: return arena_printf(u->arena, "%zu", r->blob.n_bytes);
    case REGION_INPUTS: return pointers(u, "const void", r->part.in, g->n_in);
    default: return pointers(u, "void", r->part.out, g->n_out);
    }
}

static const char *edge(struct emit_unit *u, const struct call *c, uint32_t e)
{
    if (c->region)
        return region_word(u, c, e);
    const uint32_t id = c->match.tensor[e];
    const bool output = e == c->composite->step[c->composite->n_step - 1].out;

    return arena_printf(u->arena, "%s%s",
                        emit_outside_cast(u, output ? "" : "const ", u->graph->tensor[id]->type),
                        emit_pointer(u, id));
}

static void add_word(struct emit_unit *u, struct text *t, const struct call *c,
                     const struct describe_word *w)
{
    const bool step = c->composite && w->step < c->composite->n_step;
    const struct ir_op op = step ? composite_op(u->graph, &c->match, w->step) : *c->op;
    const struct describe_pattern *p = step ? &c->composite->step[w->step].pattern : c->pattern;
    struct target_values v = {{0}};

    if (w->edge != COMPOSITE_EDGES) {
        text_add(t, edge(u, c, w->edge));
    } else if (w->pointer != POINTER_COUNT) {
        text_add(t, emit_outside_pointer(u, &op, p, w->pointer));
    } else if (w->value != TARGET_VALUE_COUNT) {
        describe_values(p, u->graph, &op, &v);
        text_printf(t, "%lld", (long long)v.v[w->value]);
    } else {
        text_add(t, emit_outside_setting(u, c->target, w->attr));
    }
}

/* True if a word next to `c` may be its operand: $params->n, x-$z_in. */
static bool is_operator(char c)
{
    return c && strchr("-+*/%&|^!~<>=?:.[", c);
}

static void add_call(struct emit_unit *u, struct text *t, const struct call *c)
{
    text_add(t, "MODEL_TRY(");
    for (const char *p = c->text; *p; p++) {
        struct describe_word w;
        if (*p != '$') {
            text_add_n(t, p, 1);
            continue;
        }
        describe_word(c->target->desc, c->composite, p + 1, &w);
        const bool operand = is_operator(p[1 + w.n_bytes]) || (p > c->text && is_operator(p[-1]));
        text_add(t, operand ? "(" : "");
        add_word(u, t, c, &w);
        text_add(t, operand ? ")" : "");
        p += w.n_bytes;
    }
    text_add(t, ");\n");
}

/* The call, or with "overlap" one for each of its stages. */
static void add_stages(struct emit_unit *u, const struct call *c, struct text stage[STAGES])
{
    const bool overlap = c->pattern && c->pattern->overlap;

    for (u->stage = 0; u->stage < (overlap ? STAGES : 1u); u->stage++) {
        text_init(&stage[u->stage], u->arena);
        add_call(u, &stage[u->stage], c);
    }
    u->stage = 0;
}

/* Copy a box of a tensor of sizes `all`, in memory at `at`, to `dense`, or back. */
static void add_part_copy(struct text *t, const uint32_t all[CUT_AXES], const struct cut_box *b,
                          uint32_t bytes, const char *at, const char *dense, bool back)
{
    const uint32_t whole[3] = {all[1] * all[2] * all[3] * bytes, all[2] * all[3] * bytes,
                               all[3] * bytes};
    const uint32_t part[3] = {b->n[1] * b->n[2] * b->n[3] * bytes, b->n[2] * b->n[3] * bytes,
                              b->n[3] * bytes};
    const uint32_t *x = back ? part : whole, *y = back ? whole : part;

    text_printf(
        t,
        "%shdk_part(&(const struct hdk_part){{%u, %u, %u}, %u, {%u, %u, %u}, {%u, %u, %u}},\n"
        "        %s, %s);\n",
        t->length ? "    " : "", b->n[0], b->n[1], b->n[2], b->n[3] * bytes, x[0], x[1], x[2], y[0],
        y[1], y[2], back ? dense : at, back ? at : dense);
}

/* C of the box's first byte in tensor `id`; *copied: it has to be copied to be contiguous. */
static const char *box_at(const struct parts *s, uint32_t id, const uint32_t all[CUT_AXES],
                          const struct cut_box *b, bool *copied)
{
    const uint32_t bytes = ir_type_bytes(s->whole->tensor[id]->type);
    uint64_t at;

    *copied = !cut_contiguous(all, b, &at);
    return arena_printf(s->u->arena, "(%s + %llu)", emit_pointer(s->u, id),
                        (unsigned long long)(at * bytes));
}

static const char *arena_at(const struct emit_unit *u, uint32_t at)
{
    return arena_printf(u->arena, "(call->arena + 0x%x)", at);
}

/* The operands of the part, copied unless the part before has copied them. */
static void add_operands(struct parts *s, struct text *t, uint32_t at, bool again,
                         struct emit_part *p)
{
    for (uint32_t i = 0; i < s->form.n_operands; i++) {
        const struct ir_tensor *x = ir_in(s->whole, s->op, i);
        const char *to = arena_at(s->u, at + s->op->cut->x_at[i]);
        bool copied;

        p->x[i] = box_at(s, x->id, s->form.x, &s->part.x, &copied);
        if (copied && !again)
            add_part_copy(t, s->form.x, &s->part.x, ir_type_bytes(x->type), p->x[i], to, false);
        p->x[i] = copied ? to : p->x[i];
    }
}

/* C of a part: copies before its call, the call's stages (one without "overlap"), copies after it. */
struct lines {
    struct text before, stage[STAGES], after;
};

static struct lines write_part(struct parts *s, const struct call *c, uint32_t i,
                               struct emit_part *p)
{
    const struct describe_cut *cut = s->op->cut;
    const struct ir_tensor *y = ir_out(s->whole, s->op, 0);
    const struct cut_box before = s->part.x;
    const uint32_t at = emit_scratch(s->u, s->op);
    struct call part = *c;
    struct lines l;
    bool copied;

    enter_part(s, i);
    const struct target_question q = {s->u->arena, s->alone.graph,    s->alone.op,
                                      c->target,   s->u->program->hw, {0, 0}};
    part.op = s->alone.op;
    part.text = native_call(c->pattern, &q);
    p->scratch = describe_pattern_scratch(c->pattern, &q);
    p->scratch_at = at + cut->own_at;
    leave_part(s);
    text_init(&l.before, s->u->arena);
    text_init(&l.after, s->u->arena);
    add_operands(s, &l.before, at, i && memcmp(&before, &s->part.x, sizeof before) == 0, p);
    const char *y_at = box_at(s, y->id, s->form.y, &s->part.y, &copied);
    p->y = copied ? arena_at(s->u, at + cut->y_at[c->pattern->overlap && i % 2]) : y_at;
    p->sums_in = s->part.first ? NULL : arena_at(s->u, at + cut->sums_at);
    p->sums_out = s->part.last ? NULL : arena_at(s->u, at + cut->sums_at);
    s->u->graph = s->alone.graph;
    s->u->part = p;
    s->u->half = i % 2;
    add_stages(s->u, &part, l.stage);
    s->u->half = 0;
    s->u->part = NULL;
    leave_part(s);
    if (copied && s->part.last)
        add_part_copy(&l.after, s->form.y, &s->part.y, ir_type_bytes(y->type), y_at, p->y, true);
    return l;
}

static void add_line(struct text *t, const struct text *line)
{
    if (line->length)
        text_printf(t, "    %s", line->data);
}

static void add_end(struct text *t, const struct lines *l)
{
    add_line(t, &l->stage[STAGE_STORE]);
    add_line(t, &l->after);
}

/* Operands come in and the last result goes out while the core computes, unless this part begins with its sums. */
static void add_overlapped(struct text *t, const struct lines *l, const struct lines *last,
                           bool begins)
{
    if (last && !begins) {
        add_line(t, &last->stage[STAGE_WAIT]);
        add_end(t, last);
    }
    add_line(t, &l->before);
    add_line(t, &l->stage[STAGE_LOAD]);
    if (last && begins)
        add_line(t, &last->stage[STAGE_WAIT]);
    add_line(t, &l->stage[STAGE_START]);
    if (last && begins)
        add_end(t, last);
}

static void add_parts(struct emit_unit *u, struct text *t, const struct call *c)
{
    const uint32_t n = c->op->cut->n_parts;
    const bool overlap = c->pattern->overlap;
    struct emit_part p = {.dev = emit_outside_dev(u, c->op)};
    struct lines last, now;
    struct parts s;

    p.most_constants = n * POINTER_COUNT;
    p.constant = ARENA_ARRAY(u->arena, struct emit_part_constant, p.most_constants);
    begin_parts(u, c->op, &s);
    text_add(t, "/* ");
    text_add_escaped(t, cut_text(u->arena, c->op->cut), 200);
    text_add(t, " */\n");
    for (uint32_t i = 0; i < n; i++, last = now) {
        now = write_part(&s, c, i, &p);
        if (overlap) {
            add_overlapped(t, &now, i ? &last : NULL, s.part.first);
            continue;
        }
        add_line(t, &now.before);
        add_line(t, &now.stage[0]);
        add_line(t, &now.after);
    }
    if (overlap)
        add_line(t, &last.stage[STAGE_WAIT]);
    if (overlap)
        add_end(t, &last);
}

/* The call of a whole operator. */
static void add_whole(struct emit_unit *u, struct text *t, const struct call *c)
{
    struct text stage[STAGES];

    add_stages(u, c, stage);
    text_add(t, stage[0].data);
    for (uint32_t i = 1; i < STAGES && c->pattern && c->pattern->overlap; i++)
        add_line(t, &stage[i]);
}

void emit_outside_call(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    struct call c;

    find(u, op, &c);
    if (op->cut)
        add_parts(u, t, &c);
    else if (c.text)
        add_whole(u, t, &c);
    else
        (describe_of(c.target)->device ? emit_described_call
                                       : emit_blocks_call)(u, t, op, emit_outside_dev(u, op));
}
