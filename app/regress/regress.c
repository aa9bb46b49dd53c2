/* regress.c - see regress.h. The commands that read the history, and accept. */
#include "regress.h"

#include <stdlib.h>
#include <string.h>

#include "app/changes/changes.h"
#include "app/report/report.h"
#include "base/file.h"
#include "session_views.h"

struct reader {
    struct arena *arena;
    const struct options *o;
    struct history h;
    struct history_session *session; /* oldest first */
    uint32_t n;
};

/* Find a session by its number, by the start of its commit (the last such session), or "last". */
static enum status find_session(const struct reader *r, const char *name,
                                const struct history_session **found, struct diag *d)
{
    char *end;
    const long long id = strtoll(name, &end, 10);

    for (uint32_t i = r->n; i-- > 0;)
        if ((*end == '\0' && r->session[i].id == id) || strcmp(name, "last") == 0) {
            *found = &r->session[i];
            return ST_OK;
        }
    for (uint32_t i = r->n; i-- > 0;)
        if (*name && strncmp(r->session[i].commit, name, strlen(name)) == 0) {
            *found = &r->session[i];
            return ST_OK;
        }
    return FAIL(d, ST_USAGE,
                "regress: found '%s', expected the number of a session, the start of its commit, "
                "or last; heddle regress show lists sessions",
                name);
}

static enum status read_view(struct reader *r, const char *name, struct view *v, struct diag *d)
{
    const struct history_session *found = NULL;

    TRY(find_session(r, name, &found, d));
    v->session = *found;
    return history_read(&r->h, found, &v->suite, &v->judge, d);
}

static enum status most_arguments(const struct options *o, uint32_t least, uint32_t most,
                                  const char *expected, struct diag *d)
{
    if (o->n_argument >= least && o->n_argument <= most)
        return ST_OK;
    return FAIL(d, ST_USAGE, "regress %s: found %u arguments, expected %s", o->model, o->n_argument,
                expected);
}

static enum status show(struct reader *r, struct text *t, struct diag *d)
{
    struct view v = {0};

    TRY(most_arguments(r->o, 0, 1, "none, or one session", d));
    if (r->o->n_argument == 0) {
        view_sessions(t, r->session, r->n);
        return ST_OK;
    }
    TRY(read_view(r, r->o->argument[0], &v, d));
    view_table(t, &v);
    return ST_OK;
}

static enum status compare(struct reader *r, struct text *t, struct diag *d)
{
    struct view a = {0}, b = {0};

    TRY(most_arguments(r->o, 2, 2, "two sessions", d));
    TRY(read_view(r, r->o->argument[0], &a, d));
    TRY(read_view(r, r->o->argument[1], &b, d));
    view_compare(t, &a, &b);
    return ST_OK;
}

/* --- accept ------------------------------------------------------------------------------------ */

static bool is_named(const struct options *o, const struct suite_run *r)
{
    for (uint32_t i = 0; i < o->n_argument; i++)
        if (strcmp(o->argument[i], r->network) == 0 || strcmp(o->argument[i], r->label) == 0)
            return true;
    return o->n_argument == 0;
}

/* Check that every word is used. */
static enum status check_names(const struct options *o, const struct suite *s, struct diag *d)
{
    for (uint32_t i = 0; i < o->n_argument; i++) {
        uint32_t k = 0;
        while (k < s->n && strcmp(o->argument[i], s->run[k].network) != 0 &&
               strcmp(o->argument[i], s->run[k].label) != 0)
            k++;
        if (k == s->n)
            return FAIL(d, ST_USAGE,
                        "regress accept: found '%s', expected a network or a run of the last "
                        "session, as heddle regress show last lists them",
                        o->argument[i]);
    }
    return ST_OK;
}

static enum status accept_one(struct reader *r, const struct view *v, struct suite_run *run,
                              struct text *t, struct diag *d)
{
    double before = run->baseline;

    if (!is_named(r->o, run) || run->result.exit != 0 || run->result.number.cycles <= 0 ||
        before == run->result.number.cycles)
        return ST_OK;
    TRY(history_baseline(&r->h, v->session.suite, run->label, run->result.number.cycles,
                         v->session.id, r->o->why, d));
    text_printf(t, "%s: baseline %.1f -> %.1f cycles", run->label, before,
                run->result.number.cycles);
    text_printf(t, before > 0 ? " (%+.2f %%)\n" : "\n",
                100 * (run->result.number.cycles / before - 1));
    return ST_OK;
}

static enum status accept_all(struct reader *r, struct view *v, struct text *t, struct diag *d)
{
    for (uint32_t i = 0; i < v->suite.n; i++)
        TRY(accept_one(r, v, &v->suite.run[i], t, d));
    return ST_OK;
}

static enum status accept(struct reader *r, struct text *t, struct diag *d)
{
    struct view v = {0};

    if (!r->o->why || !*r->o->why)
        return FAIL(d, ST_USAGE, "regress accept: no reason; expected --why=TEXT");
    TRY(read_view(r, "last", &v, d));
    TRY(check_names(r->o, &v.suite, d));
    TRY(history_recall(&r->h, &v.suite, d));
    TRY(database_begin(&r->h.base, d));
    TRY(database_end(&r->h.base, accept_all(r, &v, t, d), d));
    if (!t->length)
        text_add(t, "no baseline differs from the last session's cycles\n");
    return ST_OK;
}

/* --- the commands ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    enum status (*run)(struct reader *r, struct text *t, struct diag *d);
} commands[] = {{"show", show}, {"compare", compare}, {"accept", accept}};

enum { N_COMMANDS = sizeof commands / sizeof *commands };

static enum status read_history(struct arena *a, const struct options *o, uint32_t command,
                                struct diag *d)
{
    struct reader r = {.arena = a, .o = o};
    struct text t;

    text_init(&t, a);
    enum status st = history_open(a, regress_database(a, o), DATABASE_READ, &r.h, d);
    if (st == ST_OK)
        st = history_sessions(&r.h, NULL, &r.session, &r.n, d);
    if (st == ST_OK)
        st = commands[command].run(&r, &t, d);
    history_close(&r.h);
    if (st == ST_OK && t.data)
        output_text(o->output, OUTPUT_RESULT, t.data);
    return st;
}

/* --- diff -------------------------------------------------------------------------------------- */

/* Name the runs of a network in a session, for a message. */
static const char *labels_of(struct arena *a, const struct suite *s, const char *network)
{
    struct text t;

    text_init(&t, a);
    for (uint32_t i = 0; i < s->n; i++)
        if (!*network || strcmp(s->run[i].network, network) == 0)
            text_printf(&t, "%s'%s'", t.length ? ", " : "", s->run[i].label);
    return t.length ? t.data : "none";
}

/* Find the run of this label, or the only one of this network. */
static enum status find_run(struct reader *r, const char *name, const char *session,
                            const struct suite_run **run, struct diag *d)
{
    struct view *v = ARENA_NEW(r->arena, struct view);
    uint32_t n = 0;

    TRY(read_view(r, session, v, d));
    *run = suite_find(&v->suite, name);
    for (uint32_t i = 0; !*run && i < v->suite.n; i++)
        n += strcmp(v->suite.run[i].network, name) == 0;
    for (uint32_t i = 0; n == 1 && i < v->suite.n; i++)
        if (strcmp(v->suite.run[i].network, name) == 0)
            *run = &v->suite.run[i];
    if (*run)
        return ST_OK;
    return FAIL(d, ST_USAGE, "diff: session %lld has %u runs of '%s', expected one of: %s",
                (long long)v->session.id, n, name, labels_of(r->arena, &v->suite, n ? name : ""));
}

/* Read [FOLDER/]NETWORK@SESSION from the history in the folder. */
static enum status read_kept(struct arena *a, const struct options *o, const char *name,
                             struct view_side *side, struct diag *d)
{
    const char *at = strrchr(name, '@'), *end = strpbrk(name, " @"), *slash = NULL;
    struct reader r = {.arena = a, .o = o};
    const struct suite_run *run = NULL;

    for (const char *c = name; c < end; c++)
        slash = *c == '/' ? c : slash;
    const char *folder = slash ? arena_strndup(a, name, (size_t)(slash - name)) : "regress";
    const char *first = slash ? slash + 1 : name;
    enum status st =
        history_open(a, arena_printf(a, "%s/regress.db", folder), DATABASE_READ, &r.h, d);

    if (st == ST_OK)
        st = history_sessions(&r.h, NULL, &r.session, &r.n, d);
    if (st == ST_OK)
        st = find_run(&r, arena_strndup(a, first, (size_t)(at - first)), at + 1, &run, d);
    if (st == ST_OK)
        *side = view_side(run);
    history_close(&r.h);
    return st;
}

static enum status read_side(struct arena *a, const struct options *o, const char *name,
                             struct view_side *side, struct diag *d)
{
    const char *inside = arena_printf(a, "%s/stats.json", name);

    if (!file_exists(name) && strchr(name, '@'))
        return read_kept(a, o, name, side, d);
    if (!file_exists(name))
        return FAIL(d, ST_USAGE,
                    "diff: '%s' does not exist; expected a folder of heddle run -o, a stats file, "
                    "or NETWORK@SESSION of heddle regress",
                    name);
    TRY(report_read_file(a, file_exists(inside) ? inside : name, &side->run, d));
    side->list = changes_list(a, side->run);
    return ST_OK;
}

static enum status show_changes(struct arena *a, const struct options *o, cJSON *changes,
                                struct text *t, struct diag *d)
{
    struct text page;

    if (o->out) {
        text_init(&page, a);
        changes_page(&page, changes);
        TRY(file_make_dirs(o->out, d));
        TRY(file_write(arena_printf(a, "%s/diff.html", o->out), page.data, page.length, d));
    }
    if (o->format != FORMAT_JSON) {
        changes_text(t, changes);
        return ST_OK;
    }
    char *s = cJSON_Print(changes);
    if (!s)
        arena_exhausted(a);
    text_printf(t, "%s\n", s);
    cJSON_free(s);
    return ST_OK;
}

enum status diff_command(struct arena *a, const struct options *o, struct text *t, struct diag *d)
{
    struct view_side of[2] = {{0}};
    cJSON *changes = NULL;

    if (o->n_argument != 1)
        return FAIL(d, ST_USAGE, "diff: found %u arguments, expected two runs: heddle diff A B",
                    o->n_argument + 1);
    enum status st = read_side(a, o, o->model, &of[0], d);
    if (st == ST_OK)
        st = read_side(a, o, o->argument[0], &of[1], d);
    if (st == ST_OK) {
        changes = changes_of(a, &(struct changes_side){o->model, of[0].run, of[0].list},
                             &(struct changes_side){o->argument[0], of[1].run, of[1].list});
        st = show_changes(a, o, changes, t, d);
    }
    for (int i = 0; i < 2; i++) {
        cJSON_Delete(of[i].run);
        cJSON_Delete(of[i].list);
    }
    cJSON_Delete(changes);
    return st;
}

/* --- regress ----------------------------------------------------------------------------------- */

enum status regress_command(struct arena *a, const struct options *o, struct diag *d)
{
    for (uint32_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(o->model, commands[i].name) == 0)
            return read_history(a, o, i, d);
    if (o->n_argument)
        return FAIL(d, ST_USAGE, "argument: found '%s', expected one suite only", o->argument[0]);
    return regress_run(a, o, d);
}
