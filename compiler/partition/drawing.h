/* drawing.h - boxes in one column and arrows between them, as SVG. Use: init, boxes from top to
 * bottom, edges between their indices, svg. */
#ifndef HEDDLE_COMPILER_PARTITION_DRAWING_H
#define HEDDLE_COMPILER_PARTITION_DRAWING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"

struct drawing_box {
    const char *name, *line; /* two lines of text */
    const char *title;       /* shown by a pointer on it */
    const char *fill;        /* colour, or NULL: by style */
    const char *class;       /* or NULL; the id by which a page's script finds it */
    uint32_t id;             /* of element "layer<id>", if there is a class */
};

struct drawing {
    struct arena *arena;
    uint32_t n;
    struct text box, edge;
};

void drawing_init(struct drawing *d, struct arena *a);
/* Return its index. */
uint32_t drawing_box(struct drawing *d, struct drawing_box box);
void drawing_edge(struct drawing *d, uint32_t from, uint32_t to, bool crosses, const char *label);
/* style: an element in front of all others, or "". */
void drawing_svg(const struct drawing *d, const char *style, struct text *t);

#endif
