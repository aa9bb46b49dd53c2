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
    const char *name;       /* name of the model loaded; NULL: none */
    struct run_bytes bytes; /* its bytes, if it came from memory */
    enum options_command loaded_for;
    bool stale; /* options have changed since */
    struct pipeline p;
    struct run loaded; /* what every run starts from */
    struct run run;    /* the last run */
    bool ran;          /* its outputs are there */
    struct run_bytes in[OPTIONS_MAX_FILES], expect[OPTIONS_MAX_FILES];
};

/* Run `step` with the context's own handler for exhausted memory; its status as a code. */
enum heddle_code context_call(struct heddle *h, enum status (*step)(struct heddle *h, void *arg),
                              void *arg);
/* An arena of the context in place of *a, which is freed. */
enum status context_arena(struct heddle *h, struct arena **a);
/* Forget inputs and expectations that were given. */
void context_forget_bytes(struct heddle *h);
/* Forget the last run. */
void context_forget_run(struct heddle *h);
/* Forget the last run; the next is of the loaded model, in the scratch arena. */
void context_begin_run(struct heddle *h);

/* api_model.c: the network is loaded with the options as they are now; ST_USAGE: none was. */
enum status context_model(struct heddle *h);
/* The same, scheduled and emitted. */
enum status context_emitted(struct heddle *h);
/* heddle_load for a command: packages are for COMMAND_RUN only. */
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
void ops_print(struct arena *a, struct text *t);
/* api_hw.c: "heddle hw"; name: as --hw, or NULL: all of hw/accel.json. */
enum status hw_print(struct arena *a, const char *name, struct text *t, struct diag *d);

#endif
