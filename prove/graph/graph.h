/* graph.h - what a graph computes, over terms: the graph as imported, with the constants that the CPU
 * reference derives. Nothing here comes from legalise or a later step. */
#ifndef HEDDLE_PROVE_GRAPH_H
#define HEDDLE_PROVE_GRAPH_H

#include "prove/terms/rules.h"
#include "reference/ref_kernels.h"

/* One operator: tensors, terms of their bytes, constants. x of a constant: terms too. */
struct prove_op {
    struct prove *p;
    const struct ir_graph *g;
    const struct ir_op *op;
    const struct ir_tensor **in, *out;
    const uint32_t **x;     /* NULL: absent; of variables: before the operator */
    const uint32_t **after; /* the same after it */
    uint32_t *y;
    const struct ref_constants *k;
};

/* A graph and its inputs; then what it computes. */
struct prove_graph {
    const struct ir_graph *g;
    const struct ref_options *options;
    const uint32_t *const *in,
        *const *state;   /* terms of input i; of variable i before the inference */
    struct prove_op *op; /* by operator; NULL: not yet evaluated */
    /* Of every byte of each tensor that has a value; of variables: after the inference. */
    const uint32_t **terms;
    uint32_t first, last; /* terms made meanwhile: from first on, before last */
};

/* Evaluate it, the first time. */
void prove_graph_run(struct prove *p, struct prove_graph *graph);

/* --- rules: false if it is not one for this operator --- */
bool prove_graph_move(const struct prove_op *o);    /* graph_move.c */
bool prove_graph_unary(const struct prove_op *o);   /* graph_bytes.c */
bool prove_graph_binary(const struct prove_op *o);  /* graph_bytes.c */
bool prove_graph_i16(const struct prove_op *o);     /* graph_int16.c */
bool prove_graph_float(const struct prove_op *o);   /* graph_float.c */
bool prove_graph_product(const struct prove_op *o); /* graph_product.c */
bool prove_graph_logic(const struct prove_op *o);   /* graph_logic.c */
/* graph_logic.c: of what SELECT `from`, evaluated, chose. */
bool prove_graph_chosen(const struct prove_op *o, const struct prove_op *from);
bool prove_graph_integer(const struct prove_op *o); /* graph_integer.c */
bool prove_graph_window(const struct prove_op *o);  /* graph_window.c */
uint32_t prove_window_cells(const struct prove_op *o, const uint32_t *x, size_t i, uint32_t *cell);
bool prove_graph_reduce(const struct prove_op *o);  /* graph_window.c */
bool prove_graph_softmax(const struct prove_op *o); /* graph_window.c */
/* graph_lstm.c; state[0], state[1]: terms of its variables, which are set. */
bool prove_graph_lstm(const struct prove_op *o, const uint32_t **state[2]);

/* Terms of n bytes as int8, uint8's top bits flipped; and the zero point of those. */
const uint32_t *prove_signed(const struct prove_op *o, const struct ir_tensor *t,
                             const uint32_t *x);
int32_t prove_zero(const struct ir_tensor *t);
/* The operator's own rounding of a sum, `channel` the one of its scale; a byte as in memory. */
uint32_t prove_rounded(const struct prove_op *o, const struct prove_sum *s, uint32_t channel);

#endif
