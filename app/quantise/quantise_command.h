/* quantise_command.h - "heddle quantise": a float network and samples to an ONNX file of int8. */
#ifndef HEDDLE_QUANTISE_COMMAND_H
#define HEDDLE_QUANTISE_COMMAND_H

#include "app/options/options.h"
#include "base/text.h"

/* Writes o->out; the report into `t`. */
enum status quantise_command(struct arena *a, const struct options *o, struct text *t,
                             struct diag *d);

/* quantise_report.c: layers with their errors, and which to keep float, as o->format asks. */
void quantise_report(const struct options *o, const struct ir_graph *g, uint32_t n_sample,
                     const struct quant_result *r, struct text *t);

#endif
