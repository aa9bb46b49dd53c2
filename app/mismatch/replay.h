/* replay.h - write one layer of a network alone: an .ir file with its operators, its inputs, its
 * expected outputs, and the command that runs it. in: the graph that the reference runs, a layer,
 * an inference. out: replay.ir, replay_in_0.bin, .., replay_out_0.bin, .. in a folder. */
#ifndef HEDDLE_MISMATCH_REPLAY_H
#define HEDDLE_MISMATCH_REPLAY_H

#include "app/job/job.h"
#include "reference/ref.h"

/* The reference after the first wrong inference, with the bytes of all tensors. */
struct replayer {
    enum status (*answer)(struct run *run,
                          struct diag *d); /* loads and runs a job to its verdict */
    struct run *run;
    const char *folder;         /* folder for the files, which exists */
    enum options_engine engine; /* the engine that runs the layer */
    struct ref *ref;
    uint8_t **out; /* bytes of each output of the network */
};

struct replay {
    const char *command; /* "heddle run DIR/replay.ir ...", for a shell */
    bool ran, wrong;     /* it was run; its answer is wrong too */
};

/* Add the given options that affect a layer alone, with a space before each. */
void replay_options(struct text *t, const struct options *o, struct arena *a);
/* Open the replayer; r->answer and r->run are set. */
enum status replay_open(struct replayer *r, struct diag *d);
/* Write the files of a layer and run them once. Any failure: they cannot be written, or the layer
 * cannot run alone (the message states why). */
enum status replay_layer(const struct replayer *r, uint32_t row, struct replay *replay,
                         struct diag *d);
/* Return true if the layer may be replayed: it is not fused into another. */
bool replay_is_layer(const struct job *job, uint32_t row);

#endif
