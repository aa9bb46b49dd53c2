#include "app/job/job.h"
/* context.h - contents of a struct heddle. Three lifetimes: options (from heddle_new or
 * heddle_reset), the model (from heddle_load), the last run or command. */
#ifndef HEDDLE_API_CONTEXT_H
#define HEDDLE_API_CONTEXT_H

struct heddle {
    struct arena *arena, *model, *scratch; /* of the three */
    jmp_buf exhausted;
    struct diag d;
    struct output output;
    heddle_text_fn *text;
    void *text_ctx;
    struct options o;
    struct option_set set;
    const char *name;       /* name of the loaded model; NULL: none */
    struct run_bytes bytes; /* its bytes, if it was loaded from memory */
    enum options_command loaded_for;
    bool stale; /* options have changed since the load */
    struct pipeline p;
    struct run loaded; /* the state from which every run starts */
    struct run run;    /* the last run */
    bool ran;          /* its outputs are available */
    struct run_bytes in[OPTIONS_MAX_FILES], expect[OPTIONS_MAX_FILES];
};

/* Run `step` with the context's handler for exhausted memory and return its status as a code. */
enum heddle_code context_call(struct heddle *h, enum status (*step)(struct heddle *h, void *arg),
                              void *arg);
/* Replace *a by a new arena of the context; the old one is freed. */
enum status context_arena(struct heddle *h, struct arena **a);
/* Discard the inputs and expected outputs that were given. */
void context_forget_bytes(struct heddle *h);
/* Discard the last run. */
void context_forget_run(struct heddle *h);
/* Discard the last run and begin one of the loaded model, in the scratch arena. */
void context_begin_run(struct heddle *h);

/* api_model.c: ensure that the network is loaded with the current options, scheduled and emitted;
 * ST_USAGE: none was loaded. */
enum status context_emitted(struct heddle *h);
/* Load a model for a command; packages are accepted for COMMAND_RUN only. */
enum status context_load(struct heddle *h, enum options_command command, const char *name,
                         const struct run_bytes *bytes);
/* Compile, inspect or disassemble the loaded model. */
enum status context_compile(struct heddle *h, const char *out);
enum status context_inspect(struct heddle *h, struct text *t);
enum status context_disasm(struct heddle *h, struct text *t);
enum status context_prove(struct heddle *h, struct text *t);
/* Run it. */
enum status context_run(struct heddle *h);

/* api_ops.c: "heddle ops". */
void ops_print(struct arena *a, bool markdown, struct text *t);
/* api_hw.c: print "heddle hw"; name: as for --hw, or NULL: all of hw/accel.json. */
enum status hw_print(struct arena *a, const char *name, struct text *t, struct diag *d);

#endif
