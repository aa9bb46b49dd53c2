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
 * target. cycles: by row. */
void graph_svg(const struct pipeline *p, const struct graph_cycles *cycles, struct text *svg);

#endif
