/* output.h - the destination of heddle's messages: the caller's functions, never a stream. */
#ifndef HEDDLE_BASE_OUTPUT_H
#define HEDDLE_BASE_OUTPUT_H

#include <stdbool.h>

enum output_kind {
    OUTPUT_RESULT = 1,  /* result of a command, in whole lines */
    OUTPUT_NOTE = 2,    /* a line in addition to it, without a newline */
    OUTPUT_PROGRESS = 4 /* replaces the previous progress; "" ends it; it stays if it ends in a
                           newline */
};

/* NULL: discard. Call from one thread at a time, in the process that made the request. */
struct output {
    void (*text)(void *ctx, enum output_kind kind, const char *text);
    void *ctx;
    unsigned kinds; /* that are wanted */
};

bool output_wants(const struct output *o, enum output_kind kind);
void output_text(const struct output *o, enum output_kind kind, const char *text);
void output_printf(const struct output *o, enum output_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
