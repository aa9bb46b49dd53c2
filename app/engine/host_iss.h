/* host_iss.h - the simulated processor of --host=iss and rtl, and its program. */
#ifndef HEDDLE_ENGINE_HOST_ISS_H
#define HEDDLE_ENGINE_HOST_ISS_H

#include "app/job/job.h"

/* ST_USAGE: options that a simulated processor cannot be given with. */
enum status run_iss_check(const struct job *job, struct diag *d);
/* Build what executes for --host=rtl. */
enum status run_iss_processor(const struct job *job, struct run_measured *m, const char *cache,
                              struct diag *d);
/* The program of its processor, an ELF file, from job->package or job->p->emitted. ST_UNSUPPORTED: several
 * accelerators, more cores than the board has addresses for, targets with libraries. */
enum status run_iss_compile(const struct job *job, struct run_measured *m, const char **elf,
                            struct diag *d);

#endif
