/* onnx_attributes.c - the opsets that have each operator, and the attributes that the importer knows of it. An attribute
 * that it does not know may change the result, so it is refused by name. */
#include "compiler/import/onnx/onnx_import.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW "auto_pad dilations group kernel_shape pads strides"
#define POOL   "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"
#define REDUCE "axes keepdims noop_with_empty_axes"
#define ARG    "axis keepdims select_last_index"
#define CELL   "activations clip direction hidden_size layout"

/* Names with a space between; name=1: with this integer alone. Those that no handler reads change
 * nothing in inference: momentum, ratio, seed, storage_order (of MaxPool's indices), saturate (of
 * float8), sorted, num_outputs (the outputs are there), extrapolation_value (of
 * tf_crop_and_resize). */
static const struct {
    const char *op, *names;
} known[] = {
    {"ArgMax", ARG},
    {"ArgMin", ARG},
    {"AveragePool", POOL},
    {"BatchNormalization", "epsilon momentum spatial training_mode"},
    {"Cast", "saturate to"},
    {"Celu", "alpha"},
    {"Clip", "max min"},
    {"Concat", "axis"},
    {"Constant", "value value_float value_floats value_int value_ints"},
    {"ConstantOfShape", "value"},
    {"Conv", WINDOW},
    {"ConvInteger", WINDOW},
    {"ConvTranspose", WINDOW " output_padding output_shape"},
    {"CumSum", "exclusive reverse"},
    {"DepthToSpace", "blocksize mode"},
    {"DequantizeLinear", "axis block_size output_dtype"},
    {"Dropout", "ratio seed"},
    {"Elu", "alpha"},
    {"Flatten", "axis"},
    {"GRU", CELL " linear_before_reset"},
    {"Gather", "axis"},
    {"Gelu", "approximate"},
    {"Gemm", "alpha beta transA transB"},
    {"GroupNormalization", "epsilon num_groups stash_type=1"},
    {"HardSigmoid", "alpha beta"},
    {"InstanceNormalization", "epsilon"},
    {"IntQuant", "narrow rounding_mode signed"},
    {"LSTM", CELL " input_forget"},
    {"LayerNormalization", "axis epsilon stash_type=1"},
    {"LeakyRelu", "alpha"},
    {"LogSoftmax", "axis"},
    {"LpNormalization", "axis p"},
    {"MatMulNBits", "K N accuracy_level bits block_size"},
    {"MaxPool", "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"Mod", "fmod"},
    {"Pad", "mode pads value"},
    {"QGemm", "alpha transA transB"},
    {"QLinearAveragePool", POOL " channels_last"},
    {"QLinearConcat", "axis"},
    {"QLinearConv", WINDOW},
    {"QLinearGlobalAveragePool", "channels_last"},
    {"QLinearLeakyRelu", "alpha"},
    {"QLinearSoftmax", "axis opset"},
    {"Quant", "narrow rounding_mode signed"},
    {"QuantizeLinear", "axis block_size output_dtype precision=0 saturate"},
    {"RNN", CELL},
    {"ReduceL1", REDUCE},
    {"ReduceL2", REDUCE},
    {"ReduceLogSum", REDUCE},
    {"ReduceLogSumExp", REDUCE},
    {"ReduceMax", REDUCE},
    {"ReduceMean", REDUCE},
    {"ReduceMin", REDUCE},
    {"ReduceProd", REDUCE},
    {"ReduceSum", REDUCE},
    {"ReduceSumSquare", REDUCE},
    {"Reshape", "allowzero shape"},
    {"Resize", "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
               "extrapolation_value keep_aspect_ratio_policy mode nearest_mode"},
    {"Selu", "alpha gamma"},
    {"Shape", "end start"},
    {"Slice", "axes ends starts"},
    {"Softmax", "axis"},
    {"SpaceToDepth", "blocksize mode"},
    {"Split", "axis num_outputs split"},
    {"Squeeze", "axes"},
    {"ThresholdedRelu", "alpha"},
    {"TopK", "axis k largest sorted"},
    {"Transpose", "perm"},
    {"Unsqueeze", "axes"},
    {"Upsample", "mode scales"},
#define FUNCTION(name, least, most, attributes, text)      {#name, attributes},
#define COMPOSED(name, least, most, attributes, fn)        {#name, attributes},
#define MICROSOFT_ONE(name, least, most, attributes, text) {"com.microsoft." #name, attributes},
#define MICROSOFT_OF(name, least, most, attributes, fn)    {"com.microsoft." #name, attributes},
#include "compiler/import/onnx/onnx_functions.def"
};

/* By the whole name, or the operator's alone. */
static const char *names_of(const struct ox *m)
{
    const char *domain = m->node->domain ? m->node->domain : "";
    const char *name[2] = {arena_printf(m->arena, "%s.%s", domain, m->op), m->op};

    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(known[i].op, name[k]) == 0)
                return known[i].names;
    return "";
}

/* Where `name` begins in the list `names`, or NULL. */
static const char *find(const char *names, const char *name)
{
    const size_t n = strlen(name);

    for (const char *p = names; n != 0 && (p = strstr(p, name)) != NULL; p++)
        if ((p == names || p[-1] == ' ') && strchr(" =", p[n]) != NULL)
            return p;
    return NULL;
}

enum status ox_check_attributes(struct ox *m)
{
    const char *names = names_of(m);

    for (size_t i = 0; i < m->node->n_attribute; i++) {
        const Onnx__AttributeProto *a = m->node->attribute[i];
        const char *name = a->name ? a->name : "", *at = find(names, name);

        if (at == NULL)
            return FAIL(m->d, ST_UNSUPPORTED, "attribute '%.80s' is not known here: expected %s%s",
                        name, *names ? "one of " : "none", names);
        at += strlen(name);
        if (*at == '=' && !(a->has_i && a->i == at[1] - '0'))
            return FAIL(m->d, ST_UNSUPPORTED, "attribute %s: expected %c, found %lld", name, at[1],
                        (long long)a->i);
    }
    return ST_OK;
}

static const struct {
    const char *name, *opsets;
} since[] = {
#define SINCE(name, opsets) {#name, opsets},
#include "compiler/import/onnx/onnx_since.def"
};

/* A node of a text, whose name is its operator's, is of the newest opset. */
enum status ox_check_since(struct ox *m, const char *op)
{
    for (uint32_t i = 0; m->node->name != m->node->op_type && i < sizeof since / sizeof *since; i++)
        if (strcmp(since[i].name, op) == 0 && strtol(since[i].opsets, NULL, 10) > m->opset)
            return FAIL(m->d, ST_MODEL, "the operator is of opset %ld and later",
                        strtol(since[i].opsets, NULL, 10));
    return ST_OK;
}
