/* quant_own.h - declarations shared by the files of this folder: a network being quantised. */
#ifndef HEDDLE_QUANTISE_OWN_H
#define HEDDLE_QUANTISE_OWN_H

#include "quantise.h"

enum { QUANT_BINS = 2048 };

/* The samples' statistics of a float32 tensor. */
struct quant_seen {
    float low, high;   /* all its values; 0 included */
    bool finite;       /* all are */
    uint64_t *bin;     /* QUANT_BINS from low to high; NULL: not wanted */
    uint32_t n_sum;    /* for bias correction: sums by index of the innermost dimension, or of */
    double *sum;       /* the sums of a dense layer; NULL: not wanted */
    uint64_t n_values; /* that each of them has */
};

/* int8 of one scale: real = scale * (value - zero). */
struct quant_scale {
    float scale;
    int32_t zero;
};

/* Weights of a layer: symmetric int8, a scale an output channel, in the IR's order. */
struct quant_weights {
    uint32_t n; /* output channels */
    const float *scale;
    const int8_t *code;
    const float *bias_scale; /* scale of the input times that of the weights */
    const int32_t *bias;     /* NULL: none */
};

/* The quantised form of a layer; one set for each choice of layers that stay float. */
struct quant {
    struct arena *arena;
    const struct ir_graph *g;
    const struct quant_options *options;
    const struct quant_seen *seen; /* by tensor */
    const bool *keep;              /* by row: stays float32 */
    bool *fused;                   /* by operator: part of what the compiler takes as one */
    bool *inside;                  /* by tensor: within that, so float32 */
    uint32_t *source;              /* by tensor: the tensor it is a function of, or IR_NONE */
    bool *op;                      /* by operator: computes on quantised values */
    const char **reason;           /* by operator: why not */
    uint32_t *group;               /* by tensor: tensors of one scale have one number */
    bool *tensor;                  /* by tensor: has a scale */
    struct quant_scale *scale;     /* by tensor, constants that are operands included */
    struct quant_weights *weights; /* by operator; n 0: it has none */
};

/* --- quant_forms.c: what is known of operators --- */

enum quant_form {
    QUANT_NO_FORM, /* float32 only */
    QUANT_COMPUTES,
    QUANT_MOVES,    /* its output has its operands' scale */
    QUANT_PRODUCES, /* with constant weights: in[1], bias in[2] */
};
enum quant_form quant_form_of(const struct ir_graph *g, const struct ir_op *op);
/* Return true if every output of this operator has the range low to high; false: measure it. */
bool quant_fixed_range(const struct ir_op *op, float *low, float *high);
/* Return true for a LEAKY_RELU that the compiler does not take on quantised values. */
bool quant_negative_slope(const struct ir_op *op);
static inline bool quant_is_value(const struct ir_tensor *t)
{
    return t && t->type == IR_F32 && t->role != IR_CONST;
}
/* Output channel of element `i` of an operator's weights. */
uint32_t quant_channel(const struct ir_graph *g, const struct ir_op *op, size_t i);

/* --- quant_split.c --- */

/* A copy in operators that ONNX has on quantised values. */
enum status quant_split(struct arena *a, const struct ir_graph *from, struct ir_graph **to,
                        struct diag *d);

/* --- quant_fuse.c --- */

/* fused, inside, source of `q`. */
void quant_fuse(struct quant *q);

/* --- quant_select.c --- */

/* No tensor is quantised; operators and types are some that an ONNX file can have. */
enum status quant_check(const struct ir_graph *g, struct diag *d);
/* Rows that --keep-float names, as flags by row. */
enum status quant_kept(struct arena *a, const struct ir_graph *g, const char *list, bool **keep,
                       struct diag *d);
/* op, reason, group, tensor of `q`. */
void quant_select(struct quant *q);

/* --- quant_see.c: the samples --- */

enum status quant_see(const struct quant_job *job, struct quant_seen **seen, struct diag *d);

/* --- quant_scales.c, quant_weights.c --- */

/* The scale whose int8 values reach from low to high. */
struct quant_scale quant_scale_of(double low, double high);
static inline float quant_rounded(struct quant_scale s, float v)
{
    const float q = __builtin_rintf(v / s.scale) + (float)s.zero;
    const float clamped = q < -128 ? -128 : q > 127 ? 127 : q;

    return (clamped - (float)s.zero) * s.scale;
}
/* All of `q` for the layers that q->keep leaves. ST_USAGE: values that are not finite. */
enum status quant_make(struct quant *q, struct diag *d);
void quant_make_weights(struct quant *q);

/* --- quant_measure.c --- */

/* Signal and noise of each operator's output, and of the graph's outputs, in [n_op]. */
struct quant_noise {
    double signal, noise;
};
struct quant_trial {
    const struct quant *q;
    bool own; /* each operator reads what the float network has */
    struct quant_noise *noise;
};
/* Measure up to 16 samples. */
enum status quant_measure(const struct quant_job *job, const struct quant_trial *trial, uint32_t n,
                          const char *what, struct diag *d);
double quant_decibel(struct quant_noise n);

/* --- qdq_write.c --- */

enum status qdq_write(const struct quant *q, const uint8_t **file, size_t *n_bytes, struct diag *d);

#endif
