/* onnx_loops.c - Loop and Scan, unrolled. in: a node whose number of iterations is known. out: the
 * nodes of its body, once for each. */
#include "onnx_inline.h"

#include <string.h>

enum { MAX_TRIPS = 1000 };

/* Name of a constant of one element, of rank 0 or 1. */
static const char *number_of(struct ox *m, int32_t type, uint32_t rank, int64_t number)
{
    const char *name = arena_printf(m->arena, "%s/const_%u", m->node->output[0], m->n_scope++);
    struct ox_const c;
    void *data = ox_new_const(m, &c, type, rank, (const int32_t[]){1});

    memcpy(data, &number, ox_type_bytes(type));
    ox_called_value(m, name)->kind = OX_CONST;
    ox_called_value(m, name)->c = c;
    return name;
}

/* Make `out` the rows along a new first dimension. */
static enum status stack(struct ox *m, size_t n, const char *const *row, const char *out)
{
    const char **part = ARENA_ARRAY(m->arena, const char *, n);
    const char *axis = number_of(m, OX_INT64, 1, 0);
    Onnx__NodeProto *concat;

    for (size_t i = 0; i < n; i++) {
        part[i] = arena_printf(m->arena, "%s/row_%u", out, m->n_scope++);
        TRY(ox_import_own(
            m, ox_new_node(m, "Unsqueeze", 2, (const char *const[]){row[i], axis}, part[i])));
    }
    concat = ox_new_node(m, "Concat", n, part, out);
    ox_new_attribute(m, concat, "axis", 0);
    return ox_import_own(m, concat);
}

/* Results of each iteration that become one tensor: scan outputs. */
struct rows {
    size_t n; /* results of one iteration */
    const char **name[MAX_TRIPS];
};

static enum status stack_rows(struct ox *m, const struct rows *r, size_t trips, size_t first)
{
    for (size_t i = 0; i < r->n && first + i < m->node->n_output; i++) {
        const char **row = ARENA_ARRAY(m->arena, const char *, trips + 1);

        if (!*m->node->output[first + i])
            continue;
        if (trips == 0)
            return FAIL(m->d, ST_UNSUPPORTED, "output %zu: expected at least one iteration",
                        first + i);
        for (size_t k = 0; k < trips; k++)
            row[k] = r->name[k][i];
        TRY(stack(m, trips, row, m->node->output[first + i]));
    }
    return ST_OK;
}

/* A constant that is an input of Loop; `otherwise` where it is absent. */
static enum status known(struct ox *m, uint32_t i, const char *what, int64_t otherwise,
                         int64_t *number)
{
    const struct ox_const *c;

    *number = otherwise;
    if (!ox_in(m, i))
        return ST_OK;
    TRY(ox_want_const(m, i, what, &c));
    if (c->n != 1)
        return FAIL(m->d, ST_MODEL, "%s: expected one element, found %llu", what,
                    (unsigned long long)c->n);
    *number = ox_int(c, 0);
    return ST_OK;
}

enum status ox_loop(struct ox *m)
{
    const size_t n = m->node->n_input > 2 ? m->node->n_input - 2 : 0;
    struct rows *rows = ARENA_NEW(m->arena, struct rows);
    const char **in = ARENA_ARRAY(m->arena, const char *, n + 3), **out;
    int64_t most, holds, k = 0;
    struct ox_body body;

    TRY(known(m, 0, "trip count", INT64_MAX, &most));
    TRY(known(m, 1, "condition", 1, &holds));
    TRY(ox_graph_of(m, "body", n + 2, &body));
    TRY(ox_want_outputs(m, &body, n + 1));
    rows->n = body.n_output - n - 1;
    for (size_t i = 0; i < n; i++)
        in[2 + i] = m->node->input[2 + i];
    for (; k < most && holds; k++) {
        const struct ox_value *next;

        if (k == MAX_TRIPS)
            return FAIL(m->d, ST_UNSUPPORTED, "expected at most %d iterations", MAX_TRIPS);
        in[0] = number_of(m, OX_INT64, 0, k);
        in[1] = number_of(m, OX_BOOL, 0, 1);
        TRY(ox_inlined(m, &body, in, &out));
        next = ox_called_value(m, out[0]);
        if (next->kind != OX_CONST || next->c.n != 1)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "condition after iteration %lld, '%.80s': expected a constant",
                        (long long)k, body.output[0]);
        holds = ox_int(&next->c, 0);
        memcpy(in + 2, out + 1, n * sizeof *in);
        rows->name[k] = out + 1 + n;
    }
    TRY(ox_give_outputs(m, 0, n, in + 2));
    return stack_rows(m, rows, (size_t)k, n);
}

/* States, then sequences along dimension 0, one element of each for an iteration. */
enum status ox_scan(struct ox *m)
{
    const int64_t n_scan = ox_attr_int(m, "num_scan_inputs", 0);
    const size_t all = m->node->n_input, n = all - (size_t)n_scan;
    struct rows *rows = ARENA_NEW(m->arena, struct rows);
    const char **in = ARENA_ARRAY(m->arena, const char *, all + 1), **out;
    struct ox_body body;
    size_t trips;

    if (n_scan < 1 || (size_t)n_scan > all || !ox_in(m, (uint32_t)n) ||
        ox_rank(m, ox_in(m, (uint32_t)n)) == 0)
        return FAIL(m->d, ST_MODEL, "num_scan_inputs: expected 1 to %zu, found %lld", all,
                    (long long)n_scan);
    trips = (size_t)ox_dim(m, ox_in(m, (uint32_t)n))[0];
    if (trips > MAX_TRIPS)
        return FAIL(m->d, ST_UNSUPPORTED, "expected at most %d iterations", MAX_TRIPS);
    TRY(ox_graph_of(m, "body", all, &body));
    TRY(ox_want_outputs(m, &body, n));
    rows->n = body.n_output - n;
    for (size_t i = 0; i < n; i++)
        in[i] = m->node->input[i];
    for (size_t k = 0; k < trips; k++) {
        for (size_t i = n; i < all; i++) {
            const char *place = number_of(m, OX_INT64, 0, (int64_t)k);
            Onnx__NodeProto *gather;

            in[i] = arena_printf(m->arena, "%s/element_%u", m->node->output[0], m->n_scope++);
            gather =
                ox_new_node(m, "Gather", 2, (const char *const[]){m->node->input[i], place}, in[i]);
            ox_new_attribute(m, gather, "axis", 0);
            TRY(ox_import_own(m, gather));
        }
        TRY(ox_inlined(m, &body, in, &out));
        memcpy(in, out, n * sizeof *in);
        rows->name[k] = out + n;
    }
    TRY(ox_give_outputs(m, 0, n, in));
    return stack_rows(m, rows, trips, n);
}
