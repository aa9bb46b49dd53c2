/* legalise.h - passes that bring an imported graph into the form that targets take (README.md).
 * compiler/passes.def holds their order. */
#ifndef HEDDLE_COMPILER_LEGALISE_LEGALISE_H
#define HEDDLE_COMPILER_LEGALISE_LEGALISE_H

#include "compiler/ir/float_numbers.h"
#include "compiler/ir/ir.h"

struct hd_config;

/* Whose arithmetic FULLY_CONNECTED's scale follows (NUMERICS.md): the product s_in * s_w in float32
 * (TFLite's reference) or in double (tflite-micro); or LiteRT's, whose sums are rounded once, as
 * floats (host only). */
enum lgl_fc_scale { LGL_FC_CLASSIC, LGL_FC_TFLM, LGL_FC_LITERT };

/* Whose rounding requantisation has: TFLite's fixed point, which the accelerator computes, or
 * ONNX's float32 (float_requant.c), for the reference and the host only. */
enum lgl_rounding { LGL_ROUND_TFLITE, LGL_ROUND_ONNX };

struct lgl_options {
    enum lgl_fc_scale fc_scale;
    enum lgl_rounding rounding;
    /* The least of the selected accelerators' array rows (and columns), scratchpad ports, accumulators and
     * tables of a lane; 0 without an accelerator. */
    uint32_t array_rows, ports, accumulators, tables;
    /* Cycles in which a unit of the accelerator of the fewest rows, `hw`, works for `op` alone, or weights
     * come; UINT64_MAX: it does not run there. */
    uint64_t (*cycles)(const struct hd_config *hw, const struct ir_graph *g,
                       const struct ir_op *op);
    const struct hd_config *hw;
    /* By opcode: another selected device, which is not the host, has a pattern for it in int16. */
    bool int16_elsewhere[IR_OPCODES];
    uint32_t table_pixels; /* least pixels for a table of each channel; 0: where it gains */
};

typedef enum status lgl_pass(struct ir_graph *g, const struct lgl_options *o, struct diag *d);

#define PASS(name) lgl_pass lgl_##name;
#include "compiler/passes.def"

/* The first of the constants that the row of graph `g` claims for tensor `t` which `t`'s bytes, of
 * an inference of the network as imported, contradict; NULL if there is none, or if the channels are
 * another dimension of `t` than the last. */
const struct ir_constant *lgl_contradicted(const struct ir_graph *g, uint32_t row,
                                           const struct ir_tensor *t, const uint8_t *bytes);

/* A multiplier as fixed point: real = multiplier * 2^(shift - 31). */
struct lgl_fixed_scale {
    int32_t multiplier;
    int8_t shift;
};
/* QuantizeMultiplier of NUMERICS.md. */
struct lgl_fixed_scale lgl_fixed_scale(double real);
/* The scales of an LSTM (gates of the input, of the state, output) and of an SVDF (state, output). */
void lgl_lstm_scales(const struct ir_graph *g, const struct ir_op *op,
                     struct lgl_fixed_scale scale[9]);
void lgl_svdf_scales(const struct ir_graph *g, const struct ir_op *op,
                     struct lgl_fixed_scale scale[2]);
/* Range of quantised values of `t` (int8, uint8 or int16, per tensor) that real values within
 * `bounds` have. */
void lgl_clamp(const struct ir_tensor *t, struct ir_two_floats bounds, enum lgl_rounding rounding,
               int32_t *act_min, int32_t *act_max);
/* After rewriting: mark operators without readers as dead if row[tensor] names a row for them,
 * and give them to that row, with the operators that only they read. */
void lgl_fuse_unread(struct ir_graph *g, uint32_t *row);
/* row[tensor] for it: IR_NONE, with room for tensors that the pass adds, LGL_ADDED an operator. */
enum { LGL_ADDED = 32 };
uint32_t *lgl_rows(const struct ir_graph *g);
/* Fill op->fixed.real for ONNX's rounding (float_requant.c). False for operators that do not
 * round, and for tables. */
bool lgl_float_requant(struct ir_graph *g, struct ir_op *op);

#endif
