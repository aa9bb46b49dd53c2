/* host_window.h - windows of convolutions and pools in the order of the host kernels' loops; part
 * of host_counts.h. */
#ifndef HEDDLE_COMPILER_HOST_HOST_WINDOW_H
#define HEDDLE_COMPILER_HOST_HOST_WINDOW_H

#include "compiler/ir/ir.h"

struct host_window {
    uint32_t batch, h, w, c, oh, ow, oc, groups;
    uint32_t kh, kw, sy, sx, dy, dx;
    int32_t pt, pl;
};

/* Fill the window from an operator that has one, of any type. */
void host_window_of(const struct ir_graph *g, const struct ir_op *op, struct host_window *w);

/* The methods by which hdk_conv2d gathers windows. */
enum host_path { HOST_BY_ROWS, HOST_BY_COPIES, HOST_BY_FLAT, HOST_BY_WINDOWS };
enum host_path host_path(const struct host_window *w);
/* Return the rows of the image, padding included, that pass through hdk_conv2d's line buffer; set
 * the lanes of each. */
double host_ring_rows(const struct host_window *w);
double host_ring_lanes(const struct host_window *w);

/* Return the number of pixel runs, in one output row, for which hdk_depthwise_conv2d finds taps. */
double host_runs(const struct host_window *w);

/* Return the output pixels of the whole batch. */
double host_pixels(const struct host_window *w);
/* Return, for one image and all output pixels, the taps inside the image and the rows of taps. */
double host_cells_inside(const struct host_window *w);
double host_rows_inside(const struct host_window *w);
/* The same for TRANSPOSE_CONV: taps that have an input. */
double host_cells_covered(const struct host_window *w);

#endif
