/* output.c - see output.h. */
#include "output.h"

#include <stdarg.h>
#include <stdio.h>

bool output_wants(const struct output *o, enum output_kind kind)
{
    return o && o->text && (o->kinds & (unsigned)kind);
}

void output_text(const struct output *o, enum output_kind kind, const char *text)
{
    if (output_wants(o, kind))
        o->text(o->ctx, kind, text);
}

/* Longer lines contain a user's path: truncate them, as messages are. */
void output_printf(const struct output *o, enum output_kind kind, const char *format, ...)
{
    char text[4096 + 512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    output_text(o, kind, text);
}
