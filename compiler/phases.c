/* phases.c - see phases.h. A pass reads and returns text. It depends on no struct of the compiler
 * and cannot leave a graph half changed: the returned text is parsed, compared with what the phase
 * allows, and verified. */
#include "phases.h"

#include <string.h>

#include "compiler/cut/cut.h"
#include "compiler/import/ir_text.h"
#include "compiler/target/describe.h"

static const char *const names[] = {
#define HOOK(name, phase) [phase] = #name,
#include "passes.def"
};

struct phase {
    struct arena *arena;
    enum heddle_phase phase;
    const struct target_list *targets;
    const struct hd_config *hw;
    uint32_t target; /* the target whose pass runs */
    struct diag *d;
};

static const struct heddle_target_api *api_of(const struct target *t)
{
    const struct heddle_target_api *api = describe_of(t) ? describe_of(t)->native : NULL;

    return api && api->pass ? api : NULL;
}

bool phases_any(const struct target_list *targets)
{
    for (uint32_t i = 0; i < targets->n; i++)
        if (api_of(targets->target[i]))
            return true;
    return false;
}

#define WRONG(s, ...)                                                                              \
    FAIL((s)->d, ST_UNSUPPORTED, "target %s, pass %s: %s",                                         \
         (s)->targets->target[(s)->target]->name, names[(s)->phase],                               \
         arena_printf((s)->arena, __VA_ARGS__))

static bool same_tensor(const struct ir_tensor *a, const struct ir_tensor *b)
{
    return a->type == b->type && a->role == b->role && ir_same_shape(a, b);
}

/* Check that inputs, outputs and rows are unchanged, since users see them. */
static enum status check_borders(const struct phase *s, const struct ir_graph *old,
                                 const struct ir_graph *g)
{
    if (g->n_row != old->n_row)
        return WRONG(s, "%u rows, expected %u as before", g->n_row, old->n_row);
    if (g->n_in != old->n_in || g->n_out != old->n_out)
        return WRONG(s, "%u inputs and %u outputs, expected %u and %u as before", g->n_in, g->n_out,
                     old->n_in, old->n_out);
    for (uint32_t i = 0; i < g->n_in + g->n_out; i++) {
        bool in = i < g->n_in;
        uint32_t k = in ? i : i - g->n_in;
        const struct ir_tensor *a = old->tensor[in ? old->in[k] : old->out[k]],
                               *b = g->tensor[in ? g->in[k] : g->out[k]];
        if (!same_tensor(a, b))
            return WRONG(s, "%s %u has another type, role or shape than before",
                         in ? "input" : "output", k);
    }
    return ST_OK;
}

/* --- phases before the partition: the new graph replaces the old one --- */

static enum status replace(const struct phase *s, const char *text, struct ir_graph **graph)
{
    struct ir_graph *g;
    struct diag inner = {0};

    if (ir_text_import(s->arena, (const uint8_t *)text, strlen(text), &g, &inner) != ST_OK ||
        ir_verify(g, names[s->phase], &inner) != ST_OK)
        return WRONG(s, "%s", inner.text);
    TRY(check_borders(s, *graph, g));
    *graph = g;
    return ST_OK;
}

/* --- phases after the partition: only the target's own operators may change, in place --- */

static bool same_fixed(const struct ir_fixed *a, const struct ir_fixed *b)
{
    return a->n == b->n && a->act_min == b->act_min && a->act_max == b->act_max &&
           (a->n == 0 || (memcmp(a->multiplier, b->multiplier, a->n * sizeof *a->multiplier) == 0 &&
                          memcmp(a->shift, b->shift, a->n) == 0)) &&
           (a->table == NULL) == (b->table == NULL) &&
           (a->table == NULL || memcmp(a->table, b->table, 256) == 0) && a->n_real == b->n_real &&
           (a->n_real == 0 || memcmp(a->real, b->real, a->n_real * sizeof *a->real) == 0) &&
           a->n_wide == b->n_wide &&
           (a->n_wide == 0 || memcmp(a->wide, b->wide, a->n_wide * sizeof *a->wide) == 0);
}

static bool same_places(const struct ir_op *a, const struct ir_op *b)
{
    return a->opcode == b->opcode && a->row == b->row && a->target == b->target &&
           a->region == b->region && a->call == b->call && a->n_in == b->n_in &&
           a->n_out == b->n_out && memcmp(a->in, b->in, a->n_in * sizeof *a->in) == 0 &&
           memcmp(a->out, b->out, a->n_out * sizeof *a->out) == 0;
}

static enum status take_op(const struct phase *s, const struct ir_graph *g, struct ir_op *to,
                           const struct ir_op *from)
{
    const char *row = g->row[to->row].name;

    if (!same_places(to, from))
        return WRONG(s,
                     "%s: a pass after the partition must not change operators, their operands, "
                     "targets or regions",
                     row);
    if (memcmp(to->attr, from->attr, sizeof to->attr) == 0 && same_fixed(&to->fixed, &from->fixed))
        return ST_OK;
    if (to->target != s->target)
        return WRONG(
            s, "%s belongs to another target: the pass must not change its attributes or constants",
            row);
    memcpy(to->attr, from->attr, sizeof to->attr);
    to->fixed = from->fixed;
    return ST_OK;
}

/* Return an operator of another target that reads tensor `id`; NULL if there is none. */
static const struct ir_op *other_reader(const struct phase *s, const struct ir_graph *g,
                                        uint32_t id)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in && !g->op[i]->dead; k++)
            if (g->op[i]->in[k] == id && g->op[i]->target != s->target)
                return g->op[i];
    return NULL;
}

static enum status take_tensor(const struct phase *s, const struct ir_graph *g,
                               struct ir_tensor *to, const struct ir_tensor *from)
{
    if (!same_tensor(to, from))
        return WRONG(s, "tensor %u: a pass after the partition must not change type, role or shape",
                     to->id);
    if (to->role != IR_CONST || memcmp(to->data, from->data, (size_t)ir_bytes(to)) == 0)
        return ST_OK;
    const struct ir_op *other = other_reader(s, g, to->id);
    if (other)
        return WRONG(
            s,
            "tensor %u is read by %s, which belongs to another target: the pass must not change it",
            to->id, g->row[other->row].name);
    to->data = from->data;
    return ST_OK;
}

/* Check that a pattern that accepted an operator before the change still accepts it. */
static enum status still_taken(const struct phase *s, const struct ir_graph *g)
{
    const struct target *t = s->targets->target[s->target];

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct target_question q = {s->arena, g, g->op[i], t, s->hw, {0, 0}};
        const bool mine = !g->op[i]->dead && g->op[i]->target == s->target;
        const char *why = !mine ? NULL : g->op[i]->cut ? cut_refusal(&q) : t->desc->refusal(&q);
        if (why)
            return WRONG(s, "after the pass the target no longer supports %s: %s",
                         g->row[g->op[i]->row].name, why);
    }
    return ST_OK;
}

static enum status alter(const struct phase *s, const char *text, struct ir_graph *graph)
{
    struct ir_graph *g;
    struct diag inner = {0};
    uint32_t k = 0;

    if (ir_parse(s->arena, text, &g, &inner) != ST_OK ||
        ir_verify(g, names[s->phase], &inner) != ST_OK)
        return WRONG(s, "%s", inner.text);
    TRY(check_borders(s, graph, g));
    if (g->n_tensor != graph->n_tensor)
        return WRONG(s, "%u tensors, expected %u as before", g->n_tensor, graph->n_tensor);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        TRY(take_tensor(s, graph, graph->tensor[i], g->tensor[i]));
    for (uint32_t i = 0; i < graph->n_op; i++) {
        if (graph->op[i]->dead)
            continue;
        if (k == g->n_op)
            return WRONG(s, "%u operators, expected more, as before", g->n_op);
        TRY(take_op(s, graph, graph->op[i], g->op[k++]));
    }
    if (k != g->n_op)
        return WRONG(s, "%u operators, expected %u as before", g->n_op, k);
    return still_taken(s, graph);
}

static enum status one(const struct phase *s, const struct heddle_target_api *api,
                       struct ir_graph **graph)
{
    struct text t;
    char *changed = NULL, why[256] = "";

    text_init(&t, s->arena);
    ir_print(*graph, &t);
    const struct heddle_pass p = {s->phase, names[s->phase], s->targets->target[s->target]->name,
                                  t.data};
    int rc = api->pass(&p, &changed, why, sizeof why);
    why[sizeof why - 1] = '\0';
    if (rc < 0)
        return WRONG(s, "%s", *why ? why : "it failed without a message");
    if (rc == 0)
        return ST_OK;
    if (!changed)
        return WRONG(s, "it reported a changed graph, but returned none");
    const char *text = arena_strdup(s->arena, changed);
    if (api->release)
        api->release(changed);
    return s->phase < HEDDLE_AFTER_PARTITION ? replace(s, text, graph) : alter(s, text, *graph);
}

enum status phases_run(struct arena *a, const struct target_list *targets,
                       const struct hd_config *hw, enum heddle_phase phase, struct ir_graph **graph,
                       struct diag *d)
{
    struct phase s = {a, phase, targets, hw, 0, d};

    for (; s.target < targets->n; s.target++) {
        const struct heddle_target_api *api = api_of(targets->target[s.target]);
        if (api)
            TRY(one(&s, api, graph));
    }
    return ST_OK;
}
