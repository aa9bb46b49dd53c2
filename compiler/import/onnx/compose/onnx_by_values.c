/* onnx_by_values.c - operators whose result's shape depends on values: computed here if these are known now. */
#include "compiler/import/onnx/rewrites/onnx_rewrites.h"

#include <string.h>

#include "base/text.h"

static void list_name(struct text *t, const char *name)
{
    text_printf(t, "%s'%.80s'", t->length ? ", " : "", name);
}

/* Name the values at which the user can cut the network, and the command that does. */
enum status ox_refuse_by_values(struct ox *m)
{
    const Onnx__GraphProto *g = m->graph;
    struct text in, out;

    text_init(&in, m->arena);
    text_init(&out, m->arena);
    for (size_t i = 0; i < g->n_input; i++)
        if (ox_called_value(m, g->input[i]->name)->kind != OX_CONST)
            list_name(&in, g->input[i]->name);
    for (size_t i = 0; i < m->node->n_input; i++)
        if (ox_in(m, (uint32_t)i) && ox_in(m, (uint32_t)i)->kind != OX_CONST)
            list_name(&out, m->node->input[i]);
    return FAIL(m->d, ST_UNSUPPORTED,
                "the shape of its result depends on values: end the network before it with python3 "
                "-c \"import onnx; onnx.utils.extract_model('net.onnx', 'cut.onnx', [%s], [%s])\"",
                in.data ? in.data : "", out.data ? out.data : "");
}

bool ox_is_by_values(const char *op)
{
    static const char *const name[] = {"NonMaxSuppression", "StringSplit", "Unique"};

    for (uint32_t i = 0; i < sizeof name / sizeof *name; i++)
        if (strcmp(name[i], op) == 0)
            return true;
    return false;
}

/* The places of elements other than 0 of a constant, a row for each dimension. */
enum status ox_non_zero(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    int32_t dim[2] = {0, 0};
    struct ox_const from, c;
    int64_t *to;
    int32_t n = 0;

    if (!x || x->kind != OX_CONST)
        return ox_refuse_by_values(m);
    TRY(ox_const_input(m, 0, &from));
    dim[0] = (int32_t)from.rank;
    for (uint64_t i = 0; i < from.n; i++)
        dim[1] += ox_number(&from, i) != 0;
    to = ox_new_const(m, &c, OX_INT64, 2, dim);
    for (uint64_t i = 0; i < from.n; i++) {
        uint64_t rest = i;

        if (ox_number(&from, i) == 0)
            continue;
        for (uint32_t d = from.rank; d-- > 0; rest /= (uint64_t)from.dim[d])
            to[(uint64_t)d * (uint64_t)dim[1] + (uint64_t)n] =
                (int64_t)(rest % (uint64_t)from.dim[d]);
        n++;
    }
    ox_set_const(m, 0, &c);
    return ST_OK;
}

/* A Gather of what a constant condition selects, of all elements without an axis. */
enum status ox_compress(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0), *condition = ox_in(m, 1);
    const bool flat = ox_attr(m, "axis") == NULL;
    uint64_t n = 1;
    uint32_t axis = 0;
    int32_t count = 0;
    struct ox_const c;
    int64_t *place;

    if (!x || !condition)
        return FAIL(m->d, ST_MODEL, "input %d is absent", x != NULL);
    if (condition->kind != OX_CONST)
        return ox_refuse_by_values(m);
    if (!flat)
        TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 0), ox_rank(m, x), &axis));
    for (uint32_t i = 0; i < ox_rank(m, x); i++)
        n *= flat || i == axis ? (uint64_t)ox_dim(m, x)[i] : 1;
    if (condition->c.type != OX_BOOL || condition->c.n > n)
        return FAIL(m->d, ST_MODEL, "condition: expected at most %llu bools, found %llu of %s",
                    (unsigned long long)n, (unsigned long long)condition->c.n,
                    ox_type_name(condition->c.type));
    for (uint64_t i = 0; i < condition->c.n; i++)
        count += ox_int(&condition->c, i) != 0;
    if (count == 0)
        return FAIL(m->d, ST_UNSUPPORTED, "condition: expected to select at least one element");
    place = ox_new_const(m, &c, OX_INT64, 1, &count);
    for (uint64_t i = 0; i < condition->c.n; i++)
        if (ox_int(&condition->c, i) != 0)
            *place++ = (int64_t)i;
    ox_inner_const(m, "places", &c);
    return flat ? ox_expand(m, "r = Reshape($0, [-1]); %0 = Gather(r, places; axis=0)")
                : ox_expandf(m, "%%0 = Gather($0, places; axis=%u)", axis);
}
