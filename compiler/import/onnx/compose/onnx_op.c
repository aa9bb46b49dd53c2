/* onnx_op.c - the table of ONNX operators, and one node: found, its inputs known, imported. */
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/rewrites/onnx_rewrites.h"

#include <string.h>

#define AI_ONNX   ""
#define MICROSOFT "com.microsoft"
#define QONNX     "qonnx.custom_op.general"

struct rule {
    const char *name, *domain;
    uint32_t min_in, max_in;
    ox_handler *fn;
};

/* Operators with a row of the IR's, exactly or mostly. */
#define OPERATOR(code, name, columns)          static const struct rule rules_##code[] = {columns{0}};
#define ONNX(name, domain, min_in, max_in, fn) {#name, domain, min_in, max_in, ox_##fn},
#include "operators/operators.def"

/* Operators made of several of ours, or of none. */
static const struct rule composed[] = {
    {"DynamicQuantizeLinear", AI_ONNX, 1, 1, ox_dynamic_quantize},
    {"MatMulNBits", MICROSOFT, 3, 6, ox_matmul_nbits},
    {"Quant", QONNX, 4, 4, ox_quant},
    {"IntQuant", QONNX, 4, 4, ox_quant},
    {"BipolarQuant", QONNX, 2, 2, ox_quant},
    {"Resize", AI_ONNX, 1, 4, ox_resize},
    {"Upsample", AI_ONNX, 1, 2, ox_resize},
    {"BatchNormalization", AI_ONNX, 5, 5, ox_batch_norm},
    {"LayerNormalization", AI_ONNX, 2, 3, ox_layer_rows},
    {"InstanceNormalization", AI_ONNX, 3, 3, ox_instance_images},
    {"GroupNormalization", AI_ONNX, 3, 3, ox_group_images},
    {"LpNormalization", AI_ONNX, 1, 1, ox_lp_norm},
    {"LSTM", AI_ONNX, 3, 8, ox_recurrent},
    {"GRU", AI_ONNX, 3, 6, ox_recurrent},
    {"RNN", AI_ONNX, 3, 6, ox_recurrent},
    {"Reciprocal", AI_ONNX, 1, 1, ox_curve},
    {"Softsign", AI_ONNX, 1, 1, ox_curve},
    {"Softplus", AI_ONNX, 1, 1, ox_curve},
    {"Mish", AI_ONNX, 1, 1, ox_curve},
    {"Selu", AI_ONNX, 1, 1, ox_curve},
    {"Celu", AI_ONNX, 1, 1, ox_curve},
    {"Elu", AI_ONNX, 1, 1, ox_curve},
    {"Mean", AI_ONNX, 1, 1000, ox_variadic},
    {"Identity", AI_ONNX, 1, 1, ox_identity},
    {"Dropout", AI_ONNX, 1, 3, ox_dropout},
    {"ReduceLogSum", AI_ONNX, 1, 2, ox_reduce_log},
    {"ReduceLogSumExp", AI_ONNX, 1, 2, ox_reduce_log},
    {"ReduceL1", AI_ONNX, 1, 2, ox_reduce_norm},
    {"ReduceL2", AI_ONNX, 1, 2, ox_reduce_norm},
    {"ReduceSumSquare", AI_ONNX, 1, 2, ox_reduce_norm},
    {"Split", AI_ONNX, 1, 2, ox_split},
    {"DepthToSpace", AI_ONNX, 1, 1, ox_depth_space},
    {"SpaceToDepth", AI_ONNX, 1, 1, ox_depth_space},
    {"Constant", AI_ONNX, 0, 0, ox_constant},
    {"Shape", AI_ONNX, 1, 1, ox_shape_node},
    {"Size", AI_ONNX, 1, 1, ox_size},
    {"ConstantOfShape", AI_ONNX, 1, 1, ox_constant_of_shape},
    {"Range", AI_ONNX, 3, 3, ox_range},
    {"Expand", AI_ONNX, 2, 2, ox_tile},
    {"Tile", AI_ONNX, 2, 2, ox_tile},
    {"IsNaN", AI_ONNX, 1, 1, ox_is_nan},
    {"ThresholdedRelu", AI_ONNX, 1, 1, ox_thresholded_relu},
#define FUNCTION(name, least, most, attributes, text) {#name, AI_ONNX, least, most, ox_function},
#define COMPOSED(name, least, most, attributes, fn)   {#name, AI_ONNX, least, most, ox_##fn},
#define MICROSOFT_ONE(name, least, most, attributes, text)                                         \
    {#name, MICROSOFT, least, most, ox_function},
#define MICROSOFT_OF(name, least, most, attributes, fn) {#name, MICROSOFT, least, most, ox_##fn},
#include "compiler/import/onnx/onnx_functions.def"
    {0},
};

static const struct rule *const rules[] = {
#define OPERATOR(code, name, columns) rules_##code,
#include "operators/operators.def"
    composed,
};

const char *onnx_operator_name(uint32_t i, const char **domain)
{
    for (uint32_t code = 0; code <= IR_OPCODES; code++)
        for (const struct rule *r = rules[code]; r->name != NULL; r++)
            if (i-- == 0) {
                *domain = r->domain;
                return r->name;
            }
    return NULL;
}

/* Earlier names of QONNX's domain are that. */
static const char *domain_of(const Onnx__NodeProto *n)
{
    const char *d = n->domain ? n->domain : "";

    return strcmp(d, "ai.onnx") == 0 ? AI_ONNX : ox_is_qonnx(d) ? QONNX : d;
}

static const struct rule *find_rule(const char *name, const char *domain, enum ir_opcode *opcode)
{
    for (uint32_t code = 0; code <= IR_OPCODES; code++)
        for (const struct rule *r = rules[code]; r->name != NULL; r++)
            if (strcmp(r->name, name) == 0 && strcmp(r->domain, domain) == 0) {
                *opcode = (enum ir_opcode)code;
                return r;
            }
    return NULL;
}

static bool moves_codes(const Onnx__NodeProto *n)
{
    return ox_moves_values(n) || ox_is_node(n, "Identity");
}

/* Every input is known by now. */
static enum status check_inputs(struct ox *m, uint32_t index)
{
    static const char *const dequantise[] = {"DequantizeLinear", NULL};

    for (size_t i = 0; i < m->node->n_input; i++) {
        const struct ox_value *v = ox_in(m, (uint32_t)i);

        if (v && v->kind == OX_TENSOR && v->wide && !moves_codes(m->node) &&
            !ox_is_one_of(m->node, dequantise))
            return FAIL(
                m->d, ST_UNSUPPORTED,
                "input %zu, '%.80s', has quantised values of %s: only DequantizeLinear reads them",
                i, v->name, ox_type_name(v->wide));
        if (!v || v->kind != OX_NONE)
            continue;
        if (v->maker == IR_NONE)
            return FAIL(m->d, ST_MODEL,
                        "input %zu, '%.80s', is made by no node, input or initializer", i, v->name);
        return FAIL(m->d, ST_MODEL, "input %zu, '%.80s', is made by node %u%s: expected no cycle",
                    i, v->name, m->place[v->maker], v->maker == index ? " itself" : "");
    }
    return ST_OK;
}

enum status ox_import_node(struct ox *m, const Onnx__NodeProto *node, uint32_t index)
{
    const struct rule *rule;
    ox_handler *fold;
    enum status st;

    m->node = node;
    if (ox_called(m, node)) {
        m->op = node->op_type;
        if (node->n_output == 0 || !*node->output[0])
            return FAIL(m->d, ST_MODEL, "output 0 is absent");
        TRY(check_inputs(m, index));
        return ox_call(m, ox_called(m, node));
    }
    rule = find_rule(m->node->op_type ? m->node->op_type : "", domain_of(m->node), &m->opcode);
    if (!rule && *domain_of(node) == '\0' && node->op_type && ox_is_by_values(node->op_type))
        return ox_refuse_by_values(m);
    if (!rule)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "this operator is not supported ('heddle ops' lists those that are)");
    if (strcmp(rule->domain, MICROSOFT) == 0 && m->ms_opset == 0)
        return FAIL(m->d, ST_MODEL, "the model does not import domain " MICROSOFT);
    m->op = rule->name;
    TRY(ox_check_attributes(m));
    if (*rule->domain == '\0')
        TRY(ox_check_since(m, m->op));
    if (m->node->n_input < rule->min_in || m->node->n_input > rule->max_in)
        return FAIL(m->d, ST_MODEL, "expected %u to %u inputs, found %zu", rule->min_in,
                    rule->max_in, m->node->n_input);
    if (m->node->n_output == 0 || (!*m->node->output[0] && rule->fn != ox_recurrent))
        return FAIL(m->d, ST_MODEL, "output 0 is absent");
    TRY(check_inputs(m, index));
    m->row = IR_NONE;
    m->scope = NULL;
    fold = ox_folder(m);
    if (!fold && (ox_spreads(m, &st) || ox_narrow(m, &st) || ox_by_channels(m, &st)))
        return st;
    TRY(fold ? fold(m) : rule->fn(m));
    m->node = node;
    if (moves_codes(node) && ox_in(m, 0)->kind == OX_TENSOR)
        ox_out(m, 0)->wide = ox_in(m, 0)->wide;
    return ST_OK;
}
