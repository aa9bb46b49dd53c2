/* host_window.h - windows of convolutions and pools as the host kernels walk them; part of
 * host_counts.h. */
#ifndef HEDDLE_COMPILER_HOST_HOST_WINDOW_H
#define HEDDLE_COMPILER_HOST_HOST_WINDOW_H

#include "compiler/ir/ir.h"

struct host_window {
    uint32_t batch, h, w, c, oh, ow, oc, groups;
    uint32_t kh, kw, sy, sx, dy, dx;
    int32_t pt, pl;
};

/* From an operator with a window, of any type. */
void host_window_of(const struct ir_graph *g, const struct ir_op *op, struct host_window *w);

/* The methods by which hdk_conv2d gathers windows. */
enum host_path { HOST_BY_ROWS, HOST_BY_COPIES, HOST_BY_FLAT, HOST_BY_WINDOWS };
enum host_path host_path(const struct host_window *w);
/* Rows of the image, padding included, that pass through its line buffer, and lanes of each. */
double host_ring_rows(const struct host_window *w);
double host_ring_lanes(const struct host_window *w);

/* Runs of pixels that hdk_depthwise_conv2d finds taps for, in one row of the output. */
double host_runs(const struct host_window *w);

/* Output pixels of the whole batch. */
double host_pixels(const struct host_window *w);
/* For one image, over all output pixels: taps inside it, and rows of taps. */
double host_cells_inside(const struct host_window *w);
double host_rows_inside(const struct host_window *w);
/* The same of TRANSPOSE_CONV: taps for which there is an input. */
double host_cells_covered(const struct host_window *w);

#endif
