/* output.h - the destination of heddle's messages: the caller's functions, never a stream. */
#ifndef HEDDLE_BASE_OUTPUT_H
#define HEDDLE_BASE_OUTPUT_H

#include <stdbool.h>

enum output_kind {
    OUTPUT_RESULT = 1,  /* what a command is asked for: whole lines */
    OUTPUT_NOTE = 2,    /* a line next to it, without its end */
    OUTPUT_PROGRESS = 4 /* takes the place of the progress before; "" ends it; it stays if it ends
                           in a newline */
};

/* NULL: discard. Call from one thread at a time, in the process that asked. */
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
