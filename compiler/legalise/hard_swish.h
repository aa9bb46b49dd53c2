/* hard_swish.h - x * relu6(x + 3) / 6 in the 16-bit fixed point of TFLite's reference. */
#ifndef HEDDLE_COMPILER_LEGALISE_HARD_SWISH_H
#define HEDDLE_COMPILER_LEGALISE_HARD_SWISH_H

#include <stdint.h>

struct lgl_hard_swish {
    int16_t out_multiplier, relu_multiplier;
    int32_t out_shift, relu_shift;
};

struct lgl_hard_swish lgl_hard_swish_scales(float s_in, float s_out);
/* Output code less the zero point for input code less the zero point, not clamped. */
int32_t lgl_hard_swish_code(const struct lgl_hard_swish *h, int32_t x);

#endif
