/* quantise.h - post-training static quantisation: from a float32 graph and samples of its inputs to
 * an ONNX file of int8 values between QuantizeLinear and DequantizeLinear. docs/QUANTISE.md states
 * what is quantised and how ranges and scales are computed. */
#ifndef HEDDLE_QUANTISE_H
#define HEDDLE_QUANTISE_H

#include "compiler/ir/ir.h"

enum quant_ranges { QUANT_MINMAX, QUANT_PERCENTILE, QUANT_MSE };

/* Scales that a target's arithmetic needs. */
struct quant_limits {
    bool per_tensor;   /* one scale for all output channels of a layer's weights */
    bool power_of_two; /* every scale is a power of two */
    bool no_zero;      /* zero points are 0, except those of outputs of a fixed range */
};

struct quant_options {
    enum quant_ranges ranges;
    double percentile; /* for QUANT_PERCENTILE: percent of a tensor's values within its range */
    bool bias_correction;
    struct quant_limits limits;
    const char *keep_float; /* "first,last,NAME,...", or NULL */
};

/* Inputs of several inferences, one after another, for each graph input. */
struct quant_samples {
    uint32_t n;
    const uint8_t *const *in;
    const char *name; /* name of the files, for messages */
};

/* A layer of the network, and the distance of its quantised output from the float one: 10 *
 * log10(signal / noise), summed over all samples; infinite if equal. */
struct quant_layer {
    uint32_t row;
    bool quantised;
    const char *reason; /* why it stays float32; NULL if it is quantised */
    double network;     /* in the quantised network, errors of earlier layers included */
    double own;         /* of this layer alone, between float layers */
    double kept;        /* of the network's outputs if this layer stays float; 0 if not tried */
};

struct quant_result {
    struct quant_limits limits; /* as given */
    uint32_t n_layer;
    struct quant_layer *layer; /* in the file's order; rows that only move values are left out */
    double output;             /* of all outputs of the network */
    const uint8_t *file;       /* the ONNX file */
    size_t n_bytes;
};

/* Called between inferences to report progress: `done` of `all`. */
typedef void quant_progress(void *ctx, const char *what, uint32_t done, uint32_t all);

struct quant_job {
    struct arena *arena;
    const struct ir_graph *g; /* as imported: float32, SAME padding resolved */
    struct quant_options options;
    struct quant_samples samples;
    quant_progress *progress; /* or NULL */
    void *ctx;
};

/* ST_UNSUPPORTED: the graph is quantised already, or has operators that cannot be written as ONNX.
 * ST_USAGE: samples with NaN, or names of layers that do not exist. */
enum status quantise(const struct quant_job *job, struct quant_result *result, struct diag *d);

/* Write a graph of int8, as imported, as an ONNX file of the same values (qdq_export.c).
 * ST_UNSUPPORTED: a tensor or an operator cannot be written as ONNX. */
enum status qdq_export(struct arena *a, const struct ir_graph *graph, const uint8_t **file,
                       size_t *n_bytes, struct diag *d);

#endif
