/* status.h - status and message of every function that can fail.
 * A function returns enum status and writes its results through pointers. The first failure
 * records one message in struct diag: what, where, expected, found, what to do. Only
 * app/heddle.c prints it and turns the status into an exit code. */
#ifndef HEDDLE_BASE_STATUS_H
#define HEDDLE_BASE_STATUS_H

#include <stddef.h>

enum status {
    ST_OK = 0,
    ST_MISMATCH,    /* exit 1: the answer differs */
    ST_USAGE,       /* exit 2: options, missing or unreadable files, inputs of the wrong size */
    ST_MODEL,       /* exit 3: the model's content is malformed */
    ST_UNSUPPORTED, /* exit 3: well-formed, but not supported by heddle */
    ST_NO_SPACE,    /* exit 3: does not fit on this configuration */
    ST_DEVICE,      /* exit 4: device fault, bus error, watchdog */
    ST_INTERNAL,    /* exit 5: fault of heddle, missing compiler, hash mismatch */
    ST_NO_MEMORY,   /* exit 5: out of memory or disk */
    ST_INTERRUPTED, /* exit 130 */
};

/* The first message of a run. Callers own the struct; the text is always terminated. */
struct diag {
    enum status status;
    char text[4096];
};

/* Record a printf-style message unless there is one already. Returns `st`, so that a caller can
 * write `return FAIL(d, ST_MODEL, "...")`. Bytes below 0x20 and 0x7f in the result become '?'. */
enum status diag_fail(struct diag *d, enum status st, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "`context`: " before the recorded message, in a caller that knows the context
 * ("net.tflite"). */
void diag_prefix(struct diag *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Add a line below the recorded message, indented by two columns. Truncated at the end of the
 * buffer. */
void diag_line(struct diag *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Return the exit code of a status: ../README.md, "Exit codes". */
int status_exit_code(enum status st);

/* Let compilers assume that code after a TRY runs only on success, so that they know which outputs
 * are set. */
static inline enum status diag_failed(enum status st)
{
    if (st == ST_OK)
        __builtin_unreachable();
    return st;
}
#define FAIL(d, st, ...) diag_failed(diag_fail((d), (st), __VA_ARGS__))
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        enum status try_status_ = (expr);                                                          \
        if (try_status_ != ST_OK)                                                                  \
            return try_status_;                                                                    \
    } while (0)

#endif
