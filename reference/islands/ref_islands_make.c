/* ref_islands_make.c - make the operator of a deferred result, one function per kind of operator;
 * those of images are in ref_islands_image.c. */

#include "ref_islands_own.h"

static uint32_t isl_make_dense(struct isl *s, const struct isl_deferred *p,
                               const struct isl_want *want)
{
    uint32_t in[3] = {isl_result_operand(s, p, want, 0), isl_weights_const(s, p, want, false),
                      isl_bias_const(s, p, want)};
    const uint32_t out = isl_tensor(s, want->name, want->type, p->y->rank, p->y->dim, want->q);

    isl_set_attributes(isl_op(s, p->opcode, in[2] == IR_NONE ? 2 : 3, in, out), p);
    return out;
}

/* Make an operator whose operands must have the result's scale: joined parts, compared values. */
static uint32_t make_of_one_scale(struct isl *s, const struct isl_deferred *p,
                                  const struct isl_want *want)
{
    uint32_t *in = ARENA_ARRAY(s->arena, uint32_t, p->n_in), out;

    for (uint32_t i = 0; i < p->n_in; i++) {
        in[i] = isl_result_operand(s, p, want, i);
        if (want->type != IR_F32)
            in[i] = isl_rescale(s, isl_inner(s, s->to->tensor[in[i]]->name, "rescaled"), in[i],
                                want->type, want->q);
    }
    out = isl_tensor(s, want->name, want->type, p->y->rank, p->y->dim, want->q);
    isl_set_attributes(isl_op(s, p->opcode, p->n_in, in, out), p);
    return out;
}

static uint32_t isl_make_concat(struct isl *s, const struct isl_deferred *p,
                                const struct isl_want *want)
{
    return make_of_one_scale(s, p, want);
}

static uint32_t isl_make_extremum(struct isl *s, const struct isl_deferred *p,
                                  const struct isl_want *want)
{
    return make_of_one_scale(s, p, want);
}

/* Along dimension IR_AXIS; the operators want it last. */
static uint32_t isl_make_softmax(struct isl *s, const struct isl_deferred *p,
                                 const struct isl_want *want)
{
    const uint32_t rank = p->y->rank, axis = (uint32_t)p->attr[IR_AXIS];
    struct isl_deferred plain = *p;
    uint32_t x = isl_result_operand(s, p, want, 0), out;
    int32_t perm[IR_MAX_RANK];

    plain.attr[IR_AXIS] = 0;
    for (uint32_t i = 0; i < rank; i++)
        perm[i] = (int32_t)i;
    perm[axis] = (int32_t)rank - 1;
    perm[rank - 1] = (int32_t)axis;
    if (axis != rank - 1)
        x = isl_transpose(s, isl_inner(s, want->name, "last"), x, perm);
    out = isl_tensor(s, axis == rank - 1 ? want->name : isl_inner(s, want->name, "last"),
                     want->type, rank, s->to->tensor[x]->dim, want->q);
    isl_set_attributes(isl_op(s, p->opcode, 1, &x, out), &plain);
    return axis == rank - 1 ? out : isl_transpose(s, want->name, out, perm);
}

/* One operand, or two of one type. */
static uint32_t isl_make_plain(struct isl *s, const struct isl_deferred *p,
                               const struct isl_want *want)
{
    uint32_t in[2] = {isl_result_operand(s, p, want, 0)}, out;
    const struct ir_tensor *a = s->to->tensor[in[0]], *b;

    if (p->n_in > 1) {
        in[1] = isl_result_operand(s, p, want, 1);
        b = s->to->tensor[in[1]];
        if (b->type != a->type) {
            const struct ir_quant q = isl_one_scale(
                s, b->quant.scale[0], b->quant.zero_point[0] + (a->type == IR_U8 ? 128 : -128));

            in[1] = isl_rescale(s, isl_inner(s, b->name, "moved"), in[1], a->type, &q);
        }
    }
    out = isl_tensor(s, want->name, want->type, p->y->rank, p->y->dim, want->q);
    isl_set_attributes(isl_op(s, p->opcode, p->n_in, in, out), p);
    return out;
}

static const struct {
    isl_maker *make;
} makers[] = {
#define OPERATOR(code, name, columns) {columns},
#define DEFERRED(fn)                  isl_make_##fn
#include "operators/operators.def"
};

uint32_t isl_make_operator(struct isl *s, const struct isl_deferred *p, const struct isl_want *want)
{
    isl_maker *of_kind = makers[p->opcode].make;

    return of_kind != NULL ? of_kind(s, p, want) : isl_make_plain(s, p, want);
}
