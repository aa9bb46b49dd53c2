/* view_junit.c - see session_views.h. Writes the form that Jenkins, GitLab and pytest share:
 * testsuite, testcase, failure, error, skipped; and workflow commands as GitHub's runner reads them:
 * "::error title=T::TEXT", where '%', CR and LF are escaped, in a title ':' and ',' too; and a badge. */
#include <string.h>

#include "base/file.h"
#include "session_views.h"

void view_escape(struct text *t, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '&': text_add(t, "&amp;"); break;
        case '<': text_add(t, "&lt;"); break;
        case '>': text_add(t, "&gt;"); break;
        case '"': text_add(t, "&quot;"); break;
        case '\'': text_add(t, "&#39;"); break;
        default: text_add_n(t, (unsigned char)*s < 0x20 || *s == 0x7f ? "?" : s, 1);
        }
}

static void attribute(struct text *t, const char *name, const char *value)
{
    text_printf(t, " %s=\"", name);
    view_escape(t, value);
    text_add(t, "\"");
}

/* Add one element per finding: wrong bytes and numbers are failures, a run without an answer is an
 * error. */
static void add_finding(struct text *t, const struct judge_finding *f)
{
    bool error = strcmp(f->kind, "failed") == 0 || strcmp(f->kind, "refused") == 0;

    if (f->why)
        return;
    text_printf(t, "    <%s", error ? "error" : "failure");
    attribute(t, "type", f->kind);
    attribute(t, "message", f->text);
    text_add(t, "/>\n");
}

static void add_case(struct text *t, const struct view *v, uint32_t run, uint32_t *finding)
{
    const struct suite_run *r = &v->suite.run[run];

    text_add(t, "  <testcase");
    attribute(t, "classname", arena_printf(t->arena, "%s.%s", v->session.suite, r->network));
    attribute(t, "name", r->label);
    text_printf(t, " time=\"%.3f\">\n", r->result.wall_seconds < 0 ? 0 : r->result.wall_seconds);
    if (!r->result.verdict)
        text_add(t, "    <skipped message=\"not run\"/>\n");
    for (; *finding < v->judge.n && v->judge.finding[*finding].run == run; ++*finding)
        add_finding(t, &v->judge.finding[*finding]);
    text_add(t, "  </testcase>\n");
}

/* Count the runs with errors, and those with failures but no errors. */
static void count(const struct judge *j, uint32_t *failures, uint32_t *errors)
{
    for (uint32_t i = 0; i < j->n;) {
        const uint32_t run = j->finding[i].run;
        bool error = false, failure = false;
        for (; i < j->n && j->finding[i].run == run; i++) {
            const char *kind = j->finding[i].kind;
            bool is = strcmp(kind, "failed") == 0 || strcmp(kind, "refused") == 0;
            error = error || (is && !j->finding[i].why);
            failure = failure || (!is && !j->finding[i].why);
        }
        *errors += error;
        *failures += failure && !error;
    }
}

enum status view_junit(struct arena *a, const struct view *v, const char *path, struct diag *d)
{
    uint32_t failures = 0, errors = 0, finding = 0;
    double seconds = 0;
    struct text t;

    count(&v->judge, &failures, &errors);
    for (uint32_t i = 0; i < v->suite.n; i++)
        seconds +=
            v->suite.run[i].result.wall_seconds > 0 ? v->suite.run[i].result.wall_seconds : 0;
    text_init(&t, a);
    text_add(&t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite");
    attribute(&t, "name", v->session.suite);
    text_printf(&t, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%lld\" time=\"%.3f\">\n",
                v->suite.n, failures, errors, (long long)(v->suite.n - v->session.n_done), seconds);
    for (uint32_t i = 0; i < v->suite.n; i++)
        add_case(&t, v, i, &finding);
    text_add(&t, "</testsuite>\n");
    return file_write(path, t.data, t.length, d);
}

/* --- GitHub ----------------------------------------------------------------------------------- */

static void add_escaped(struct text *t, const char *s, const char *escaped)
{
    for (; *s; s++)
        if (strchr(escaped, *s))
            text_printf(t, "%%%02X", (unsigned)(unsigned char)*s);
        else
            text_add_n(t, s, 1);
}

static void add_command(struct text *t, const char *command, const char *title, const char *text)
{
    text_printf(t, "::%s title=", command);
    add_escaped(t, title, "%\r\n:,");
    text_add(t, "::");
    add_escaped(t, text, "%\r\n");
    text_add(t, "\n");
}

void view_github(struct text *t, const struct view *v)
{
    for (uint32_t i = 0; i < v->judge.n; i++) {
        const struct judge_finding *f = &v->judge.finding[i];
        const char *label = v->suite.run[f->run].label;
        const char *title = arena_printf(t->arena, "%s: %s", f->kind, label);

        if (f->why)
            add_command(t, "notice", title,
                        arena_printf(t->arena, "%s (allowed: %s)", f->text, f->why));
        else
            add_command(t, "error", title, f->text);
    }
    add_command(t, "notice", arena_printf(t->arena, "heddle regress %s", v->session.suite),
                arena_printf(t->arena, "%lld of %u runs done, %u with findings",
                             (long long)v->session.n_done, v->suite.n, v->judge.n_bad_runs));
}

/* --- badge ------------------------------------------------------------------------------------ */

/* Add text of `width` pixels, white on `colour`, `x` pixels from the left. */
static void add_label(struct text *t, const char *text, uint32_t x, uint32_t width,
                      const char *colour)
{
    text_printf(t, "<rect x=\"%u\" width=\"%u\" height=\"20\" fill=\"%s\"/>", x, width, colour);
    text_printf(t, "<text x=\"%u\" y=\"14\" textLength=\"%u\">", x + 5, width - 10);
    view_escape(t, text);
    text_add(t, "</text>\n");
}

enum status view_badge(struct arena *a, const struct view *v, const char *path, struct diag *d)
{
    const uint32_t n = v->suite.n, bad = v->judge.n_bad_runs;
    const uint32_t missing = n - (uint32_t)v->session.n_done;
    const char *name = v->session.suite, *colour = bad       ? "#b3261e"
                                                   : missing ? "#8a6d00"
                                                             : "#2e7d32";
    const char *state = bad       ? arena_printf(a, "%u of %u wrong", bad, n)
                        : missing ? arena_printf(a, "%u of %u not run", missing, n)
                                  : arena_printf(a, "%u of %u right", n, n);
    const uint32_t left = 10 + 7 * (uint32_t)strlen(name), right = 10 + 7 * (uint32_t)strlen(state);
    struct text t;

    text_init(&t, a);
    text_printf(&t,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%u\" height=\"20\"",
                left + right);
    text_add(&t, " font-family=\"sans-serif\" font-size=\"11\" fill=\"#fff\">\n<title>");
    view_escape(&t, arena_printf(a, "%s: %s", name, state));
    text_add(&t, "</title>\n");
    add_label(&t, name, 0, left, "#444");
    add_label(&t, state, left, right, colour);
    text_add(&t, "</svg>\n");
    return file_write(path, t.data, t.length, d);
}
