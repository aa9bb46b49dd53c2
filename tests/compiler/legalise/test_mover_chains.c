/* test_mover_chains.c - chains of random operators that move bytes, of every type and up to six dimensions, give the
 * same bytes after all passes, with an accelerator and without.
 * The seed is printed; HEDDLE_SEED=N starts from it, HEDDLE_CHAINS=N tries that many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/graph_passes.h"
#include "compiler/ir/map.h"
#include "compiler/legalise/new_ops.h"
#include "compiler/pipeline.h"
#include "compiler/systolic/rewrites/rewrites.h"
#include "reference/ref.h"

enum { CHAINS = 2000, MOST_MOVES = 6, MOST_ELEMENTS = 400 };

struct net {
    struct arena *a;
    struct ir_graph *g;
    uint64_t seed;
    struct ir_tensor *last;
};

static uint32_t next(struct net *m, uint32_t below)
{
    m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(m->seed >> 33) % below;
}

static struct ir_tensor *tensor(struct net *m, enum ir_type type, uint32_t rank, const int32_t *dim)
{
    struct ir_tensor *t =
        ir_tensor_new(m->g, arena_printf(m->a, "t%u", m->g->n_tensor), type, rank, dim);

    if (ir_is_code(type))
        t->quant = (struct ir_quant){1, 0, arena_memdup(m->a, &(float){0.25f}, sizeof(float)),
                                     arena_memdup(m->a,
                                                  &(int32_t){type == IR_I8   ? -5
                                                             : type == IR_U8 ? 7
                                                                             : 0},
                                                  sizeof(int32_t))};
    return t;
}

/* The next mover of the chain, with up to three operands. */
static struct ir_op *move(struct net *m, enum ir_opcode code, uint32_t rank, const int32_t *dim,
                          uint32_t n_in)
{
    struct ir_op *op = ir_op_new(m->g, code, 0, n_in, 1);

    op->in[0] = m->last->id;
    m->last = tensor(m, m->last->type, rank, dim);
    m->last->producer = op->id;
    op->out[0] = m->last->id;
    return op;
}

static void reshape(struct net *m)
{
    int32_t dim[IR_MAX_RANK], left = (int32_t)ir_elements(m->last);
    const uint32_t rank = 1 + next(m, IR_MAX_RANK);

    for (uint32_t i = 0; i + 1 < rank; i++) {
        int32_t d = 1 + (int32_t)next(m, 8);

        while (left % d != 0)
            d--;
        dim[i] = d;
        left /= d;
    }
    dim[rank - 1] = left;
    move(m, IR_OP_RESHAPE, rank, dim, 1);
}

static void transpose(struct net *m)
{
    const int32_t rank = (int32_t)m->last->rank;
    int32_t perm[IR_MAX_RANK], dim[IR_MAX_RANK];

    for (int32_t i = 0; i < rank; i++) {
        const uint32_t k = next(m, (uint32_t)i + 1);

        perm[i] = perm[k];
        perm[k] = i;
    }
    for (int32_t i = 0; i < rank; i++)
        dim[i] = m->last->dim[perm[i]];
    const uint32_t numbers = lgl_new_numbers(m->g, (uint32_t)rank, perm);
    move(m, IR_OP_TRANSPOSE, (uint32_t)rank, dim, 2)->in[1] = numbers;
}

static void slice(struct net *m)
{
    const int32_t rank = (int32_t)m->last->rank;
    int32_t begin[IR_MAX_RANK], step[IR_MAX_RANK], dim[IR_MAX_RANK];

    for (int32_t i = 0; i < rank; i++) {
        const int32_t n = m->last->dim[i];
        const bool all = next(m, 2) == 0;

        begin[i] = all ? 0 : (int32_t)next(m, (uint32_t)n);
        step[i] = all ? 1 : 1 + (int32_t)next(m, 2);
        dim[i] = all ? n : 1 + (int32_t)next(m, (uint32_t)((n - 1 - begin[i]) / step[i] + 1));
        if (next(m, 4) == 0) { /* the same elements backwards */
            begin[i] += step[i] * (dim[i] - 1);
            step[i] = -step[i];
        }
    }
    const uint32_t from = lgl_new_numbers(m->g, (uint32_t)rank, begin),
                   steps = lgl_new_numbers(m->g, (uint32_t)rank, step);
    struct ir_op *op = move(m, IR_OP_SLICE, (uint32_t)rank, dim, 3);

    op->in[1] = from;
    op->in[2] = steps;
}

static void gather(struct net *m)
{
    const uint32_t rank = m->last->rank, axis = next(m, rank), all = (uint32_t)m->last->dim[axis];
    int32_t n = 1 + (int32_t)next(m, all + 2), index[MOST_ELEMENTS + 2], dim[IR_MAX_RANK];
    const uint32_t scalar = next(m, 6) == 0 && rank > 1;

    for (int32_t i = 0; i < n; i++)
        index[i] = (int32_t)next(m, all);
    memcpy(dim, m->last->dim, sizeof dim);
    dim[axis] = n;
    if (scalar)
        memmove(dim + axis, dim + axis + 1, (IR_MAX_RANK - 1 - axis) * sizeof *dim);
    const uint32_t numbers = lgl_new_constant(m->g, "", IR_I32, scalar ? 0 : 1, &n, index)->id;
    struct ir_op *op = move(m, IR_OP_GATHER, rank - scalar, dim, 2);

    op->in[1] = numbers;
    op->attr[IR_AXIS] = (int32_t)axis;
}

static void pad(struct net *m)
{
    const int32_t rank = (int32_t)m->last->rank;
    int32_t amount[2 * IR_MAX_RANK] = {0}, dim[IR_MAX_RANK];

    for (int32_t i = 0; i < rank; i++) {
        for (int32_t k = 0; k < 2; k++)
            amount[2 * i + k] = next(m, 3) == 0 ? (int32_t)next(m, 3) : 0;
        dim[i] = m->last->dim[i] + amount[2 * i] + amount[2 * i + 1];
    }
    const uint32_t numbers =
        lgl_new_constant(m->g, "", IR_I32, 2, (const int32_t[]){rank, 2}, amount)->id;
    move(m, IR_OP_PAD, (uint32_t)rank, dim, 2)->in[1] = numbers;
}

/* The tensor with itself, or alone. */
static void concatenation(struct net *m)
{
    const uint32_t axis = next(m, m->last->rank), n = 1 + next(m, 2), x = m->last->id;
    int32_t dim[IR_MAX_RANK];

    memcpy(dim, m->last->dim, sizeof dim);
    dim[axis] *= (int32_t)n;
    struct ir_op *op = move(m, IR_OP_CONCATENATION, m->last->rank, dim, n);

    op->in[n - 1] = x;
    op->attr[IR_AXIS] = (int32_t)axis;
}

static void add_move(struct net *m)
{
    static void (*const kinds[])(struct net *) = {reshape, reshape, transpose, transpose,
                                                  slice,   gather,  pad,       concatenation};
    const uint32_t kind = next(m, sizeof kinds / sizeof *kinds);

    if (kind >= 5 && ir_elements(m->last) > MOST_ELEMENTS / 2)
        reshape(m);
    else if (m->last->rank > 0)
        kinds[kind](m);
}

static void make(struct net *m)
{
    static const enum ir_type types[] = {IR_I8,  IR_I8,  IR_I8,  IR_I8,  IR_U8,
                                         IR_I16, IR_I32, IR_I64, IR_F32, IR_BOOL};
    const uint32_t rank = 1 + next(m, IR_MAX_RANK), n = 2 + next(m, MOST_MOVES - 1);
    int32_t dim[IR_MAX_RANK];

    for (uint32_t i = 0; i < rank; i++)
        dim[i] = 1 + (int32_t)next(m, rank < 4 ? 6 : 3);
    m->g = ir_graph_new(m->a, "chain");
    m->g->row = ARENA_NEW(m->a, struct ir_row);
    m->g->row[0] = (struct ir_row){
        .name = "00_chain", .op = "CHAIN", .tensor = "y", .shape = "", .fused_into = IR_NONE};
    m->g->n_row = 1;
    m->last = tensor(m, types[next(m, sizeof types / sizeof *types)], rank, dim);
    m->last->role = IR_INPUT;
    m->g->in = arena_memdup(m->a, &m->last->id, sizeof m->last->id);
    for (uint32_t i = 0; i < n; i++)
        add_move(m);
    if (m->last->role == IR_INPUT)
        reshape(m);
    m->last->is_output = true;
    m->g->out = arena_memdup(m->a, &m->last->id, sizeof m->last->id);
    m->g->n_in = m->g->n_out = 1;
}

static const uint8_t *result(struct net *m, const struct ir_graph *g, const uint8_t *in,
                             bool legalised)
{
    const struct ref_options o = {.legalised = legalised};
    uint8_t *out = arena_alloc(m->a, (size_t)ir_bytes(g->tensor[g->out[0]]));
    struct diag d = {0};

    if (ref_run(ref_new(m->a, g, &o), &in, &out, &d) != ST_OK)
        fail_msg("%s", d.text);
    return out;
}

static void fail_chain(struct net *m, uint64_t seed, const char *what)
{
    struct text t;

    text_init(&t, m->a);
    ir_print(m->g, &t);
    fail_msg("HEDDLE_SEED=%llu: %s\n%s", (unsigned long long)seed, what, t.data);
}

/* The chain's own map, where it has one, makes the reference's bytes: PAD fills with the zero point. */
static void check_map(struct net *m, uint64_t seed, const uint8_t *in, const uint8_t *want)
{
    const struct ir_map *map = NULL;
    const size_t size = ir_type_bytes(m->last->type);
    uint8_t fill[8] = {size == 1 ? (uint8_t)ir_zero_point(m->last) : 0};
    uint8_t *got = arena_alloc(m->a, (size_t)ir_bytes(m->last));

    for (uint32_t i = 0; i < m->g->n_op; i++) {
        map = ir_map_of(m->g, m->g->op[i], map);
        if (!map)
            return;
    }
    ir_map_copy(map, in, fill, size, got);
    if (memcmp(got, want, (size_t)ir_bytes(m->last)) != 0)
        fail_chain(m, seed, "other bytes by ir_map_copy");
}

static void check_chain(uint64_t seed)
{
    struct net m = {.a = arena_new(0), .seed = seed * 2654435761u + 1};
    struct diag d = {0};
    struct hd_config hw;

    make(&m);
    if (pipeline_config(m.a, "sys16", &hw, &d) != ST_OK || ir_link(m.g, &d) != ST_OK ||
        ir_verify(m.g, "the test", &d) != ST_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, d.text);

    const size_t n_in = (size_t)ir_bytes(m.g->tensor[m.g->in[0]]), n_out = (size_t)ir_bytes(m.last);
    uint8_t *in = arena_alloc(m.a, n_in);

    for (size_t i = 0; i < n_in; i++)
        in[i] = (uint8_t)next(&m, m.last->type == IR_BOOL ? 2 : 256);

    const uint8_t *want = result(&m, m.g, in, false);

    check_map(&m, seed, in, want);
    for (int array = 0; array < 2; array++) {
        struct lgl_options o = {.hw = NULL};
        struct ir_graph *g = ir_copy(m.a, m.g);

        if (array)
            sys_for_accelerator(&o, &hw);
        if (passes_run(g, &o, &d) != ST_OK)
            fail_chain(&m, seed, d.text);
        if (memcmp(result(&m, g, in, true), want, n_out) != 0)
            fail_chain(&m, seed,
                       array ? "other bytes with an accelerator" : "other bytes on the host");
    }
    arena_free(m.a);
}

static void test_chains(void **state)
{
    const char *from = getenv("HEDDLE_SEED"), *chains = getenv("HEDDLE_CHAINS");
    const uint64_t first = from ? strtoull(from, NULL, 10) : (uint64_t)time(NULL);
    const uint64_t n = chains ? strtoull(chains, NULL, 10) : CHAINS;

    (void)state;
    printf("seed %llu\n", (unsigned long long)first);
    for (uint64_t i = 0; i < n; i++)
        check_chain(first + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
