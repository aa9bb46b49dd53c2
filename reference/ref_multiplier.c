/* ref_multiplier.c - a scale as multiplier and shift, and the ends of a type: what ref_constants.c and the
 * makers of tables share (NUMERICS.md, "Building blocks"). */
#include <string.h>

#include "ref_constants.h"

float ref_attr_float(const struct ir_op *op, enum ir_attr attr)
{
    float v;

    memcpy(&v, &op->attr[attr], sizeof v);
    return v;
}

/* From the bits of the double: 53 of significand, of which 31 stay; halves up. */
void ref_fixed_point(double d, int32_t *multiplier, int8_t *shift)
{
    uint64_t bits, significand;
    int exponent;

    memcpy(&bits, &d, sizeof bits);
    significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    exponent = (int)(bits >> 52 & 2047) - 1022; /* d = 0.1.. * 2^exponent */
    significand = (significand >> 22) + (significand >> 21 & 1);
    if (significand >> 31 != 0) {
        significand >>= 1;
        exponent++;
    }
    *multiplier = !(d > 0) || exponent < -31 ? 0 : (int32_t)significand;
    *shift = *multiplier == 0 ? 0 : (int8_t)(exponent > 127 ? 127 : exponent);
}

void ref_set_fixed(const struct ref_maker *m, uint32_t n, const double *d)
{
    int32_t *multiplier = ARENA_ARRAY(m->arena, int32_t, n);
    int8_t *shift = ARENA_ARRAY(m->arena, int8_t, n);

    for (uint32_t i = 0; i < n; i++)
        ref_fixed_point(d[i], &multiplier[i], &shift[i]);
    m->k->n = n;
    m->k->multiplier = multiplier;
    m->k->shift = shift;
}

int32_t ref_lowest(enum ir_type type)
{
    return type == IR_U8 ? 0 : type == IR_I16 ? INT16_MIN : INT8_MIN;
}

int32_t ref_highest(enum ir_type type)
{
    return type == IR_U8 ? UINT8_MAX : type == IR_I16 ? INT16_MAX : INT8_MAX;
}
