/* heddle.h - libheddle: the functions of the command line, from C. The command line is a user of
 * it.
 *
 *     struct heddle *h = heddle_new();
 *     if (heddle_set(h, "engine", "func") != HEDDLE_OK ||
 *         heddle_load(h, "net.tflite") != HEDDLE_OK || heddle_run(h) != HEDDLE_OK)
 *         fprintf(stderr, "%s\n", heddle_error(h));
 *     heddle_free(h);
 *
 * Nothing here prints, exits or changes the process (but heddle_exit_on_interrupt, which is asked
 * for). A function returns enum heddle_code, the command line's exit codes; heddle_error has the
 * text.
 *
 * Memory: arguments are copied before a function returns. Results (texts, tensors, outputs) belong
 * to the context and are good until the next call that returns a code, or heddle_free. Names in
 * struct heddle_tensor and outputs are good until the next heddle_load, heddle_run, heddle_set or
 * heddle_reset.
 * Threads: one thread at a time in a context; several contexts may be used side by side.
 * Processes: heddle_run, tune, regress, sweep, check-target start children (the network's C runs in one,
 * and compilers do): do not ignore SIGCHLD, do not wait for children that are not yours.
 * docs/API.md has a complete example. */
#ifndef HEDDLE_H
#define HEDDLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_API_VERSION 1 /* grows when a program must change; functions may be added to one */

#ifndef HEDDLE_API
#define HEDDLE_API __attribute__((visibility("default")))
#endif

enum heddle_code {
    HEDDLE_OK = 0,
    HEDDLE_DIFFERS = 1,      /* the answer is not what was expected */
    HEDDLE_USAGE = 2,        /* an option, a file, an input of wrong size, a wrong call */
    HEDDLE_MODEL = 3,        /* the model is refused, or does not fit */
    HEDDLE_DEVICE = 4,       /* fault, bus error, watchdog */
    HEDDLE_INTERNAL = 5,     /* also a missing compiler, no memory, no disk */
    HEDDLE_INTERRUPTED = 130 /* a program that heddle started was interrupted */
};

struct heddle; /* a context: options, a model, the last answer */

/* HEDDLE_API_VERSION of the library, and its version as text ("0.2.0"). */
HEDDLE_API uint32_t heddle_api_version(void);
HEDDLE_API const char *heddle_version(void);

/* NULL: no memory. */
HEDDLE_API struct heddle *heddle_new(void);
/* NULL is allowed. */
HEDDLE_API void heddle_free(struct heddle *h);
/* Forget options, model, inputs and answer; the callback stays. */
HEDDLE_API enum heddle_code heddle_reset(struct heddle *h);
/* The error of the last call that returned a code: what, where, expected, found, what to do. ""
 * after HEDDLE_OK. */
HEDDLE_API const char *heddle_error(const struct heddle *h);

/* Texts as they come up. Without a callback there are none. */
enum heddle_text {
    HEDDLE_TEXT_RESULT = 1, /* what the command line writes to standard output: whole lines */
    HEDDLE_TEXT_NOTE = 2,   /* a line to know of, without its end */
    HEDDLE_TEXT_PROGRESS =
        4 /* takes the place of the one before it; "" removes it; with a newline at its end it stays
           */
};
typedef void heddle_text_fn(void *ctx, enum heddle_text kind, const char *text);
/* kinds: those wanted, or-ed. Called in the thread that called heddle, before its call returns; it
 * must not call into the same context. */
HEDDLE_API void heddle_on_text(struct heddle *h, unsigned kinds, heddle_text_fn *fn, void *ctx);

/* --- options --- */

/* The command line's option --NAME=VALUE or -N VALUE, without dashes: heddle_set(h, "hw", "sys8").
 * A flag takes NULL or "true", and "false" takes it back. An option that may be given again (i,
 * expect, target, target-dir, offload, keep-on-host) adds to what was set.
 * Options of targets ("target-vanilla-topping") exist once their target is known: after target-dir,
 * and, for an instance of another name, after target. After an error everything is as it was. */
HEDDLE_API enum heddle_code heddle_set(struct heddle *h, const char *name, const char *value);
/* Back to the default; an empty list. */
HEDDLE_API enum heddle_code heddle_unset(struct heddle *h, const char *name);

enum heddle_group {
    HEDDLE_GROUP_FILES = 1,
    HEDDLE_GROUP_COMPILER,
    HEDDLE_GROUP_DEVICE,
    HEDDLE_GROUP_REPORT,
    HEDDLE_GROUP_TARGETS = 9 /* attributes of targets */
};
struct heddle_option {
    const char *name;  /* without dashes */
    const char *value; /* what its value is called; NULL: a flag */
    const char *help;  /* NULL: another name of the option before it */
    enum heddle_group group;
    char letter;              /* short name, or 0 */
    char hidden;              /* not in --help */
    const char *const *words; /* what the value may be, NULL at the end; or NULL: anything */
};
/* All there are, those of the targets found so far among them. NULL: out of memory, or folders of
 * targets that cannot be read (heddle_error). */
HEDDLE_API const struct heddle_option *heddle_options(struct heddle *h, size_t *n);

/* --- commands --- */

/* A command of the command line: "build", "tune", "ops", ...; n arguments (a model, a folder).
 * Its output goes to the callback. "run" is heddle_load and heddle_run with the model argument[0].
 */
HEDDLE_API enum heddle_code heddle_command(struct heddle *h, const char *command,
                                           const char *const *argument, size_t n);
/* The names of all commands, NULL at the end. */
HEDDLE_API const char *const *heddle_commands(void);
/* 1 if `command` uses the option of this full name. heddle_command refuses one that is set and that
 * the command does not use (HEDDLE_USAGE): heddle_unset it first. */
HEDDLE_API int heddle_uses(const char *command, const char *option);

/* --- a model --- */

/* Import, legalise and partition `model`: a .tflite, .onnx or .ir file, or the name of a network
 * that comes with heddle ("digits"). */
HEDDLE_API enum heddle_code heddle_load(struct heddle *h, const char *model);
/* The same from memory; `name` as of a file, its ending specifies the format. */
HEDDLE_API enum heddle_code heddle_load_bytes(struct heddle *h, const char *name, const void *data,
                                              size_t n_bytes);

#define HEDDLE_MAX_RANK 8
struct heddle_tensor {
    const char *name;             /* in the model */
    const char *type;             /* i8, u8, i16, i32, i64, f32, bool */
    uint32_t rank, n_scale;       /* n_scale 0: not quantised; 1: one for the tensor */
    int32_t dim[HEDDLE_MAX_RANK]; /* the model's own order */
    double scale;                 /* of the tensor */
    int32_t zero_point;
    size_t n_bytes; /* of one inference */
};
enum heddle_side { HEDDLE_INPUT, HEDDLE_OUTPUT };
/* Number of inputs or outputs of the loaded model; 0 without a model. */
HEDDLE_API size_t heddle_count(const struct heddle *h, enum heddle_side side);
HEDDLE_API enum heddle_code heddle_tensor(struct heddle *h, enum heddle_side side, size_t index,
                                          struct heddle_tensor *tensor);

/* The target of each operator, with reasons; the command stream as text; as the commands of
 * these names print it. *text: until the next call. */
HEDDLE_API enum heddle_code heddle_inspect(struct heddle *h, const char **text);
HEDDLE_API enum heddle_code heddle_disasm(struct heddle *h, const char **text);
/* A package that builds alone, into a folder or NAME.tar; compared first (--check). Forgets the last run. */
HEDDLE_API enum heddle_code heddle_compile(struct heddle *h, const char *out);

/* --- a run --- */

/* Bytes of input `index`: one or several inferences one after another, in the model's own type,
 * order and shape, little-endian. They win over files set with "i". data NULL: forget them. */
HEDDLE_API enum heddle_code heddle_input(struct heddle *h, size_t index, const void *data,
                                         size_t n_bytes);
/* The expected bytes of output `index`; these win over "expect". Without either the CPU
 * reference gives them. */
HEDDLE_API enum heddle_code heddle_expect(struct heddle *h, size_t index, const void *data,
                                          size_t n_bytes);
/* Run the loaded model on the option engine. HEDDLE_DIFFERS: outputs and report are there all the
 * same. Files are written only where options (o, stats, waves) ask for it. */
HEDDLE_API enum heddle_code heddle_run(struct heddle *h);
/* Output `index` of the last run, all inferences; until the next run. */
HEDDLE_API enum heddle_code heddle_output(struct heddle *h, size_t index, const void **data,
                                          size_t *n_bytes);
/* The last run as JSON, schema heddle.stats.v2; NULL before one. */
HEDDLE_API const char *heddle_report(struct heddle *h);

/* --- for a program like the command line --- */

/* From now on SIGINT and SIGTERM kill what runs, remove half written files and end the process with
 * 130. This is for the whole process, and then only one thread may run networks. */
HEDDLE_API void heddle_exit_on_interrupt(void);

#ifdef __cplusplus
}
#endif

#endif
