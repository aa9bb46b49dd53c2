/* host_core.h - the processor that --host=iss and rtl simulate. */
#ifndef HEDDLE_ENGINE_HOST_CORE_H
#define HEDDLE_ENGINE_HOST_CORE_H

#include "app/options/options.h"

struct iss_cycles;

/* Return the processor's name ("iss" or "rtl"), and the source of its cycles. */
const char *run_iss_name(const struct options *o);
const struct iss_cycles *run_iss_core(const struct options *o);

#endif
