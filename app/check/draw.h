/* draw.h - declarations shared by the makers of random operators (draw.c, others.c). */
#ifndef HEDDLE_CHECK_DRAW_H
#define HEDDLE_CHECK_DRAW_H

#include "check_target.h"

struct draw {
    struct check_cases *c;
    const struct target *target;
    const struct describe_pattern *p;
    int64_t v[TARGET_VALUE_COUNT]; /* what was drawn */
    /* For a step of a composite: operands that are there already, by number, NULL: to be drawn;
     * the number of the next; true if their shapes may differ. */
    struct ir_tensor *given[2];
    uint32_t operand;
    int32_t channels; /* channels of the composite's first input; 0: not drawn yet */
    /* misfit: a given operand has not the shape that was drawn; keeps_shape: windows give what they
     * take */
    bool broadcast, misfit, keeps_shape;
};

/* A value within its limit; the usual range [low, high] where the limit is wider. */
int64_t draw_value(struct draw *w, enum target_value value, int64_t low, int64_t high);
/* A tensor of the pattern's type, int8 with a zero point as it allows; input: of the graph, or the
 * operand that is given. */
struct ir_tensor *draw_activation(struct draw *w, struct ir_graph *g, const int32_t dim[4],
                                  float scale, enum target_value zero, bool input);
/* Random bytes, or float32 from -1 to 1, for a constant. */
uint8_t *draw_data(struct draw *w, const struct ir_tensor *t);
/* Shapes of two operands and their result: alike, or with `broadcast` one smaller. */
void draw_two_shapes(struct draw *w, int32_t a[4], int32_t b[4], int32_t y[4]);
/* One that is known, or `fallback` for float32. */
float draw_scale(const struct ir_tensor *t, float fallback);
/* The pattern's operator, its output the graph's. */
struct ir_op *draw_finish(struct draw *w, struct ir_graph *g, struct ir_tensor *const *in,
                          uint32_t n_in, struct ir_tensor *y);

/* Makes a random operator of the pattern; false: none that it could take. By operator, in columns
 * CASES and CASES_F32 of operators.def (draw.c, others.c). */
typedef bool draw_maker(struct draw *w, struct ir_graph *g);
#define CASES(fn)     draw_maker draw_##fn;
#define CASES_F32(fn) draw_maker draw_##fn;
#include "operators/operators.def"

/* cases.c: a row of the graph; sizes as text, "conv2d: in_h=5 ..."; that maker, or NULL. */
void draw_row(struct ir_graph *g, const char *name);
void draw_words(struct text *t, const struct describe_pattern *p, const char *name,
                const struct ir_graph *g, const struct ir_op *op);
draw_maker *draw_maker_of(const struct describe_pattern *p);

#endif
