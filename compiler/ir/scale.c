/* scale.c - properties of a scale. */
#include "ir.h"

#include <math.h>

bool ir_power_of_two(float x, int *exponent)
{
    const float wanted = logf(x) * (1.0f / logf(2.0f)), nearest = roundf(wanted);

    *exponent = (int)nearest;
    return fabsf(wanted - nearest) < 1e-3f;
}
