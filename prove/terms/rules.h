/* rules.h - rules that package and graph share: from terms to the term of a result. */
#ifndef HEDDLE_PROVE_TERMS_RULES_H
#define HEDDLE_PROVE_TERMS_RULES_H

#include "value.h"

/* clamp(s * multiplier * 2^(shift - 31) + z), or unknown where it may wrap. */
uint32_t prove_requantise(struct prove *p, const struct prove_sum *s, int32_t multiplier,
                          int32_t shift, int32_t z, int32_t low, int32_t high);

/* softmax.c: y[i] of n terms x by the exponentials e[-difference]: 1/256 from -128 on. */
void prove_softmax(struct prove *p, const int32_t e[256], const uint32_t *x, uint32_t n,
                   uint32_t *y);
/* The mean of a sum over n cells, halves away from zero, and up for `up`; clamped. */
uint32_t prove_average(struct prove *p, const struct prove_sum *s, uint32_t n, bool up, int32_t low,
                       int32_t high);
/* The mean of cells; the largest of cells; each clamped, 0 and -128 of no cells. */
uint32_t prove_mean_of(struct prove *p, const uint32_t *cell, uint32_t n, bool up, int32_t low,
                       int32_t high);
uint32_t prove_most_of(struct prove *p, const uint32_t *cell, uint32_t n, int32_t low,
                       int32_t high);
/* float.c: round(x / scale) + zero, x the four bytes of a float32. */
uint32_t prove_quantize(struct prove *p, const uint32_t x[4], float scale, int32_t zero);
enum { PROVE_BYTES = 256 };
/* The same by its function: prove_hash of word[PROVE_BYTES]. word[i], rising, is the least key
 * (accel.json, space threshold) of byte i - 128; word[0] is the byte of a NaN. */
uint32_t prove_reaches(struct prove *p, const uint32_t x[4], prove_uwide rising);

#endif
