/* gguf_ranges.c - see gguf_ranges.h. Names of values are those of gguf_static.c. */
#include "gguf_ranges.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/random.h"

/* Texts, and tokens of each. All take a step together, so that a weight is converted once for them: each array below
 * has a row for each text. With 4 texts of 32 tokens values of other texts exceed the ranges (perplexity 60.7 instead of
 * 56.9, 55.2 in float32). */
enum { TEXTS = 8, TOKENS = 64, BLOCK = 64 };

static const char *const norms[2][4] = {
    {"norm", "norm.square", "norm.mean", "norm.inverse"},
    {"ffn_norm", "ffn_norm.square", "ffn_norm.mean", "ffn_norm.inverse"},
};

struct run {
    struct arena *arena;
    const struct gguf_network *n;
    struct gguf_ranges *seen;
    uint32_t at; /* the value that is next */
    bool hidden; /* values do not count */
    int64_t layer, position;
    float *key, *value; /* [layers,TOKENS,texts,kv_heads,head] */
    float *x, *h, *q, *o, *gate, *up, *scores, *logits, *other;
};

/* --- ranges --- */

/* v: n values. */
static void see(struct run *r, const char *what, const float *v, int64_t n)
{
    struct gguf_ranges *s = r->seen;
    struct gguf_range *range;

    if (r->hidden)
        return;
    if (r->at == s->n) {
        ARENA_GROW(r->arena, s->range, s->n, &s->cap);
        s->range[s->n++] = (struct gguf_range){
            r->layer < 0 ? what : arena_printf(r->arena, "%d.%s", (int)r->layer, what), 0, 0};
    }
    range = &s->range[r->at++];
    for (int64_t i = 0; i < n; i++) {
        range->low = fminf(range->low, v[i]);
        range->high = fmaxf(range->high, v[i]);
    }
}

const struct gguf_range *gguf_range(const struct gguf_ranges *r, const char *name)
{
    uint32_t i = 0;

    while (strcmp(r->range[i].name, name) != 0)
        i++;
    return &r->range[i];
}

/* The magnitudes of gated values. */
static void see_gated(struct run *r)
{
    float *most = r->seen->gated + r->layer * r->n->inner;

    for (int64_t i = 0; i < TEXTS * r->n->inner && !r->hidden; i++)
        most[i % r->n->inner] = fmaxf(most[i % r->n->inner], fabsf(r->gate[i]));
    see(r, "gated", r->gate, TEXTS * r->n->inner);
}

/* --- operators --- */

/* Rows `from` to `end` of the product. */
static void part_of_product(const struct gguf_matrix *m, const float *x, float *y, int64_t from,
                            int64_t end)
{
    float sum[TEXTS][BLOCK] = {0}, w[BLOCK] = {0};

    for (int64_t k = 0; k < m->columns; k++) {
        for (int64_t i = from; i < end; i++)
            w[i - from] = (float)m->w[k * m->rows + i];
        for (int64_t t = 0; t < TEXTS; t++)
            for (int64_t i = 0; i < BLOCK; i++)
                sum[t][i] += x[t * m->columns + k] * w[i];
    }
    for (int64_t t = 0; t < TEXTS; t++)
        for (int64_t i = from; i < end; i++)
            y[t * m->rows + i] = sum[t][i - from] * m->scale[i];
}

/* y = x times m; x: [texts,columns], y: [texts,rows]. */
static void product(const struct gguf_matrix *m, const float *x, float *y)
{
    for (int64_t i = 0; i < m->rows; i += BLOCK)
        part_of_product(m, x, y, i, i + BLOCK < m->rows ? i + BLOCK : m->rows);
}

/* `names`: the result's, and those of the squares, their mean, and what x is multiplied by. */
static void norm(struct run *r, const char *const names[4])
{
    const int64_t width = r->n->width;
    float mean[TEXTS], inverse[TEXTS];

    for (int64_t t = 0; t < TEXTS; t++) {
        double squares = 0;

        for (int64_t i = t * width; i < (t + 1) * width; i++) {
            r->h[i] = r->x[i] * r->x[i];
            squares += (double)r->h[i];
        }
        mean[t] = (float)(squares / (double)width);
        inverse[t] = 1 / sqrtf(mean[t] + r->n->epsilon);
    }
    see(r, names[1], r->h, TEXTS * width);
    see(r, names[2], mean, TEXTS);
    see(r, names[3], inverse, TEXTS);
    for (int64_t i = 0; i < TEXTS * width; i++)
        r->h[i] = r->x[i] * inverse[i / width];
    see(r, names[0], r->h, TEXTS * width);
}

/* RoPE of `heads` heads; names: those of both products, and of their sum. */
static void turn(struct run *r, const char *const name[3], int64_t heads, float *x)
{
    const int64_t head = r->n->head, half = head / 2, n = TEXTS * heads * head;
    const float *c = r->n->cosine + r->position * head, *s = r->n->sine + r->position * head;

    for (int64_t i = 0; i < n; i++)
        r->other[i] = x[(i % head < half) ? i + half : i - half] * s[i % head];
    for (int64_t i = 0; i < n; i++)
        x[i] *= c[i % head];
    see(r, name[0], x, n);
    see(r, name[1], r->other, n);
    for (int64_t i = 0; i < n; i++)
        x[i] += r->other[i];
    see(r, name[2], x, n);
}

/* Head `h` of the sum of values by their shares, of text t. */
static void attend(struct run *r, int64_t t, int64_t h)
{
    const struct gguf_network *n = r->n;
    const int64_t kv = n->kv_heads * n->head, own = h / (n->heads / n->kv_heads) * n->head;
    const int64_t base = (r->layer * TOKENS * TEXTS + t) * kv + own, next = TEXTS * kv;
    const float *q = r->q + t * n->width + h * n->head;
    float *o = r->o + t * n->width + h * n->head, most = -INFINITY, sum = 0;

    for (int64_t p = 0; p <= r->position; p++) {
        const float *k = r->key + base + p * next;

        r->scores[p] = 0;
        for (int64_t i = 0; i < n->head; i++)
            r->scores[p] += q[i] * k[i];
        most = fmaxf(most, r->scores[p]);
    }
    see(r, "scores", r->scores, r->position + 1);
    for (int64_t p = 0; p <= r->position; p++)
        sum += r->scores[p] = expf((r->scores[p] - most) / sqrtf((float)n->head));
    memset(o, 0, (size_t)n->head * sizeof *o);
    for (int64_t p = 0; p <= r->position; p++)
        for (int64_t i = 0; i < n->head; i++)
            o[i] += r->scores[p] / sum * r->value[base + p * next + i];
}

/* Add a product to the residual. */
static void add(struct run *r, const struct gguf_matrix *m, const float *v, const char *what,
                const char *sum)
{
    product(m, v, r->other);
    see(r, what, r->other, TEXTS * r->n->width);
    for (int64_t i = 0; i < TEXTS * r->n->width; i++)
        r->x[i] += r->other[i];
    see(r, sum, r->x, TEXTS * r->n->width);
}

static void layer(struct run *r)
{
    static const char *const q[] = {"q.cosines", "q.sines", "q.turned"};
    static const char *const k[] = {"k.cosines", "k.sines", "k.turned"};
    const struct gguf_network *n = r->n;
    const struct gguf_matrix *m = n->part + r->layer * GGUF_PARTS;
    const int64_t kv = n->kv_heads * n->head, at = (r->layer * TOKENS + r->position) * TEXTS * kv;
    uint32_t scores;

    norm(r, norms[0]);
    product(&m[GGUF_Q], r->h, r->q);
    see(r, "q", r->q, TEXTS * n->width);
    product(&m[GGUF_K], r->h, r->key + at);
    see(r, "k", r->key + at, TEXTS * kv);
    product(&m[GGUF_V], r->h, r->value + at);
    see(r, "v", r->value + at, TEXTS * kv);
    turn(r, q, n->heads, r->q);
    turn(r, k, n->kv_heads, r->key + at);
    scores = r->at;
    for (int64_t i = 0; i < TEXTS * n->heads; i++) {
        r->at = scores;
        attend(r, i / n->heads, i % n->heads);
    }
    see(r, "sum", r->o, TEXTS * n->width);
    add(r, &m[GGUF_O], r->o, "o", "x");
    norm(r, norms[1]);
    product(&m[GGUF_GATE], r->h, r->gate);
    see(r, "gate", r->gate, TEXTS * n->inner);
    product(&m[GGUF_UP], r->h, r->up);
    see(r, "up", r->up, TEXTS * n->inner);
    for (int64_t i = 0; i < TEXTS * n->inner; i++)
        r->gate[i] /= 1 + expf(-r->gate[i]);
    see(r, "silu", r->gate, TEXTS * n->inner);
    for (int64_t i = 0; i < TEXTS * n->inner; i++)
        r->gate[i] *= r->up[i];
    see_gated(r);
    add(r, &m[GGUF_DOWN], r->gate, "down", "end");
}

/* A step of all texts by a token for each. */
static void step(struct run *r, const int64_t token[TEXTS])
{
    const struct gguf_network *n = r->n;

    r->at = 0;
    for (int64_t i = 0; i < TEXTS * n->width; i++)
        r->x[i] = n->table_scale * (float)n->table[token[i / n->width] * n->width + i % n->width];
    for (r->layer = 0; r->layer < n->layers; r->layer++)
        layer(r);
    r->layer = -1;
    norm(r, norms[0]);
    product(&n->logits, r->h, r->logits);
    see(r, "logits", r->logits, TEXTS * n->vocabulary);
}

/* --- texts --- */

/* Draw a token by the probabilities of the logits of text t. */
static int64_t draw(const struct run *r, int64_t t, uint64_t *state)
{
    const float *logits = r->logits + t * r->n->vocabulary;
    const int64_t n = r->n->vocabulary;
    double sum = 0, at = (double)(random_next(state) >> 11) * 0x1p-53;
    float most = -INFINITY;

    for (int64_t i = 0; i < n; i++)
        most = fmaxf(most, logits[i]);
    for (int64_t i = 0; i < n; i++)
        sum += exp((double)(logits[i] - most));
    at *= sum;
    for (int64_t i = 0; i < n; i++)
        if ((at -= exp((double)(logits[i] - most))) < 0)
            return i;
    return n - 1;
}

static void keep_begin(struct run *r)
{
    const struct gguf_network *n = r->n;
    const int64_t kv = n->kv_heads * n->head;

    r->seen->key = ARENA_ARRAY(r->arena, float, (size_t)(n->layers * kv));
    r->seen->value = ARENA_ARRAY(r->arena, float, (size_t)(n->layers * kv));
    for (int64_t i = 0; i < n->layers; i++) {
        memcpy(r->seen->key + i * kv, r->key + i * TOKENS * TEXTS * kv, (size_t)kv * sizeof(float));
        memcpy(r->seen->value + i * kv, r->value + i * TOKENS * TEXTS * kv,
               (size_t)kv * sizeof(float));
    }
}

/* Return n values for each text. */
static float *rows(struct arena *a, int64_t n)
{
    return ARENA_ARRAY(a, float, (size_t)(TEXTS * n));
}

struct gguf_ranges *gguf_see(struct arena *a, const struct gguf_network *n)
{
    const int64_t kept = n->layers * TOKENS * n->kv_heads * n->head;
    struct run r = {.arena = a, .n = n, .seen = ARENA_NEW(a, struct gguf_ranges)};
    uint64_t state = 47;

    r.seen->gated = ARENA_ARRAY(a, float, (size_t)(n->layers * n->inner));
    r.key = rows(a, kept);
    r.value = rows(a, kept);
    r.x = rows(a, n->width);
    r.h = rows(a, n->width);
    r.q = rows(a, n->width);
    r.o = rows(a, n->width);
    r.other = rows(a, n->width);
    r.gate = rows(a, n->inner);
    r.up = rows(a, n->inner);
    r.scores = ARENA_ARRAY(a, float, TOKENS);
    r.logits = rows(a, n->vocabulary);
    for (r.position = 0; r.position < TOKENS && r.position < n->context; r.position++) {
        int64_t token[TEXTS];

        r.hidden = r.position == 0 && n->begin >= 0;
        for (int64_t t = 0; t < TEXTS; t++)
            token[t] = r.position > 0  ? draw(&r, t, &state)
                       : n->begin >= 0 ? n->begin
                                       : (int64_t)(random_next(&state) % (uint64_t)n->vocabulary);
        step(&r, token);
    }
    if (n->begin >= 0)
        keep_begin(&r);
    return r.seen;
}
