/* parse.c - parse the text form (IR.md) into a graph. Checks syntax only; ir_verify checks the
 * meaning. Every stored index is in range or is caught by ir_verify. */
#include <string.h>

#include "lex.h"

struct parser {
    struct lex l;
    struct ir_graph *g;
    uint32_t cap_row;
};

static enum status unknown_key(struct parser *p, const char *what, const char *key)
{
    return FAIL(p->l.d, ST_MODEL, "line %u: a %s has no '%s'", p->l.line, what, key);
}

static struct ir_row *new_row(struct parser *p)
{
    struct ir_graph *g = p->g;

    if (g->n_row == p->cap_row) {
        struct ir_row *old = g->row;

        p->cap_row = p->cap_row < 16 ? 32 : p->cap_row * 2;
        g->row = ARENA_ARRAY(g->arena, struct ir_row, p->cap_row);
        if (g->n_row != 0)
            memcpy(g->row, old, g->n_row * sizeof *old);
    }
    g->row[g->n_row] =
        (struct ir_row){.name = "", .op = "", .tensor = "", .shape = "", .fused_into = IR_NONE};
    return &g->row[g->n_row++];
}

static enum status row_item(struct parser *p, struct ir_row *row, const char *key)
{
    int64_t v;

    if (strcmp(key, "name") == 0)
        return lex_string(&p->l, &row->name);
    if (strcmp(key, "op") == 0)
        return lex_string(&p->l, &row->op);
    if (strcmp(key, "tensor") == 0)
        return lex_string(&p->l, &row->tensor);
    if (strcmp(key, "shape") == 0)
        return lex_string(&p->l, &row->shape);
    if (strcmp(key, "target") == 0)
        return lex_string(&p->l, &row->target);
    if (strcmp(key, "reason") == 0)
        return lex_string(&p->l, &row->reason);
    if (strcmp(key, "fused") == 0)
        return lex_u32(&p->l, &row->fused_into);
    if (strcmp(key, "macs") != 0)
        return unknown_key(p, "row", key);
    TRY(lex_int(&p->l, 0, INT64_MAX, &v));
    row->macs = (uint64_t)v;
    return ST_OK;
}

static enum status want_index(struct parser *p, const char *what, uint32_t expected)
{
    uint32_t index;

    TRY(lex_u32(&p->l, &index));
    if (index != expected)
        return FAIL(p->l.d, ST_MODEL, "line %u: expected %s %u, found %u", p->l.line, what,
                    expected, index);
    return ST_OK;
}

static enum status parse_row(struct parser *p)
{
    char key[LEX_NAME_BYTES];
    struct ir_row *row;

    TRY(want_index(p, "row", p->g->n_row));
    row = new_row(p);
    while (lex_key(&p->l, key))
        TRY(row_item(p, row, key));
    return ST_OK;
}

static enum status parse_type(struct parser *p, enum ir_type *type)
{
    char name[LEX_NAME_BYTES];

    TRY(lex_name(&p->l, name));
    for (uint32_t i = 0; i < IR_TYPE_COUNT; i++)
        if (strcmp(name, ir_type_name((enum ir_type)i)) == 0) {
            *type = (enum ir_type)i;
            return ST_OK;
        }
    return FAIL(p->l.d, ST_MODEL, "line %u: expected a type, found '%s'", p->l.line, name);
}

static enum status parse_shape(struct parser *p, enum ir_type type, uint32_t *rank, int32_t *dim)
{
    int64_t v;

    *rank = 0;
    TRY(lex_want(&p->l, '['));
    while (!lex_take(&p->l, ']')) {
        if (*rank > 0)
            TRY(lex_want(&p->l, ','));
        if (*rank == IR_MAX_RANK)
            return lex_fail(&p->l, "at most 6 dimensions");
        TRY(lex_int(&p->l, 1, INT32_MAX, &v));
        dim[(*rank)++] = (int32_t)v;
    }
    if (!ir_shape_ok(*rank, dim, type))
        return FAIL(p->l.d, ST_MODEL, "line %u: expected at most 2147483647 bytes in a tensor",
                    p->l.line);
    return ST_OK;
}

static enum status parse_role(struct parser *p, enum ir_role *role)
{
    static const char *const name[] = {"value", "input", "const", "variable"};
    char word[LEX_NAME_BYTES];

    TRY(lex_name(&p->l, word));
    for (uint32_t i = 0; i < 4; i++)
        if (strcmp(word, name[i]) == 0) {
            *role = (enum ir_role)i;
            return ST_OK;
        }
    return FAIL(p->l.d, ST_MODEL, "line %u: expected value, input, const or variable, found '%s'",
                p->l.line, word);
}

/* The attributes read from the items of one tensor line. */
struct tensor_items {
    uint32_t n_scale, n_zero;
    float *scale;
    int64_t *zero;
    uint8_t *data;
    size_t n_data;
};

static enum status parse_values(struct parser *p, struct ir_tensor *t, struct tensor_items *m)
{
    uint32_t n;
    int64_t *v;

    TRY(lex_ints(&p->l, INT32_MIN, INT32_MAX, 0, &n, &v));
    if (t->type != IR_I32 || n != ir_elements(t))
        return FAIL(p->l.d, ST_MODEL, "line %u: expected %llu int32 values, found %u of %s",
                    p->l.line, (unsigned long long)ir_elements(t), n, ir_type_name(t->type));
    for (uint32_t i = 0; i < n; i++)
        memcpy(m->data + (size_t)i * 4, &(int32_t){(int32_t)v[i]}, 4);
    m->n_data = (size_t)n * 4;
    return ST_OK;
}

static enum status tensor_item(struct parser *p, struct ir_tensor *t, struct tensor_items *m,
                               const char *key)
{
    const bool is_data =
        strcmp(key, "data") == 0 || strcmp(key, "fill") == 0 || strcmp(key, "values") == 0;
    int64_t byte, flag;

    if (is_data && m->data == NULL)
        m->data = arena_alloc(p->g->arena, (size_t)ir_bytes(t));
    if (strcmp(key, "name") == 0)
        return lex_string(&p->l, &t->name);
    if (strcmp(key, "axis") == 0)
        return lex_u32(&p->l, &t->quant.axis);
    if (strcmp(key, "scale") == 0)
        return lex_floats(&p->l, &m->n_scale, &m->scale);
    if (strcmp(key, "zero") == 0)
        return lex_ints(&p->l, INT32_MIN, INT32_MAX, 0, &m->n_zero, &m->zero);
    if (strcmp(key, "data") == 0)
        return lex_hex(&p->l, m->data, (size_t)ir_bytes(t), &m->n_data);
    if (strcmp(key, "values") == 0)
        return parse_values(p, t, m);
    if (strcmp(key, "flipped") == 0) {
        TRY(lex_int(&p->l, 0, 1, &flag));
        t->flipped = flag;
        return ST_OK;
    }
    if (strcmp(key, "quantised") == 0) {
        TRY(lex_int(&p->l, 0, 1, &flag));
        t->quantised = flag;
        return ST_OK;
    }
    if (strcmp(key, "fill") != 0)
        return unknown_key(p, "tensor", key);
    TRY(lex_int(&p->l, 0, 255, &byte));
    memset(m->data, (int)byte, (size_t)ir_bytes(t));
    m->n_data = (size_t)ir_bytes(t);
    return ST_OK;
}

/* Store scales, zero points (one applies to all) and data in the tensor. */
static enum status finish_tensor(struct parser *p, struct ir_tensor *t,
                                 const struct tensor_items *m)
{
    int32_t *zero = ARENA_ARRAY(p->g->arena, int32_t, m->n_scale);

    if (m->n_zero != m->n_scale && m->n_zero != (m->n_scale > 0))
        return FAIL(p->l.d, ST_MODEL, "line %u: expected 1 or %u zero points, found %u", p->l.line,
                    m->n_scale, m->n_zero);
    for (uint32_t i = 0; i < m->n_scale; i++)
        zero[i] = (int32_t)m->zero[m->n_zero == 1 ? 0 : i];
    t->quant.n = m->n_scale;
    t->quant.scale = m->scale;
    t->quant.zero_point = zero;
    if (m->data != NULL && m->n_data != ir_bytes(t))
        return FAIL(p->l.d, ST_MODEL, "line %u: expected %llu bytes of data, found %zu", p->l.line,
                    (unsigned long long)ir_bytes(t), m->n_data);
    t->data = m->data;
    return ST_OK;
}

static enum status parse_tensor(struct parser *p)
{
    char key[LEX_NAME_BYTES];
    int32_t dim[IR_MAX_RANK];
    struct tensor_items m = {0};
    struct ir_tensor *t;
    enum ir_type type = IR_I8;
    uint32_t rank;

    TRY(want_index(p, "tensor", p->g->n_tensor));
    TRY(parse_type(p, &type));
    TRY(parse_shape(p, type, &rank, dim));
    t = ir_tensor_new(p->g, "", type, rank, dim);
    TRY(parse_role(p, &t->role));
    while (lex_key(&p->l, key))
        TRY(tensor_item(p, t, &m, key));
    return finish_tensor(p, t, &m);
}

static enum status parse_ids(struct parser *p, uint32_t *n, uint32_t **id)
{
    int64_t *v;

    TRY(lex_ints(&p->l, 0, (int64_t)p->g->n_tensor - 1, IR_NONE, n, &v));
    *id = ARENA_ARRAY(p->g->arena, uint32_t, *n);
    for (uint32_t i = 0; i < *n; i++)
        (*id)[i] = (uint32_t)v[i];
    return ST_OK;
}

static enum status parse_multipliers(struct parser *p, struct ir_op *op)
{
    uint32_t n;
    int64_t *v;
    int32_t *multiplier;

    TRY(lex_ints(&p->l, INT32_MIN, INT32_MAX, 0, &n, &v));
    multiplier = ARENA_ARRAY(p->g->arena, int32_t, n);
    for (uint32_t i = 0; i < n; i++)
        multiplier[i] = (int32_t)v[i];
    op->fixed.multiplier = multiplier;
    op->fixed.n = n;
    return ST_OK;
}

static enum status parse_shifts(struct parser *p, struct ir_op *op)
{
    uint32_t n;
    int64_t *v;
    int8_t *shift;

    TRY(lex_ints(&p->l, INT8_MIN, INT8_MAX, 0, &n, &v));
    if (n != op->fixed.n)
        return FAIL(p->l.d, ST_MODEL, "line %u: expected %u shifts, found %u", p->l.line,
                    op->fixed.n, n);
    shift = ARENA_ARRAY(p->g->arena, int8_t, n);
    for (uint32_t i = 0; i < n; i++)
        shift[i] = (int8_t)v[i];
    op->fixed.shift = shift;
    return ST_OK;
}

static enum status parse_real(struct parser *p, struct ir_op *op)
{
    float *real;

    TRY(lex_floats(&p->l, &op->fixed.n_real, &real));
    op->fixed.real = real;
    return ST_OK;
}

static enum status parse_clamp(struct parser *p, struct ir_op *op)
{
    uint32_t n;
    int64_t *v;

    TRY(lex_ints(&p->l, INT32_MIN, INT32_MAX, 0, &n, &v));
    if (n != 2)
        return FAIL(p->l.d, ST_MODEL, "line %u: expected clamp=(min,max)", p->l.line);
    op->fixed.act_min = (int32_t)v[0];
    op->fixed.act_max = (int32_t)v[1];
    return ST_OK;
}

static enum status parse_table(struct parser *p, struct ir_op *op)
{
    uint8_t *table = arena_alloc(p->g->arena, 256);
    size_t n = 0;

    TRY(lex_hex(&p->l, table, 256, &n));
    if (n != 256)
        return FAIL(p->l.d, ST_MODEL, "line %u: expected a table of 256 bytes, found %zu",
                    p->l.line, n);
    op->fixed.table = (const int8_t *)table;
    return ST_OK;
}

enum { MAX_WIDE_BYTES = 4096 };

static enum status parse_wide(struct parser *p, struct ir_op *op)
{
    uint8_t *wide = arena_alloc(p->g->arena, MAX_WIDE_BYTES);
    size_t n = 0;

    TRY(lex_hex(&p->l, wide, MAX_WIDE_BYTES, &n));
    if (n == 0 || n % 2 != 0)
        return FAIL(p->l.d, ST_MODEL, "line %u: expected int16 values, found %zu bytes", p->l.line,
                    n);
    op->fixed.n_wide = (uint32_t)(n / 2);
    op->fixed.wide = (const int16_t *)(const void *)wide;
    return ST_OK;
}

static enum status attr_item(struct parser *p, struct ir_op *op, const char *key)
{
    int64_t v;

    for (uint32_t i = 0; i < IR_ATTR_COUNT; i++)
        if (strcmp(key, ir_attr_name((enum ir_attr)i)) == 0) {
            TRY(lex_int(&p->l, INT32_MIN, INT32_MAX, &v));
            op->attr[i] = (int32_t)v;
            return ST_OK;
        }
    return unknown_key(p, ir_op_info(op->opcode)->name, key);
}

static enum status op_item(struct parser *p, struct ir_op *op, const char *key)
{
    if (strcmp(key, "row") == 0)
        return lex_u32(&p->l, &op->row);
    if (strcmp(key, "in") == 0)
        return parse_ids(p, &op->n_in, &op->in);
    if (strcmp(key, "out") == 0)
        return parse_ids(p, &op->n_out, &op->out);
    if (strcmp(key, "target") == 0)
        return lex_u32(&p->l, &op->target);
    if (strcmp(key, "region") == 0)
        return lex_u32(&p->l, &op->region);
    if (strcmp(key, "call") == 0)
        return lex_u32(&p->l, &op->call);
    if (strcmp(key, "scratch") == 0)
        return lex_u32(&p->l, &op->scratch);
    if (strcmp(key, "reason") == 0)
        return lex_string(&p->l, &op->reason);
    if (strcmp(key, "scale_m") == 0)
        return parse_multipliers(p, op);
    if (strcmp(key, "scale_e") == 0)
        return parse_shifts(p, op);
    if (strcmp(key, "real") == 0)
        return parse_real(p, op);
    if (strcmp(key, "clamp") == 0)
        return parse_clamp(p, op);
    if (strcmp(key, "table") == 0)
        return parse_table(p, op);
    if (strcmp(key, "wide") == 0)
        return parse_wide(p, op);
    return attr_item(p, op, key);
}

static enum status parse_op(struct parser *p)
{
    char key[LEX_NAME_BYTES];
    enum ir_opcode code;
    struct ir_op *op;

    TRY(lex_name(&p->l, key));
    if (!ir_op_named(key, &code))
        return FAIL(p->l.d, ST_MODEL, "line %u: unknown operator '%s'", p->l.line, key);
    op = ir_op_new(p->g, code, IR_NONE, 0, 0);
    while (lex_key(&p->l, key))
        TRY(op_item(p, op, key));
    for (uint32_t i = 0; i < op->n_out; i++)
        if (op->out[i] != IR_NONE)
            p->g->tensor[op->out[i]]->producer = op->id;
    return ST_OK;
}

static enum status parse_border(struct parser *p)
{
    char key[LEX_NAME_BYTES];

    while (lex_key(&p->l, key)) {
        if (strcmp(key, "in") == 0)
            TRY(parse_ids(p, &p->g->n_in, &p->g->in));
        else if (strcmp(key, "out") == 0)
            TRY(parse_ids(p, &p->g->n_out, &p->g->out));
        else
            return unknown_key(p, "border", key);
    }
    for (uint32_t i = 0; i < p->g->n_out; i++)
        if (p->g->out[i] != IR_NONE)
            p->g->tensor[p->g->out[i]]->is_output = true;
    return ST_OK;
}

static enum status parse_header(struct parser *p)
{
    char key[LEX_NAME_BYTES];

    lex_skip(&p->l);
    if (strncmp(p->l.p, "heddle-ir 1", 11) != 0)
        return lex_fail(&p->l, "'heddle-ir 1'");
    p->l.p += 11;
    TRY(lex_name(&p->l, key));
    if (strcmp(key, "graph") != 0 || !lex_key(&p->l, key) || strcmp(key, "name") != 0)
        return lex_fail(&p->l, "graph name=\"...\"");
    return lex_string(&p->l, &p->g->name);
}

static enum status parse_statement(struct parser *p)
{
    char word[LEX_NAME_BYTES];

    TRY(lex_name(&p->l, word));
    if (strcmp(word, "row") == 0)
        return parse_row(p);
    if (strcmp(word, "tensor") == 0)
        return parse_tensor(p);
    if (strcmp(word, "op") == 0)
        return parse_op(p);
    if (strcmp(word, "border") == 0)
        return parse_border(p);
    return FAIL(p->l.d, ST_MODEL, "line %u: expected row, tensor, op or border, found '%s'",
                p->l.line, word);
}

enum status ir_parse(struct arena *a, const char *source, struct ir_graph **g, struct diag *d)
{
    struct parser p = {.l = {a, d, source, 1}, .g = ir_graph_new(a, "")};

    TRY(parse_header(&p));
    while (!lex_at_end(&p.l))
        TRY(parse_statement(&p));
    *g = p.g;
    return ST_OK;
}
