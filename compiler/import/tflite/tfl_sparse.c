/* tfl_sparse.c - a sparse constant with all its values: those that the file leaves out are 0.
 * The format is a tree: a level per dimension, in the traversal order; a level has all indices of
 * its dimension (DENSE) or lists those of each node (SPARSE_CSR). Dimensions after the tensor's own
 * are those of blocks: indices within a block of one of its dimensions.
 * in: tfl_tensor.sparsity, the stored values. out: dense bytes, or what does not fit. */
#include "tfl_import.h"

#include <string.h>

enum { MOST_LEVELS = 2 * IR_MAX_RANK };

struct tree {
    const struct tfl_sparsity *s;
    struct tfl_ints shape;
    int64_t size[MOST_LEVELS]; /* of each dimension, in blocks, and of the block's own */
    int64_t at[MOST_LEVELS];   /* the indices of the node */
    uint32_t n_value;          /* bytes of a value */
    const uint8_t *from;
    uint8_t *to;
};

static int64_t number(const struct tfl_numbers *v, uint64_t i)
{
    uint32_t x = 0; /* the file and this machine are little-endian */

    memcpy(&x, (const uint8_t *)v->v + i * v->n_bytes, v->n_bytes);
    return (int32_t)x;
}

/* Set the size of each dimension; check that levels and blocks name each once and divide it. */
static enum status sizes(struct tree *t, struct diag *d)
{
    const struct tfl_sparsity *s = t->s;
    const uint32_t rank = t->shape.n, n = rank + s->block.n;
    uint32_t seen = 0;

    if (rank == 0 || s->block.n > IR_MAX_RANK || s->order.n != n || s->n_level != n)
        return FAIL(d, ST_MODEL, "sparsity: expected a level for each of %u dimensions, found %u",
                    n, s->n_level);
    for (uint32_t i = 0; i < rank; i++)
        t->size[i] = t->shape.v[i];
    for (uint32_t i = 0; i < n; i++) {
        const int32_t k = s->order.v[i];

        if (k < 0 || (uint32_t)k >= n || seen >> k & 1)
            return FAIL(d, ST_MODEL, "sparsity: level %u: dimension %d is out of range or twice", i,
                        k);
        seen |= 1u << k;
        if ((uint32_t)k < rank)
            continue;
        const int32_t of = s->block.v[(uint32_t)k - rank];
        if (of < 0 || (uint32_t)of >= rank || s->level[i].listed || s->level[i].size < 1 ||
            t->size[of] % s->level[i].size != 0)
            return FAIL(d, ST_MODEL,
                        "sparsity: level %u: expected a block that divides dimension "
                        "%d, found %d",
                        i, of, s->level[i].size);
        t->size[k] = s->level[i].size;
        t->size[of] /= s->level[i].size;
    }
    return ST_OK;
}

/* Check the lists of level i, which has n nodes above; return the number of nodes in it. */
static enum status check_list(const struct tree *t, uint32_t i, uint64_t *n, struct diag *d)
{
    const struct tfl_level *l = &t->s->level[i];
    int64_t last = 0;

    if (l->first.n != *n + 1)
        return FAIL(d, ST_MODEL, "sparsity: level %u: expected %llu segments, found %u", i,
                    (unsigned long long)*n + 1, l->first.n);
    for (uint32_t k = 0; k < l->first.n; k++) {
        const int64_t next = number(&l->first, k);

        if (next < last || next > l->index.n || (k == 0 && next != 0))
            return FAIL(d, ST_MODEL, "sparsity: level %u: segment %u: found %lld after %lld, of %u",
                        i, k, (long long)next, (long long)last, l->index.n);
        last = next;
    }
    for (uint32_t k = 0; k < l->index.n; k++)
        if (number(&l->index, k) < 0 || number(&l->index, k) >= t->size[t->s->order.v[i]])
            return FAIL(d, ST_MODEL, "sparsity: level %u: index %u: expected 0 to %lld, found %lld",
                        i, k, (long long)t->size[t->s->order.v[i]] - 1,
                        (long long)number(&l->index, k));
    *n = (uint64_t)last;
    return ST_OK;
}

/* Check that the tree has as many leaves as there are values. */
static enum status check(const struct tree *t, size_t n_bytes, struct diag *d)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < t->s->n_level; i++) {
        const int64_t size = t->size[t->s->order.v[i]];

        if (t->s->level[i].listed) {
            TRY(check_list(t, i, &n, d));
            continue;
        }
        if (t->s->level[i].size != size)
            return FAIL(d, ST_MODEL, "sparsity: level %u: expected size %lld, found %d", i,
                        (long long)size, t->s->level[i].size);
        n *= (uint64_t)size; /* at most the tensor's elements, below 2^31, times those listed */
        if (n > UINT32_MAX)
            return FAIL(d, ST_MODEL, "sparsity: level %u: has too many nodes", i);
    }
    if (n * t->n_value != n_bytes)
        return FAIL(d, ST_MODEL, "sparsity: expected %llu values, found %zu bytes",
                    (unsigned long long)n, n_bytes);
    return ST_OK;
}

/* Copy stored value `leaf` to its place. */
static void copy(struct tree *t, uint64_t leaf)
{
    const uint32_t rank = t->shape.n;
    int64_t at[IR_MAX_RANK];
    uint64_t place = 0;

    memcpy(at, t->at, rank * sizeof *at);
    for (uint32_t i = 0; i < t->s->n_level; i++) { /* outer blocks first */
        const uint32_t k = (uint32_t)t->s->order.v[i];

        if (k >= rank)
            at[t->s->block.v[k - rank]] = at[t->s->block.v[k - rank]] * t->size[k] + t->at[k];
    }
    for (uint32_t i = 0; i < rank; i++)
        place = place * (uint32_t)t->shape.v[i] + (uint64_t)at[i];
    memcpy(t->to + place * t->n_value, t->from + leaf * t->n_value, t->n_value);
}

/* Visit what is below `node` of level i - 1; at most as deep as there are levels. */
static void visit(struct tree *t, uint32_t i, uint64_t node)
{
    const struct tfl_level *l = &t->s->level[i];
    int64_t *at;

    if (i == t->s->n_level) {
        copy(t, node);
        return;
    }
    at = &t->at[t->s->order.v[i]];
    if (l->listed)
        for (int64_t k = number(&l->first, node); k < number(&l->first, node + 1); k++) {
            *at = number(&l->index, (uint64_t)k);
            visit(t, i + 1, (uint64_t)k);
        }
    else
        for (int64_t k = 0; k < l->size; k++) {
            *at = k;
            visit(t, i + 1, node * (uint64_t)l->size + (uint64_t)k);
        }
}

enum status tfl_dense(struct tfl_importer *m, const struct tfl_tensor *tensor, uint32_t size,
                      const struct tfl_buffer *stored, struct tfl_buffer *dense)
{
    struct tree t = {.s = tensor->sparsity, .shape = tensor->shape, .n_value = size};
    uint64_t n = size;

    TRY(sizes(&t, m->d));
    TRY(check(&t, stored->n_bytes, m->d));
    for (uint32_t i = 0; i < t.shape.n; i++)
        n *= (uint32_t)t.shape.v[i];
    *dense = (struct tfl_buffer){.n_bytes = (size_t)n};
    t.from = stored->data;
    t.to = arena_alloc(m->arena, (size_t)n);
    memset(t.to, 0, (size_t)n);
    dense->data = t.to;
    visit(&t, 0, 0);
    return ST_OK;
}
