/* api_ops.c - "heddle ops": a row an operator, then the names under which files have them. */
#include <stdio.h>
#include <string.h>

#include "compiler/import/onnx/onnx.h"
#include "compiler/import/tflite/tflite.h"
#include "compiler/layout/geometry.h"
#include "compiler/legalise/legalise.h"
#include "context.h"

/* Operators that legalise turns into others before targets are asked. */
static const char *becomes(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_LSTM: return "UNIDIRECTIONAL_SEQUENCE_LSTM; int16 cell";
    case IR_OP_SVDF: return "int16 state";
    case IR_OP_DETECTION: return "TFLite_Detection_PostProcess, fast NMS";
    case IR_OP_SUM: return "of int8 the oracles disagree";
    case IR_OP_BATCH_MATMUL: return "also FULLY_CONNECTED with computed weights";
    case IR_OP_PAD: return "folded into convolutions where it can be";
    case IR_OP_RESHAPE: return "moves no data";
    case IR_OP_SLICE: return "also SPLIT, STRIDED_SLICE, UNPACK, REVERSE_V2";
    case IR_OP_REDUCE_MAX: return "also REDUCE_ANY of bool";
    case IR_OP_REDUCE_MIN: return "also REDUCE_ALL of bool";
    case IR_OP_SELECT: return "also SELECT_V2; bool condition";
    case IR_OP_GATHER: return "also TILE, MIRROR_PAD, BROADCAST_TO, RESIZE_NEAREST_NEIGHBOR";
    case IR_OP_TRANSPOSE: return "also SPACE_TO_DEPTH, DEPTH_TO_SPACE, SPACE_TO_BATCH_ND and back";
    case IR_OP_CONCATENATION: return "also PACK";
    default: return lgl_becomes_lut(opcode) ? "becomes lut" : "";
    }
}

/* Types that an operator's first input may have; uint8 becomes int8 at the graph's border, int16
 * (int8 weights) stays on the host. */
static const char *types_of(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_RESHAPE:
    case IR_OP_CONCATENATION:
    case IR_OP_TRANSPOSE:
    case IR_OP_SLICE:
    case IR_OP_GATHER:
    case IR_OP_GATHER_ND:
    case IR_OP_PAD:
    case IR_OP_READ_VARIABLE:
    case IR_OP_EQUAL:
    case IR_OP_NOT_EQUAL:
    case IR_OP_SELECT:
    case IR_OP_ASSIGN_VARIABLE: return "any";
    case IR_OP_LESS:
    case IR_OP_LESS_EQUAL:
    case IR_OP_GREATER:
    case IR_OP_GREATER_EQUAL: return "any but bool";
    case IR_OP_LOGICAL_AND:
    case IR_OP_LOGICAL_OR:
    case IR_OP_LOGICAL_NOT: return "bool";
    case IR_OP_QUANTIZE: return "int8, uint8, int16, float32";
    case IR_OP_ARG_MAX:
    case IR_OP_ARG_MIN: return "int8, uint8, float32";
    case IR_OP_RESIZE_BILINEAR: return "int8, uint8, int16";
    case IR_OP_LSTM:
    case IR_OP_SVDF:
    case IR_OP_L2_NORMALIZATION: return "int8";
    case IR_OP_DIV:
    case IR_OP_INTERPOLATE:
    case IR_OP_DETECTION:
    case IR_OP_HARD_SIGMOID:
    case IR_OP_NEG:
    case IR_OP_SQRT:
    case IR_OP_ROUND:
    case IR_OP_FLOOR:
    case IR_OP_CEIL:
    case IR_OP_POW:
    case IR_OP_REDUCE_PROD:
    case IR_OP_CUMSUM:
    case IR_OP_SIGN:
    case IR_OP_SIN:
    case IR_OP_COS:
    case IR_OP_FLOOR_DIV:
    case IR_OP_FLOOR_MOD:
    case IR_OP_ERF: return "";
    case IR_OP_TOP_K:
    case IR_OP_LOG_SOFTMAX:
    case IR_OP_LOG:
    case IR_OP_RSQRT:
    case IR_OP_EXP:
    case IR_OP_ELU:
    case IR_OP_GELU:
    case IR_OP_CLIP:
    case IR_OP_RELU_N1_TO_1:
    case IR_OP_RELU_0_TO_1:
    case IR_OP_HARD_SWISH:
    case IR_OP_SUM:
    case IR_OP_PRELU:
    case IR_OP_SQUARED_DIFFERENCE:
    case IR_OP_MATMUL_INTEGER:
    case IR_OP_CONV_INTEGER:
    case IR_OP_LUT: return "int8, uint8";
    case IR_OP_CAST: return "int8, uint8, int16, int32, int64, bool, float32";
    case IR_OP_RESCALE: return "uint8";
    default: return "int8, uint8, int16";
    }
}

/* The outside runtime that an operator's answers are compared with (tests/oracle). */
static const char *tested_against(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_ELU: return "-";
    case IR_OP_INTERPOLATE:
    case IR_OP_HARD_SIGMOID:
    case IR_OP_NEG:
    case IR_OP_SQRT:
    case IR_OP_ERF:
    case IR_OP_ROUND:
    case IR_OP_MATMUL_INTEGER:
    case IR_OP_CONV_INTEGER:
    case IR_OP_POW:
    case IR_OP_REDUCE_PROD:
    case IR_OP_CUMSUM:
    case IR_OP_CLIP: return "ONNX Runtime";
    default: return "TFLite";
    }
}

/* A word of a list, on a new line where it would be too long. */
static void add_word(struct text *t, size_t *column, const char *domain, const char *name)
{
    size_t n = strlen(domain) + (*domain != '\0') + strlen(name);

    if (*column + 1 + n > 100) {
        text_add(t, "\n   ");
        *column = 3;
    }
    text_printf(t, " %s%s%s", domain, *domain ? "." : "", name);
    *column += 1 + n;
}

static void file_names(struct text *t)
{
    const char *name, *domain;
    size_t column = 7;

    text_add(t, "\nTFLite:");
    for (uint32_t i = 0; (name = tfl_operator_name(i)) != NULL; i++)
        add_word(t, &column, "", name);
    column = 5;
    text_add(t, "\n\nONNX:");
    for (uint32_t i = 0; (name = onnx_operator_name(i, &domain)) != NULL; i++)
        add_word(t, &column, domain, name);
    text_add(t, "\n");
}

static void rows(struct text *t)
{
    text_printf(t, "%-20s %-42s %-10s %-20s %-14s %s\n", "operator", "types", "systolic",
                "host kernel", "tested against", "note");
    for (int i = 0; i < IR_OP_COUNT; i++) {
        const char *unit = geo_unit((enum ir_opcode)i),
                   *kernel = emit_host_kernel((enum ir_opcode)i);
        const char *const part[3] = {types_of((enum ir_opcode)i),
                                     ir_has_float((enum ir_opcode)i) ? "float32" : "",
                                     ir_has_int((enum ir_opcode)i) ? "int32, int64" : ""};
        char types[64] = "";
        for (uint32_t k = 0; k < 3; k++)
            snprintf(types + strlen(types), sizeof types - strlen(types), "%s%s",
                     *types && *part[k] ? ", " : "", part[k]);
        text_printf(t, "%-20s %-42s %-10s %-20s %-14s %s\n", ir_op_info((enum ir_opcode)i)->name,
                    types, unit ? unit : "-", kernel ? kernel : "-",
                    tested_against((enum ir_opcode)i), becomes((enum ir_opcode)i));
    }
}

void ops_print(struct text *t)
{
    rows(t);
    file_names(t);
}
