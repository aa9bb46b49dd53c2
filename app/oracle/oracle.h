/* oracle.h - a second opinion on the model file: a framework's own kernels (--oracle). The CPU
 * reference and the compiler read the file by the same importer. Here LiteRT or ONNX Runtime
 * (Python, PyPI) runs the file independently. Each operator of the reference, with that framework's
 * rounding and inputs, is compared with it: outputs, and inner tensors if the framework exposes
 * them. */
#ifndef HEDDLE_APP_ORACLE_H
#define HEDDLE_APP_ORACLE_H

#include "base/output.h"
#include "reference/ref.h"

enum oracle_kind { ORACLE_NONE, ORACLE_LITERT, ORACLE_ONNXRUNTIME };

/* A question to the framework. */
struct oracle_question {
    enum oracle_kind kind;
    const char *path;     /* the model's path, for messages; read if `model` is NULL */
    const uint8_t *model; /* the model's bytes, or NULL */
    size_t n_model;
    const struct ir_graph *graph; /* the graph as imported */
    const struct ref_options
        *options;             /* options of the run; the framework's rounding is used regardless */
    const uint8_t *const *in; /* by input: n inferences one after another */
    uint32_t n;
    bool reset_state;
    const struct output *output; /* for progress, or NULL */
};

/* The first difference between framework and reference, in execution order. */
struct oracle_difference {
    const char *layer, *tensor;
    uint64_t n_values; /* values of the tensor that differ, over all inferences */
    uint32_t inference;
    uint64_t index;         /* flat */
    double expected, found; /* the framework's value and the reference's */
};

struct oracle_answer {
    const char *runtime; /* "LiteRT 2.3.0 (reference kernels)" */
    uint32_t n_tensor,
        n_equal;          /* equal tensors among outputs and shared inner tensors; float32: within
                  * ORACLE_FLOAT */
    uint32_t n_inference; /* inferences compared: all, or the first ones, which oracle.py keeps */
    uint64_t
        n_near; /* quantised values of equal tensors that differ by one step, since the framework
                 * adds in float32 */
    struct oracle_difference first; /* valid if n_equal < n_tensor */
};

/* float32 values are equal up to this fraction of the tensor's largest magnitude, because the order
 * of sums differs. */
#define ORACLE_FLOAT 2e-5

/* Run the framework and compare; memory is from `a`. ST_USAGE: no Python has the framework, it
 * refuses the model, or the file has another format. */
enum status oracle_ask(struct arena *a, const struct oracle_question *q,
                       struct oracle_answer *answer, struct diag *d);

/* Return "14 tensors equal LiteRT's", or the first difference, as one line without a newline. */
const char *oracle_text(struct arena *a, const struct oracle_answer *answer);

#endif
