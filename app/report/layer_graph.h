/* layer_graph.h - draw the layers and their targets. */
#ifndef HEDDLE_REPORT_LAYER_GRAPH_H
#define HEDDLE_REPORT_LAYER_GRAPH_H

#include "base/text.h"
#include "compiler/pipeline.h"

struct graph_cycles {
    double cycles; /* of a layer; negative: it has none */
    bool estimated;
};
/* Draw the layers and their targets as SVG: a box per layer, its id "layer0", its class the kind of
 * target. More than 60 boxes are drawn in blocks, an element `details` each with an empty `summary`. A block
 * ends where the fewest edges pass; edges between blocks are not drawn. cycles: by row. */
void graph_html(const struct pipeline *p, const struct graph_cycles *cycles, struct text *t);

#endif
