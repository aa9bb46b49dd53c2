/* onnx_op.c - the table of ONNX operators, and one node: found, its inputs known, imported. */
#include "onnx.h"
#include "onnx_import.h"

#include <string.h>

#define MS "com.microsoft"

struct rule {
    const char *name, *domain; /* "" is ai.onnx */
    uint32_t min_in, max_in;
    ox_handler *fn;
};

static const struct rule rules[] = {
    {"QuantizeLinear", "", 2, 3, ox_quantize},
    {"DequantizeLinear", "", 2, 3, ox_dequantize},
    {"QuantizeLinear", MS, 2, 3, ox_quantize},
    {"DequantizeLinear", MS, 2, 3, ox_dequantize},
    {"QLinearConv", "", 8, 9, ox_qlinear_conv},
    {"QLinearMatMul", "", 8, 8, ox_qlinear_matmul},
    {"MatMulInteger", "", 2, 4, ox_matmul_integer},
    {"ConvInteger", "", 2, 4, ox_conv_integer},
    {"DynamicQuantizeLinear", "", 1, 1, ox_dynamic_quantize},
    {"QLinearAdd", MS, 8, 8, ox_qlinear_binary},
    {"QLinearMul", MS, 8, 8, ox_qlinear_binary},
    {"QLinearAveragePool", MS, 4, 5, ox_qlinear_pool},
    {"QLinearGlobalAveragePool", MS, 5, 5, ox_qlinear_pool},
    {"QLinearLeakyRelu", MS, 4, 5, ox_qlinear_unary},
    {"QLinearSigmoid", MS, 4, 5, ox_qlinear_unary},
    {"QLinearSoftmax", MS, 5, 5, ox_qlinear_unary},
    {"QGemm", MS, 6, 9, ox_qgemm},
    {"QLinearConcat", MS, 5, 1000, ox_qlinear_concat},
    {"Conv", "", 2, 3, ox_conv},
    {"ConvTranspose", "", 2, 3, ox_conv_transpose},
    {"Resize", "", 1, 4, ox_resize},
    {"Upsample", "", 1, 2, ox_resize},
    {"BatchNormalization", "", 5, 5, ox_batch_norm},
    {"Gemm", "", 2, 3, ox_gemm},
    {"MatMul", "", 2, 2, ox_matmul},
    {"Add", "", 2, 2, ox_binary},
    {"Sub", "", 2, 2, ox_binary},
    {"Mul", "", 2, 2, ox_binary},
    {"Div", "", 2, 2, ox_binary},
    {"Max", "", 1, 1000, ox_variadic},
    {"Min", "", 1, 1000, ox_variadic},
    {"Sum", "", 1, 1000, ox_variadic},
    {"PRelu", "", 2, 2, ox_binary},
    {"Relu", "", 1, 1, ox_unary},
    {"HardSigmoid", "", 1, 1, ox_unary},
    {"Neg", "", 1, 1, ox_unary},
    {"Abs", "", 1, 1, ox_unary},
    {"Sqrt", "", 1, 1, ox_unary},
    {"Exp", "", 1, 1, ox_unary},
    {"Erf", "", 1, 1, ox_unary},
    {"Round", "", 1, 1, ox_unary},
    {"Gelu", "", 1, 1, ox_unary},
    {"Gelu", MS, 1, 1, ox_unary},
    {"Pow", "", 2, 2, ox_pow},
    {"LayerNormalization", "", 2, 3, ox_layer_norm},
    {"InstanceNormalization", "", 3, 3, ox_instance_norm},
    {"GroupNormalization", "", 3, 3, ox_group_norm},
    {"LpNormalization", "", 1, 1, ox_lp_norm},
    {"LSTM", "", 3, 8, ox_recurrent},
    {"GRU", "", 3, 6, ox_recurrent},
    {"RNN", "", 3, 6, ox_recurrent},
    {"Reciprocal", "", 1, 1, ox_curve},
    {"Softsign", "", 1, 1, ox_curve},
    {"Softplus", "", 1, 1, ox_curve},
    {"Mish", "", 1, 1, ox_curve},
    {"Selu", "", 1, 1, ox_curve},
    {"Celu", "", 1, 1, ox_curve},
    {"Elu", "", 1, 1, ox_curve},
    {"Mean", "", 1, 1000, ox_variadic},
    {"LeakyRelu", "", 1, 1, ox_unary},
    {"Sigmoid", "", 1, 1, ox_unary},
    {"Tanh", "", 1, 1, ox_unary},
    {"HardSwish", "", 1, 1, ox_unary},
    {"Clip", "", 1, 3, ox_clip},
    {"Softmax", "", 1, 1, ox_softmax},
    {"LogSoftmax", "", 1, 1, ox_softmax},
    {"AveragePool", "", 1, 1, ox_average_pool},
    {"GlobalAveragePool", "", 1, 1, ox_average_pool},
    {"MaxPool", "", 1, 1, ox_max_pool},
    {"GlobalMaxPool", "", 1, 1, ox_max_pool},
    {"Identity", "", 1, 1, ox_identity},
    {"Dropout", "", 1, 3, ox_identity},
    {"Reshape", "", 1, 2, ox_reshape_node},
    {"Flatten", "", 1, 1, ox_flatten},
    {"Squeeze", "", 1, 2, ox_squeeze},
    {"Unsqueeze", "", 1, 2, ox_squeeze},
    {"Transpose", "", 1, 1, ox_transpose_node},
    {"ReduceMean", "", 1, 2, ox_reduce},
    {"ReduceSum", "", 1, 2, ox_reduce},
    {"ReduceMax", "", 1, 2, ox_reduce},
    {"ReduceMin", "", 1, 2, ox_reduce},
    {"ReduceProd", "", 1, 2, ox_reduce},
    {"CumSum", "", 2, 2, ox_cumsum},
    {"TopK", "", 2, 2, ox_top_k},
    {"ReduceLogSum", "", 1, 2, ox_reduce_log},
    {"ReduceLogSumExp", "", 1, 2, ox_reduce_log},
    {"ReduceL1", "", 1, 2, ox_reduce_norm},
    {"ReduceL2", "", 1, 2, ox_reduce_norm},
    {"ReduceSumSquare", "", 1, 2, ox_reduce_norm},
    {"ArgMax", "", 1, 1, ox_arg},
    {"ArgMin", "", 1, 1, ox_arg},
    {"Slice", "", 1, 5, ox_slice_node},
    {"Split", "", 1, 2, ox_split},
    {"Pad", "", 1, 4, ox_pad_node},
    {"Gather", "", 2, 2, ox_gather_node},
    {"DepthToSpace", "", 1, 1, ox_depth_space},
    {"SpaceToDepth", "", 1, 1, ox_depth_space},
    {"Concat", "", 1, 1000, ox_concat_node},
    {"Constant", "", 0, 0, ox_constant},
    {"Shape", "", 1, 1, ox_shape_node},
    {"Size", "", 1, 1, ox_size},
    {"ConstantOfShape", "", 1, 1, ox_constant_of_shape},
    {"Range", "", 3, 3, ox_range},
    {"Expand", "", 2, 2, ox_tile},
    {"Tile", "", 2, 2, ox_tile},
    {"Mod", "", 2, 2, ox_mod},
    {"Equal", "", 2, 2, ox_compare},
    {"Less", "", 2, 2, ox_compare},
    {"Greater", "", 2, 2, ox_compare},
    {"LessOrEqual", "", 2, 2, ox_compare},
    {"GreaterOrEqual", "", 2, 2, ox_compare},
    {"And", "", 2, 2, ox_compare},
    {"Or", "", 2, 2, ox_compare},
    {"Xor", "", 2, 2, ox_compare},
    {"Not", "", 1, 1, ox_not},
    {"IsNaN", "", 1, 1, ox_is_nan},
    {"ThresholdedRelu", "", 1, 1, ox_thresholded_relu},
    {"Where", "", 3, 3, ox_where},
    {"Floor", "", 1, 1, ox_unary},
    {"Ceil", "", 1, 1, ox_unary},
    {"Log", "", 1, 1, ox_unary},
    {"Sin", "", 1, 1, ox_unary},
    {"Cos", "", 1, 1, ox_unary},
    {"Sign", "", 1, 1, ox_unary},
    {"Cast", "", 1, 1, ox_cast},
};

const char *onnx_operator_name(uint32_t i, const char **domain)
{
    if (i >= sizeof rules / sizeof *rules)
        return NULL;
    *domain = rules[i].domain;
    return rules[i].name;
}

static const char *domain_of(const Onnx__NodeProto *n)
{
    return !n->domain || strcmp(n->domain, "ai.onnx") == 0 ? "" : n->domain;
}

static const struct rule *find_rule(const char *name, const char *domain)
{
    for (uint32_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].name, name) == 0 && strcmp(rules[i].domain, domain) == 0)
            return &rules[i];
    return NULL;
}

/* Every input is known by now. */
static enum status check_inputs(struct ox *m, uint32_t index)
{
    for (size_t i = 0; i < m->node->n_input; i++) {
        const struct ox_value *v = ox_in(m, (uint32_t)i);

        if (v && v->wide && m->node->op_type && strcmp(m->node->op_type, "DequantizeLinear") != 0)
            return FAIL(
                m->d, ST_UNSUPPORTED,
                "input %zu, '%.80s', has quantised values of %s: only DequantizeLinear reads them",
                i, v->name, ox_type_name(v->wide));
        if (!v || v->kind != OX_NONE)
            continue;
        if (v->maker == IR_NONE)
            return FAIL(m->d, ST_MODEL,
                        "input %zu, '%.80s', is made by no node, input or initializer", i, v->name);
        return FAIL(
            m->d, ST_MODEL,
            "input %zu, '%.80s', is made by node %u%s: expected nodes before their readers and "
            "no cycle",
            i, v->name, v->maker, v->maker == index ? " itself" : "");
    }
    return ST_OK;
}

enum status ox_node(struct ox *m, uint32_t index)
{
    const struct rule *rule;

    ox_handler *fold;

    m->node = m->graph->node[index];
    rule = find_rule(m->node->op_type ? m->node->op_type : "", domain_of(m->node));
    if (!rule)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "this operator is not supported ('heddle ops' lists those that are)");
    if (*rule->domain && m->ms_opset == 0)
        return FAIL(m->d, ST_MODEL, "the model does not import domain " MS);
    if (m->node->n_input < rule->min_in || m->node->n_input > rule->max_in)
        return FAIL(m->d, ST_MODEL, "expected %u to %u inputs, found %zu", rule->min_in,
                    rule->max_in, m->node->n_input);
    if (m->node->n_output == 0 || (!*m->node->output[0] && rule->fn != ox_recurrent))
        return FAIL(m->d, ST_MODEL, "output 0 is absent");
    TRY(check_inputs(m, index));
    m->op = rule->name;
    m->row = IR_NONE;
    fold = ox_folder(m);
    return fold ? fold(m) : rule->fn(m);
}
