/* host_iss.h - build the program for the simulated processor of --host=iss and rtl. */
#ifndef HEDDLE_ENGINE_HOST_ISS_H
#define HEDDLE_ENGINE_HOST_ISS_H

#include "app/job/job.h"

/* Check the options. ST_USAGE: an option that a simulated processor does not support. */
enum status run_iss_check(const struct job *job, struct diag *d);
/* Build the processor for --host=rtl. */
enum status run_iss_processor(const struct job *job, struct run_measured *m, const char *cache,
                              struct diag *d);
/* Compile the program of its processor, an ELF file, from job->package or job->p->emitted.
 * ST_UNSUPPORTED: several accelerators, more cores than the board has addresses for, or targets
 * with libraries. */
enum status run_iss_compile(const struct job *job, struct run_measured *m, const char **elf,
                            struct diag *d);

#endif
