/* tosa.c - import a TOSA file as a graph: header, tensors, borders, operators in file order. */
#include "tosa.h"

#include <string.h>

#include "tosa_import.h"

enum { MAX_OPERATORS = 100000 };

static enum status check_header(const struct tosa_file *f, struct diag *d)
{
    if (f->major != 1)
        return FAIL(d, ST_UNSUPPORTED, "TOSA version: expected 1.x, found %d.%d", f->major,
                    f->minor);
    if (f->n_region != 1 || f->n_block != 1)
        return FAIL(d, ST_UNSUPPORTED, "expected 1 region of 1 block, found %u of %u", f->n_region,
                    f->n_block);
    if (f->twice)
        return FAIL(d, ST_MODEL, "tensor '%.80s' is listed twice", f->twice);
    if (f->n_operator > MAX_OPERATORS)
        return FAIL(d, ST_UNSUPPORTED, "expected at most %d operators, found %u", MAX_OPERATORS,
                    f->n_operator);
    if (f->n_in == 0 || f->n_out == 0)
        return FAIL(d, ST_UNSUPPORTED,
                    "expected at least one graph input and output, found %u and %u", f->n_in,
                    f->n_out);
    return ST_OK;
}

static enum status check_tensor(const struct tosa_tensor *t, struct diag *d)
{
    const enum ir_type type = tosa_ir_type(t->type);

    if (type == IR_TYPE_COUNT)
        return FAIL(d, ST_UNSUPPORTED,
                    "type %s (%u): expected BOOL, INT8, INT16, INT32, INT48, INT64 or FP32",
                    t->type_name, t->type);
    if (t->variable || t->unranked || t->outside)
        return FAIL(d, ST_UNSUPPORTED, "%s are not supported",
                    t->variable   ? "variables"
                    : t->unranked ? "tensors without a rank"
                                  : "tensors outside the FlatBuffer");
    if (t->type == TOSA_SHAPE)
        return ST_OK;
    if (!ir_shape_ok(t->shape.n, t->shape.v, type))
        return FAIL(d, ST_UNSUPPORTED,
                    "shape: expected up to 6 dimensions of at least 1, at most 2147483647 bytes");
    return ST_OK;
}

/* Return true for zeros, with which serialisers fill constants; ExecuTorch has a zero point of 0 for each channel. */
static bool is_filled(const uint8_t *data, uint64_t n)
{
    bool zeros = true;

    for (uint64_t i = 0; zeros && i < n; i++)
        zeros = data[i] == 0;
    return zeros;
}

/* The bytes of a constant in the IR's type: INT48 has six in the file. */
static enum status constant(struct tosa *m, const struct tosa_tensor *t, uint32_t *id)
{
    const enum ir_type type = tosa_ir_type(t->type);
    const size_t each = t->type == TOSA_INT48 ? 6 : ir_type_bytes(type);
    uint64_t n = 1;
    uint8_t *data;

    for (uint32_t i = 0; i < t->shape.n; i++)
        n *= (uint64_t)t->shape.v[i];
    if (t->n_bytes < n * each || !is_filled(t->data + n * each, t->n_bytes - n * each))
        return FAIL(m->d, ST_MODEL, "expected %llu bytes for %s of %s, found %zu",
                    (unsigned long long)(n * each), ir_shape_text(m->arena, t->shape.n, t->shape.v),
                    t->type_name, t->n_bytes);
    data = arena_array(m->arena, n, ir_type_bytes(type));
    for (uint64_t i = 0; i < n; i++) {
        memset(data + i * ir_type_bytes(type), t->data[(i + 1) * each - 1] & 0x80 ? 0xff : 0,
               ir_type_bytes(type));
        memcpy(data + i * ir_type_bytes(type), t->data + i * each, each);
    }
    *id = tosa_const(m, type, t->shape.n, t->shape.v, data);
    m->g->tensor[*id]->name = t->name;
    return ST_OK;
}

static enum status import_tensors(struct tosa *m)
{
    for (uint32_t i = 0; i < m->file->n_tensor; i++) {
        const struct tosa_tensor *t = &m->file->tensor[i];
        enum status st = check_tensor(t, m->d);

        m->id[i] = m->maker[i] = m->reader[i] = IR_NONE;
        if (st == ST_OK && t->data)
            st = constant(m, t, &m->id[i]);
        if (st != ST_OK) {
            diag_prefix(m->d, "tensor %u '%.80s'", i, t->name);
            return st;
        }
    }
    return ST_OK;
}

static enum status import_inputs(struct tosa *m)
{
    m->g->n_in = m->file->n_in;
    m->g->in = ARENA_ARRAY(m->arena, uint32_t, m->file->n_in);
    for (uint32_t i = 0; i < m->file->n_in; i++) {
        const uint32_t k = m->file->in[i];

        if (k == TOSA_NONE || m->id[k] != IR_NONE || m->file->tensor[k].type == TOSA_SHAPE)
            return FAIL(m->d, ST_MODEL,
                        "graph input %u: expected a tensor without data, listed once", i);
        m->id[k] = tosa_new(m, tosa_ir_type(m->file->tensor[k].type), m->file->tensor[k].shape.n,
                            m->file->tensor[k].shape.v);
        m->g->tensor[m->id[k]]->name = m->file->tensor[k].name;
        m->g->tensor[m->id[k]]->role = IR_INPUT;
        m->g->in[i] = m->id[k];
    }
    return ST_OK;
}

/* Count readers, find producers, and make the rows. */
static enum status link_file(struct tosa *m)
{
    const struct tosa_file *f = m->file;

    m->g->row = ARENA_ARRAY(m->arena, struct ir_row, f->n_operator + 1);
    for (uint32_t i = 0; i < f->n_operator; i++) {
        const struct tosa_operator *op = &f->op[i];

        m->group[i] = TOSA_NONE;
        for (uint32_t k = 0; k < op->n_in; k++)
            if (op->in[k] != TOSA_NONE) {
                m->uses[op->in[k]]++;
                m->reader[op->in[k]] = i;
            }
        for (uint32_t k = 0; k < op->n_out; k++)
            if (op->out[k] != TOSA_NONE)
                m->maker[op->out[k]] = i;
        if (op->code == TOSA_CONST || op->code == TOSA_CONST_SHAPE)
            continue;
        m->row[i] = m->g->n_row++;
        m->g->row[m->row[i]] = (struct ir_row){
            .op = op->name, .name = "", .tensor = "", .shape = "", .fused_into = IR_NONE};
    }
    for (uint32_t i = 0; i < f->n_out; i++)
        if (f->out[i] == TOSA_NONE)
            return FAIL(m->d, ST_MODEL, "graph output %u: expected the name of a tensor", i);
        else
            m->uses[f->out[i]]++;
    return ST_OK;
}

static enum status check_operator(struct tosa *m)
{
    const struct tosa_operator *op = m->op;

    if (op->a.unknown)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "attribute: field %u is not known here: expected its default", op->a.unknown);
    if (op->n_out != 1 || op->out[0] == TOSA_NONE)
        return FAIL(m->d, ST_MODEL, "expected 1 output, a tensor of the block, found %u",
                    op->n_out);
    if (m->id[op->out[0]] != IR_NONE)
        return FAIL(m->d, ST_MODEL, "output '%.80s' is %s", m->file->tensor[op->out[0]].name,
                    m->g->tensor[m->id[op->out[0]]]->role == IR_VALUE ? "computed twice"
                                                                      : "an input or constant");
    return ST_OK;
}

/* Name the operator's result `y`, which must be as the file states it. */
static enum status set_result(struct tosa *m, uint32_t y)
{
    const uint32_t out = m->op->out[0];
    const struct tosa_tensor *want = &m->file->tensor[out];
    struct ir_row *row = &m->g->row[m->row[m->at]];
    struct ir_tensor *t = m->g->tensor[y];

    if (t->type != tosa_ir_type(want->type) || t->rank != want->shape.n ||
        (t->rank && memcmp(t->dim, want->shape.v, t->rank * sizeof *t->dim) != 0))
        return FAIL(m->d, ST_MODEL, "output '%.80s': expected %s %s, found %s %s", want->name,
                    ir_type_name(t->type), ir_shape_text(m->arena, t->rank, t->dim),
                    want->type_name, ir_shape_text(m->arena, want->shape.n, want->shape.v));
    if (*t->name != '\0' || t->role != IR_VALUE) { /* IDENTITY, a CAST to the same type */
        y = tosa_reshape(m, y, t->rank, t->dim);
        t = m->g->tensor[y];
    }
    t->name = row->tensor = want->name;
    row->shape = ir_shape_text(m->arena, t->rank, t->dim);
    m->id[out] = y;
    return m->st;
}

static enum status import_operator(struct tosa *m)
{
    const uint32_t last = m->at;
    uint32_t y;

    TRY(check_operator(m));
    if (m->group[last] != TOSA_NONE && m->group[last] != last)
        return ST_OK;
    if (m->group[last] == last)
        y = tosa_fused(m); /* m->at: the operator that names the row */
    else
        TRY(tosa_op(m, &y));
    TRY(m->st);
    TRY(set_result(m, y));
    m->at = last;
    return ST_OK;
}

/* "04_conv2d" */
static void name_row(struct tosa *m)
{
    struct ir_row *row = &m->g->row[m->row[m->at]];
    char *name = arena_printf(m->arena, "%02u_%s", m->row[m->at], row->op);

    for (char *c = name; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
        else if (*c == ' ')
            *c = '_';
    row->name = name;
}

static enum status import_operators(struct tosa *m)
{
    for (m->at = 0; m->at < m->file->n_operator; m->at++) {
        enum status st;

        m->op = &m->file->op[m->at];
        if (m->op->code == TOSA_CONST || m->op->code == TOSA_CONST_SHAPE)
            continue;
        name_row(m);
        st = import_operator(m);
        if (st != ST_OK) {
            diag_prefix(m->d, "operator %u %s", m->at, m->op->name);
            return st;
        }
    }
    return ST_OK;
}

static enum status import_outputs(struct tosa *m)
{
    m->g->n_out = m->file->n_out;
    m->g->out = ARENA_ARRAY(m->arena, uint32_t, m->file->n_out);
    m->op = NULL;
    if (m->g->n_row == 0)
        m->g->row[m->g->n_row++] = (struct ir_row){
            .name = "00_copy", .op = "IDENTITY", .tensor = "", .shape = "", .fused_into = IR_NONE};
    for (uint32_t i = 0; i < m->file->n_out; i++) {
        const struct tosa_tensor *want = &m->file->tensor[m->file->out[i]];
        uint32_t id = m->id[m->file->out[i]];

        if (id == IR_NONE || want->type == TOSA_SHAPE)
            return FAIL(m->d, ST_MODEL, "graph output %u '%.80s' is not computed by any operator",
                        i, want->name);
        if (m->g->tensor[id]->role != IR_VALUE || m->g->tensor[id]->is_output)
            id = tosa_reshape(m, id, want->shape.n, want->shape.v);
        m->g->tensor[id]->name = want->name;
        m->g->tensor[id]->is_output = true;
        m->g->out[i] = id;
    }
    return m->st;
}

/* Leave out the zeros after a CLAMP's bounds; round as `o` wants. */
static void adapt(const struct tosa_file *f, const struct tosa_options *o, struct tosa_operator *op)
{
    struct tosa_attributes *a = &op->a;

    if (op->code == TOSA_CLAMP && op->n_out == 1 && op->out[0] != TOSA_NONE) {
        const enum ir_type type = tosa_ir_type(f->tensor[op->out[0]].type);
        const uint32_t each = type == IR_TYPE_COUNT ? 0 : (uint32_t)ir_type_bytes(type);

        if (each != 0 && a->n_low > each && is_filled(a->low + each, a->n_low - each))
            a->n_low = each;
        if (each != 0 && a->n_high > each && is_filled(a->high + each, a->n_high - each))
            a->n_high = each;
    }
    if (o->twice && op->code == TOSA_RESCALE && a->scale32 && a->rounding == TOSA_SINGLE_ROUND)
        a->rounding = TOSA_DOUBLE_ROUND;
}

enum status tosa_import(struct arena *a, const char *name, const uint8_t *data, size_t n_bytes,
                        const struct tosa_options *o, struct ir_graph **graph, struct diag *d)
{
    struct tosa m = {.arena = a, .d = d};
    struct tosa_file *file;

    TRY(tosa_read(a, data, n_bytes, &file, d));
    TRY(check_header(file, d));
    m.file = file;
    for (uint32_t i = 0; i < file->n_operator; i++)
        adapt(file, o, &file->op[i]);
    m.g = ir_graph_new(a, name);
    m.id = ARENA_ARRAY(a, uint32_t, file->n_tensor);
    m.maker = ARENA_ARRAY(a, uint32_t, file->n_tensor);
    m.reader = ARENA_ARRAY(a, uint32_t, file->n_tensor);
    m.uses = ARENA_ARRAY(a, uint32_t, file->n_tensor);
    m.group = ARENA_ARRAY(a, uint32_t, file->n_operator);
    m.found = ARENA_ARRAY(a, const struct group *, file->n_operator);
    m.row = ARENA_ARRAY(a, uint32_t, file->n_operator);
    TRY(import_tensors(&m));
    TRY(import_inputs(&m));
    TRY(link_file(&m));
    if (!o->literal)
        tosa_find_groups(&m);
    TRY(import_operators(&m));
    TRY(import_outputs(&m));
    TRY(ir_link(m.g, d));
    TRY(ir_infer(m.g, d));
    *graph = m.g;
    return ST_OK;
}
