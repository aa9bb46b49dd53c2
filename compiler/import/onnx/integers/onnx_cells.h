/* onnx_cells.h - shared by onnx_cells.c, onnx_lstm.c, onnx_gru.c: the steps of onnx_recurrent.c that become
 * one operator of integers. */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_INTEGERS_ONNX_CELLS_H
#define HEDDLE_COMPILER_IMPORT_ONNX_INTEGERS_ONNX_CELLS_H

#include "compiler/import/onnx/onnx_import.h"

enum { CELLS_DIRECTIONS = 2, CELLS_MOST_PARTS = 8 };

/* One direction; its results in steps of h. */
struct cells_direction {
    struct ir_op *inputs, **first; /* the input's product, operators of the first step */
    bool backwards;
    uint32_t y, last; /* int8 [steps, 1, cells]; one that has the last output at step last_at */
    int32_t last_at;
};

struct cells {
    struct ox *m;
    const struct cells_kind *kind;
    uint32_t row, n_op, n_direction;
    struct ir_op **op; /* of the row */
    struct cells_direction direction[CELLS_DIRECTIONS];
    const struct ir_tensor *x; /* quantised [steps, 1, inputs] */
    struct ir_op *dequantize;  /* of it */
    int32_t steps, cells;
    struct ir_quant h; /* as int8 */
};

/* The operators of a step in their order, by name; of the first one [1] and [kept] read the first
 * states, as input 0 and input 1. */
struct cells_kind {
    const char *node, *name, *const *step;
    uint32_t n_step, kept, gates; /* kept 0: none */
    bool before_reset;            /* GRU's linear_before_reset */
    /* Make the constants of a direction, or return false. */
    bool (*constants)(const struct cells *f, const struct cells_direction *d, const char *name,
                      uint32_t in[3]);
    /* Make the direction of int8 x; sets d->y, d->last, d->last_at. */
    void (*make)(const struct cells *f, struct cells_direction *d, uint32_t x,
                 const uint32_t constant[3], const char *name);
};

/* Weights of all gates, the input's or the state's. */
struct cells_weights {
    const float *from; /* [rows, columns] */
    int32_t rows, columns, parts;
    double reach, step; /* the most that a value is, in its steps, and its step */
    double scale;
};

/* The most by which the errors of a row change a gate's sum, as independent ones. */
double ox_cells_error(const struct cells_weights *w);
/* Find the scale and the least number of parts; false: a value is not finite, or a sum may exceed
 * 30 bits. */
bool ox_cells_parts(struct cells_weights *w);
/* Write a row's `parts` parts for each value, and subtract `zero` times their sum from *bias. */
void ox_cells_split_row(const struct cells_weights *w, int32_t row, int32_t zero, int8_t *to,
                        int32_t *bias);
/* Set *to to number `row` of b in `unit`; false: 2^30 or more. */
bool ox_cells_bias(const struct ir_tensor *b, int32_t row, double unit, int32_t *to);
double ox_cells_farthest(int32_t zero);
/* The zero point of an int8 or uint8 tensor's values as int8. */
int32_t ox_cells_zero(const struct ir_tensor *x);

bool ox_cells_lstm_constants(const struct cells *f, const struct cells_direction *d,
                             const char *name, uint32_t in[3]);
void ox_cells_make_lstm(const struct cells *f, struct cells_direction *d, uint32_t x,
                        const uint32_t constant[3], const char *name);
bool ox_cells_gru_constants(const struct cells *f, const struct cells_direction *d,
                            const char *name, uint32_t in[3]);
void ox_cells_make_gru(const struct cells *f, struct cells_direction *d, uint32_t x,
                       const uint32_t constant[3], const char *name);

#endif
