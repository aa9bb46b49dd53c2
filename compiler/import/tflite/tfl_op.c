/* tfl_op.c - one operator of a TFLite file: opcode, options, row. */
#include "compiler/import/common/import_fold.h"
#include "tfl_import.h"
#include "tflite.h"

#include <string.h>

/* The import rule of a builtin operator, from column TFLITE of operators.def. `options`: the
 * options table that it must carry; NONE if it needs none. `n_value`: the number of leading inputs
 * that become inputs of the ir_op, or ALL; the others are parameters. */
struct rule {
    const char *name, *options;
    uint32_t n_value, min_in, max_in;
    tfl_rule *fn;
};

enum { ALL = 255 };

#define OPERATOR(code, name, columns) static const struct rule rules_##code[] = {columns{0}};
#define TFLITE(name, options, n_value, min_in, max_in, fn)                                         \
    {#name, #options, n_value, min_in, max_in, tfl_rule_##fn},
#include "operators/operators.def"

static const struct rule *const rules[] = {
#define OPERATOR(code, name, columns) rules_##code,
#include "operators/operators.def"
};

enum { ANY = 0 }; /* ANY number of outputs: the builder checks it */

/* Operators made of several ir_ops, or of none. */
static const struct built {
    const char *name, *options;
    uint32_t min_in, max_in, n_out;
    tfl_builder *build;
} builts[] = {
    {"SPLIT", "SplitOptions", 2, 2, ANY, tfl_split},
    {"SPLIT_V", "SplitVOptions", 3, 3, ANY, tfl_split_v},
    {"PACK", "PackOptions", 1, 1024, 1, tfl_pack},
    {"UNPACK", "UnpackOptions", 1, 1, ANY, tfl_unpack},
    {"STRIDED_SLICE", "StridedSliceOptions", 4, 4, 1, tfl_strided_slice},
    {"GATHER", "GatherOptions", 2, 2, 1, tfl_gather},
    {"REVERSE_SEQUENCE", "NONE", 2, 2, 1, tfl_reverse_sequence},
    {"SCATTER_ND", "NONE", 3, 3, 1, tfl_scatter_nd},
    {"EMBEDDING_LOOKUP", "NONE", 2, 2, 1, tfl_embedding},
    {"NEG", "NONE", 1, 1, 1, tfl_neg},
    {"ABS", "NONE", 1, 1, 1, tfl_abs},
    {"SIGN", "NONE", 1, 1, 1, tfl_sign},
    {"SQRT", "NONE", 1, 1, 1, tfl_sqrt},
    {"ZEROS_LIKE", "NONE", 1, 1, 1, tfl_zeros_like},
    {"ADD_N", "NONE", 1, 1024, 1, tfl_add_n},
    {"TOPK_V2", "NONE", 2, 2, 2, tfl_top_k},
    {"ONE_HOT", "OneHotOptions", 4, 4, 1, tfl_one_hot},
    {"FILL", "NONE", 2, 2, 1, tfl_fill},
    {"RANGE", "NONE", 3, 3, 1, tfl_range},
    {"TILE", "NONE", 2, 2, 1, tfl_tile},
    {"SQUARE", "NONE", 1, 1, 1, tfl_square},
    {"SPACE_TO_DEPTH", "SpaceToDepthOptions", 1, 1, 1, tfl_space_to_depth},
    {"DEPTH_TO_SPACE", "DepthToSpaceOptions", 1, 1, 1, tfl_depth_to_space},
    {"SPACE_TO_BATCH_ND", "NONE", 3, 3, 1, tfl_space_to_batch},
    {"BATCH_TO_SPACE_ND", "NONE", 3, 3, 1, tfl_batch_to_space},
    {"TRANSPOSE_CONV", "TransposeConvOptions", 3, 4, 1, tfl_transpose_conv},
    {"CONV_3D", "Conv3DOptions", 2, 3, 1, tfl_conv_3d},
    {"MIRROR_PAD", "MirrorPadOptions", 2, 2, 1, tfl_mirror_pad},
    {"RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions", 2, 2, 1, tfl_resize_nearest},
    {"RESIZE_BILINEAR", "ResizeBilinearOptions", 2, 2, 1, tfl_resize_bilinear},
    {"REVERSE_V2", "NONE", 2, 2, 1, tfl_reverse},
    {"BROADCAST_TO", "NONE", 2, 2, 1, tfl_broadcast_to},
    {"DENSIFY", "NONE", 1, 1, 1, tfl_broadcast_to}, /* its input is dense (tfl_sparse.c) */
    {"SHAPE", "NONE", 1, 1, 1, tfl_shape},
    {"RANK", "NONE", 1, 1, 1, tfl_rank},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", "UnidirectionalSequenceLSTMOptions", 20, 24, 1, tfl_lstm},
    {"SVDF", "SVDFOptions", 5, 5, 1, tfl_svdf},
    {"CUSTOM TFLite_Detection_PostProcess", "NONE", 3, 3, 4, tfl_detection_post_process},
    {"VAR_HANDLE", "VarHandleOptions", 0, 0, ANY, tfl_var_handle},
    {"READ_VARIABLE", "NONE", 1, 1, 1, tfl_read_variable},
    {"ASSIGN_VARIABLE", "NONE", 2, 2, ANY, tfl_assign_variable},
    {"IF", "IfOptions", 1, 1025, ANY, tfl_if},
    {"WHILE", "WhileOptions", 1, 1024, ANY, tfl_while},
    {"STABLEHLO_COMPOSITE", "StableHLOCompositeOptions", 1, 1024, ANY, tfl_composite},
    {"CALL_ONCE", "CallOnceOptions", 0, 0, ANY, tfl_call_once},
};

const char *tfl_operator_name(uint32_t i)
{
    for (uint32_t code = 0; code < IR_OPCODES; code++)
        for (const struct rule *r = rules[code]; r->name != NULL; r++)
            if (i-- == 0)
                return r->name;
    return i < sizeof builts / sizeof *builts ? builts[i].name : NULL;
}

static const struct built *find_built(const char *name)
{
    for (uint32_t i = 0; i < sizeof builts / sizeof *builts; i++)
        if (strcmp(builts[i].name, name) == 0)
            return &builts[i];
    return NULL;
}

static const struct rule *find_rule(const char *name, enum ir_opcode *opcode)
{
    for (uint32_t code = 0; code < IR_OPCODES; code++)
        for (const struct rule *r = rules[code]; r->name != NULL; r++)
            if (strcmp(r->name, name) == 0) {
                *opcode = (enum ir_opcode)code;
                return r;
            }
    return NULL;
}

/* The row of operator `index`: the operator's around it inside a subgraph. */
static uint32_t row_of(const struct tfl_importer *m, uint32_t index)
{
    return m->depth == 0 ? index : m->call_row;
}

static enum status op_inputs(struct tfl_importer *m, const struct tfl_operator *src,
                             struct ir_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (src->in.v[i] != -1) /* else optional, absent */
            TRY(tfl_value(m, src, i, &op->in[i]));
    return ST_OK;
}

static enum status op_output(struct tfl_importer *m, const struct tfl_operator *src,
                             struct ir_op *op)
{
    TRY(tfl_want_outputs(m, src, 1));
    TRY(tfl_result(m, src, 0, &op->out[0]));
    m->g->tensor[op->out[0]]->producer = op->id;
    return ST_OK;
}

static void set_row(struct tfl_importer *m, const struct ir_op *op)
{
    struct ir_row *row = &m->g->row[op->row];
    const struct ir_tensor *y = ir_out(m->g, op, 0);

    row->name = arena_printf(m->arena, "%02u_%s", op->row, ir_op_info(op->opcode)->name);
    row->tensor = y->name;
    row->shape = ir_shape_text(m->arena, y->rank, y->dim);
    row->macs = ir_macs(m->g, op);
}

static enum status check_options(struct tfl_importer *m, const struct tfl_operator *src,
                                 const char *options, uint32_t min_in, uint32_t max_in)
{
    const char *found = src->options.present ? src->options.kind : "NONE";

    if (strcmp(options, "NONE") != 0 && strcmp(options, found) != 0)
        return FAIL(m->d, ST_MODEL, "options: expected %s, found %s", options, found);
    if (src->options.unknown != 0)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "options: field %u of %s is not known here: expected its default",
                    src->options.unknown, found);
    if (src->in.n < min_in || src->in.n > max_in)
        return FAIL(m->d, ST_UNSUPPORTED, "expected %u to %u inputs, found %u", min_in, max_in,
                    src->in.n);
    return ST_OK;
}

/* Name the row: "SPLIT_V" becomes "04_split_v", "CUSTOM Name" becomes "04_custom_name". The first
 * output names the row's tensor. */
static void name_row(struct tfl_importer *m, const struct tfl_operator *src, uint32_t index)
{
    struct ir_row *row = &m->g->row[index];
    char *name = arena_printf(m->arena, "%02u_%s", index, row->op);

    for (char *c = name; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
        else if (*c == ' ')
            *c = '_';
    row->name = name;
    if (src->out.n > 0 && (uint32_t)src->out.v[0] < m->file->n_tensor &&
        m->tensor_id[src->out.v[0]] != IR_NONE) {
        const struct ir_tensor *y = m->g->tensor[m->tensor_id[src->out.v[0]]];

        row->tensor = y->name;
        row->shape = ir_shape_text(m->arena, y->rank, y->dim);
    }
}

static enum status build(struct tfl_importer *m, const struct built *b,
                         const struct tfl_operator *src, uint32_t index)
{
    const uint32_t row = row_of(m, index);

    TRY(check_options(m, src, b->options, b->min_in, b->max_in));
    if (b->n_out != ANY)
        TRY(tfl_want_outputs(m, src, b->n_out));
    if (!m->merged[index])
        TRY(b->build(m, src, row));
    if (m->depth == 0)
        name_row(m, src, row);
    return ST_OK;
}

enum status tfl_op(struct tfl_importer *m, uint32_t index)
{
    const struct tfl_operator *src = &m->file->op[index];
    const char *name = m->file->opcode[src->opcode_index].name;
    const uint32_t row = row_of(m, index);
    enum ir_opcode opcode;
    const struct rule *rule = find_rule(name, &opcode);
    struct ir_op *op;

    if (find_built(name) != NULL)
        return build(m, find_built(name), src, index);
    if (rule == NULL && (strcmp(name, "WHERE") == 0 || strcmp(name, "UNIQUE") == 0))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "the shape of its result depends on values: export the network that ends "
                    "before it");
    if (rule == NULL)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "this operator is not supported ('heddle ops' lists "
                    "those that are)");
    TRY(check_options(m, src, rule->options, rule->min_in, rule->max_in));
    op = ir_op_new(m->g, opcode, row, rule->n_value == ALL ? src->in.n : rule->n_value, 1);
    TRY(op_inputs(m, src, op));
    TRY(op_output(m, src, op));
    if (op->in[0] == IR_NONE)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    TRY(rule->fn(m, src, op));
    if (m->depth == 0)
        set_row(m, op);
    else
        m->g->row[row].macs += ir_macs(m->g, op);
    return import_fold(m->g, op, m->d);
}
