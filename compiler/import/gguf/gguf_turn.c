/* gguf_turn.c - see gguf_turn.h. */
#include "gguf_turn.h"

#include <math.h>
#include <string.h>

enum { MOST_ODD = 64 }; /* a longer cosine transform is left out */

struct gguf_turn gguf_turn_of(struct arena *a, int64_t n)
{
    struct gguf_turn t = {n, n, NULL};
    const double pi = acos(-1);

    while (t.odd % 2 == 0)
        t.odd /= 2;
    if (t.odd == 1 || t.odd > MOST_ODD)
        return t;
    t.cosine = ARENA_ARRAY(a, float, (size_t)(t.odd * t.odd));
    for (int64_t k = 0; k < t.odd; k++)
        for (int64_t i = 0; i < t.odd; i++)
            t.cosine[k * t.odd + i] =
                (float)(sqrt((k ? 2.0 : 1.0) / (double)t.odd) *
                        cos(pi * ((double)i + 0.5) * (double)k / (double)t.odd));
    return t;
}

static void cosines(const struct gguf_turn *t, float *v)
{
    float old[MOST_ODD];

    memcpy(old, v, (size_t)t->odd * sizeof *v);
    for (int64_t k = 0; k < t->odd; k++) {
        v[k] = 0;
        for (int64_t i = 0; i < t->odd; i++)
            v[k] += old[i] * t->cosine[k * t->odd + i];
    }
}

void gguf_turn(const struct gguf_turn *t, float *v)
{
    const float root = sqrtf(0.5f);

    for (int64_t i = 0; i < t->n && t->cosine; i += t->odd)
        cosines(t, v + i);
    for (int64_t step = t->odd; step < t->n; step *= 2)
        for (int64_t i = 0; i < t->n; i += 2 * step)
            for (int64_t k = i; k < i + step; k++) {
                const float x = v[k], y = v[k + step];

                v[k] = (x + y) * root;
                v[k + step] = (x - y) * root;
            }
}
