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
/* choice.c: a where the condition's byte is not 0, else b. */
uint32_t prove_choice(struct prove *p, uint32_t condition, uint32_t a, uint32_t b);
/* float.c: round(x / scale) + zero, x the four bytes of a float32. */
uint32_t prove_quantize(struct prove *p, const uint32_t x[4], float scale, int32_t zero);
enum { PROVE_BYTES = 256 };
/* The same by its function: prove_hash of word[PROVE_BYTES]. word[i], rising, is the least key
 * (accel.json, space threshold) of byte i - 128; word[0] is the byte of a NaN. */
uint32_t prove_reaches(struct prove *p, const uint32_t x[4], prove_uwide rising);

/* --- int16.c --- */

/* The element of an int16, the integer that its two bytes are; of n of them. */
prove_uwide prove_i16(struct prove *p, const uint32_t x[2]);
const prove_uwide *prove_i16s(struct prove *p, const uint32_t *x, size_t n);

/* Add factor times the integer of an element; |factor| at most 2^15. The bounds stay: 64 bits hold any such sum. */
static inline void prove_add_i16(struct prove_sum *s, prove_uwide element, int64_t factor)
{
    s->part[0] += (prove_wide)(uint64_t)element * factor;
    s->part[1] += (prove_wide)(element >> 64) * factor;
}

enum prove_opaque_rule {
    PROVE_SUM_16, /* prove_sum16: {roundings, multiplier, shift, low, high} of a sum of products */
    PROVE_ADD_16, /* {multipliers, shifts of a, b, y, low, high} of a, b */
    PROVE_SUB_16,
    PROVE_MUL_16,     /* {multiplier, shift, low, high} of a, b */
    PROVE_UNARY_16,   /* {absolute, multipliers, shifts from 0 on and below, low, high} */
    PROVE_SUM_32,     /* {} of a sum modulo 2^32 */
    PROVE_LARGEST_16, /* {hash of the set of its members}: prove_extremum16 */
    PROVE_SMALLEST_16,
    PROVE_AVERAGE_16, /* {values, low, high} of their sum: prove_average16 */
    PROVE_TABLE_16,   /* {hash of its results, the least, the greatest}: prove_table16 */
};
enum { PROVE_PARAMETERS = 8, PROVE_ARGUMENTS = 2 };
struct prove_opaque {
    enum prove_opaque_rule rule;
    int64_t parameter[PROVE_PARAMETERS];
    prove_uwide of[PROVE_ARGUMENTS];
};
/* The n bytes of an opaque function. */
void prove_opaque(struct prove *p, const struct prove_opaque *o, uint32_t *y, uint32_t n);
/* The two bytes of one that is an int16 from low to high. */
void prove_opaque16(struct prove *p, const struct prove_opaque *of, int64_t low, int64_t high,
                    uint32_t y[2]);
/* Set the rule and parameters of a function of an int16 from its results for -32768 to 32767. */
enum { PROVE_CODES_16 = 65536 };
void prove_table16(const struct prove *p, const int16_t *table, struct prove_opaque *o);
/* The two bytes of one that is an int16 between its parameters 2 and 3. */
void prove_tabled16(struct prove *p, const struct prove_opaque *o, uint32_t y[2]);
/* The two bytes of the largest or smallest of n elements, a set as prove_extremum's. `member` is overwritten. */
void prove_extremum16(struct prove *p, enum prove_opaque_rule rule, prove_uwide *member, uint32_t n,
                      uint32_t y[2]);
/* The two bytes of the average of n elements, halves away from zero. Of 2 to 181 it is the sum times the least 31-bit
 * multiplier above 1/n, rounded as int8's (compiler/systolic/rewrites/averages.c). */
void prove_average16(struct prove *p, const prove_uwide *x, uint32_t n, int32_t low, int32_t high,
                     uint32_t y[2]);
/* prove_opaque16, or prove_extremum16 of its two arguments by its rule. */
void prove_pair16(struct prove *p, const struct prove_opaque *of, int64_t low, int64_t high,
                  uint32_t y[2]);
/* The two bytes of a sum of products of int16: clamp(s * multiplier * 2^(shift - 31)), with `narrow` rounded
 * twice as int8's, else once, with 15 bits of the multiplier. Equal products of equal roundings are one function. */
struct prove_sum16 {
    bool narrow;
    int32_t multiplier, shift, low, high;
};
void prove_sum16(struct prove *p, const struct prove_sum16 *by, prove_uwide sum, uint32_t y[2]);
/* One of them as the array makes it (fields `half`, act_min, act_max): the upper byte, or the lower one less 128. */
uint32_t prove_half(struct prove *p, const struct prove_sum *s, int32_t multiplier, int32_t shift,
                    int32_t low, int32_t high, bool lower);
/* The byte of an int16: clamp(x * (multiplier, shift) + zero), a function of both bytes of that product between -256
 * and 255. by[3]: zero, low, high. */
struct prove_narrow16 {
    struct prove_opaque scaled;
    const int8_t *pair; /* of the upper byte, and of the lower one less 128 */
};
void prove_narrow_by(const struct prove *p, int32_t multiplier, int32_t shift, const int32_t by[3],
                     struct prove_narrow16 *n);
uint32_t prove_narrow(struct prove *p, const struct prove_narrow16 *n, prove_uwide x);
/* The 4 bytes of a sum modulo 2^32. */
void prove_sum32(struct prove *p, const struct prove_sum *s, uint32_t y[4]);

/* --- lstm.c --- */

/* Byte `byte` of s * multiplier * 2^(shift - 31) + z, clamped to n bytes. */
struct prove_scale {
    int32_t multiplier, shift, z;
};
uint32_t prove_wide_byte(struct prove *p, const struct prove_sum *s, const struct prove_scale *by,
                         uint32_t n, uint32_t byte);

/* A cell of an LSTM as VECTOR computes it (docs/HARDWARE.md): of the bytes of four gates, x[b][g] of
 * the input's sums and h[b][g] of the recurrent ones, and of its state. y: its output, then two bytes
 * of its new state. */
enum { PROVE_GATES = 4, PROVE_X_BYTES = 2, PROVE_H_BYTES = 3 };
struct prove_cell {
    int32_t shift, bound; /* shift_a, multiplier_a */
    struct prove_scale out;
    uint32_t x[PROVE_X_BYTES][PROVE_GATES], h[PROVE_H_BYTES][PROVE_GATES], state[2];
};
void prove_cell(struct prove *p, const struct prove_cell *c, uint32_t y[3]);

#endif
