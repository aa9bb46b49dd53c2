/* onnx_small.h - the small QDQ model that the tests of the ONNX importer change. */
#ifndef HEDDLE_TESTS_COMPILER_IMPORT_ONNX_SMALL_H
#define HEDDLE_TESTS_COMPILER_IMPORT_ONNX_SMALL_H

#include "compiler/import/onnx/onnx.h"
#include "onnx_builder.h"

#define DIM(...)                                                                                   \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

enum { Q_X, DQ_X, DQ_W, CONV, RELU, Q_Y, DQ_Y }; /* nodes of the model, in order */
enum { XS, XZ, W, WS, WZ, YS, YZ };              /* its initializers */

/* float x [1,2,4,4] -> Q -> DQ -> Conv 3x3 to 3 channels, pads 1 -> Relu -> Q -> DQ -> float y */
static inline struct builder *small(struct arena *a)
{
    struct builder *b = b_new(a, 13);
    int8_t w[54];
    const float scale[3] = {0.5f, 0.25f, 0.125f};
    Onnx__NodeProto *conv;

    for (int i = 0; i < 54; i++)
        w[i] = (int8_t)(i - 27);
    b_input(b, "x", 1, 4, DIM(1, 2, 4, 4));
    b_output(b, "y", 1, 4, DIM(1, 3, 4, 4));
    b_float(b, "xs", 0.5f);
    b_i8(b, "xz", 3);
    b_const(b, "w", 3, 4, DIM(3, 2, 3, 3), w, sizeof w);
    b_const(b, "ws", 1, 1, DIM(3), scale, sizeof scale);
    b_const(b, "wz", 3, 1, DIM(3), (const int8_t[3]){0}, 3);
    b_float(b, "ys", 2.0f);
    b_i8(b, "yz", -128);
    b_node(b, "QuantizeLinear", "x xs xz", "xq");
    b_node(b, "DequantizeLinear", "xq xs xz", "xd");
    b_int(b, b_node(b, "DequantizeLinear", "w ws wz", "wd"), "axis", 0);
    conv = b_node(b, "Conv", "xd wd", "c");
    b_ints(b, conv, "pads", 4, DIM(1, 1, 1, 1));
    b_node(b, "Relu", "c", "r");
    b_node(b, "QuantizeLinear", "r ys yz", "yq");
    b_node(b, "DequantizeLinear", "yq ys yz", "y");
    return b;
}

static inline enum status import(struct arena *a, struct builder *b, const struct onnx_options *o,
                                 struct ir_graph **g, struct diag *d)
{
    size_t n;
    const uint8_t *data = b_pack(b, &n);

    *d = (struct diag){0};
    return onnx_import(a, "small", data, n, o, g, d);
}

#endif
