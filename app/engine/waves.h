/* waves.h - when the simulator traces, from --waves. */
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
    struct device *v;  /* of the accelerator that is traced, or NULL; */
    struct core *core; /* the core of a target's own that is, or NULL */
    const struct job *job;
    bool running, written,
        stopped;                /* a submission is traced; the file was opened; it is complete */
    struct gtkw_marker *marker; /* room for MARKERS and those of one submission more */
    uint32_t n_marker;
    uint64_t begin, end; /* shown range, cycles since open */
    uint64_t mark;       /* 0, or a cycle of the submission that gets marker A */
};

/* Check --waves against the network; ST_USAGE names the layers there are. */
enum status waves_parse(struct waves *w, const struct job *job, struct diag *d);
enum status waves_open(struct waves *w, const struct job *job, struct core_targets *cores,
                       struct device *v, uint32_t n_device, struct diag *d);
/* A note, where both accelerators and cores have waves, which of them are written. */
void waves_note(const struct job *job, const struct core_targets *cores);
/* Around each submission, and after an inference. */
void waves_submission(struct waves *w, uint32_t layer);
/* Before each submission and each other operator: a core of a target's own may run that. */
void waves_call(struct waves *w, uint32_t layer);
void waves_submission_end(struct waves *w);
void waves_inference_end(struct waves *w);
/* Stop, report in `shared` what is in the file, write the .gtkw next to it. */
enum status waves_close(struct waves *w, struct run_shared *shared, struct diag *d);

/* The files of a trace that a killed child leaves half written; on: from now on. */
void waves_partial(const struct job *job, bool on);

#endif
