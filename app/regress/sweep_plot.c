/* sweep_plot.c - one picture of a sweep: time over cost, both logarithmic, as SVG without script.
 * One dot per configuration, coloured by n. Dots on the front are filled, joined by a line,
 * numbered, and listed below the picture. */
#include <math.h>
#include <stdio.h>

#include "sweep.h"

enum { WIDTH = 560, HEIGHT = 340, LEFT = 64, RIGHT = 16, TOP = 14, BOTTOM = 44, MAX_NAMES = 3 };

struct plot {
    struct text *t;
    const struct sweep *s;
    const struct sweep_series *series;
    enum sweep_axis axis;
    double divisor;
    const char *unit;
    double low[2], high[2]; /* range of x and y, in the units shown */
    double label_x;         /* of the last number above a dot */
};

static bool shown(const struct plot *p, const struct sweep_point *q)
{
    return q->v[SWEEP_TIME] > 0 && q->v[p->axis] > 0;
}

static double value(const struct plot *p, const struct sweep_point *q, int of)
{
    return of == 0 ? q->v[p->axis] / p->divisor : q->v[SWEEP_TIME];
}

static double place(const struct plot *p, double v, int of)
{
    const double part = log(v / p->low[of]) / log(p->high[of] / p->low[of]);

    return of == 0 ? LEFT + part * (WIDTH - LEFT - RIGHT)
                   : HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
}

static double x_of(const struct plot *p, const struct sweep_point *q)
{
    return place(p, value(p, q, 0), 0);
}

static double y_of(const struct plot *p, const struct sweep_point *q)
{
    return place(p, value(p, q, 1), 1);
}

/* Find the range of the points; false if they are equal on the axis, so that a picture shows
 * nothing. */
static bool find_range(struct plot *p)
{
    uint32_t n = 0;
    bool differ = false;

    for (uint32_t i = 0; i < p->series->n; i++) {
        const struct sweep_point *q = &p->series->point[i];
        if (!shown(p, q))
            continue;
        for (int of = 0; of < 2; of++) {
            const double v = value(p, q, of);
            p->low[of] = n == 0 || v < p->low[of] ? v : p->low[of];
            p->high[of] = n == 0 || v > p->high[of] ? v : p->high[of];
        }
        n++;
    }
    differ = n > 1 && p->high[0] > p->low[0];
    for (int of = 0; of < 2; of++) {
        p->low[of] /= 1.2;
        p->high[of] *= 1.2;
    }
    return differ;
}

/* --- axes ------------------------------------------------------------------------------------- */

static void tick(const struct plot *p, double v, int of)
{
    const double at = place(p, v, of);

    if (of == 0)
        text_printf(p->t,
                    "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/><text x=\"%.1f\" "
                    "y=\"%d\" text-anchor=\"middle\">%g</text>",
                    at, at, TOP, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 15, v);
    else
        text_printf(p->t,
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" "
                    "y=\"%.1f\" text-anchor=\"end\">%g</text>",
                    LEFT, WIDTH - RIGHT, at, at, LEFT - 6, at + 4, v);
}

/* Draw ticks at round numbers; more of them for fewer decades. */
static void ticks(const struct plot *p, int of)
{
    static const double steps[] = {1, 2, 5, 1.5, 3, 4, 7};
    const int first = (int)floor(log10(p->low[of])), last = (int)ceil(log10(p->high[of]));
    const double range = p->high[of] / p->low[of];
    const int n_step = range > 2000 ? 1 : range > 15 ? 3 : 7;

    for (int power = first; power <= last; power++)
        for (int k = 0; k < n_step; k++) {
            const double v = steps[k] * pow(10, power);
            if (v >= p->low[of] && v <= p->high[of])
                tick(p, v, of);
        }
}

static void axes(const struct plot *p)
{
    text_add(p->t, "<g class=\"axis\">");
    ticks(p, 0);
    ticks(p, 1);
    text_printf(p->t,
                "<text class=\"name\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s%s%s</text>"
                "<text class=\"name\" transform=\"translate(14 %d) rotate(-90)\" "
                "text-anchor=\"middle\">time, ms</text></g>\n",
                (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, sweep_axis_name(p->axis),
                *p->unit ? ", " : "", p->unit, (TOP + HEIGHT - BOTTOM) / 2);
}

/* --- points ----------------------------------------------------------------------------------- */

/* Draw the line of the front: down to the first point's time at the right edge, up from the last at
 * the top. */
static void front_line(const struct plot *p)
{
    double x = WIDTH - RIGHT;

    text_add(p->t, "<polyline class=\"front\" points=\"");
    for (uint32_t i = 0; i < p->series->n; i++) {
        const struct sweep_point *q = &p->series->point[i];
        if (!q->front[p->axis] || !shown(p, q))
            continue;
        text_printf(p->t, "%.1f,%.1f %.1f,%.1f ", x, y_of(p, q), x_of(p, q), y_of(p, q));
        x = x_of(p, q);
    }
    text_printf(p->t, "%.1f,%d\"/>\n", x, TOP);
}

static void dot(const struct plot *p, const struct sweep_point *q)
{
    double divisor;

    text_printf(p->t, "<circle class=\"n%u%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>",
                q->hw->config.n, q->front[p->axis] ? " best" : "", x_of(p, q), y_of(p, q),
                q->front[p->axis] ? "5" : "4");
    view_escape(p->t, q->hw->name);
    for (int k = 0; k < SWEEP_AXES; k++) {
        const char *unit = sweep_axis_unit(p->s, (enum sweep_axis)k, &divisor);
        if (q->v[k] >= 0)
            text_printf(p->t, "&#10;%s %.5g %s", sweep_axis_name((enum sweep_axis)k),
                        q->v[k] / divisor, unit);
    }
    text_add(p->t, "</title></circle>\n");
}

static bool same_place(const struct plot *p, const struct sweep_point *q,
                       const struct sweep_point *r)
{
    return r && q->v[SWEEP_TIME] == r->v[SWEEP_TIME] && q->v[p->axis] == r->v[p->axis];
}

/* --- names on the front ----------------------------------------------------------------------- */

/* Call `each` for each place of the front, fastest first, with its points; `number`: the place. */
static void for_front(struct plot *p,
                      void (*each)(struct plot *p, uint32_t number, uint32_t first, uint32_t n))
{
    const struct sweep_point *before = NULL;
    uint32_t number = 0, first = 0, n = 0;

    for (uint32_t i = 0; i < p->series->n; i++) {
        const struct sweep_point *q = &p->series->point[i];
        if (!q->front[p->axis] || !shown(p, q))
            continue;
        if (same_place(p, q, before)) {
            n++;
            continue;
        }
        if (n)
            each(p, ++number, first, n);
        before = q;
        first = i;
        n = 1;
    }
    if (n)
        each(p, ++number, first, n);
}

/* Draw a number above its dot, or below if the previous one would overlap. */
static void label(struct plot *p, uint32_t number, uint32_t first, uint32_t n)
{
    const struct sweep_point *q = &p->series->point[first];
    const double x = x_of(p, q) + 5;
    const bool above = fabs(p->label_x - x) > 16;

    (void)n;
    text_printf(p->t, "<text class=\"number\" x=\"%.1f\" y=\"%.1f\">%u</text>", x,
                y_of(p, q) + (above ? -8 : 18), number);
    if (above)
        p->label_x = x;
}

static void entry(struct plot *p, uint32_t number, uint32_t first, uint32_t n)
{
    const struct sweep_point *q = &p->series->point[first];
    uint32_t left = n;

    (void)number;
    text_printf(p->t, "<li><span class=\"soft\">%.4g ms, %.6g %s:</span> ", q->v[SWEEP_TIME],
                value(p, q, 0), *p->unit ? p->unit : sweep_axis_name(p->axis));
    for (uint32_t i = first; left > 0 && n - left < MAX_NAMES; i++) {
        const struct sweep_point *r = &p->series->point[i];
        if (!same_place(p, q, r) || !r->front[p->axis])
            continue;
        text_add(p->t, left < n ? "; " : "");
        view_escape(p->t, r->hw->name);
        left--;
    }
    if (left)
        text_printf(p->t, " and %u more", left);
    text_add(p->t, "</li>\n");
}

void sweep_plot(struct text *t, const struct sweep *s, const struct sweep_series *series,
                enum sweep_axis axis)
{
    struct plot p = {.t = t, .s = s, .series = series, .axis = axis, .label_x = -1000};

    p.unit = sweep_axis_unit(s, axis, &p.divisor);
    if (!find_range(&p))
        return;
    text_printf(t, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"time over %s\">",
                WIDTH, HEIGHT, sweep_axis_name(axis));
    axes(&p);
    front_line(&p);
    for (uint32_t i = series->n; i-- > 0;) /* fastest on top */
        if (shown(&p, &series->point[i]))
            dot(&p, &series->point[i]);
    for_front(&p, label);
    text_add(t, "</svg><figcaption><ol>\n");
    for_front(&p, entry);
    text_add(t, "</ol></figcaption></figure>\n");
}
