/* tosa_shim.h - a verified TOSA file as plain structs: the only interface between the FlatBuffers
 * library (C++) and the importer (C). Only the container is verified here; tosa.c checks the
 * meaning. */
#ifndef HEDDLE_COMPILER_IMPORT_TOSA_TOSA_SHIM_H
#define HEDDLE_COMPILER_IMPORT_TOSA_TOSA_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/arena.h"
#include "base/status.h"

/* DType and Op of tosa.fbs, as far as the importer tests them. */
enum tosa_type {
    TOSA_BOOL = 1,
    TOSA_INT4,
    TOSA_INT8,
    TOSA_INT16,
    TOSA_INT32,
    TOSA_INT48,
    TOSA_FP32,
    TOSA_SHAPE = 10,
    TOSA_INT64 = 17
};
enum tosa_opcode {
    TOSA_ARGMAX = 1,
    TOSA_AVG_POOL2D,
    TOSA_CONV2D,
    TOSA_DEPTHWISE_CONV2D = 5,
    TOSA_MATMUL = 7,
    TOSA_MAX_POOL2D,
    TOSA_TRANSPOSE_CONV2D = 10,
    TOSA_CLAMP,
    TOSA_ERF,
    TOSA_SIGMOID,
    TOSA_TANH,
    TOSA_ADD,
    TOSA_ARITHMETIC_RIGHT_SHIFT,
    TOSA_BITWISE_AND,
    TOSA_BITWISE_OR,
    TOSA_BITWISE_XOR,
    TOSA_INTDIV,
    TOSA_LOGICAL_AND,
    TOSA_LOGICAL_LEFT_SHIFT,
    TOSA_LOGICAL_RIGHT_SHIFT,
    TOSA_LOGICAL_OR,
    TOSA_LOGICAL_XOR,
    TOSA_MAXIMUM,
    TOSA_MINIMUM,
    TOSA_MUL,
    TOSA_POW,
    TOSA_SUB,
    TOSA_TABLE,
    TOSA_ABS,
    TOSA_BITWISE_NOT,
    TOSA_CEIL,
    TOSA_CLZ,
    TOSA_COS,
    TOSA_EXP,
    TOSA_FLOOR,
    TOSA_LOG,
    TOSA_LOGICAL_NOT,
    TOSA_NEGATE,
    TOSA_RECIPROCAL,
    TOSA_RSQRT,
    TOSA_SIN,
    TOSA_SELECT,
    TOSA_EQUAL,
    TOSA_GREATER,
    TOSA_GREATER_EQUAL,
    TOSA_REDUCE_ALL,
    TOSA_REDUCE_ANY,
    TOSA_REDUCE_MAX,
    TOSA_REDUCE_MIN,
    TOSA_REDUCE_PRODUCT,
    TOSA_REDUCE_SUM,
    TOSA_CONCAT,
    TOSA_PAD,
    TOSA_RESHAPE,
    TOSA_REVERSE,
    TOSA_SLICE,
    TOSA_TILE,
    TOSA_TRANSPOSE,
    TOSA_GATHER,
    TOSA_RESIZE = 64,
    TOSA_CAST,
    TOSA_RESCALE,
    TOSA_CONST,
    TOSA_IDENTITY,
    TOSA_CONST_SHAPE = 75
};
enum {
    TOSA_NEAREST = 1,
    TOSA_BILINEAR = 2,
    TOSA_IGNORE_NAN = 2,
    TOSA_SINGLE_ROUND = 1,
    TOSA_DOUBLE_ROUND = 3
};

#define TOSA_NONE UINT32_MAX

struct tosa_ints {
    uint32_t n;
    const int32_t *v;
};

/* A tensor, or a shape (type TOSA_SHAPE, one dimension). */
struct tosa_tensor {
    const char *name;
    uint32_t type; /* DType */
    const char *type_name;
    struct tosa_ints shape;
    const uint8_t *data; /* points into the file, any alignment; NULL if it is not constant */
    size_t n_bytes;
    bool variable, unranked, outside; /* outside: stored after the FlatBuffer */
};

/* The attributes of all operators; those that the file lacks are 0. */
struct tosa_attributes {
    uint32_t unknown; /* number of the first field beyond those of tosa.fbs that is not all zeros; 0
                       * if none */
    struct tosa_ints kernel, stride, pad, dilation, out_pad, perms;
    int32_t axis;
    uint32_t nan_mode, acc_type, mode, rounding;
    bool round, scale32, per_channel, in_unsigned, out_unsigned;
    const uint8_t *low, *high; /* CLAMP: one value each */
    uint32_t n_low, n_high;    /* bytes */
};

struct tosa_operator {
    uint32_t code; /* Op */
    const char *name;
    uint32_t n_in, n_out;
    const uint32_t *in, *out; /* tensors; TOSA_NONE where the file has none of that name */
    struct tosa_attributes a;
};

/* The only block of the only region. */
struct tosa_file {
    int32_t major, minor;
    uint32_t n_region, n_block, n_tensor, n_operator, n_in, n_out;
    struct tosa_tensor *tensor;
    struct tosa_operator *op;
    const uint32_t *in, *out; /* as those of an operator */
    const char *twice;        /* a name that two tensors have, or NULL */
};

/* Verify `n_bytes` at `data` (aligned to 8) and unpack into `a`; the result points into `data`. */
enum status tosa_read(struct arena *a, const uint8_t *data, size_t n_bytes, struct tosa_file **file,
                      struct diag *d);

#ifdef __cplusplus
}
#endif

#endif
