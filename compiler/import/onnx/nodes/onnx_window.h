/* onnx_window.h - the window that a convolution or pool moves over an image: kernel, strides,
 * dilations and pads, from a node's attributes. */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_NODES_ONNX_WINDOW_H
#define HEDDLE_COMPILER_IMPORT_ONNX_NODES_ONNX_WINDOW_H

#include "compiler/import/onnx/onnx_import.h"

/* Window of `n` spatial dimensions (1 or 2), as height and width. */
struct ox_window {
    uint32_t n;
    int32_t in[2], out[2], kernel[2], stride[2], dilation[2], before[2], after[2];
};

/* Read the window from the node's attributes; its `out` is the output's size.
 *   dim    : of the input, [N,C,spatial...], `rank` (3 or 4) dimensions
 *   kernel : the weights' spatial dimensions, or NULL for a pool, which has attribute kernel_shape
 * ST_UNSUPPORTED: another rank or a value that the importer does not support; ST_MODEL: the
 * kernel is larger than the padded input. */
enum status ox_window_read(struct ox *m, uint32_t rank, const int32_t *dim, const int32_t *kernel,
                           struct ox_window *w);
/* Set the operator's attributes IR_KERNEL_H to IR_PAD_RIGHT, and IR_DILATION_* if `dilated`. */
void ox_window_set(const struct ox_window *w, bool dilated, int32_t *attr);
/* Return the output's shape, [N,C,spatial...]. */
struct ox_shape ox_window_shape(const struct ox_window *w, int32_t batch, int32_t channels);

#endif
