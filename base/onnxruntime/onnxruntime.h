/* onnxruntime.h - a small ONNX model computed by ONNX Runtime, a library that the user has. Its C
 * interface is found at run time: heddle neither contains nor links it.
 * Each function returns NULL or what failed, in a buffer of the calling thread. */
#ifndef HEDDLE_BASE_ONNXRUNTIME_ONNXRUNTIME_H
#define HEDDLE_BASE_ONNXRUNTIME_ONNXRUNTIME_H

#include <stddef.h>
#include <stdint.h>

enum { ORT_MAX_RANK = 8, ORT_MAX_INPUTS = 64 };

/* Type (as TensorProto.DataType) and shape of a model's output; -1: the size depends on values. */
struct ort_output {
    int32_t type;
    uint32_t rank;
    int64_t dim[ORT_MAX_RANK];
};

/* Find the type and shape of the model's first output. */
const char *ort_output_of(const void *model, size_t n_bytes, struct ort_output *y);

/* Run the model. x: the bytes of its inputs "x0", "x1", ..., of the types (float, int32, int64,
 * bool) and shapes that it states. y: room for output "y", exactly `y_bytes`. One thread, without
 * the library's optimiser, so results repeat. */
const char *ort_run(const void *model, size_t n_bytes, uint32_t n_in, const void *const *x, void *y,
                    size_t y_bytes);

#endif
