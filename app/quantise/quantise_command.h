/* quantise_command.h - "heddle quantise": convert a float network and samples to an ONNX file of
 * int8. */
#ifndef HEDDLE_QUANTISE_COMMAND_H
#define HEDDLE_QUANTISE_COMMAND_H

#include "app/options/options.h"
#include "base/text.h"

/* Write o->out, and the report to `t`. */
enum status quantise_command(struct arena *a, const struct options *o, struct text *t,
                             struct diag *d);

/* quantise_report.c: print layers with their errors, and which ones to keep as float, in the form
 * of o->format. */
void quantise_report(const struct options *o, const struct ir_graph *g, uint32_t n_sample,
                     const struct quant_result *r, struct text *t);

#endif
