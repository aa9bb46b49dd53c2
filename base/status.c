/* status.c - record the one message of a run, and map statuses to exit codes. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void make_printable(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = '?';
}

enum status diag_fail(struct diag *d, enum status st, const char *format, ...)
{
    va_list ap;

    if (d == NULL || d->status != ST_OK)
        return st;
    d->status = st;
    va_start(ap, format);
    (void)vsnprintf(d->text, sizeof d->text, format, ap);
    va_end(ap);
    make_printable(d->text);
    return st;
}

void diag_prefix(struct diag *d, const char *format, ...)
{
    char context[1024];
    size_t n, have;
    va_list ap;

    if (d == NULL || d->status == ST_OK)
        return;
    va_start(ap, format);
    (void)vsnprintf(context, sizeof context - 2, format, ap);
    va_end(ap);
    make_printable(context);
    n = strlen(context);
    context[n++] = ':';
    context[n++] = ' ';
    have = strlen(d->text);
    if (have > sizeof d->text - n - 1)
        have = sizeof d->text - n - 1;
    memmove(d->text + n, d->text, have);
    memcpy(d->text, context, n);
    d->text[n + have] = '\0';
}

void diag_line(struct diag *d, const char *format, ...)
{
    static const char indent[] = "\n  ";
    size_t n;
    va_list ap;

    if (d == NULL || d->status == ST_OK)
        return;
    n = strlen(d->text);
    if (n + sizeof indent >= sizeof d->text)
        return;
    memcpy(d->text + n, indent, sizeof indent);
    n += sizeof indent - 1;
    va_start(ap, format);
    (void)vsnprintf(d->text + n, sizeof d->text - n, format, ap);
    va_end(ap);
    make_printable(d->text + n);
}

int status_exit_code(enum status st)
{
    switch (st) {
    case ST_OK: return 0;
    case ST_MISMATCH: return 1;
    case ST_USAGE: return 2;
    case ST_MODEL:
    case ST_UNSUPPORTED:
    case ST_NO_SPACE: return 3;
    case ST_DEVICE: return 4;
    case ST_INTERNAL:
    case ST_NO_MEMORY: return 5;
    case ST_INTERRUPTED: return 130;
    }
    return 5;
}
