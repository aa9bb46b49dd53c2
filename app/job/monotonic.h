/* monotonic.h - time that never decreases. */
#ifndef HEDDLE_JOB_MONOTONIC_H
#define HEDDLE_JOB_MONOTONIC_H

/* Return the seconds since an arbitrary moment. */
double monotonic_seconds(void);

#endif
