/* ref_detection.c - TFLite_Detection_PostProcess with fast NMS, without memory of its own:
 * candidates are visited in the order of their scores, each found by a search, and a candidate
 * stays unless a box that is already in the output overlaps it. IR.md has the arithmetic. */
#include <math.h>

#include "reference/ref_kernels.h"

struct box {
    float ymin, xmin, ymax, xmax;
};

struct detector {
    const struct ref_call *c;
    size_t n_box, n_score, n_class, each, most; /* most: boxes that y holds */
    float scale[4], score_threshold, iou_threshold;
};

static float at(const uint8_t *p, size_t i)
{
    float v;

    memcpy(&v, p + 4 * i, 4);
    return v;
}

static void put(const struct ref_call *c, size_t i, float v)
{
    memcpy(c->y[0] + 4 * i, &v, 4);
}

static struct box box_of(const struct detector *t, size_t i)
{
    const size_t row = i * (size_t)t->c->in[0]->dim[2];
    double encoding[4], anchor[4];
    float centre[2], half[2];

    for (size_t k = 0; k < 4; k++) {
        encoding[k] = (double)at(t->c->x[0], row + k) / (double)t->scale[k];
        anchor[k] = (double)at(t->c->x[2], 4 * i + k);
    }
    for (size_t k = 0; k < 2; k++) {
        centre[k] = (float)(encoding[k] * anchor[k + 2] + anchor[k]);
        half[k] = (float)(0.5 * exp(encoding[k + 2]) * anchor[k + 2]);
    }
    return (struct box){centre[0] - half[0], centre[1] - half[1], centre[0] + half[0],
                        centre[1] + half[1]};
}

static float area(struct box b)
{
    return (b.ymax - b.ymin) * (b.xmax - b.xmin);
}

static bool overlaps(const struct detector *t, struct box a, struct box b)
{
    const float height = fmaxf(fminf(a.ymax, b.ymax) - fmaxf(a.ymin, b.ymin), 0);
    const float width = fmaxf(fminf(a.xmax, b.xmax) - fmaxf(a.xmin, b.xmin), 0);
    const float common = height * width;

    if (area(a) <= 0 || area(b) <= 0)
        return false;
    return common / (area(a) + area(b) - common) > t->iou_threshold;
}

static float score(const struct detector *t, size_t box, size_t class)
{
    return at(t->c->x[1], box * t->n_score + (t->n_score - t->n_class) + class);
}

/* Return true if (v, i) comes after (before, last); larger numbers and then lower places come
 * first. */
static bool later(float v, size_t i, float before, size_t last)
{
    return v < before || (v == before && i > last);
}

/* The next class of a box after class `last` of score `before`; n_class: none. */
static size_t next_class(const struct detector *t, size_t box, float before, size_t last)
{
    size_t best = t->n_class;

    for (size_t i = 0; i < t->n_class; i++) {
        const float v = score(t, box, i);

        if ((last == t->n_class || later(v, i, before, last)) &&
            (best == t->n_class || v > score(t, box, best)))
            best = i;
    }
    return best;
}

static float best_score(const struct detector *t, size_t box)
{
    return score(t, box, next_class(t, box, 0, t->n_class));
}

/* The next box in the order of the best scores; n_box: none at or above the threshold. */
static size_t next_box(const struct detector *t, float before, size_t last)
{
    size_t best = t->n_box;
    float most = 0;

    for (size_t i = 0; i < t->n_box; i++) {
        const float v = best_score(t, i);

        if (v >= t->score_threshold && (last == t->n_box || later(v, i, before, last)) &&
            (best == t->n_box || v > most)) {
            best = i;
            most = v;
        }
    }
    return best;
}

static bool taken(const struct detector *t, struct box b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct box kept;

        memcpy(&kept, t->c->y[0] + 16 * i * t->each, sizeof kept);
        if (overlaps(t, kept, b))
            return true;
    }
    return false;
}

/* Detection `n`: box `i` once for each of its best classes. */
static void keep(const struct detector *t, size_t i, size_t n)
{
    const struct box b = box_of(t, i);
    const size_t all = t->most * t->each;
    size_t class = t->n_class;

    for (size_t k = 0; k < t->each && k < t->n_class; k++) {
        const size_t place = n * t->each + k;

        class = next_class(t, i, class == t->n_class ? 0 : score(t, i, class), class);
        memcpy(t->c->y[0] + 16 * place, &b, sizeof b);
        put(t->c, 4 * all + place, (float)class);
        put(t->c, 5 * all + place, score(t, i, class));
    }
}

enum status ref_detection(const struct ref_call *c, struct diag *d)
{
    struct detector t = {.c = c,
                         .n_box = (size_t)c->in[0]->dim[1],
                         .n_score = (size_t)c->in[1]->dim[2],
                         .n_class = (size_t)c->op->attr[IR_CLASSES],
                         .each = (size_t)c->op->attr[IR_CLASSES_EACH]};
    size_t n = 0, i = t.n_box;

    (void)d;
    t.most = (size_t)c->out[0]->dim[1] / 6 / t.each;
    memcpy(t.scale, c->x[3], sizeof t.scale);
    t.score_threshold = at(c->x[3], 4);
    t.iou_threshold = at(c->x[3], 5);
    memset(c->y[0], 0, (size_t)ir_bytes(c->out[0]));
    while (n < t.most) {
        i = next_box(&t, i == t.n_box ? 0 : best_score(&t, i), i);
        if (i == t.n_box)
            break;
        if (!taken(&t, box_of(&t, i), n))
            keep(&t, i, n++);
    }
    put(c, 6 * t.most * t.each, (float)n);
    return ST_OK;
}
