/* report.c - print a stats file as the table people read (report_text.c), as CSV (report_csv.c), as
   JSON. */
#define _GNU_SOURCE
#include "report.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "report_csv.h"
#include "report_read.h"
#include "report_text.h"

static void format_report(struct text *t, const cJSON *all, enum options_format format,
                          enum report_detail detail)
{
    if (format == FORMAT_TEXT)
        report_text(t, all, detail);
    else if (format == FORMAT_CSV)
        report_csv(t, all);
    else {
        char *s = cJSON_Print(all);
        text_add(t, s ? s : "{}");
        text_add(t, "\n");
        cJSON_free(s);
    }
}

enum report_detail run_detail(const struct options *o)
{
    return o->quiet ? REPORT_VERDICT : o->verbose ? REPORT_UNITS : REPORT_LAYERS;
}

void run_report(const cJSON *stats, struct text *t, enum options_format format,
                enum report_detail detail)
{
    char *s = cJSON_PrintUnformatted(stats);
    cJSON *parsed = s ? cJSON_Parse(s) : NULL; /* raw numbers become numbers again */

    if (parsed)
        format_report(t, parsed, format, detail);
    cJSON_Delete(parsed);
    cJSON_free(s);
    if (!parsed)
        arena_exhausted(t->arena);
}

enum status report_read_file(struct arena *a, const char *path, cJSON **stats, struct diag *d)
{
    uint8_t *data;
    size_t n;

    TRY(file_read(a, path, (size_t)64 << 20, &data, &n, d));
    errno = 0;
    cJSON *o = cJSON_ParseWithLengthOpts((const char *)data, n + 1, NULL, 1);
    if (!o && errno == ENOMEM)
        return FAIL(d, ST_NO_MEMORY, "%s: no memory to read it", path);
    const char *schema = o ? report_word(o, "schema") : "";
    enum status st = ST_OK;
    if (strcmp(schema, "heddle.stats.v1") == 0)
        st = FAIL(d, ST_USAGE,
                  "%s: schema heddle.stats.v1, of an older heddle, whose utilisation and cycles of "
                  "interleaved layers mean something else; expected heddle.stats.v2: run it again",
                  path);
    else if (strcmp(schema, "heddle.stats.v2") != 0)
        st = FAIL(d, ST_USAGE,
                  "%s: not a stats file; expected JSON of schema heddle.stats.v2, as --stats "
                  "writes it",
                  path);
    *stats = o;
    return st;
}

enum status run_report_file(struct arena *a, const char *path, enum options_format format,
                            enum report_detail detail, struct text *t, struct diag *d)
{
    cJSON *o = NULL;
    enum status st = report_read_file(a, path, &o, d);

    if (st == ST_OK)
        format_report(t, o, format, detail);
    cJSON_Delete(o);
    return st;
}
