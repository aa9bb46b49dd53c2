/* quant_own.h - declarations shared by the files of this folder: a network being quantised. */
#ifndef HEDDLE_QUANTISE_OWN_H
#define HEDDLE_QUANTISE_OWN_H

#include "quantise.h"

enum { QUANT_BINS = 2048 };

/* The statistics of a float32 tensor over the samples. */
struct quant_seen {
    float low, high;   /* range of its values, extended to include 0 */
    bool finite;       /* all are */
    uint64_t *bin;     /* QUANT_BINS bins from low to high; NULL if not needed */
    uint32_t n_sum;    /* for bias correction: sums by index of the innermost dimension, or */
    double *sum;       /* of a dense layer's sums; NULL if not needed */
    uint64_t n_values; /* number of values in each sum */
};

/* int8 of one scale: real = scale * (value - zero). */
struct quant_scale {
    float scale;
    int32_t zero;
};

/* Weights of a layer: symmetric int8, one scale per output channel, in the IR's order. */
struct quant_weights {
    uint32_t n; /* output channels */
    const float *scale;
    const int8_t *code;
    const float *bias_scale; /* input scale times weight scale */
    const int32_t *bias;     /* NULL: none */
};

/* The quantised form of a network, for one choice of layers that stay float. */
struct quant {
    struct arena *arena;
    const struct ir_graph *g;
    const struct quant_options *options;
    const struct quant_seen *seen; /* by tensor */
    const bool *keep;              /* by row: stays float32 */
    bool *fused;                   /* by operator: part of a pattern that the compiler fuses */
    bool *inside;                  /* by tensor: inside such a pattern, so float32 */
    uint32_t *source;              /* by tensor: the tensor it is a function of, or IR_NONE */
    bool *op;                      /* by operator: true if it computes on quantised values */
    const char **reason;           /* by operator: why not */
    uint32_t *group;               /* by tensor: number of its group; tensors of one group share a
                                    * scale */
    bool *tensor;                  /* by tensor: true if it has a scale */
    struct quant_scale *scale;     /* by tensor, constants that are operands included */
    struct quant_weights *weights; /* by operator; n is 0 if it has none */
};

/* --- quant_forms.c: properties of operators --- */

enum quant_form {
    QUANT_NO_FORM, /* float32 only */
    QUANT_COMPUTES,
    QUANT_MOVES,    /* its output shares its operands' scale */
    QUANT_PRODUCES, /* has constant weights in[1] and a bias in[2] */
};
enum quant_form quant_form_of(const struct ir_graph *g, const struct ir_op *op);
/* Return true if every output of this operator has the fixed range low to high; if false, the range
 * is measured. */
bool quant_fixed_range(const struct ir_op *op, float *low, float *high);
/* Return true for a LEAKY_RELU that the compiler does not accept on quantised values. */
bool quant_negative_slope(const struct ir_op *op);
static inline bool quant_is_value(const struct ir_tensor *t)
{
    return t && t->type == IR_F32 && t->role != IR_CONST;
}
/* Return the coordinates with which ONNX's linear Resize is this INTERPOLATE; NULL if none are. */
const char *quant_resize(const struct ir_graph *g, const struct ir_op *op);
/* Return the output channel of element `i` of an operator's weights. */
uint32_t quant_channel(const struct ir_graph *g, const struct ir_op *op, size_t i);

/* --- quant_split.c --- */

/* Return a copy whose operators all have a quantised form in ONNX. */
enum status quant_split(struct arena *a, const struct ir_graph *from, struct ir_graph **to,
                        struct diag *d);

/* --- quant_fuse.c --- */

/* Fill fused, inside and source of `q`. */
void quant_fuse(struct quant *q);

/* --- quant_select.c --- */

/* Check that no tensor is quantised and that ONNX has all operators and types. */
enum status quant_check(const struct ir_graph *g, struct diag *d);
/* Return the rows that --keep-float names, as flags by row. */
enum status quant_kept(struct arena *a, const struct ir_graph *g, const char *list, bool **keep,
                       struct diag *d);
/* Fill op, reason, group and tensor of `q`. */
void quant_select(struct quant *q);

/* --- quant_see.c: the samples --- */

enum status quant_see(const struct quant_job *job, struct quant_seen **seen, struct diag *d);

/* --- quant_scales.c, quant_weights.c --- */

/* Return the scale whose int8 values range from low to high, or further as `limits` need. */
struct quant_scale quant_scale_of(double low, double high, struct quant_limits limits);
/* Return the least power of two that is not less than v > 0; v itself if `limits` do not ask for it. */
static inline float quant_limited(float v, struct quant_limits limits)
{
    int exponent;

    if (!limits.power_of_two)
        return v;
    return __builtin_frexpf(v, &exponent) > 0.5f ? __builtin_ldexpf(1, exponent) : v;
}
static inline float quant_rounded(struct quant_scale s, float v)
{
    const float q = __builtin_rintf(v / s.scale) + (float)s.zero;
    const float clamped = q < -128 ? -128 : q > 127 ? 127 : q;

    return (clamped - (float)s.zero) * s.scale;
}
/* Compute all of `q` for the layers that q->keep does not keep as float. ST_USAGE: a value is not
 * finite. */
enum status quant_make(struct quant *q, struct diag *d);
void quant_make_weights(struct quant *q);

/* --- quant_measure.c --- */

/* Signal and noise of each operator's output, by position; index n_op: of the graph's outputs. */
struct quant_noise {
    double signal, noise;
};
struct quant_trial {
    const struct quant *q;
    bool own; /* true: each operator reads the float network's values */
    struct quant_noise *noise;
};
/* Measure up to 16 samples. */
enum status quant_measure(const struct quant_job *job, const struct quant_trial *trial, uint32_t n,
                          const char *what, struct diag *d);
double quant_decibel(struct quant_noise n);

/* --- qdq_write.c --- */

enum status qdq_write(const struct quant *q, const uint8_t **file, size_t *n_bytes, struct diag *d);

#endif
