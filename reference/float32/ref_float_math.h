/* ref_float_math.h - float32 functions of the reference. Each is the formula that ref_float_math.c
 * states, every operation rounded to float32 (to double where stated); NaN stays NaN. */
#ifndef HEDDLE_REFERENCE_REF_FLOAT_MATH_H
#define HEDDLE_REFERENCE_REF_FLOAT_MATH_H

float ref_exp(float x);
float ref_expm1(float x);
float ref_sigmoid(float x);
float ref_tanh(float x);
float ref_sin(float x);
float ref_cos(float x);
float ref_erf(float x);
float ref_log(float x);
float ref_pow(float a, float b);
/* A clamp that leaves NaN. */
float ref_clamp(float v, float low, float high);

#endif
