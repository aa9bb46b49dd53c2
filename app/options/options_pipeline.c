/* options_pipeline.c - set the compiler's options from those of the command line. */
#include "options.h"

struct pipeline_options options_pipeline(const struct options *o)
{
    return (struct pipeline_options){
        .hw = o->hw,
        .target = o->target,
        .input_shapes = o->input_shapes,
        .fallback = o->fallback != 0,
        .tosa_twice = o->tosa_rounding != 0,
        .signature = o->signature,
        .gguf = o->gguf,
        .allow_external_data = o->allow_external_data,
        .legalise = o->legalise,
        .partition = o->partition,
        .schedule = {.no_overlap = o->no_overlap,
                     .mem_latency = o->mem_latency,
                     .mem_bytes = o->mem_bytes,
                     .segments = o->segments,
                     .no_search = o->no_search},
        .dump_ir = o->dump_ir,
        .dump_step = o->dump_step,
    };
}
