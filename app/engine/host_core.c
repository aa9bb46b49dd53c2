/* host_core.c - see host_core.h. */
#include "host_core.h"

#include "sim/iss/iss.h"

const char *run_iss_name(const struct options *o)
{
    return o->host == HOST_RTL ? "rtl" : "iss";
}

const struct iss_cycles *run_iss_core(const struct options *o)
{
    return o->host == HOST_RTL || o->host_core == CORE_PICORV32 ? &iss_picorv32 : &iss_five_stages;
}
