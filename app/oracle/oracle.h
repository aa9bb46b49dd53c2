/* oracle.h - a second opinion on the model file: a framework's own kernels (--oracle).
 * The CPU reference and the compiler read the file by the same importer. Here LiteRT or ONNX Runtime (Python,
 * PyPI) runs the file itself, and each operator of the reference, in that framework's rounding and on its inputs, is
 * compared with it: outputs, and inner tensors where the framework shows them. */
#ifndef HEDDLE_APP_ORACLE_H
#define HEDDLE_APP_ORACLE_H

#include "base/output.h"
#include "reference/ref.h"

enum oracle_kind { ORACLE_NONE, ORACLE_LITERT, ORACLE_ONNXRUNTIME };

/* The question to the framework. */
struct oracle_question {
    enum oracle_kind kind;
    const char *path;     /* of the model, in messages, and read unless `model` is there */
    const uint8_t *model; /* its bytes, or NULL */
    size_t n_model;
    const struct ir_graph *graph; /* the model as imported */
    const struct ref_options
        *options;             /* of the run; the rounding is the framework's all the same */
    const uint8_t *const *in; /* of each input, n inferences one after another */
    uint32_t n;
    bool reset_state;
    const struct output *output; /* for progress, or NULL */
};

/* Where framework and reference first differ, in execution order. */
struct oracle_difference {
    const char *layer, *tensor;
    uint64_t n_values; /* of the tensor, over all inferences */
    uint32_t inference;
    uint64_t index;         /* flat */
    double expected, found; /* the framework's, the reference's */
};

struct oracle_answer {
    const char *runtime; /* "LiteRT 2.3.0 (reference kernels)" */
    uint32_t n_tensor,
        n_equal; /* outputs and inner tensors that both have; float32: within ORACLE_FLOAT */
    uint32_t n_inference; /* the number compared: all, or the first ones that oracle.py keeps */
    uint64_t
        n_near; /* quantised values of equal tensors that are one step apart: the framework adds in float32 */
    struct oracle_difference first; /* where n_equal < n_tensor */
};

/* float32 values are equal up to this part of the tensor's largest magnitude: sums in another order. */
#define ORACLE_FLOAT 2e-5

/* Run the framework and compare. Memory from `a`. ST_USAGE: no Python has the framework, or it refuses the model;
 * the file is of another format. */
enum status oracle_ask(struct arena *a, const struct oracle_question *q,
                       struct oracle_answer *answer, struct diag *d);

/* "14 tensors equal LiteRT's", or where it differs first; one line without an end. */
const char *oracle_text(struct arena *a, const struct oracle_answer *answer);

#endif
