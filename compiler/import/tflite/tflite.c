/* tflite.c - import a TFLite file as a graph: header, graph inputs and outputs, operators in file
 * order. All of the file's contents are checked here, in tfl_tensor.c, tfl_rule.c and the rules of
 * operators.def; nothing after the importer reads the file again. */
#include "tflite.h"

#include <string.h>

#include "tfl_import.h"

enum { SCHEMA_VERSION = 3, MAX_OPERATORS = 100000 };

/* Return true if an operator runs other subgraphs. */
static bool runs_subgraphs(const struct tfl_file *f)
{
    for (uint32_t i = 0; i < f->n_operator; i++)
        if (f->op[i].options.first != 0)
            return true;
    return false;
}

static enum status check_header(const struct tfl_file *f, struct diag *d)
{
    if (f->version != SCHEMA_VERSION)
        return FAIL(d, ST_UNSUPPORTED, "schema version: expected %d, found %u", SCHEMA_VERSION,
                    f->version);
    if (f->n_subgraph == 0 || (f->n_subgraph > 1 && !f->chosen && !runs_subgraphs(f)))
        return FAIL(d, f->n_subgraph == 0 ? ST_MODEL : ST_UNSUPPORTED,
                    "expected 1 subgraph, found %u", f->n_subgraph);
    if (f->n_operator > MAX_OPERATORS)
        return FAIL(d, ST_UNSUPPORTED, "expected at most %d operators, found %u", MAX_OPERATORS,
                    f->n_operator);
    if (f->in.n == 0 || f->out.n == 0)
        return FAIL(d, ST_UNSUPPORTED,
                    "expected at least one graph input and output, found %u "
                    "and %u",
                    f->in.n, f->out.n);
    return ST_OK;
}

/* Note the dimensions of an input that its signature leaves open: the file's shape has their sizes. */
static void note_open(struct tfl_importer *m, int32_t index)
{
    const struct tfl_tensor *t = &m->file->tensor[index];

    if (m->resized && m->resized[index])
        return;
    for (uint32_t k = 0; k < t->signature.n && t->signature.n == t->shape.n; k++)
        if (t->signature.v[k] < 0)
            ir_note_open(m->g, t->name, k, t->shape.v[k]);
}

static enum status graph_input(struct tfl_importer *m, uint32_t i)
{
    struct ir_tensor *t;
    uint32_t id;

    TRY(tfl_tensor(m, m->file->in.v[i], &id));
    t = m->g->tensor[id];
    if (t->role != IR_VALUE)
        return FAIL(m->d, ST_MODEL, "'%.80s' is %s", t->name,
                    t->role == IR_CONST ? "a constant" : "listed twice");
    t->role = IR_INPUT;
    m->g->in[i] = id;
    note_open(m, m->file->in.v[i]);
    return ST_OK;
}

static enum status graph_output(struct tfl_importer *m, uint32_t i)
{
    struct ir_tensor *t;
    uint32_t id;

    TRY(tfl_tensor(m, m->file->out.v[i], &id));
    t = m->g->tensor[id];
    if (t->role == IR_VALUE && t->producer == IR_NONE)
        return FAIL(m->d, ST_MODEL, "'%.80s' is not computed by any operator", t->name);
    if (t->role != IR_VALUE || t->is_output) { /* copy an output that is an input, a constant, or
                                                * listed twice */
        const uint32_t from = id;

        TRY(tfl_between(m, t, t->rank, t->dim, &id));
        t = m->g->tensor[id];
        ir_make_reshape(m->g, m->g->n_row - 1, 1, 1);
        m->g->op[m->g->n_op - 1]->in[0] = from;
        m->g->op[m->g->n_op - 1]->out[0] = id;
        t->producer = m->g->n_op - 1;
    }
    t->is_output = true;
    m->g->out[i] = id;
    return ST_OK;
}

static enum status import_inputs(struct tfl_importer *m)
{
    m->g->n_in = m->file->in.n;
    m->g->in = ARENA_ARRAY(m->arena, uint32_t, m->file->in.n);
    for (uint32_t i = 0; i < m->file->in.n; i++) {
        const enum status st = graph_input(m, i);

        if (st != ST_OK) {
            diag_prefix(m->d, "graph input %u", i);
            return st;
        }
    }
    return ST_OK;
}

/* The row of the copies, in a network without operators. */
static void add_row(struct ir_graph *g)
{
    g->n_row = 1;
    g->row[0] = (struct ir_row){
        .name = "00_copy", .op = "RESHAPE", .tensor = "", .shape = "", .fused_into = IR_NONE};
}

static enum status import_outputs(struct tfl_importer *m)
{
    if (m->g->n_row == 0)
        add_row(m->g);
    m->g->n_out = m->file->out.n;
    m->g->out = ARENA_ARRAY(m->arena, uint32_t, m->file->out.n);
    for (uint32_t i = 0; i < m->file->out.n; i++) {
        const enum status st = graph_output(m, i);

        if (st != ST_OK) {
            diag_prefix(m->d, "graph output %u", i);
            return st;
        }
    }
    return ST_OK;
}

static enum status import_ops(struct tfl_importer *m)
{
    m->g->n_row = m->file->n_operator;
    m->g->row = ARENA_ARRAY(m->arena, struct ir_row, m->g->n_row + 1);
    for (uint32_t i = 0; i < m->g->n_row; i++) {
        const struct tfl_operator *op = &m->file->op[i];

        if (op->opcode_index >= m->file->n_opcode)
            return FAIL(m->d, ST_MODEL, "operator %u: opcode index: expected below %u, found %u", i,
                        m->file->n_opcode, op->opcode_index);
        m->g->row[i] = (struct ir_row){
            .name = "",
            .op = m->file->opcode[op->opcode_index].name,
            .tensor = "",
            .shape = "",
            .fused_into = IR_NONE,
        };
    }
    for (uint32_t i = 0; i < m->g->n_row; i++) {
        enum status st = tfl_follow(m, i);

        if (st == ST_OK)
            st = tfl_op(m, i);
        if (st != ST_OK) {
            diag_prefix(m->d, "operator %u %s", i, m->g->row[i].op);
            return st;
        }
    }
    return ST_OK;
}

enum status tfl_import(struct arena *a, const char *name, const uint8_t *data, size_t n_bytes,
                       struct ir_graph **graph, struct diag *d)
{
    const struct tfl_choice none = {NULL, NULL};

    return tfl_import_with(a, name, data, n_bytes, &none, graph, d);
}

enum status tfl_labels(struct arena *a, const uint8_t *data, size_t n_bytes, const char **file,
                       struct diag *d)
{
    struct tfl_file *f;

    TRY(tfl_read(a, data, n_bytes, &f, d));
    return tfl_read_labels(a, data, file, d);
}

/* "'encode', 'decode'" */
static const char *signatures(struct arena *a, const struct tfl_file *f)
{
    const char *list = f->n_signature ? "" : "none";

    for (uint32_t i = 0; i < f->n_signature; i++)
        list = arena_printf(a, "%s%s'%.80s'", list, i ? ", " : "", f->signature[i].key);
    return list;
}

/* Make the subgraph of that signature the file's own. */
static enum status choose(struct arena *a, struct tfl_file *f, const char *signature,
                          struct diag *d)
{
    const struct tfl_subgraph *s;
    uint32_t i = 0;

    if (!signature)
        return f->n_subgraph < 2 || f->n_signature < 2 || runs_subgraphs(f)
                   ? ST_OK
                   : FAIL(d, ST_USAGE, "expected --signature, one of %s", signatures(a, f));
    while (i < f->n_signature && strcmp(f->signature[i].key, signature) != 0)
        i++;
    if (i == f->n_signature)
        return FAIL(d, ST_USAGE, "--signature: expected one of the file's, %s, found '%.80s'",
                    signatures(a, f), signature);
    if (f->signature[i].subgraph >= f->n_subgraph)
        return FAIL(d, ST_MODEL, "signature '%.80s': subgraph: expected below %u, found %u",
                    signature, f->n_subgraph, f->signature[i].subgraph);
    f->chosen = true;
    if (f->signature[i].subgraph == 0)
        return ST_OK;
    s = &f->more[f->signature[i].subgraph - 1];
    f->n_tensor = s->n_tensor;
    f->tensor = s->tensor;
    f->n_operator = s->n_operator;
    f->op = s->op;
    f->in = s->in;
    f->out = s->out;
    return ST_OK;
}

enum status tfl_import_with(struct arena *a, const char *name, const uint8_t *data, size_t n_bytes,
                            const struct tfl_choice *choice, struct ir_graph **graph,
                            struct diag *d)
{
    struct tfl_file *file;

    TRY(tfl_read(a, data, n_bytes, &file, d));
    TRY(choose(a, file, choice->signature, d));
    file->sizes = choice->sizes;
    return tfl_build(a, name, file, graph, d);
}

enum status tfl_build(struct arena *a, const char *name, const struct tfl_file *file,
                      struct ir_graph **graph, struct diag *d)
{
    struct tfl_importer m = {.arena = a, .file = file, .d = d, .import_op = tfl_op};

    TRY(check_header(file, d));
    m.g = ir_graph_new(a, name);
    m.copy = ARENA_ARRAY(a, const uint8_t *, file->n_buffer);
    m.merged = ARENA_ARRAY(a, bool, file->n_operator);
    m.tensor_id = ARENA_ARRAY(a, uint32_t, file->n_tensor);
    for (uint32_t i = 0; i < file->n_tensor; i++)
        m.tensor_id[i] = IR_NONE;
    TRY(tfl_sizes(&m));
    TRY(import_inputs(&m));
    TRY(import_ops(&m));
    TRY(import_outputs(&m));
    TRY(ir_link(m.g, d));
    TRY(ir_infer(m.g, d));
    tfl_note_biases(&m);
    *graph = m.g;
    return ST_OK;
}
