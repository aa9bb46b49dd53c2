/* draw.h - declarations shared by the makers of random operators (draw.c, others.c). */
#ifndef HEDDLE_CHECK_DRAW_H
#define HEDDLE_CHECK_DRAW_H

#include "check_target.h"

enum { DRAW_SMALL = 12 }; /* values that are all tried */

struct draw {
    struct check_cases *c;
    const struct target *target;
    const struct describe_pattern *p;
    int64_t v[TARGET_VALUE_COUNT]; /* what was drawn */
    /* For a step of a composite: operands that exist already, by number, NULL: to be drawn; the
     * number of the next one; whether their shapes may differ. */
    struct ir_tensor *given[2];
    uint32_t operand;
    int32_t channels; /* channels of the composite's first input; 0: not drawn yet */
    /* misfit: a given operand's shape differs from the drawn one; keeps_shape: windows preserve the
     * size */
    bool broadcast, misfit, keeps_shape;
    /* The value that the case reaches for, TARGET_VALUE_COUNT: none; with `both` the second one too.
     * to_end: to the end of its limit, else anywhere in it. */
    enum target_value reach, second;
    bool both, to_end, corner; /* corner: the second one to its end as well */
    /* Sizes that reach_fix chose, 0: free; with one of them the others are least. */
    int64_t fixed[TARGET_VALUE_COUNT];
    uint32_t nth; /* of the cases that reach for it: small ranges are tried from their end down */
    /* Kind of the scale; `wanted`: the kind that the case must have, DRAW_NATURAL: any but the last two. */
    enum draw_kind {
        DRAW_NATURAL,
        DRAW_EDGE,
        DRAW_DEEP,
        DRAW_LEFT,
        DRAW_STEEP,
        DRAW_SUMS,
        DRAW_TIES
    } kind,
        wanted;
    bool negative;      /* DRAW_SUMS: sums of the other sign */
    uint32_t deep;      /* DRAW_TIES: the first channel's shift to the right */
    bool exact;         /* DRAW_TIES: all scales are powers of two, and ties are ties */
    double real;        /* of the first channel's sums */
    uint32_t bias_bits; /* biases are below 2^bias_bits, so that the scale shows them */
};

/* Return a value within its limit; within the usual range [low, high] if the limit is wider. */
int64_t draw_value(struct draw *w, enum target_value value, int64_t low, int64_t high);
/* Return true if the case reaches for that value. */
bool draw_reaches(const struct draw *w, enum target_value value);
/* Return the end of the value's limit; -1: it has none, or another value of the operator is its end. */
int64_t draw_end(const struct draw *w, enum target_value value);
/* Return the limit of a size, 1 and as far as cases go where it has no end. unit: multiples of it. */
void draw_range(const struct draw *w, enum target_value value, int64_t *low, int64_t *high,
                int64_t *unit);
/* The usual end of a range; 4 at most where a case reaches for another value, 1 where sizes are fixed. */
int64_t draw_few(const struct draw *w, int64_t usual);
/* Two sizes such that their product, `each` values for each, comes near the limit of `bytes`, if the case
 * reaches for that. */
void draw_fill(struct draw *w, enum target_value bytes, int64_t each, int64_t *a, int64_t *b);
/* Rows, columns and channels of an operator that keeps them; batch 1. */
void draw_image(struct draw *w, int32_t x[4]);
struct ir_tensor *draw_tensor(struct ir_graph *g, enum ir_type type, uint32_t rank,
                              const int32_t *dim, uint32_t n_scale, const float *scale,
                              const int32_t *zero);
/* The zero point for `value`; for weights, which have one scale and none, the middle. */
int32_t draw_zero_point(struct draw *w, enum target_value value, bool may, bool of_weights);
int32_t draw_activation_of(struct draw *w);
/* Return a tensor of the pattern's type, int8 with an allowed zero point; input: a graph input, or
 * the given operand. */
struct ir_tensor *draw_activation(struct draw *w, struct ir_graph *g, const int32_t dim[4],
                                  float scale, enum target_value zero, bool input);
/* Return random bytes, or float32 from -1 to 1, for a constant. */
uint8_t *draw_data(struct draw *w, const struct ir_tensor *t);
/* Draw shapes of two operands and their result: equal, or with `broadcast` one smaller. */
void draw_two_shapes(struct draw *w, int32_t a[4], int32_t b[4], int32_t y[4]);
/* Return the tensor's scale, or `fallback` for float32. */
float draw_scale(const struct ir_tensor *t, float fallback);
/* Make the pattern's operator; its output is the graph's. */
struct ir_op *draw_finish(struct draw *w, struct ir_graph *g, struct ir_tensor *const *in,
                          uint32_t n_in, struct ir_tensor *y);

/* Make a random operator of the pattern; false: the pattern accepts none. Listed by operator in
 * columns CASES and CASES_F32 of operators.def (draw.c, others.c). */
typedef bool draw_maker(struct draw *w, struct ir_graph *g);
#define CASES(fn)     draw_maker draw_##fn;
#define CASES_F32(fn) draw_maker draw_##fn;
#include "operators/operators.def"

/* Choose sizes of which a product comes near the end of its limit (w->to_end), or anywhere below: depth, bytes,
 * products. maker: the pattern's; goal: below REACH_GOALS. Return false: the operator has no such goal. */
enum { REACH_MACS = 4, REACH_GOALS };
bool reach_fix(struct draw *w, draw_maker *maker, uint32_t goal);

/* cases.c: add a row to the graph; return sizes as text, "conv2d: in_h=5 ..."; return the maker, or
 * NULL. */
void draw_row(struct ir_graph *g, const char *name);
void draw_words(struct text *t, const struct describe_pattern *p, const char *name,
                const struct ir_graph *g, const struct ir_op *op);
draw_maker *draw_maker_of(const struct describe_pattern *p);

#endif
