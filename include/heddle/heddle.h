/* heddle.h - libheddle: the functions of the command line in C. The command line uses this
 * interface.
 *
 *     struct heddle *h = heddle_new();
 *     if (heddle_set(h, "engine", "func") != HEDDLE_OK ||
 *         heddle_load(h, "net.tflite") != HEDDLE_OK || heddle_run(h) != HEDDLE_OK)
 *         fprintf(stderr, "%s\n", heddle_error(h));
 *     heddle_free(h);
 *
 * Nothing here prints, exits or changes the process (except heddle_exit_on_interrupt). A function
 * returns enum heddle_code, the command line's exit codes; heddle_error has the
 * text.
 *
 * Memory: arguments are copied before a function returns. Results (texts, tensors, outputs) belong
 * to the context and are valid until the next call that returns a code, or heddle_free. Names in
 * struct heddle_tensor and outputs are valid until the next heddle_load, heddle_run, heddle_set or
 * heddle_reset.
 * Threads: one thread at a time per context; several contexts may be used in parallel.
 * Processes: heddle_run, tune, regress, sweep, check-target start children (the network's C runs in
 * one,
 * and compilers do): do not ignore SIGCHLD, do not wait for children that you did not start.
 * docs/API.md has a complete example. */
#ifndef HEDDLE_H
#define HEDDLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_API_VERSION                                                                         \
    1 /* increases when programs must change; functions may be added without
                              * that */

#ifndef HEDDLE_API
#define HEDDLE_API __attribute__((visibility("default")))
#endif

enum heddle_code {
    HEDDLE_OK = 0,
    HEDDLE_DIFFERS = 1,      /* the answer differs from the expected one */
    HEDDLE_USAGE = 2,        /* a wrong option, file, input size or call */
    HEDDLE_MODEL = 3,        /* the model is refused or does not fit */
    HEDDLE_DEVICE = 4,       /* fault, bus error, watchdog */
    HEDDLE_INTERNAL = 5,     /* also a missing compiler, exhausted memory or disk */
    HEDDLE_INTERRUPTED = 130 /* a program that heddle started was interrupted */
};

struct heddle; /* a context: options, a model, the last answer */

/* Return HEDDLE_API_VERSION of the library, and its version as text ("0.2.0"). */
HEDDLE_API uint32_t heddle_api_version(void);
HEDDLE_API const char *heddle_version(void);

/* NULL: no memory. */
HEDDLE_API struct heddle *heddle_new(void);
/* NULL is allowed. */
HEDDLE_API void heddle_free(struct heddle *h);
/* Discard options, model, inputs and answer; the callback stays. */
HEDDLE_API enum heddle_code heddle_reset(struct heddle *h);
/* Return the error of the last call that returned a code: what, where, expected, found, what to do.
 * "" after HEDDLE_OK. */
HEDDLE_API const char *heddle_error(const struct heddle *h);

/* Texts as they are produced. Without a callback they are dropped. */
enum heddle_text {
    HEDDLE_TEXT_RESULT = 1, /* what the command line writes to standard output: whole lines */
    HEDDLE_TEXT_NOTE = 2,   /* a line of information, without a newline */
    HEDDLE_TEXT_PROGRESS =
        4 /* replaces the previous progress; "" removes it; a text that ends in a newline stays */
};
typedef void heddle_text_fn(void *ctx, enum heddle_text kind, const char *text);
/* Set the callback. kinds: the wanted kinds, or-ed. It is called in the thread that called heddle,
 * before that call returns, and must not use the same context. */
HEDDLE_API void heddle_on_text(struct heddle *h, unsigned kinds, heddle_text_fn *fn, void *ctx);

/* --- options --- */

/* Set the command line's option --NAME=VALUE or -N VALUE, without dashes: heddle_set(h, "hw",
 * "sys8"). The value of a flag is NULL or "true"; "false" resets it. An option that may be repeated
 * (i, expect, target, target-dir, offload, keep-on-host) adds to what was set. Options of targets
 * ("target-vanilla-topping") exist once their target is known: after target-dir, and, for an
 * instance of another name, after target. An error leaves all options unchanged. */
HEDDLE_API enum heddle_code heddle_set(struct heddle *h, const char *name, const char *value);
/* Restore an option's default; a list becomes empty. */
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
    const char *value; /* name of its value; NULL: a flag */
    const char *help;  /* NULL: another name of the previous option */
    enum heddle_group group;
    char letter;              /* short name, or 0 */
    char hidden;              /* not in --help */
    const char *const *words; /* allowed values, with NULL at the end; or NULL: any value */
};
/* Return all options, including those of the targets found so far. NULL: out of memory, or folders
 * of targets that cannot be read (heddle_error). */
HEDDLE_API const struct heddle_option *heddle_options(struct heddle *h, size_t *n);

/* --- commands --- */

/* Run a command of the command line: "build", "tune", "ops", ...; n arguments (a model, a
 * folder). Its output goes to the callback. "run" is heddle_load and heddle_run with the model
 * argument[0]. */
HEDDLE_API enum heddle_code heddle_command(struct heddle *h, const char *command,
                                           const char *const *argument, size_t n);
/* Return the names of all commands, with NULL at the end. */
HEDDLE_API const char *const *heddle_commands(void);
/* Return 1 if `command` uses the option of this full name. heddle_command refuses an option that is
 * set but not used by the command (HEDDLE_USAGE); call heddle_unset first. */
HEDDLE_API int heddle_uses(const char *command, const char *option);

/* --- a model --- */

/* Import, legalise and partition `model`: a .tflite, .onnx or .ir file, or the name of a network
 * that comes with heddle ("digits"). */
HEDDLE_API enum heddle_code heddle_load(struct heddle *h, const char *model);
/* The same from memory; the suffix of `name` gives the format. */
HEDDLE_API enum heddle_code heddle_load_bytes(struct heddle *h, const char *name, const void *data,
                                              size_t n_bytes);

#define HEDDLE_MAX_RANK 8
struct heddle_tensor {
    const char *name;             /* in the model */
    const char *type;             /* i8, u8, i16, i32, i64, f32, bool */
    uint32_t rank, n_scale;       /* n_scale: 0: not quantised; 1: one scale for the tensor */
    int32_t dim[HEDDLE_MAX_RANK]; /* in the model's order */
    double scale;                 /* of the tensor */
    int32_t zero_point;
    size_t n_bytes; /* of one inference */
};
enum heddle_side { HEDDLE_INPUT, HEDDLE_OUTPUT };
/* Return the number of inputs or outputs of the loaded model; 0 without a model. */
HEDDLE_API size_t heddle_count(const struct heddle *h, enum heddle_side side);
HEDDLE_API enum heddle_code heddle_tensor(struct heddle *h, enum heddle_side side, size_t index,
                                          struct heddle_tensor *tensor);

/* Return the target of each operator with reasons; the command stream as text; as the commands of
 * these names print them. *text is valid until the next call. */
HEDDLE_API enum heddle_code heddle_inspect(struct heddle *h, const char **text);
HEDDLE_API enum heddle_code heddle_disasm(struct heddle *h, const char **text);
/* Write a self-contained package into a folder or NAME.tar; it is compared first (--check).
 * Discards the last run. */
HEDDLE_API enum heddle_code heddle_compile(struct heddle *h, const char *out);

/* --- a run --- */

/* Set the bytes of input `index`: one or several inferences, in the model's type, order and shape,
 * little-endian. They take precedence over files set with "i". data NULL: discard them. */
HEDDLE_API enum heddle_code heddle_input(struct heddle *h, size_t index, const void *data,
                                         size_t n_bytes);
/* Set the expected bytes of output `index`; they take precedence over "expect". Without either, the
 * CPU reference computes them. */
HEDDLE_API enum heddle_code heddle_expect(struct heddle *h, size_t index, const void *data,
                                          size_t n_bytes);
/* Run the loaded model on the engine set by option. HEDDLE_DIFFERS: outputs and report are
 * available nevertheless. Files are written only if options (o, stats, waves) request them. */
HEDDLE_API enum heddle_code heddle_run(struct heddle *h);
/* Return output `index` of the last run, all inferences; valid until the next run. */
HEDDLE_API enum heddle_code heddle_output(struct heddle *h, size_t index, const void **data,
                                          size_t *n_bytes);
/* Return the last run as JSON, schema heddle.stats.v2; NULL if there is none. */
HEDDLE_API const char *heddle_report(struct heddle *h);
/* Return its report.html; NULL if there is none. The timeline is in it if "output" was set. */
HEDDLE_API const char *heddle_page(struct heddle *h);

/* --- for a program like the command line --- */

/* From now on SIGINT and SIGTERM kill running children, remove incomplete files and end the process
 * with 130. This affects the whole process, in which only one thread may then run networks. */
HEDDLE_API void heddle_exit_on_interrupt(void);

#ifdef __cplusplus
}
#endif

#endif
