/* tfl_state.c - variables: VAR_HANDLE names one, CALL_ONCE's subgraph gives it a first value,
 * READ_VARIABLE and ASSIGN_VARIABLE use it. A variable is a tensor of role IR_VARIABLE; its
 * shape is that of the first value read from it or assigned to it in the file. */
#include <string.h>

#include "tfl_import.h"

struct tfl_variable {
    const char *container, *name;
    int32_t handle;                        /* file tensor of subgraph 0, -1: none */
    uint32_t id;                           /* ir tensor, IR_NONE until its shape is known */
    const struct tfl_tensor *first_tensor; /* initial value: a constant of the init subgraph; NULL
                                            * if none */
    bool read, assigned;
};

enum { MAX_VARIABLES = 1024 };

static enum status find(struct tfl_importer *m, const struct tfl_options *o,
                        struct tfl_variable **v)
{
    for (uint32_t i = 0; i < m->n_variable; i++)
        if (strcmp(m->variable[i].name, o->shared_name) == 0 &&
            strcmp(m->variable[i].container, o->container) == 0) {
            *v = &m->variable[i];
            return ST_OK;
        }
    if (m->n_variable == MAX_VARIABLES)
        return FAIL(m->d, ST_UNSUPPORTED, "expected at most %d variables", MAX_VARIABLES);
    if (m->variable == NULL)
        m->variable = ARENA_ARRAY(m->arena, struct tfl_variable, MAX_VARIABLES);
    *v = &m->variable[m->n_variable++];
    **v = (struct tfl_variable){
        .container = o->container, .name = o->shared_name, .handle = -1, .id = IR_NONE};
    return ST_OK;
}

enum status tfl_var_handle(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    struct tfl_variable *v = NULL;

    (void)row;
    if (src->out.n != 1 || src->out.v[0] < 0 || (uint32_t)src->out.v[0] >= m->file->n_tensor)
        return FAIL(m->d, ST_MODEL, "expected 1 output, a tensor of the file");
    TRY(find(m, &src->options, &v));
    v->handle = src->out.v[0];
    return ST_OK;
}

static enum status by_handle(struct tfl_importer *m, int32_t handle, struct tfl_variable **v)
{
    for (uint32_t i = 0; i < m->n_variable; i++)
        if (m->variable[i].handle == handle) {
            *v = &m->variable[i];
            return ST_OK;
        }
    return FAIL(m->d, ST_MODEL, "tensor %d is not the handle of a variable", handle);
}

/* Find the bytes that the init subgraph assigns, if they are constant. */
static enum status first_value(struct tfl_importer *m, const struct tfl_variable *v,
                               struct ir_tensor *t)
{
    const struct tfl_tensor *f = v->first_tensor;
    const struct tfl_buffer *b;

    if (f == NULL)
        return ST_OK;
    if (f->buffer >= m->file->n_buffer)
        return FAIL(m->d, ST_MODEL, "initial value of '%.80s': buffer %u of %u", v->name, f->buffer,
                    m->file->n_buffer);
    b = &m->file->buffer[f->buffer];
    if (b->n_bytes != ir_bytes(t))
        return FAIL(m->d, ST_MODEL, "initial value of '%.80s': expected %llu bytes, found %zu",
                    v->name, (unsigned long long)ir_bytes(t), b->n_bytes);
    t->data = arena_memdup(m->arena, b->data, b->n_bytes);
    return ST_OK;
}

/* Return the variable's tensor; make it from `like` at first use. */
static enum status tensor_of(struct tfl_importer *m, struct tfl_variable *v,
                             const struct ir_tensor *like)
{
    struct ir_tensor *t;

    if (v->id != IR_NONE)
        return ST_OK;
    t = ir_tensor_new(m->g, v->name, like->type, like->rank, like->dim);
    t->role = IR_VARIABLE;
    t->quant = like->quant;
    v->id = t->id;
    return first_value(m, v, t);
}

enum status tfl_read_variable(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    struct tfl_variable *v = NULL;
    uint32_t y;

    TRY(by_handle(m, src->in.v[0], &v));
    TRY(tfl_result(m, src, 0, &y));
    TRY(tensor_of(m, v, m->g->tensor[y]));
    return tfl_make_read_variable(m, row, 1, &v->id, y, NULL);
}

enum status tfl_assign_variable(struct tfl_importer *m, const struct tfl_operator *src,
                                uint32_t row)
{
    static const int32_t one = 1;
    struct tfl_variable *v = NULL;
    uint32_t x;

    TRY(by_handle(m, src->in.v[0], &v));
    TRY(tfl_value(m, src, 1, &x));
    TRY(tensor_of(m, v, m->g->tensor[x]));
    return tfl_make_assign_variable(m, row, 2, (const uint32_t[]){x, v->id},
                                    ir_tensor_new(m->g, "", IR_BOOL, 1, &one)->id, NULL);
}

static const char *name_of(const struct tfl_importer *m, const struct tfl_operator *op)
{
    return op->opcode_index < m->file->n_opcode ? m->file->opcode[op->opcode_index].name : "?";
}

/* Read a subgraph that sets variables; it may hold only VAR_HANDLEs and ASSIGN_VARIABLEs of
 * constants. */
static enum status read_init(struct tfl_importer *m, const struct tfl_subgraph *s)
{
    for (uint32_t i = 0; i < s->n_operator; i++) {
        const struct tfl_operator *assign = &s->op[i];
        struct tfl_variable *v = NULL;

        if (strcmp(name_of(m, assign), "VAR_HANDLE") == 0)
            continue;
        if (strcmp(name_of(m, assign), "ASSIGN_VARIABLE") != 0 || assign->in.n != 2)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "operator %u %s of the subgraph: expected VAR_HANDLE and ASSIGN_VARIABLE",
                        i, name_of(m, assign));
        for (uint32_t k = 0; k < s->n_operator; k++)
            if (strcmp(name_of(m, &s->op[k]), "VAR_HANDLE") == 0 && s->op[k].out.n == 1 &&
                s->op[k].out.v[0] == assign->in.v[0])
                TRY(find(m, &s->op[k].options, &v));
        if (v == NULL || assign->in.v[1] < 0 || (uint32_t)assign->in.v[1] >= s->n_tensor)
            return FAIL(m->d, ST_MODEL,
                        "operator %u of the subgraph: its handle or value was not found", i);
        v->first_tensor = &s->tensor[assign->in.v[1]];
    }
    return ST_OK;
}

enum status tfl_call_once(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const int32_t k = src->options.first;

    (void)row;
    if (k < 1 || (uint32_t)k >= m->file->n_subgraph)
        return FAIL(m->d, ST_MODEL, "init subgraph: expected 1 to %lld, found %d",
                    (long long)m->file->n_subgraph - 1, k);
    return read_init(m, &m->file->more[k - 1]);
}
