/* draw.h - what the makers of random operators share (draw.c, others.c). */
#ifndef HEDDLE_CHECK_DRAW_H
#define HEDDLE_CHECK_DRAW_H

#include "check_target.h"

struct draw {
    struct check_cases *c;
    const struct target *target;
    const struct describe_pattern *p;
    int64_t v[TARGET_VALUE_COUNT]; /* what was drawn */
};

/* A value within its limit; the usual range [low, high] where the limit is wider. */
int64_t draw_value(struct draw *w, enum target_value value, int64_t low, int64_t high);
/* A tensor of the pattern's type, int8 with a zero point as it allows; input: of the graph. */
struct ir_tensor *draw_activation(struct draw *w, struct ir_graph *g, const int32_t dim[4],
                                  float scale, enum target_value zero, bool input);
/* Random bytes, or float32 from -1 to 1, for a constant. */
uint8_t *draw_data(struct draw *w, const struct ir_tensor *t);
/* The pattern's operator, its output the graph's. */
struct ir_op *draw_finish(struct draw *w, struct ir_graph *g, struct ir_tensor *const *in,
                          uint32_t n_in, struct ir_tensor *y);

/* Makes a random operator of the pattern; false: none that it could take. By operator, in columns
 * CASES and CASES_F32 of operators.def (draw.c, others.c). */
typedef bool draw_maker(struct draw *w, struct ir_graph *g);
#define CASES(fn)     draw_maker draw_##fn;
#define CASES_F32(fn) draw_maker draw_##fn;
#include "operators/operators.def"

#endif
