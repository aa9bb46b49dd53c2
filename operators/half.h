/* half.h - IEEE float16 and bfloat16. To 16 bits: the nearest, ties to even. */
#ifndef HEDDLE_OPERATORS_HALF_H
#define HEDDLE_OPERATORS_HALF_H

#include <stdint.h>

float half_to_float(uint16_t h);
uint16_t half_from_float(float v);
float bfloat_to_float(uint16_t b);
uint16_t bfloat_from_float(float v);

#endif
