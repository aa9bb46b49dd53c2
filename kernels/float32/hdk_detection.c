/* hdk_detection.c - TFLite_Detection_PostProcess with fast NMS: every box is decoded once into the
 * scratch memory, with its best score; a box that is kept or suppressed has its score taken away.
 */
#include "hdk.h"
#include "hdk_f32_math.h"

/* ymin, xmin, ymax, xmax of a box in double, each value rounded once. */
static void decode(const struct hdk_detection *p, const float *encoding, const float *anchor,
                   float *box)
{
    for (uint32_t k = 0; k < 2; k++) {
        const double offset = (double)encoding[k] / (double)p->scale[k] * (double)anchor[k + 2];
        const double size = (double)encoding[k + 2] / (double)p->scale[k + 2];
        const float centre = (float)(offset + (double)anchor[k]);
        const float half = (float)(0.5 * hdk_f32_double_exp(size) * (double)anchor[k + 2]);

        box[k] = centre - half;
        box[k + 2] = centre + half;
    }
}

/* The first of the largest of n scores. */
static uint32_t largest(const float *score, uint32_t n)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < n; i++)
        if (score[i] > score[best])
            best = i;
    return best;
}

static float area(const float *b)
{
    return (b[2] - b[0]) * (b[3] - b[1]);
}

static float least(float a, float b)
{
    return b < a ? b : a;
}

static float most(float a, float b)
{
    return a < b ? b : a;
}

static float overlap(const float *a, const float *b)
{
    const float height = most(least(a[2], b[2]) - most(a[0], b[0]), 0);
    const float width = most(least(a[3], b[3]) - most(a[1], b[1]), 0);
    const float area_a = area(a), area_b = area(b), common = height * width;

    return area_a <= 0 || area_b <= 0 ? 0 : common / (area_a + area_b - common);
}

/* Class k of a box in the order of the scores, the first of equal ones first. */
static uint32_t class_at(const float *score, uint32_t n, uint32_t k)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t before = 0;

        for (uint32_t j = 0; j < n; j++)
            before += score[j] > score[i] || (score[j] == score[i] && j < i);
        if (before == k)
            return i;
    }
    return 0;
}

static void emit(const struct hdk_detection *p, const float *box, const float *score, uint32_t n,
                 float *y)
{
    const uint32_t all = p->detections * p->classes_each;

    for (uint32_t k = 0; k < p->classes_each && k < p->classes; k++) {
        const uint32_t at = n * p->classes_each + k, class = class_at(score, p->classes, k);

        for (uint32_t i = 0; i < 4; i++)
            y[4 * at + i] = box[i];
        y[4 * all + at] = (float)class;
        y[5 * all + at] = score[class];
    }
}

void hdk_detection(const struct hdk_detection *p, const float *encoding, const float *score,
                   float *y, void *scratch)
{
    const float gone = -HDK_F32_INFINITY;
    const uint32_t skip = p->scores - p->classes;
    float *box = scratch, *best = box + 4 * (uint64_t)p->boxes;
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->boxes; i++) {
        const float *of = score + (uint64_t)i * p->scores + skip;

        decode(p, encoding + (uint64_t)i * p->encoding, p->anchor + 4 * (uint64_t)i,
               box + 4 * (uint64_t)i);
        best[i] = of[largest(of, p->classes)];
    }
    for (uint32_t i = 0; i < 6 * p->detections * p->classes_each + 1; i++)
        y[i] = 0;
    while (n < p->detections) {
        const uint32_t i = largest(best, p->boxes);

        if (!(best[i] >= p->score_threshold))
            break;
        emit(p, box + 4 * (uint64_t)i, score + (uint64_t)i * p->scores + skip, n++, y);
        best[i] = gone;
        for (uint32_t j = 0; j < p->boxes; j++)
            if (best[j] > gone &&
                overlap(box + 4 * (uint64_t)i, box + 4 * (uint64_t)j) > p->iou_threshold)
                best[j] = gone;
    }
    y[6 * p->detections * p->classes_each] = (float)n;
}
