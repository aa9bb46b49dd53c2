/* value.h - values in place of bytes. A byte of memory is a term: what it is as a function of the
 * network's inputs. Each term has an element of the field; equal elements are equal functions, but
 * for a small chance (docs/PROOF.md). Terms 0 to 255 are the constants -128 to 127. */
#ifndef HEDDLE_PROVE_VALUE_H
#define HEDDLE_PROVE_VALUE_H

#include <stdbool.h>

#include "base/arena.h"
#include "field.h"

/* No term: a byte that nothing has written. */
#define PROVE_NOTHING UINT32_MAX

enum prove_kind {
    PROVE_LEAF,     /* its own element, no structure */
    PROVE_FUNCTION, /* a normal form of one or two arguments */
    PROVE_GREATEST, /* the largest of a set of terms */
    PROVE_LEAST,
};

/* A byte, as int8, in [low, high]. */
struct prove_term {
    prove_uwide element;
    prove_uwide arg[2];    /* of PROVE_FUNCTION: each counts from 0 .. */
    uint32_t span[2];      /* .. to this */
    const void *structure; /* struct prove_function or struct prove_set */
    int16_t low, high;
    uint8_t kind;
};

/* An integer: a polynomial at the random point, and bounds of what it can be. */
struct prove_sum {
    prove_wide part[2]; /* not reduced: part[0] + part[1] * 2^64 */
    int64_t low, high;
    uint32_t only; /* if low < high: the term that alone is not constant, or PROVE_NOTHING */
};

/* The normal form of a function of one argument (n[1] = 1) or two, each an integer from 0 on: the
 * value changes at at[k][i], i from 1; rows differ from their neighbours, and so do columns. */
struct prove_function {
    uint32_t n[2];
    const int64_t *at[2];          /* at[k][0] = 0 */
    const int8_t *value;           /* [n[0]][n[1]] */
    uint64_t number;               /* equal functions have equal numbers */
    struct prove_function *turned; /* of the arguments exchanged; NULL: not yet asked for */
    int16_t low, high;
};

struct prove_set {
    uint32_t n;
    const uint32_t *term; /* by element, upwards */
    const int8_t *by;     /* NULL, or: this set is by[v + 128] of the set `from`, v */
    uint32_t from;
};

struct prove_unknown {
    const char *why;
    uint32_t layer;
};

enum { PROVE_MAX_UNKNOWN = 32 };

struct prove {
    struct arena *arena;
    uint64_t seed, fresh;
    struct prove_term *term;
    uint32_t n_term, cap_term;
    struct prove_known **known; /* by hash */
    struct prove_recent *recent;
    uint64_t n_known;
    struct prove_known *table, *pairs; /* asked for last */
    const int8_t *pairs_at;
    struct prove_draft *draft; /* function.c */
    bool deep;                 /* functions of two see into their arguments */
    uint32_t layer;            /* being evaluated */
    struct prove_unknown unknown[PROVE_MAX_UNKNOWN];
    uint32_t n_unknown;
    struct prove_set16 **sets; /* int16.c: by element */
    prove_uwide rising;        /* float.c: of the last scale and zero point, unless scale is 0 */
    float scale;
    int32_t zero;
};

/* n_term: how many terms are expected. */
struct prove *prove_new(struct arena *a, uint64_t seed, uint64_t n_term);

static inline uint32_t prove_constant(int8_t v)
{
    return (uint32_t)(v + 128);
}
static inline bool prove_is_constant(uint32_t term)
{
    return term < 256;
}
/* A value that nothing else is equal to, of any byte. */
uint32_t prove_fresh(struct prove *p);
/* The same, and why no rule gives it a better one. */
uint32_t prove_unknown(struct prove *p, const char *why);
/* Byte `index` of input `which`, the same at each call. */
uint32_t prove_input(struct prove *p, uint64_t which, uint64_t index);
/* A term of its own that is equal to t. */
uint32_t prove_again(struct prove *p, uint32_t t);
/* A value of hash `h`, in [low, high]. */
uint32_t prove_leaf(struct prove *p, prove_uwide h, int32_t low, int32_t high);
/* An element that depends on the seed, of n words. */
prove_uwide prove_hash(const struct prove *p, const prove_uwide *word, uint32_t n);

/* --- known.c --- */

enum prove_of { PROVE_OF_KEY, PROVE_OF_TABLE, PROVE_OF_FUNCTION, PROVE_OF_PAIRS };
/* What is known by its bytes: equal bytes of a kind are one entry. */
struct prove_known {
    struct prove_known *next;
    enum prove_of of;
    uint64_t hash, number; /* number: from 0, in the order of first use */
    size_t n;
    void *result; /* the caller's; NULL the first time */
    const void *bytes;
};
/* The entry of n bytes of a kind; those of pairs stay where they are, others are copied. */
struct prove_known *prove_know(struct prove *p, enum prove_of of, const void *bytes, size_t n);

/* Key of what was made before: words that say all about it. */
enum { PROVE_KEY = 12 };
struct prove_key {
    int64_t word[PROVE_KEY];
};
/* The place for the result of `key`; *slot is NULL the first time. */
void **prove_memo(struct prove *p, const struct prove_key *key);

/* --- function.c --- */

/* A function of an integer to a byte that never turns: it rises all the way, or falls. */
typedef int8_t prove_curve(const void *ctx, int64_t x);
/* The term f(s). key: the function without s. The caller has made sure that f is as it says over [-limit, limit], with
 * nothing wrapping, and that s is in it. */
uint32_t prove_apply(struct prove *p, prove_curve *f, const void *ctx, struct prove_key key,
                     const struct prove_sum *s, int64_t limit);
/* The term table[(a + 128) * 256 + b + 128]; the table stays where it is. */
uint32_t prove_pair(struct prove *p, const int8_t *table, uint32_t a, uint32_t b);

/* The term of a function of one integer, 0 at element `arg` and at most `span`: value[i] from at[i] on, n at most 256,
 * at[0] = 0. */
uint32_t prove_pieces(struct prove *p, const int64_t *at, const int8_t *value, uint32_t n,
                      prove_uwide arg, uint64_t span);

/* --- joint.c --- */

enum { PROVE_JOINT = 8 };
/* Terms that are functions of one integer, or constants: value[k][i] of term k from at[i] on. */
struct prove_joint {
    uint32_t n;
    int64_t at[256];
    prove_uwide arg;
    uint64_t span;
    int8_t value[PROVE_JOINT][256];
};
/* False: n terms, at most PROVE_JOINT, are not functions of one integer with at most 256 pieces. */
bool prove_joint(const struct prove *p, const uint32_t *t, uint32_t n, struct prove_joint *j);

/* --- extremum.c --- */

/* The term table[t + 128]. */
uint32_t prove_table(struct prove *p, const int8_t table[256], uint32_t t);
/* The term with its top bit flipped: uint8 as int8. */
uint32_t prove_flip(struct prove *p, uint32_t t);
/* The largest (kind PROVE_GREATEST) or smallest of n terms, n at least 1. */
uint32_t prove_extremum(struct prove *p, enum prove_kind kind, const uint32_t *t, uint32_t n);

/* --- sums --- */

/* A term that is not constant is added. */
static inline void prove_one_more(struct prove_sum *s, uint32_t t)
{
    s->only = s->low == s->high ? t : PROVE_NOTHING;
}

static inline void prove_add(struct prove_sum *s, const struct prove *p, uint32_t t, int64_t offset,
                             int64_t factor)
{
    const struct prove_term *x = &p->term[t];
    const int64_t low = (x->low + offset) * factor, high = (x->high + offset) * factor;

    if (low != high)
        prove_one_more(s, t);
    s->part[0] += ((prove_wide)(uint64_t)x->element + offset) * factor;
    s->part[1] += (prove_wide)(x->element >> 64) * factor;
    s->low += low < high ? low : high;
    s->high += low < high ? high : low;
}

static inline void prove_shift(struct prove_sum *s, int64_t v)
{
    s->part[0] += v;
    s->low += v;
    s->high += v;
}

static inline void prove_times_256(struct prove_sum *s)
{
    for (uint32_t i = 0; i < 2; i++)
        s->part[i] *= 256;
    s->low *= 256;
    s->high *= 256;
}

/* The sum's element. */
static inline prove_uwide prove_value(const struct prove_sum *s)
{
    return prove_plus(prove_element(s->part[0]), prove_raised(prove_element(s->part[1])));
}

/* Adds (a + offset_a) * (b + offset_b). */
void prove_add_product(struct prove_sum *s, const struct prove *p, uint32_t a, int64_t offset_a,
                       uint32_t b, int64_t offset_b);

static inline bool prove_fits(const struct prove_sum *s)
{
    return s->low >= INT32_MIN && s->high <= INT32_MAX;
}

#endif
