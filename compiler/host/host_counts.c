/* host_counts.c - see host_counts.h. The counts follow the kernels' loops and depend only on shapes, attributes,
 * constants' shapes and the constant places of GATHER. Work that depends on the data is not counted. */
#include "host_counts.h"

#include <math.h>

#include "compiler/ir/rules.h"
#include "compiler/systolic/schedule/host_layer.h"
#include "host_window.h"

static double even(double n)
{
    return n + (double)((uint64_t)n & 1);
}

static double up(double n, uint32_t to)
{
    return (double)((uint64_t)(n + to - 1) / to * to);
}

static double elements(const struct ir_tensor *t)
{
    return (double)ir_elements(t);
}

/* Dimension `i` counted from the outside. */
static double size(const struct ir_tensor *t, uint32_t i)
{
    return i < t->rank ? t->dim[i] : 1;
}

static double rows_of(const struct ir_tensor *t)
{
    return elements(t) / ir_dim_back(t, 0);
}

/* --- products --- */

/* Count the work of hdk_conv2d by the method with which it gathers windows. */
static void conv(const struct host_window *w, double *n)
{
    const double pixels = host_pixels(w), taps = (double)w->kh * w->kw * w->c;
    const enum host_path path = host_path(w);

    n[0] = pixels * even(taps) * up(w->oc, 8);
    n[1] = pixels * w->oc;
    n[2] = path == HOST_BY_FLAT      ? pixels * w->c
           : path == HOST_BY_WINDOWS ? pixels * taps
                                     : (double)w->batch * host_ring_rows(w) * host_ring_lanes(w);
    n[3] = pixels * up(w->oc, 8) / 8 * (path == HOST_BY_ROWS ? w->kh : 1);
    n[4] = path == HOST_BY_FLAT      ? 0
           : path == HOST_BY_WINDOWS ? pixels * w->kh
           : path == HOST_BY_ROWS
               ? (double)w->batch * w->oh
               : w->batch * w->oh * up(w->ow, 8) * w->kh * up((double)w->kw * w->c, 16) / 16;
}

static void depthwise(const struct host_window *w, double *n)
{
    const double pixels = host_pixels(w), taps = even((double)w->kh * w->kw);

    n[0] = pixels * taps * w->oc;
    n[1] = pixels * w->oc;
    n[2] = (double)w->batch * w->oh * host_runs(w) * w->kh * w->kw;
    n[3] = pixels * up(w->oc, 8) / 8;
    n[4] = n[3] * taps;
}

/* Count the rows of a matrix product with weights [OC,K] or [K,OC]: outputs / OC. */
static void dense(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    const double oc = size(w, op->attr[IR_WEIGHTS_KO] ? 1 : 0), rows = elements(y) / oc;

    n[0] = rows * even(elements(w) / oc) * up(oc, 8);
    n[1] = elements(y);
    n[2] = elements(x);
    n[3] = rows * up(oc, 8) / 8;
    n[4] = n[3] * 8 * fmod(even(elements(w) / oc), 16); /* the loop takes 16 products at once */
}

/* Count sums over the taps inside the image, with outputs computed one by one. */
static void windows(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    struct host_window w;
    double cells, outputs;

    if (ir_in(g, op, 1)->rank == 2) { /* dense */
        const struct ir_tensor *f = ir_in(g, op, 1), *y = ir_out(g, op, 0);
        const double oc = size(f, op->attr[IR_WEIGHTS_KO] ? 1 : 0);

        n[0] = elements(y) * elements(f) / oc;
        n[1] = n[2] = n[3] = elements(y);
        n[4] = elements(y) / oc;
        return;
    }
    host_window_of(g, op, &w);
    cells = w.batch * host_cells_inside(&w);
    outputs = host_pixels(&w) * w.oc;
    n[0] = cells * w.oc * w.c / w.groups;
    n[1] = outputs;
    n[2] = cells * w.oc;
    n[3] = outputs * w.kh * w.kw;
    n[4] = host_pixels(&w);
}

/* Count a float32 convolution: 16 channels at a time; a dense layer is a row of pixels. */
static void lanes(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    struct host_window w;
    double cells, group;

    if (ir_in(g, op, 1)->rank == 2) { /* dense */
        const struct ir_tensor *f = ir_in(g, op, 1), *y = ir_out(g, op, 0);
        const double rows = elements(y) / f->dim[0], blocks = up(f->dim[0], 16) / 16;

        n[0] = rows * f->dim[1] * blocks * 16;
        n[1] = elements(y);
        n[2] = n[3] = rows * blocks;
        n[4] = rows;
        return;
    }
    host_window_of(g, op, &w);
    cells = w.batch * host_cells_inside(&w);
    group = w.groups * up(w.oc / w.groups, 16) / 16;
    n[0] = cells * w.c / w.groups * group * 16;
    n[1] = host_pixels(&w) * w.oc;
    n[2] = (w.groups == 1 && w.dx == 1 ? w.batch * host_rows_inside(&w) : cells) * group;
    n[3] = host_pixels(&w) * group;
    n[4] = host_pixels(&w);
}

static void transposed(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    struct host_window w;
    double cells;

    host_window_of(g, op, &w);
    cells = w.batch * host_cells_covered(&w);
    n[0] = cells * w.oc * w.c;
    n[1] = host_pixels(&w) * w.oc;
    n[2] = cells * w.oc;
    n[3] = n[1] * w.kh * w.kw;
    n[4] = n[1] * w.kh;
}

static void rows_by_columns(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *a = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const double depth = ir_dim_back(a, op->attr[IR_ADJ_A] != 0);

    n[0] = elements(y) * depth;
    n[1] = elements(y);
    n[2] = rows_of(y);
    n[3] = n[2] * depth;
}

/* --- windows without weights --- */

static void pool(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    struct host_window w;

    host_window_of(g, op, &w);
    n[0] = w.batch * host_cells_inside(&w) * w.c;
    n[1] = host_pixels(&w) * w.c;
    n[4] = host_pixels(&w);
    n[3] = n[4] * up(w.c, 16) / 16;
    n[2] = w.batch * host_cells_inside(&w) * up(w.c, 16) / 16;
}

static void cells(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    struct host_window w;

    host_window_of(g, op, &w);
    n[0] = w.batch * host_cells_inside(&w) * w.c;
    n[1] = host_pixels(&w) * w.c;
    n[2] = n[1] * w.kh * w.kw;
}

/* The kernels find an element by its index over the merged axes that are reduced. */
static void reduce(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    uint32_t axes = 0, before = 2;

    for (uint32_t i = 0; i < x->rank; i++) {
        const uint32_t gone = (uint32_t)op->attr[IR_AXIS] >> i & 1;

        if (x->dim[i] == 1)
            continue;
        axes += gone && before != 1;
        before = gone;
    }
    n[0] = elements(x);
    n[1] = elements(ir_out(g, op, 0));
    n[2] = elements(x) * axes;
}

/* --- elements and bytes --- */

static void walk(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    struct hdk_walk2 w;

    n[0] = elements(ir_out(g, op, 0));
    n[1] = host_walk(g, op, &w) ? (double)w.shape[0] * w.shape[1] * w.shape[2] : n[0];
}

/* Return the expected number of distinct values among `n` drawn at random from 250. */
static double distinct(double n)
{
    double missed = 250;

    for (uint32_t i = 0; i < 4000 && i < n; i++)
        missed *= 249.0 / 250;
    return 250 - missed;
}

static void values(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *x = ir_in(g, op, 0);

    n[0] = elements(x);
    n[1] = rows_of(x);
    n[2] = distinct(n[0]); /* each difference to a maximum is computed once */
}

static void order(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *x = ir_in(g, op, 0);

    n[0] = elements(x);
    n[1] = elements(x) / size(x, (uint32_t)op->attr[IR_AXIS]);
}

static void top(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const double along = size(x, (uint32_t)op->attr[IR_AXIS]);

    n[2] = elements(ir_out(g, op, 0));
    n[1] = elements(x) / along;
    n[0] = (2 * n[2] - n[1]) * along; /* each result after the first needs more comparisons */
}

/* Count a copy of `times` pieces of `piece` bytes. The kernels move 32 at a time where both ends of a piece are `aligned`
 * to four bytes, gcc's copy of the rest four; otherwise one. */
static void pieces(double *n, double piece, double times, double aligned)
{
    const double whole = floor(piece / 32), rest = piece - 32 * whole, words = floor(rest / 4);

    n[0] += words * aligned;
    n[1] += times;
    n[2] += (rest - 4 * words) * aligned + piece * (times - aligned);
    n[3] += whole * aligned;
}

/* Return how many of `times` pieces are aligned at both ends, one after another, to each `step` bytes from `to` on. */
static double in_a_row(double piece, double times, double to, double step)
{
    double aligned = 0;

    for (uint32_t i = 0; i < 4; i++) /* alignment repeats after four */
        if (fmod(i * piece, 4) == 0 && fmod(to + i * step, 4) == 0)
            aligned += fmax(0, ceil((times - i) / 4));
    return aligned;
}

/* The same for pieces that a GATHER or GATHER_ND picks, `outer` times; of places that are computed, a likely share. */
static double picked(const struct ir_graph *g, const struct ir_op *op, double piece, double outer)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *index = ir_in(g, op, 1);
    const bool nd = op->opcode == IR_OP_GATHER_ND;
    const uint32_t depth = nd ? (uint32_t)ir_dim_back(index, 0) : 1;
    const uint32_t axis = nd ? 0 : (uint32_t)op->attr[IR_AXIS];
    const uint32_t n = (uint32_t)(ir_elements(index) / depth);
    const double either = fmod(piece, 4) == 0 ? 1 : fmod(piece, 2) == 0 ? 2 : 4;
    double aligned = 0;

    if (either == 1 || index->role != IR_CONST || index->type != IR_I32)
        return ceil(n * outer / (either * either));
    for (uint32_t o = 0; o < 4; o++)
        for (uint32_t i = 0; i < n; i++) {
            double at = o;

            for (uint32_t d = 0; d < depth; d++)
                at = at * x->dim[axis + d] + ir_const_i32(index, i * depth + d);
            if (fmod(at * piece, 4) == 0 && fmod((o * (double)n + i) * piece, 4) == 0)
                aligned += fmax(0, ceil((outer - o) / 4));
        }
    return aligned;
}

/* Count runs of bytes that are contiguous in both tensors. */
static void bytes(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    double outer = 1, to = 0, piece;

    if (ir_is_join(op)) {
        for (uint32_t i = 0; i < (uint32_t)op->attr[IR_AXIS]; i++)
            outer *= y->dim[i];
        for (uint32_t i = 0; i < op->n_in; i++) {
            piece = (double)ir_bytes(ir_in(g, op, i)) / outer;
            pieces(n, piece, outer, in_a_row(piece, outer, to, (double)ir_bytes(y) / outer));
            to += piece;
        }
    } else if (ir_gathers(op)) {
        for (uint32_t i = (uint32_t)op->attr[IR_BATCH_DIMS]; i < (uint32_t)op->attr[IR_AXIS]; i++)
            outer *= x->dim[i];
        piece = (double)ir_bytes(y) / outer / elements(ir_in(g, op, 1));
        pieces(n, piece, outer * elements(ir_in(g, op, 1)), picked(g, op, piece, outer));
    } else if (op->opcode == IR_OP_GATHER_ND) {
        outer = elements(ir_in(g, op, 1)) / ir_dim_back(ir_in(g, op, 1), 0);
        piece = (double)ir_bytes(y) / outer;
        pieces(n, piece, outer, picked(g, op, piece, 1));
        n[4] = elements(ir_in(g, op, 1));
    } else if (op->opcode == IR_OP_UPDATE_SLICE || op->opcode == IR_OP_UPDATE_VARIABLE) {
        /* all of x if y is another tensor; then the slice row by row */
        if (op->opcode == IR_OP_UPDATE_SLICE)
            pieces(n, (double)ir_bytes(y), 1, 1);
        piece = (double)ir_dim_back(ir_in(g, op, 1), 0) * ir_type_bytes(x->type);
        outer = rows_of(ir_in(g, op, 1));
        pieces(n, piece, outer, in_a_row(piece, outer, 0, piece));
    } else {
        n[2] = (double)ir_bytes(op->opcode == IR_OP_ASSIGN_VARIABLE ? x : y);
    }
}

static void pad(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const double piece = (double)ir_dim_back(x, 0) * ir_type_bytes(x->type);
    double counts[HOST_COUNTS] = {0};

    pieces(counts, piece, rows_of(x), in_a_row(piece, rows_of(x), 0, piece));
    n[0] = counts[0] + 2 * counts[3]; /* 32 bytes take the time of two words of a loop */
    n[1] = elements(y) - elements(x);
    n[2] = counts[1];
    n[3] = counts[2];
    n[4] = n[1] * ir_type_bytes(x->type);
}

static void move(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *y = ir_out(g, op, 0);

    n[0] = (double)ir_bytes(y);
    n[1] = elements(y);
    n[2] = rows_of(y);
}

static void resize(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *y = ir_out(g, op, 0);

    n[0] = elements(y);
    n[1] = rows_of(y);
}

static void interpolate(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    n[1] = elements(ir_out(g, op, 0));
    n[0] = n[1] * ir_dim_back(ir_in(g, op, 1), 0);
}

static void recurrent(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *r = ir_in(g, op, 2);

    if (op->opcode == IR_OP_SVDF) {
        n[0] = (double)ir_macs(g, op);
        n[1] = rows_of(x) * ir_dim_back(ir_out(g, op, 0), 0);
        return;
    }
    const double h = ir_dim_back(r, 1), steps = rows_of(x);

    const double in = op->attr[IR_DIGITS] ? op->attr[IR_DIGITS] : ir_dim_back(ir_in(g, op, 1), 0);

    n[0] = steps * 4 * h * (in + ir_dim_back(r, 0));
    n[1] = steps * h;
}

/* Digits of the sums alone, without those that fill up a block. */
static void digits(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const int32_t room = ir_in_blocks(op->attr[IR_MULTIPLIER], ir_dim_back(y, 0));

    n[1] = elements(y);
    n[0] = n[1] * (ir_dim_back(x, 0) / room);
}

/* Count rows of scales, of sums for each channel. */
static void parts(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const struct ir_tensor *x = ir_in(g, op, 0);

    n[0] = elements(x);
    n[1] = op->n_in == 1 ? ir_out(g, op, 0)->dim[0] : ir_in(g, op, 1)->dim[0];
    n[1] *= op->n_in > 2 ? ir_dim_back(x, 0) : 1;
}

/* Count as if all boxes were detections, the worst case: each visits all boxes. */
static void detections(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    n[0] = elements(ir_in(g, op, 1));
    n[1] = ir_in(g, op, 0)->dim[1];
    n[2] = n[1] * (ir_dim_back(ir_out(g, op, 0), 0) / 6);
}

/* Count hdk_flip: blocks of four words. */
static void blocks(const struct ir_graph *g, const struct ir_op *op, double *n)
{
    const uint32_t bytes = (uint32_t)ir_elements(ir_in(g, op, 0));

    n[0] = bytes / 16;
    n[1] = bytes % 16;
}

void host_count(const struct ir_graph *g, const struct ir_op *op, enum host_form form,
                double count[HOST_COUNTS])
{
    struct host_window w;

    for (uint32_t i = 0; i < HOST_COUNTS; i++)
        count[i] = 0;
    switch (form) {
    case HOST_CONV:
        host_window_of(g, op, &w);
        conv(&w, count);
        return;
    case HOST_DEPTHWISE:
        host_window_of(g, op, &w);
        depthwise(&w, count);
        return;
    case HOST_DENSE: dense(g, op, count); return;
    case HOST_WINDOWS: windows(g, op, count); return;
    case HOST_LANES: lanes(g, op, count); return;
    case HOST_TRANSPOSED: transposed(g, op, count); return;
    case HOST_ROWS_BY_COLUMNS: rows_by_columns(g, op, count); return;
    case HOST_ELEMENTS: count[0] = elements(ir_in(g, op, 0)); return;
    case HOST_DIGITS: digits(g, op, count); return;
    case HOST_BLOCKS: blocks(g, op, count); return;
    case HOST_PARTS: parts(g, op, count); return;
    case HOST_WALK: walk(g, op, count); return;
    case HOST_VALUES:
    case HOST_EXPONENTIALS: values(g, op, count); return;
    case HOST_POOL: pool(g, op, count); return;
    case HOST_CELLS: cells(g, op, count); return;
    case HOST_REDUCE: reduce(g, op, count); return;
    case HOST_ORDER: order(g, op, count); return;
    case HOST_TOP: top(g, op, count); return;
    case HOST_BYTES: bytes(g, op, count); return;
    case HOST_PAD: pad(g, op, count); return;
    case HOST_MOVE: move(g, op, count); return;
    case HOST_RESIZE: resize(g, op, count); return;
    case HOST_INTERPOLATE: interpolate(g, op, count); return;
    case HOST_RECURRENT: recurrent(g, op, count); return;
    case HOST_DETECTIONS: detections(g, op, count); return;
    }
}
