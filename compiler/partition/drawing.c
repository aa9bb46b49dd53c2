/* drawing.c - see drawing.h. */
#include "drawing.h"

#include <string.h>

#define ROW   56 /* pixels from box to box */
#define BOX_H 36
#define BOX_X 150
#define BOX_W 330

/* Write text of a model for XML: special characters become '_'. */
static void safe(struct text *t, const char *s)
{
    for (; *s; s++)
        text_add_n(t, strchr("<>&\"\\", *s) || *s < ' ' || *s > '~' ? "_" : s, 1);
}

void drawing_init(struct drawing *d, struct arena *a)
{
    *d = (struct drawing){.arena = a};
    text_init(&d->box, a);
    text_init(&d->edge, a);
    text_add(&d->box, "");
    text_add(&d->edge, "");
}

uint32_t drawing_box(struct drawing *d, struct drawing_box box)
{
    struct text *t = &d->box;
    const uint32_t y = d->n * ROW + 20;

    if (box.class)
        text_printf(t, "<g id=\"layer%u\" class=\"node %s\"><title>", box.id, box.class);
    else
        text_add(t, "<g><title>");
    safe(t, box.title);
    text_printf(t, "</title><rect x=\"%d\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"4\"", BOX_X, y,
                BOX_W, BOX_H);
    if (box.fill)
        text_printf(t, " fill=\"%s\"", box.fill);
    text_printf(t, "/>\n<text x=\"%d\" y=\"%u\">", BOX_X + 8, y + 15);
    safe(t, box.name);
    text_printf(t, "</text><text x=\"%d\" y=\"%u\" class=\"s\">", BOX_X + 8, y + 30);
    safe(t, box.line);
    text_add(t, "</text></g>\n");
    return d->n++;
}

/* Neighbours are joined by a straight arrow; others by an arc on the left, wider the farther. */
void drawing_edge(struct drawing *d, uint32_t from, uint32_t to, bool crosses, const char *label)
{
    const uint32_t y0 = from * ROW + 20 + BOX_H, y1 = to * ROW + 20;
    struct text *t = &d->edge;

    text_printf(t, "<g class=\"edge%s\"><title>%s</title><path marker-end=\"url(#arrow)\"%s ",
                crosses ? " crossing" : "", label, crosses ? " stroke-dasharray=\"5,3\"" : "");
    if (to == from + 1) {
        text_printf(t, "d=\"M%d %u L%d %u\"/>\n<text x=\"%d\" y=\"%u\" class=\"s\">%s</text></g>\n",
                    BOX_X + BOX_W / 2, y0, BOX_X + BOX_W / 2, y1, BOX_X + BOX_W / 2 + 8, y1 - 6,
                    label);
        return;
    }
    const uint32_t out = 20 + 12 * (to > from ? to - from : from - to),
                   bend = out < 140 ? out : 140;
    text_printf(t, "d=\"M%d %u C%d %u %d %u %d %u\"/></g>\n", BOX_X, y0 - BOX_H / 2,
                BOX_X - (int)bend, y0 - BOX_H / 2, BOX_X - (int)bend, y1 + BOX_H / 2, BOX_X,
                y1 + BOX_H / 2);
}

void drawing_svg(const struct drawing *d, const char *style, struct text *t)
{
    const int width = BOX_X + BOX_W + 20;
    const uint32_t height = d->n * ROW + 30;

    text_printf(t,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                "viewBox=\"0 0 %d %u\">\n%s"
                "<defs><marker id=\"arrow\" refX=\"8\" refY=\"4\" markerWidth=\"8\" "
                "markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8\"/></marker></defs>\n",
                width, height, width, height, style);
    text_add(t, d->edge.data);
    text_add(t, d->box.data);
    text_add(t, "</svg>\n");
}
