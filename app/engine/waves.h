/* waves.h - when the simulator traces, according to --waves. */
#ifndef HEDDLE_ENGINE_WAVES_H
#define HEDDLE_ENGINE_WAVES_H

#include "app/job/job.h"
#include "device.h"
#include "sim/gtkw.h"

enum waves_what { WAVES_OFF, WAVES_FIRST, WAVES_ALL, WAVES_LAYER, WAVES_CYCLES, WAVES_COMMANDS };

struct waves {
    enum waves_what what;
    uint32_t layer;
    uint64_t first, last;
    const char *path;
    struct device *v;  /* the accelerator that is traced, or NULL; */
    struct core *core; /* the target's core that is traced, or NULL */
    const struct job *job;
    bool running, written,
        stopped;                /* a submission is being traced; the file is open; it is complete */
    struct gtkw_marker *marker; /* room for MARKERS and those of one more submission */
    uint32_t n_marker;
    uint64_t begin, end; /* range shown, in cycles since open */
    uint64_t mark;       /* a cycle of the submission (of a core: since open) for marker A, or 0 */
};

/* Return "gtkwave FOLDER/waves.gtkw" for a shell. */
const char *waves_command(struct arena *a, const char *folder);
/* Check --waves against the network; ST_USAGE: the message lists the layers. */
enum status waves_parse(struct waves *w, const struct job *job, struct diag *d);
enum status waves_open(struct waves *w, const struct job *job, struct core_targets *cores,
                       struct device *v, uint32_t n_device, struct diag *d);
/* Add a note about which waves are written if both accelerators and cores have some. */
void waves_note(const struct job *job, const struct core_targets *cores);
/* Called around each submission and after an inference. */
void waves_submission(struct waves *w, uint32_t layer);
/* Called before each submission and each other operator, which a target's core may execute. */
void waves_call(struct waves *w, uint32_t layer);
void waves_submission_end(struct waves *w);
void waves_inference_end(struct waves *w);
/* Stop, report in `shared` the contents of the file, and write the .gtkw next to it. */
enum status waves_close(struct waves *w, struct run_shared *shared, struct diag *d);

/* Remove the incomplete trace files if the child is killed; on: from now on. */
void waves_partial(const struct job *job, bool on);

#endif
