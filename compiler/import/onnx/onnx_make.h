/* onnx_make.h - the operator of a deferred result, one function per kind of operator. */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_ONNX_MAKE_H
#define HEDDLE_COMPILER_IMPORT_ONNX_ONNX_MAKE_H

#include "onnx_import.h"

/* Make the operator of `p`, called `name`: on quantised values with the result in scale `q`, or on
 * float32 with `q` NULL and `type` IR_F32. *id is the tensor, in the file's order. */
typedef enum status ox_maker(struct ox *m, const struct ox_deferred *p, const char *name,
                             enum ir_type type, const struct ir_quant *q, uint32_t *id);
/* onnx_value.c: let *id be its values in scale q: itself, or a copy under that scale if others read it in another one. */
enum status ox_read_as(struct ox *m, const char *name, uint32_t *id, const struct ir_quant *q);
/* `p` with weights of int8 and the copies of its input that they need, if it is a product of quantised
 * values with weights of float32 and docs/ONNX.md's rule allows it for a result in scale `q`; else
 * `p` as it is. */
struct ox_deferred ox_whole_weights(struct ox *m, const struct ox_deferred *p,
                                    const struct ir_quant *q);
/* Groups as one: zero points for the weights of other groups' channels. */
struct ox_deferred ox_in_one_group(struct ox *m, const struct ox_deferred *p);
/* `p` with weights of few bits times a whole number if its bias needs smaller units (docs/ONNX.md, rule 5). */
struct ox_deferred ox_finer_weights(struct ox *m, const struct ox_deferred *p);
/* onnx_raw.c: return true if `p` is a product of quantised values by constant weights whose sums int32 holds; make it
 * with a float32 result. */
bool ox_has_sums(const struct ox *m, const struct ox_deferred *p);
enum status ox_scaled_sums(struct ox *m, const struct ox_deferred *p, const char *name,
                           uint32_t *id);
/* Bias of output channel `c` in units of s_in * s_w, rounded; 0 without one. */
double ox_bias_code(const struct ox *m, const struct ox_deferred *p, int32_t c);
/* Make the operator of `p` by its maker. */
ox_maker ox_make_result;
/* Return the input as often as the weights multiply it: along its channels, or a row's values. */
uint32_t ox_copied(struct ox *m, const struct ox_deferred *p, const char *name);
/* Return true if `p` has a clamp that the operator itself cannot carry. */
bool ox_is_clipped_after(const struct ox_deferred *p);
/* onnx_float.c: return true if `p` has an operand of int16; if there is such an operator on int16. */
bool ox_is_of_wide(const struct ox *m, const struct ox_deferred *p);
bool ox_has_wide_form(const struct ox_deferred *p);
/* onnx_wide.c: check that a step of tensor `id` is less than 2^14 steps of `q`; else ST_UNSUPPORTED without a text: float32
 * serves instead. */
enum status ox_check_step(struct ox *m, uint32_t id, const struct ir_quant *q);
/* Make the operator of `p` on int16, with a result of `type`. */
ox_maker ox_finish_wide;

#endif
