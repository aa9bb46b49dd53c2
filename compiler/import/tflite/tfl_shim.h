/* tfl_shim.h - a verified TFLite file as plain structs: the only interface between the FlatBuffers
 * library (C++) and the compiler (C). Only the container is verified here: indices may be out of
 * range, shapes absurd, scales NaN. tflite.c checks the meaning. */
#ifndef HEDDLE_COMPILER_IMPORT_TFLITE_TFL_SHIM_H
#define HEDDLE_COMPILER_IMPORT_TFLITE_TFL_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/arena.h"
#include "base/status.h"

struct tfl_ints {
    uint32_t n;
    const int32_t *v;
};

struct tfl_numbers {
    uint32_t n, n_bytes; /* n_bytes: of each, unsigned; any alignment */
    const void *v;
};

/* A level of a sparse constant: all indices of its dimension, or for each node a list of them. */
struct tfl_level {
    bool listed;                     /* SPARSE_CSR */
    int32_t size;                    /* else the number of indices */
    struct tfl_numbers first, index; /* listed: where each node's begin; all of them */
};

/* How the values of a sparse constant are stored: a tree of one level per dimension. */
struct tfl_sparsity {
    struct tfl_ints order; /* the dimension of each level; from the tensor's rank on: of a block */
    struct tfl_ints block; /* the tensor's dimension that each dimension of a block divides */
    uint32_t n_level;
    struct tfl_level *level;
};

struct tfl_tensor {
    const char *name;
    int32_t type; /* TensorType of tflite.fbs */
    const char *type_name;
    struct tfl_ints shape, signature; /* signature: the shape with -1 for open sizes, or empty */
    uint32_t buffer;
    bool is_variable, has_details;
    const struct tfl_sparsity *sparsity; /* or NULL */
    uint32_t n_scale, n_zero_point;
    const float *scale;
    const void *zero_point; /* int64, possibly not aligned to 8 */
    int32_t axis;
};

/* Options of the custom operator TFLite_Detection_PostProcess. */
struct tfl_detection {
    bool present; /* true if the custom options verify as a FlexBuffers map */
    bool regular; /* NMS by class */
    int64_t max_detections, max_classes, n_classes;
    float score_threshold, iou_threshold, y_scale, x_scale, h_scale, w_scale;
};

/* The options that heddle reads, merged into one struct. Fields absent from the table have the
 * format's default. */
struct tfl_options {
    bool present;     /* true if the operator carries options of a kind listed in tflite.fbs */
    const char *kind; /* "Conv2DOptions": a name of BuiltinOptions in tflite.fbs */
    uint32_t unknown; /* number of the first field beyond those of tflite.fbs that is not all zeros;
                       * 0 if none */
    int32_t padding, stride_h, stride_w, dilation_h, dilation_w, filter_h, filter_w;
    int32_t stride_d, dilation_d; /* CONV_3D */
    int32_t activation, axis, weights_format;
    int32_t bias_type;        /* TensorType of the sums of int16 activations */
    int32_t block, number;    /* block: of SPACE_TO_DEPTH and back; number: outputs of SPLIT and
                            * UNPACK, inputs of PACK, rank of SVDF */
    int32_t batch_dims, mode; /* GATHER, dimension of REVERSE_SEQUENCE; MIRROR_PAD */
    int32_t first, second; /* of CALL_ONCE, IF (then, else), WHILE (condition, body), composites */
    int32_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
    bool keep_dims, align_corners, half_pixel_centers, adjoint_x, adjoint_y, approximate, offset;
    bool asymmetric; /* float32 activations of int8 weights are quantised with a zero point */
    bool pot_scale;  /* ADD, SUB of int16: true if power-of-two scales are applied by shifts */
    bool exclusive, reverse;   /* CUMSUM */
    bool time_major, diagonal; /* UNIDIRECTIONAL_SEQUENCE_LSTM: time first; diagonal recurrent
                                * weights */
    float beta, alpha, cell_clip;
    const char *container, *shared_name; /* VAR_HANDLE */
    struct tfl_detection detection;
    struct tfl_ints new_shape, squeezed; /* RESHAPE; dimensions of SQUEEZE, all of size 1 if none */
};

struct tfl_operator {
    uint32_t opcode_index;
    struct tfl_ints in, out, intermediate;
    struct tfl_options options;
};

struct tfl_opcode {
    int32_t builtin;  /* BuiltinOperator */
    const char *name; /* "CONV_2D", "CUSTOM Foo" or "operator 300" */
};

struct tfl_buffer {
    const uint8_t *data; /* points into the file, any alignment; NULL if absent */
    size_t n_bytes;
    bool outside; /* its bytes exceed the file */
};

/* A subgraph other than the first: of a signature, or what an operator runs. */
struct tfl_subgraph {
    struct tfl_ints in, out;
    uint32_t n_tensor, n_operator;
    struct tfl_tensor *tensor;
    struct tfl_operator *op;
};

/* A name by which a subgraph is called; the index may be out of range. */
struct tfl_signature {
    const char *key;
    uint32_t subgraph;
};

struct tfl_file {
    uint32_t version, n_subgraph, n_signature;
    struct tfl_signature *signature;
    struct tfl_subgraph *more; /* subgraphs 1 .. n_subgraph - 1 */
    uint32_t n_opcode, n_tensor, n_operator, n_buffer;
    struct tfl_opcode *opcode;
    struct tfl_tensor *tensor; /* of subgraph 0 */
    struct tfl_operator *op;   /* of subgraph 0 */
    struct tfl_buffer *buffer;
    struct tfl_ints in, out; /* of subgraph 0 */
    const char *sizes;       /* of inputs, that replace the file's (tfl_follow.c), or NULL */
    bool chosen;             /* tensor, op, in, out are those of a signature's subgraph */
};

/* Verify `n_bytes` at `data` (aligned to 8) and unpack into `a`; the result points into `data`. */
enum status tfl_read(struct arena *a, const uint8_t *data, size_t n_bytes, struct tfl_file **file,
                     struct diag *d);

/* Return the name of the file of labels of the first output by the file's metadata, or NULL; the
 * file has been verified, its metadata are here. */
enum status tfl_read_labels(struct arena *a, const uint8_t *data, const char **name,
                            struct diag *d);

#ifdef __cplusplus
}
#endif

#endif
