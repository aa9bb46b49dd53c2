/* replay.h - one layer of a network alone: an .ir file with its operators, the bytes that reach it
 * and those that should leave it, and the command that runs it.
 * in:  the graph that the reference runs, a layer, an inference.   out: replay.ir, replay_in_0.bin,
 * .., replay_out_0.bin, .. in a folder. */
#ifndef HEDDLE_RUN_REPLAY_H
#define HEDDLE_RUN_REPLAY_H

#include "run.h"

struct replay {
    const char *command; /* "heddle run DIR/replay.ir ...", for a shell */
    bool ran, wrong;     /* heddle ran it: its answer differs too */
};

/* Write the files into `folder`, which is there, and run them once on the run's engine. ST_*: it
 * cannot be written, or the layer does not stand alone (the message says why). */
enum status replay_layer(struct run_job *job, uint32_t row, const char *folder, struct replay *r,
                         struct diag *d);

/* A word of a command line, quoted where a shell would change it. */
const char *replay_word(struct arena *a, const char *word);

#endif
