/* onnx_rewrites.h - the file's nodes before any is imported. The compiler and the CPU reference read what they become. */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_REWRITES_ONNX_REWRITES_H
#define HEDDLE_COMPILER_IMPORT_ONNX_REWRITES_ONNX_REWRITES_H

#include "base/text.h"
#include "compiler/import/onnx/onnx_import.h"

/* --- nodes before any is imported --- */

/* An operator of a list that ends with NULL. */
bool ox_is_one_of(const Onnx__NodeProto *n, const char *const *list);
/* Return true for a node of ONNX that only moves the values of its first input. */
bool ox_moves_values(const Onnx__NodeProto *n);
bool ox_is_node(const Onnx__NodeProto *n, const char *op);
/* An integer attribute. */
int64_t ox_node_int(const Onnx__NodeProto *n, const char *name, int64_t otherwise);
/* Return the node that makes the value, or NULL. */
const Onnx__NodeProto *ox_maker_of(struct ox *m, const char *name);
/* Return the node that alone reads the value, or IR_NONE. */
uint32_t ox_only_reader(struct ox *m, const char *name);
/* Nodes to be put before one of the graph. */
struct ox_added {
    Onnx__NodeProto **node;
    uint32_t n;
};
/* Replace each of the graph's nodes by its `added` and that of `node` (NULL: none). */
void ox_insert_nodes(struct ox *m, Onnx__NodeProto *const *node, const struct ox_added *added);
/* Let `rule` replace nodes before each QuantizeLinear of one scale, the graph's node i: node[..] by others, with what it
 * adds. Not in ONNX's own rounding. */
typedef void ox_quantiser_rule(struct ox *m, uint32_t i, Onnx__NodeProto **node,
                               struct ox_added *added);
void ox_rewrite_quantisers(struct ox *m, ox_quantiser_rule *rule);
/* Add a node of one output, which has one reader: `name`, which it returns. */
char *ox_add_node(struct ox *m, struct ox_added *to, const char *op, char *name, size_t n_in,
                  char *const *in);
/* Add `x` quantised and dequantised, as `name`; return that. */
char *ox_add_border(struct ox *m, struct ox_added *to, const char *x, char *name, char *scale,
                    char *zero);
/* "NAME/WHAT". */
char *ox_name_of(struct ox *m, const char *name, const char *what);
/* Make `name` a constant of `n` floats (rank 0: one), to be written to *value; return it. */
char *ox_new_floats(struct ox *m, char *name, uint32_t rank, int32_t n, float **value);
/* Make `name` a constant zero point of 8 bits; return it. */
char *ox_new_zero(struct ox *m, char *name, int32_t type, int64_t zero);
/* Return the constant that the name is before any node is imported: an initializer, a Constant or an Identity of an
 * initializer; or NULL. */
const struct ox_const *ox_known_before(struct ox *m, const char *name);
/* Return true for a QuantizeLinear of one constant scale. */
bool ox_has_one_scale(struct ox *m, const Onnx__NodeProto *quantize);
/* Read scale, zero point and type of a QuantizeLinear or DequantizeLinear; false: not one constant scale of 8 bits. */
bool ox_read_scale(struct ox *m, const Onnx__NodeProto *n, double *scale, int32_t *zero,
                   int32_t *type);
/* A copy of `n` whose first input is `in` and whose only output is `out`. */
Onnx__NodeProto *ox_renamed(struct ox *m, const Onnx__NodeProto *n, const char *in,
                            const char *out);
/* onnx_residual.c: give Adds of a value that a QuantizeLinear reads too the quantised values, if rounding to these is less than a step of the
 * Add's own QuantizeLinear. The graph is a copy. */
void ox_read_quantised(struct ox *m);
/* Put constants first and each node after those that make its inputs; else the order stays. Initializers are known.
 * Return false if there is a cycle: then other rewriting has no end. */
bool ox_sort_nodes(struct ox *m);
/* ../compose/onnx_expand.c: return the *n nodes of a text of m->node, in the newest opset's form. They count as readers. */
Onnx__NodeProto **ox_text_nodes(struct ox *m, const char *text, uint32_t *n);
/* ../compose/onnx_qonnx.c: return true for a domain's name of QONNX. */
bool ox_is_qonnx(const char *domain);
/* Replace Quant and BipolarQuant of QONNX by QuantizeLinear and DequantizeLinear. Initializers are known. */
void ox_replace_quants(struct ox *m);
/* onnx_exchange.c: put each QuantizeLinear of one scale before the nodes that only move its values. Initializers are known. */
void ox_quantise_first(struct ox *m);
/* onnx_factors.c: quantise the results of quantised values that are multiplied by a number before a QuantizeLinear. Initializers are
 * known. */
void ox_quantise_factors(struct ox *m);
/* onnx_inputs.c: quantise float32 inputs that constants alone change before a QuantizeLinear. Initializers are known. */
void ox_quantise_inputs(struct ox *m);
/* onnx_slopes.c: quantise the constant slopes of PRelu between quantised values. Initializers are known. */
void ox_quantise_slopes(struct ox *m);
/* onnx_sums.c: make the mean of a sum of quantised values one mean. Initializers are known. */
void ox_join_sums(struct ox *m);
/* onnx_matrices.c: quantise several constant float32 matrices of a product of quantised values. Initializers are known. */
void ox_quantise_matrices(struct ox *m);
/* onnx_states.c: quantise the outputs of a recurrence of quantised values that another one reads. */
void ox_quantise_states(struct ox *m);
/* onnx_channels.c: give activations with a scale for each channel, which a depthwise convolution reads, one scale.
 * Initializers are known. */
void ox_single_scales(struct ox *m);
/* onnx_gates.c: quantise what a function between a product and a QuantizeLinear reads. Initializers are known. */
void ox_quantise_arguments(struct ox *m);
/* onnx_centred.c: give quantised values of 16 bits zero point 0. Initializers are known. */
void ox_centre_codes(struct ox *m);
/* Then, too: clamp int16 without quantising it before to the same scale. */
void ox_clamp_once(struct ox *m);
/* ../compose/onnx_affine.c: return true with *st if the node is arithmetic of quantised values with a constant of each
 * channel. */
bool ox_by_channels(struct ox *m, enum status *st);
/* ../compose/onnx_norms.c */
ox_handler ox_layer_rows, ox_instance_images, ox_group_images;
/* ../compose/onnx_expand.c: add to the node's text that value `from` gets the clamp and the scale that the only reader of its
 * output 0 gives it. Return the dequantised value's name, or `from`. */
const char *ox_quantise_inside(struct ox *m, struct text *text, const char *from);

/* onnx_by_values.c: refuse a result whose shape depends on values; return true for operators that always have one. */
enum status ox_refuse_by_values(struct ox *m);
bool ox_is_by_values(const char *op);
/* onnx_nbits.c: return true with *st for QuantizeLinear and DequantizeLinear with a scale for each block, or a computed
 * one for each place along an axis. */
bool ox_spreads(struct ox *m, enum status *st);

#endif
