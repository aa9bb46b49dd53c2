/* files.c - see files.h. */
#include "files.h"

#include <stddef.h>
#include <string.h>

const char *report_file(const char *name)
{
    for (const struct report_file *f = report_files; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f->text;
    return NULL;
}
