/* graph_move.c - operators that move bytes. Where each byte comes from is found by running the
 * reference's kernel on the digits of the bytes' numbers, and confirmed with other bytes. */
#include <string.h>

#include "graph.h"

enum { DIGITS = 4, PLANES = DIGITS + 4 }; /* and the first digit inverted; and what confirms */

/* Byte `i` of plane k. */
static uint8_t plane_byte(uint32_t k, uint64_t i)
{
    if (k < DIGITS)
        return (uint8_t)(i >> 8 * k);
    return k == DIGITS ? (uint8_t)~i : (uint8_t)(prove_mix(k, i) >> 13);
}

static bool run_plane(const struct prove_op *o, uint32_t n_data, uint32_t k, uint8_t *y)
{
    const uint8_t **x = ARENA_ARRAY(o->p->arena, const uint8_t *, o->op->n_in + 1);
    uint64_t first = 0;
    struct diag d = {0};

    for (uint32_t i = 0; i < o->op->n_in; i++) {
        if (!o->in[i])
            continue;
        if (i >= n_data) {
            if (o->in[i]->role != IR_CONST)
                return false;
            x[i] = o->in[i]->data;
            continue;
        }
        const uint64_t n = ir_bytes(o->in[i]);
        uint8_t *bytes = arena_alloc(o->p->arena, n);
        for (uint64_t b = 0; b < n; b++)
            bytes[b] = plane_byte(k, first + b);
        x[i] = bytes;
        first += n;
    }
    const struct ref_call c = {o->op, o->in, x, &o->out, &y, o->k};
    return ref_kernel_of(o->op->opcode, o->in[0]->type)(&c, &d) == ST_OK;
}

/* The term of byte `i` of all data inputs, one after another. */
static uint32_t source(const struct prove_op *o, uint32_t n_data, uint64_t i)
{
    for (uint32_t k = 0; k < n_data; k++) {
        if (!o->in[k])
            continue;
        if (i < ir_bytes(o->in[k]))
            return o->x[k][i];
        i -= ir_bytes(o->in[k]);
    }
    return PROVE_NOTHING;
}

bool prove_graph_move(const struct prove_op *o)
{
    const uint32_t n_data = ir_n_data(o->op);
    const uint64_t n = ir_bytes(o->out);
    uint8_t *plane[PLANES];

    if (!ir_op_info(o->op->opcode)->moves)
        return false;
    for (uint32_t i = 0; i < n_data && i < o->op->n_in; i++)
        if (o->in[i] && (o->in[i]->type != o->out->type || !o->x[i]))
            return false;
    for (uint32_t k = 0; k < PLANES; k++) {
        plane[k] = arena_alloc(o->p->arena, n);
        if (!run_plane(o, n_data, k, plane[k]))
            return false;
    }
    for (uint64_t b = 0; b < n; b++) {
        const bool moved = (plane[0][b] ^ plane[DIGITS][b]) == 0xff;
        uint64_t from = 0;

        for (uint32_t k = 0; k < DIGITS; k++)
            from |= (uint64_t)plane[k][b] << 8 * k;
        o->y[b] = moved ? source(o, n_data, from) : prove_constant((int8_t)plane[0][b]);
        if (o->y[b] == PROVE_NOTHING)
            return false;
        for (uint32_t k = 0; k < PLANES; k++)
            if (plane[k][b] != (moved ? plane_byte(k, from) : plane[0][b]))
                return false;
    }
    return true;
}
