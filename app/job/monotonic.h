/* monotonic.h - time that never goes back. */
#ifndef HEDDLE_JOB_MONOTONIC_H
#define HEDDLE_JOB_MONOTONIC_H

/* Seconds since some moment. */
double monotonic_seconds(void);

#endif
