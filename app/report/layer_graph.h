/* layer_graph.h - a drawing of the layers and their targets. */
#ifndef HEDDLE_REPORT_LAYER_GRAPH_H
#define HEDDLE_REPORT_LAYER_GRAPH_H

#include "base/text.h"
#include "compiler/pipeline.h"

struct graph_cycles {
    double cycles; /* of a layer; negative: none of its own */
    bool estimated;
};
/* Draw the target of each layer as SVG: a box a layer, its id "layer0", its class the kind of
 * target. cycles: by row. */
void graph_svg(const struct pipeline *p, const struct graph_cycles *cycles, struct text *svg);

#endif
