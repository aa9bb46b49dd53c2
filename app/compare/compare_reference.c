/* compare_reference.c - run the reference on both graphs: as imported, with constants derived from
 * it, and as compiled, with the compiler's constants. A tensor that passes keep has its name in
 * both graphs; its values are then equal, apart from uint8 as int8 and images as NHWC. */
#include <stdlib.h>
#include <string.h>

#include "app/job/results.h"
#include "base/random.h"
#include "compare_layers.h"
#include "compare_parts.h"

enum { MOST_KEPT = 1 << 28 }; /* bytes of the reference's results shared between processes */

/* --- pairs --- */

static int by_name(const void *x, const void *y)
{
    const struct ir_tensor *const *a = x, *const *b = y;

    return strcmp((*a)->name, (*b)->name);
}

/* Return every tensor that an operator of `g` computes, by name. */
static const struct ir_tensor **made_by_name(struct arena *a, const struct ir_graph *g, size_t *n)
{
    const struct ir_tensor **all = ARENA_ARRAY(a, const struct ir_tensor *, g->n_tensor + 1);

    *n = 0;
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; !g->op[i]->dead && k < g->op[i]->n_out; k++) {
            const struct ir_tensor *t = ir_out(g, g->op[i], k);
            if (t->role == IR_VALUE && t->name && *t->name)
                all[(*n)++] = t;
        }
    qsort(all, *n, sizeof(*all), by_name);
    return all;
}

static bool alone(const struct ir_tensor **all, size_t n, size_t i)
{
    return (i == 0 || by_name(&all[i - 1], &all[i]) != 0) &&
           (i + 1 == n || by_name(&all[i + 1], &all[i]) != 0);
}

static struct compare_pair pair_of(struct arena *a, const struct ir_tensor *t,
                                   const struct ir_tensor *imported)
{
    struct compare_pair p = {.imported = imported->id, .channels = (uint32_t)ir_dim_back(t, 0)};

    p.flip = imported->type == IR_U8 && t->type == IR_I8 ? 0x80 : 0;
    if (!t->order)
        return p;
    uint32_t *from = ARENA_ARRAY(a, uint32_t, p.channels);
    for (uint32_t c = 0; c < p.channels; c++)
        from[t->order[c]] = c;
    p.from = from;
    return p;
}

/* Return true if `t` has the int16 values of `imported` as halves. */
static bool has_halves(const struct ir_tensor *t, const struct ir_tensor *imported)
{
    int32_t dim[4];

    if (t->type != IR_I8 || imported->type != IR_I16)
        return false;
    ir_halves_shape(imported, dim);
    return t->rank == 4 && memcmp(t->dim, dim, sizeof dim) == 0;
}

/* Return true if the two producers may be compared. A float32 value is a pair only if both graphs
 * compute it with the same kind of operator: in an ONNX file a name may be that of
 * DequantizeLinear's output in one graph and of the operator before it in the other. */
static bool same_maker(const struct compare *c, const struct ir_tensor *t,
                       const struct ir_tensor *imported)
{
    return c->graph->op[t->producer]->opcode ==
           c->job->p->reference->op[imported->producer]->opcode;
}

void compare_find_pairs(struct compare *c)
{
    const struct ir_graph *g = c->graph;
    struct arena *a = c->job->arena;
    size_t n, n_other, at = 0;
    const struct ir_tensor **own = made_by_name(a, g, &n),
                           **other = made_by_name(a, c->job->p->reference, &n_other);

    c->pair = ARENA_ARRAY(a, struct compare_pair, g->n_tensor + 1);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        c->pair[i].imported = IR_NONE;
    for (size_t i = 0; i < n; i++) {
        const struct ir_tensor *t = own[i];
        while (at < n_other && strcmp(other[at]->name, t->name) < 0)
            at++;
        if (at == n_other || strcmp(other[at]->name, t->name) != 0 || !alone(own, n, i) ||
            !alone(other, n_other, at))
            continue;
        if (has_halves(t, other[at]))
            c->pair[t->id] = (struct compare_pair){
                .imported = other[at]->id, .channels = (uint32_t)ir_dim_back(t, 0), .halves = true};
        if (ir_elements(t) != ir_elements(other[at]))
            continue;
        const struct compare_pair pair = pair_of(a, t, other[at]);
        if (pair.flip ||
            (t->type == other[at]->type && (t->type != IR_F32 || same_maker(c, t, other[at]))))
            c->pair[t->id] = pair;
    }
}

/* --- values --- */

/* Return true if `t` is the NHWC form of the NCHW image `from`, by its dimensions. */
static bool channels_first(const struct ir_tensor *from, const struct ir_tensor *t)
{
    if (from->rank != t->rank || t->rank < 3 || from->dim[0] != t->dim[0] ||
        from->dim[1] != t->dim[t->rank - 1])
        return false;
    for (uint32_t i = 2; i < t->rank; i++)
        if (from->dim[i] != t->dim[i - 1])
            return false;
    return true;
}

/* Count the values of `t` that differ. first: the other tensor has its channels first. */
static struct compare_tensor differ(const struct ir_tensor *t, const struct compare_pair *p,
                                    bool first, const uint8_t *from, const uint8_t *bytes)
{
    const uint64_t n = ir_elements(t), outer = first ? (uint64_t)t->dim[0] : 1,
                   cells = n / outer / p->channels;
    const uint32_t size = ir_type_bytes(t->type);
    struct compare_tensor r = {.compared = n};

    for (uint64_t i = 0; i < n; i++) {
        const uint64_t here = i % p->channels, channel = p->from ? p->from[here] : here,
                       cell = i / p->channels % cells, image = i / p->channels / cells,
                       at = first ? (image * p->channels + channel) * cells + cell
                                  : i - here + channel;
        uint8_t want[8];
        memcpy(want, from + at * size, size);
        want[0] ^= p->flip;
        if (memcmp(want, bytes + i * size, size) == 0)
            continue;
        if (r.wrong++ == 0) {
            r.index = i;
            memcpy(r.want, want, size);
            memcpy(r.got, bytes + i * size, size);
        }
    }
    return r;
}

/* Return a sum over n values that does not depend on their order. */
static uint64_t sum_of(const uint8_t *values, size_t size, size_t n, uint8_t flip)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t value = 0;
        memcpy(&value, values + i * size, size);
        value ^= flip;
        sum += random_next(&value);
    }
    return sum;
}

/* Return true if a pass may reorder a tensor under its name, as when a TRANSPOSE or a reversal
 * moves past a unary operator: the network has an operator that moves bytes. */
static bool may_reorder(const struct ir_graph *imported)
{
    for (uint32_t i = 0; i < imported->n_op; i++) {
        const struct ir_op *op = imported->op[i];
        if (!op->dead && ir_op_info(op->opcode)->moves && !ir_is_reshape(op))
            return true;
    }
    return false;
}

/* Return true if both have the same values, each equally often, except with a probability of
 * 2^-64. */
static bool reordered(const struct ir_tensor *t, uint8_t flip, const uint8_t *want,
                      const uint8_t *got)
{
    const size_t size = ir_type_bytes(t->type), n = (size_t)ir_elements(t);

    return sum_of(want, size, n, flip) == sum_of(got, size, n, 0);
}

/* Return the int16 values of `t` that `halves` has, a row's upper bytes first. */
static const uint8_t *joined(struct arena *a, const struct ir_tensor *t, const uint8_t *halves)
{
    const uint64_t n = ir_elements(t);
    int16_t *y = ARENA_ARRAY(a, int16_t, n + 1);
    int32_t dim[4];

    ir_halves_shape(t, dim);
    const uint64_t row = (uint64_t)dim[2] / 2 * (uint64_t)dim[3];
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *at = halves + i / row * 2 * row + i % row;

        y[i] = (int16_t)(256 * (int8_t)at[0] + (int8_t)at[row] + 128);
    }
    return (const uint8_t *)y;
}

/* Compare the values of `t` with those of the imported graph's tensor. */
static struct compare_tensor compared(const struct compare *c, const struct compare_pair *p,
                                      const struct ir_tensor *t, const uint8_t *want,
                                      const uint8_t *got)
{
    struct compare_tensor r = {.compared = ir_elements(t)};

    if (p->flip == 0 && !p->from && memcmp(want, got, (size_t)ir_bytes(t)) == 0)
        return r;
    r = differ(t, p, false, want, got);
    if (r.wrong && channels_first(c->job->p->reference->tensor[p->imported], t))
        r = differ(t, p, true, want, got);
    if (r.wrong && may_reorder(c->job->p->reference) && reordered(t, p->flip, want, got))
        r = (struct compare_tensor){.compared = r.compared};
    return r;
}

/* Compare the compiled graph's tensor with the imported graph's. */
static struct compare_tensor against(const struct compare *c, struct ref *imported, uint32_t id)
{
    const struct compare_pair *p = &c->pair[id];
    const struct ir_tensor *from = c->job->p->reference->tensor[p->imported];
    const uint8_t *want = ref_bytes(imported, from->id), *got = ref_bytes(c->legal, id);
    struct compare_tensor r;
    struct arena *own;

    if (!p->halves)
        return compared(c, p, c->graph->tensor[id], want, got);
    own = arena_beside(c->job->arena);
    r = compared(c, p, from, want, joined(own, from, got));
    arena_free(own);
    return r;
}

void compare_note(struct compare_first *first, const struct compare_first *of,
                  const struct compare_tensor *t)
{
    if (first->found)
        return;
    *first = *of;
    first->found = true;
    first->wrong = t->wrong;
    first->index = t->index;
    memcpy(first->want, t->want, sizeof t->want);
    memcpy(first->got, t->got, sizeof t->got);
}

enum status compare_run_legal(struct compare *c, uint32_t k, struct diag *d)
{
    const struct ir_graph *g = c->graph;
    const struct job *job = c->job;

    for (uint32_t i = 0; i < g->n_in; i++) {
        const struct run_data *from = &job->in[i];
        const struct ir_tensor *t = g->tensor[g->in[i]];
        const uint8_t flip = t->flipped ? 0x80 : 0, *bytes = from->bytes + k * from->n_bytes;
        if (t->quantised)
            ref_quantised(t, bytes, c->in[i]);
        else
            memcpy(c->in[i], bytes, from->n_bytes);
        for (uint64_t b = 0; flip && b < from->n_bytes; b++)
            c->in[i][b] ^= flip;
    }
    if (job->options->reset_state)
        ref_reset(c->legal);
    return ref_run(c->legal, (const uint8_t *const *)c->in, c->out, d);
}

static void keep(struct compare *c, uint32_t k)
{
    const struct ir_graph *g = c->graph;

    if (!c->kept)
        return;
    c->kept[k] = arena_alloc(c->job->arena, c->kept_bytes);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (c->offset[i] != SIZE_MAX)
            memcpy(c->kept[k] + c->offset[i], ref_bytes(c->legal, i),
                   (size_t)ir_bytes(g->tensor[i]));
}

enum status compare_reference(struct compare *c, struct ref *imported, uint32_t k, struct diag *d)
{
    const struct ir_graph *g = c->graph;

    if (k >= c->n)
        return ST_OK;
    if (!c->kept && k == 0 && c->kept_bytes * (uint64_t)c->n <= MOST_KEPT)
        c->kept = ARENA_ARRAY(c->job->arena, uint8_t *, c->n + 1);
    TRY(compare_run_legal(c, k, d));
    keep(c, k);
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t o = 0; !g->op[i]->dead && o < g->op[i]->n_out; o++) {
            const uint32_t id = g->op[i]->out[o];
            if (c->pair[id].imported == IR_NONE)
                continue;
            const struct compare_tensor r = against(c, imported, id);
            struct compare_row *row = &c->row[g->op[i]->row];
            row->compared += r.compared;
            row->wrong += r.wrong;
            if (r.wrong)
                compare_note(&c->first,
                             &(struct compare_first){
                                 .compiler = true, .inference = k, .position = i, .tensor = id},
                             &r);
        }
    return ST_OK;
}
