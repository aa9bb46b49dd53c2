/* coverage.c - see coverage.h. One set of 256 values per channel; of int16 the upper byte. */
#include "coverage.h"

#include <string.h>

struct set {
    uint64_t bits[4];
};

struct coverage {
    const struct ir_graph *g;
    uint32_t n;      /* sets in all */
    uint32_t *first; /* by tensor: its channels' sets, or IR_NONE */
    struct set *set;
    uint64_t n_ends;
};

static uint32_t channels(const struct ir_tensor *t)
{
    return (uint32_t)ir_dim_back(t, 0);
}

struct coverage *coverage_new(struct arena *a, const struct ir_graph *g)
{
    struct coverage *c = ARENA_NEW(a, struct coverage);

    c->g = g;
    c->first = ARENA_ARRAY(a, uint32_t, g->n_tensor + 1);
    for (uint32_t i = 0; i < g->n_tensor; i++) {
        c->first[i] = IR_NONE;
        if (!ir_is_code(g->tensor[i]->type) || g->tensor[i]->role == IR_CONST)
            continue;
        c->first[i] = c->n;
        c->n += channels(g->tensor[i]);
    }
    c->set = ARENA_ARRAY(a, struct set, c->n + 1);
    return c;
}

void coverage_tap(void *ctx, const struct ir_op *op, const uint8_t *out)
{
    struct coverage *c = ctx;
    const struct ir_tensor *t = ir_out(c->g, op, 0);
    const uint32_t size = ir_type_bytes(t->type), first = c->first[t->id], n = channels(t);

    if (first == IR_NONE)
        return;
    for (uint64_t i = 0, channel = 0; i < ir_elements(t); i++) {
        const uint8_t value = out[i * size + size - 1];

        c->n_ends += t->type == IR_U8 ? value == 0 || value == 255 : value == 0x80 || value == 0x7f;
        c->set[first + channel].bits[value / 64] |= UINT64_C(1) << value % 64;
        channel = channel + 1 == n ? 0 : channel + 1;
    }
}

/* Values 2, 3 to 4, 5 to 8, ... of a channel count as much as the second alone. */
static uint64_t worth(uint32_t values)
{
    uint64_t steps = 0;

    for (; values > 1; values = (values + 1) / 2)
        steps++;
    return steps;
}

uint64_t coverage_score(const struct coverage *a, const struct coverage *b)
{
    uint64_t score = 0;

    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t values = 0;
        for (uint32_t k = 0; k < 4; k++)
            values +=
                (uint32_t)__builtin_popcountll(a->set[i].bits[k] | (b ? b->set[i].bits[k] : 0));
        score += worth(values);
    }
    return score;
}

uint64_t coverage_ends(const struct coverage *c)
{
    return c->n_ends;
}

void coverage_add(struct coverage *to, const struct coverage *from)
{
    for (uint32_t i = 0; i < to->n; i++)
        for (uint32_t k = 0; k < 4; k++)
            to->set[i].bits[k] |= from->set[i].bits[k];
}

void coverage_clear(struct coverage *c)
{
    c->n_ends = 0;
    memset(c->set, 0, c->n * sizeof *c->set);
}
