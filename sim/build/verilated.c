/* verilated.c - see verilated.h. */
#define _GNU_SOURCE
#include "verilated.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

enum { SHOWN = 8, MAX_FILE = 1 << 24 };

/* Return a copy of the file as text; "" if it cannot be read. */
static char *read_text(struct arena *a, const char *path)
{
    struct diag ignored = {.status = ST_OK};
    uint8_t *data;
    size_t n;

    if (file_read(a, path, MAX_FILE, &data, &n, &ignored) != ST_OK)
        return arena_strdup(a, "");
    return (char *)data;
}

/* --- warnings --- */

/* Rewrite "%Warning-WIDTH: rtl/a.sv:47:36: text" as "rtl/a.sv:47:36: WIDTH: text". */
static const char *warning_text(struct arena *a, const char *line)
{
    static const char mark[] = "%Warning-";
    const char *const code = line + sizeof mark - 1;
    const size_t n = strcspn(code, ":");
    const char *const place = code[n] != '\0' ? code + n + 1 + strspn(code + n + 1, " ") : "";
    const char *text = strstr(place, ": ");

    if (strncmp(line, mark, sizeof mark - 1) != 0)
        return NULL;
    if (text == NULL)
        return arena_printf(a, "%.*s: %.200s", (int)n, code, place);
    return arena_printf(a, "%.*s: %.*s: %.200s", (int)(text - place), place, (int)n, code,
                        text + 2);
}

void verilated_warnings(struct arena *a, const struct output *output, const char *log,
                        const char *kept)
{
    char *rest = read_text(a, log), *line;
    unsigned n = 0;

    while ((line = strsep(&rest, "\n")) != NULL) {
        const char *const text = warning_text(a, line);

        if (text != NULL && n == 0)
            output_text(output, OUTPUT_PROGRESS, ""); /* ends its line */
        if (text != NULL && n++ < SHOWN)
            output_printf(output, OUTPUT_NOTE, "Verilator warning: %s", text);
    }
    if (n != 0)
        output_printf(output, OUTPUT_NOTE, "%u warning%s of Verilator%s: '%s'", n,
                      n == 1 ? "" : "s", n > SHOWN ? ", the first are above" : "", kept);
}

unsigned verilated_count(struct arena *a, const char *log)
{
    char *rest = read_text(a, log), *line;
    unsigned n = 0;

    while ((line = strsep(&rest, "\n")) != NULL)
        n += warning_text(a, line) != NULL;
    return n;
}
