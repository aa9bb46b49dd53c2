/* verdict_text.h - what a verdict of "match" covers, as text. */
#ifndef HEDDLE_COMPARE_VERDICT_TEXT_H
#define HEDDLE_COMPARE_VERDICT_TEXT_H

#include "app/job/job.h"

/* Return "match: 1 output of 360 inferences equal, bit for bit, to ...". */
const char *run_match_text(const struct job *job, const struct run_measured *m,
                           const struct run_results *results);

#endif
