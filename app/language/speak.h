/* speak.h - runs with --prompt: one inference for each token, whose input may be chosen from the
 * outputs of the one before. */
#ifndef HEDDLE_LANGUAGE_SPEAK_H
#define HEDDLE_LANGUAGE_SPEAK_H

#include "app/job/job.h"

/* Return true with --prompt, and for a network of tests/models with a prompt.txt and no -i. */
bool speak_wanted(const struct job *job);
/* Make the inputs of the prompt and job->feeder, which makes the others. ST_USAGE: the model is no
 * GGUF file, options that do not go with it, more tokens than --context has positions. */
enum status speak_inputs(struct job *job, struct diag *d);

#endif
