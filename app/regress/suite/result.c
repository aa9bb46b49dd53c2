/* result.c - see result.h. */
#include "result.h"

#include <string.h>

#include "app/changes/changes.h"
#include "app/report/report_read.h"
#include "base/file.h"

enum { MAX_STATS = 64 << 20, MAX_ERR = 16 << 20, MAX_MESSAGE = 1000 };

const struct suite_result result_none = {.exit = -1,
                                         .message = "",
                                         .inferences = -1,
#define COLUMN(name, ...) .number.name = -1,
#include "app/stats/columns.def"
#undef COLUMN
                                         .wall_seconds = -1,
                                         .energy = -1,
                                         .energy_unit = "",
                                         .detail = ""};

/* --- detail ----------------------------------------------------------------------------------- */

static const char *detail_of(struct arena *a, const cJSON *all)
{
    cJSON *list = changes_list(a, all);
    char *text = cJSON_PrintUnformatted(list);

    cJSON_Delete(list);
    if (!text)
        arena_exhausted(a);
    const char *detail = arena_strdup(a, text);
    cJSON_free(text);
    return detail;
}

cJSON *result_layers(const struct suite_result *r)
{
    return *r->detail ? cJSON_Parse(r->detail) : NULL;
}

/* --- read the files --------------------------------------------------------------------------- */

/* Find the line that ends before `end`, without blanks at its end. */
static const char *line_before(const char *text, const char **end)
{
    const char *start;

    while (*end > text && strchr(" \r\n\t", (*end)[-1]))
        --*end;
    start = *end;
    while (start > text && start[-1] != '\n' && start[-1] != '\r')
        start--;
    return start;
}

/* Return the last line that neither is blank nor continues another one, made safe for a terminal. */
static const char *last_line(struct arena *a, const char *text)
{
    const char *end = text + strlen(text), *start = line_before(text, &end);
    char *line;

    for (const char *before = end; *start == ' ' && start > text; end = before) {
        before = start;
        start = line_before(text, &before);
    }
    line = arena_strndup(a, start, end - start > MAX_MESSAGE ? MAX_MESSAGE : (size_t)(end - start));
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return strncmp(line, "heddle: ", 8) == 0 ? line + 8 : line;
}

static const char *message_of(struct arena *a, struct arena *scratch, const char *stem)
{
    struct diag ignored = {0};
    uint8_t *text;
    size_t n;

    if (file_read(scratch, arena_printf(scratch, "%s.err", stem), MAX_ERR, &text, &n, &ignored) !=
        ST_OK)
        return "";
    return last_line(a, (const char *)text);
}

/* Return the number of layers whose target nothing executes, as text; "" if none. */
static const char *not_simulated(struct arena *a, const cJSON *all)
{
    const cJSON *l;
    uint32_t n = 0;

    cJSON_ArrayForEach(l, report_member(all, "layers")) n +=
        strstr(report_word(l, "target"), "(not simulated)") != NULL;
    return n ? arena_printf(a, "%u layer%s not simulated", n, n > 1 ? "s" : "") : "";
}

/* Return true if the stats file has 0 for a column that was not measured because no RTL ran. */
static bool only_timed(const struct column *c)
{
    return c->place == COLUMN_BUS || c->cell == COLUMN_SHARE;
}

static void take_stats(struct arena *a, const cJSON *all, struct suite_result *r)
{
    const bool timed = report_number(all, "cycles") >= 0;

    r->verdict = arena_strdup(a, report_word(all, "verdict"));
    r->inferences = report_number(all, "inferences");
    r->detail = detail_of(a, all);
    r->energy = report_number(report_member(all, "energy"), "energy");
    r->energy_unit = arena_strdup(a, report_word(report_member(all, "energy"), "unit"));
    for (int i = 0; i < N_COLUMNS; i++)
        if (columns[i].run && (timed || !only_timed(&columns[i])))
            r->number.at[i] = report_number(all, columns[i].name);
}

static cJSON *read_stats(struct arena *scratch, const char *stem)
{
    struct diag ignored = {0};
    uint8_t *text;
    size_t n;

    if (file_read(scratch, arena_printf(scratch, "%s.json", stem), MAX_STATS, &text, &n,
                  &ignored) != ST_OK)
        return NULL;
    cJSON *all = cJSON_ParseWithLength((const char *)text, n);
    if (strcmp(report_word(all, "schema"), "heddle.stats.v2") == 0)
        return all;
    cJSON_Delete(all);
    return NULL;
}

void result_read(struct arena *a, const char *stem, int exit, double seconds, struct suite_run *r)
{
    struct arena *scratch = arena_beside(a);
    cJSON *all = exit == 0 || exit == 1 ? read_stats(scratch, stem) : NULL;

    r->result = result_none;
    r->result.exit = exit;
    r->result.wall_seconds = seconds;
    r->result.verdict = "failed";
    r->result.message = exit == 0 && all ? "" : message_of(a, scratch, stem);
    if (all)
        take_stats(a, all, &r->result);
    if (all && !*r->result.message)
        r->result.message = not_simulated(a, all);
    else if (exit == 0)
        r->result.message = "it left no stats file of schema heddle.stats.v2";
    cJSON_Delete(all);
    arena_free(scratch);
}
