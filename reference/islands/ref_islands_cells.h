/* ref_islands_cells.h - shared by ref_islands_cells.c, ref_islands_lstm.c and ref_islands_gru.c: recurrences
 * whose input is quantised and whose results all get a scale. */
#ifndef HEDDLE_REFERENCE_ISLANDS_REF_ISLANDS_CELLS_H
#define HEDDLE_REFERENCE_ISLANDS_REF_ISLANDS_CELLS_H

#include "compiler/ir/formula.h"
#include "ref_islands_own.h"

enum { CELLS_WAYS = 2, CELLS_PARTS = 8 };

/* One direction: constants of the file, its last output, and whether it begins with the last step. */
struct cells_way {
    /* The input's weights and bias, the state's; of GRU those of its reset state. Biases may be NULL. */
    const struct ir_tensor *w, *b, *r, *r_b, *reset;
    uint32_t last;
    bool from_end;
    uint32_t y, y_last; /* what is made of it: [steps,1,cells], [1,1,cells] */
};

struct cells {
    struct isl *s;
    const struct cells_kind *kind;
    uint32_t row, n_way;
    struct cells_way way[CELLS_WAYS];
    int32_t steps, n; /* cells */
    uint32_t x;       /* quantised [steps, inputs] */
    const struct ir_tensor *unit;
    const struct ir_tensor *result[2]; /* of the file: all outputs, the last ones; or NULL */
    float scale;                       /* of the output, 0 until it is known */
    int32_t zero;
};

/* A node's steps. */
struct cells_kind {
    const char *node,
        *formula; /* of a step's output: h is the one before, slice(a, #t) the input's sums, r weights */
    bool before_reset;
    /* Return true if the match's slices are those of the gates of n cells. */
    bool (*is_step)(const struct ir_match *m, int32_t n);
    /* Make the operator's constants, inputs 1 to 3; false: out of range. */
    bool (*constants)(const struct cells *c, const struct cells_way *way, uint32_t in[3]);
    /* Make the operator, way->y and way->y_last. */
    void (*make)(const struct cells *c, struct cells_way *way, const uint32_t in[3]);
};

/* Weights of all gates, one scale, as the file has them. */
struct cells_whole {
    int32_t columns, parts, *value;
    float scale;
};

/* Return true if slice constant `letter` begins at column `column`, and at row `row` of all. */
bool isl_cells_begins(const struct ir_match *m, char letter, int32_t row, int32_t column);
bool isl_cells_finite(const float *v, size_t n);
/* Round n weights of w->columns to w->scale; return the largest root of a row's squared errors. */
double isl_cells_round(const float *v, size_t n, struct cells_whole *w);
/* Round the weights in parts of int8, the least number up to 8 that keeps the errors of each row, as
 * independent ones, within 1/128 of a gate for inputs of magnitude `reach`. False: a sum may be too
 * large. */
bool isl_cells_weights(const struct cells *c, const struct ir_tensor *t, double reach, double unit,
                       struct cells_whole *w);
/* Write the parts of row `row`; take zero times its weights from *sum. */
void isl_cells_write_row(const struct cells_whole *w, int32_t row, int32_t zero, int8_t *to,
                         int32_t *sum);
/* Set *to to number `i` of b, NULL: 0, in `unit`. False: too large. */
bool isl_cells_bias(const struct ir_tensor *b, int32_t i, double unit, int32_t *to);
/* Rows of `id` [n,1,k] from `first` on, `count` of them, `step` apart. */
uint32_t isl_cells_rows(struct isl *s, uint32_t id, int32_t first, int32_t count, int32_t step);

/* Kinds of ref_islands_lstm.c and ref_islands_gru.c. */
extern const struct cells_kind isl_cells_lstm, isl_cells_gru[3];

#endif
