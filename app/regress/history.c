/* history.c - see history.h. */
#include "history.h"

#include <string.h>
#include <time.h>

#include "app/job/monotonic.h"
#include "app/regress/suite/result.h"

enum {
    APPLICATION_ID = 0x68747267, /* "htrg" */
    FORMAT = 3,
};

static const char schema[] =
    "CREATE TABLE session (id INTEGER PRIMARY KEY, suite TEXT NOT NULL, plan TEXT NOT NULL,"
    " commit_name TEXT NOT NULL, versions TEXT NOT NULL, started INTEGER NOT NULL,"
    " ended INTEGER NOT NULL DEFAULT 0, planned INTEGER NOT NULL);"
    "CREATE TABLE run (session INTEGER NOT NULL REFERENCES session (id), number INTEGER NOT NULL,"
    " label TEXT NOT NULL, network TEXT NOT NULL, configuration TEXT NOT NULL,"
    " engine TEXT NOT NULL, options TEXT NOT NULL, seed INTEGER NOT NULL, model TEXT NOT NULL,"
    " verdict TEXT NOT NULL, exit INTEGER NOT NULL, message TEXT NOT NULL,"
    " inferences REAL NOT NULL, wall_seconds REAL NOT NULL, baseline REAL NOT NULL,"
    " detail TEXT NOT NULL,"
    " PRIMARY KEY (session, number));"
    "CREATE TABLE finding (session INTEGER NOT NULL REFERENCES session (id),"
    " number INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, why TEXT);"
    "CREATE INDEX finding_of ON finding (session);"
    "CREATE TABLE baseline (id INTEGER PRIMARY KEY, suite TEXT NOT NULL, label TEXT NOT NULL,"
    " cycles REAL NOT NULL, session INTEGER NOT NULL REFERENCES session (id),"
    " set_at INTEGER NOT NULL, why TEXT NOT NULL);"
    "CREATE INDEX baseline_of ON baseline (suite, label);";

static const struct database_column fixed_columns[] = {
    {"session", "id", DATABASE_INT, NULL},        {"session", "suite", DATABASE_TEXT, NULL},
    {"session", "plan", DATABASE_TEXT, NULL},     {"session", "commit_name", DATABASE_TEXT, NULL},
    {"session", "versions", DATABASE_TEXT, NULL}, {"session", "started", DATABASE_INT, NULL},
    {"session", "ended", DATABASE_INT, NULL},     {"session", "planned", DATABASE_COUNT, NULL},
    {"finding", "session", DATABASE_INT, NULL},   {"finding", "number", DATABASE_COUNT, NULL},
    {"finding", "kind", DATABASE_TEXT, NULL},     {"finding", "text", DATABASE_TEXT, NULL},
    {"baseline", "id", DATABASE_INT, NULL},       {"baseline", "suite", DATABASE_TEXT, NULL},
    {"baseline", "label", DATABASE_TEXT, NULL},   {"baseline", "cycles", DATABASE_REAL, NULL},
    {"baseline", "session", DATABASE_INT, NULL},  {"baseline", "set_at", DATABASE_INT, NULL},
    {"baseline", "why", DATABASE_TEXT, NULL},     {"run", "session", DATABASE_INT, NULL}};

/* Columns after "session", in the order of take_run and bind_run; then app/stats/columns.def's. */
static const struct database_column run_columns[] = {
    {"run", "number", DATABASE_COUNT, NULL},      {"run", "seed", DATABASE_INT, NULL},
    {"run", "exit", DATABASE_INT, NULL},          {"run", "label", DATABASE_TEXT, NULL},
    {"run", "network", DATABASE_TEXT, NULL},      {"run", "configuration", DATABASE_TEXT, NULL},
    {"run", "engine", DATABASE_TEXT, NULL},       {"run", "options", DATABASE_TEXT, NULL},
    {"run", "model", DATABASE_TEXT, NULL},        {"run", "verdict", DATABASE_TEXT, NULL},
    {"run", "message", DATABASE_TEXT, NULL},      {"run", "detail", DATABASE_TEXT, NULL},
    {"run", "energy_unit", DATABASE_TEXT, "''"},  {"run", "inferences", DATABASE_REAL, NULL},
    {"run", "wall_seconds", DATABASE_REAL, NULL}, {"run", "baseline", DATABASE_REAL, NULL},
    {"run", "energy", DATABASE_REAL, "-1"}};

enum {
    N_FIXED = sizeof fixed_columns / sizeof *fixed_columns,
    N_RUN = sizeof run_columns / sizeof *run_columns,
};

/* Formats 1 and 2 named the bytes on the bus otherwise. */
static const char upgrade[] = "ALTER TABLE run RENAME COLUMN read_bytes TO dram_read_bytes;"
                              "ALTER TABLE run RENAME COLUMN write_bytes TO dram_write_bytes;";

static const struct database_column *all_columns(struct arena *a)
{
    struct database_column *all =
        ARENA_ARRAY(a, struct database_column, N_FIXED + N_RUN + N_COLUMNS + 1);
    uint32_t n = N_FIXED + N_RUN;

    memcpy(all, fixed_columns, sizeof fixed_columns);
    memcpy(all + N_FIXED, run_columns, sizeof run_columns);
    for (const struct column *c = columns; c->name; c++)
        if (c->run)
            all[n++] = (struct database_column){"run", c->name, DATABASE_REAL, "-1"};
    return all;
}

/* Return the run's columns for SQL: "number, label, ..." */
static const char *run_names(struct history *h)
{
    const struct database_column *c = h->kind.column + N_FIXED;
    struct text t;

    text_init(&t, h->base.arena);
    text_add(&t, c->column);
    for (c++; c->table; c++)
        text_printf(&t, ", %s", c->column);
    return t.data;
}

enum status history_open(struct arena *a, const char *path, enum database_mode mode,
                         struct history *h, struct diag *d)
{
    *h = (struct history){.kind = {"regress", "heddle regress SUITE.json", APPLICATION_ID, FORMAT,
                                   schema, all_columns(a), upgrade}};
    return database_open(a, path, mode, &h->kind, &h->base, d);
}

void history_close(struct history *h)
{
    (void)sqlite3_finalize(h->add);
    h->add = NULL;
    if (h->base.db)
        database_close(&h->base);
}

/* Return a copy in the arena. */
static const char *text_at(struct history *h, sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);

    return arena_strdup(h->base.arena, text ? text : "");
}

static enum status rows_end(struct history *h, sqlite3_stmt *q, int rc, struct diag *d)
{
    sqlite3_finalize(q);
    return rc == SQLITE_DONE ? ST_OK : database_failed(&h->base, rc, d);
}

static void bind(sqlite3_stmt *q, int at, const char *text)
{
    (void)sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);
}

/* --- a session --------------------------------------------------------------------------------- */

static enum status find_session(struct history *h, struct history_session *s, struct diag *d)
{
    sqlite3_stmt *q;

    TRY(database_prepare(&h->base, "SELECT max(id) FROM session WHERE suite = ?1 AND plan = ?2", &q,
                         d));
    bind(q, 1, s->suite);
    bind(q, 2, s->plan);
    int rc = sqlite3_step(q);
    s->id = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    return rows_end(h, q, rc == SQLITE_ROW ? SQLITE_DONE : rc, d);
}

static enum status new_session(struct history *h, struct history_session *s, struct diag *d)
{
    sqlite3_stmt *q;

    TRY(database_prepare(
        &h->base,
        "INSERT INTO session (suite, plan, commit_name, versions, started, planned)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &q, d));
    bind(q, 1, s->suite);
    bind(q, 2, s->plan);
    bind(q, 3, s->commit);
    bind(q, 4, s->versions);
    (void)sqlite3_bind_int64(q, 5, (int64_t)time(NULL));
    (void)sqlite3_bind_int64(q, 6, s->n_planned);
    enum status st = database_step(&h->base, q, d);
    sqlite3_finalize(q);
    s->id = sqlite3_last_insert_rowid(h->base.db);
    return st;
}

enum status history_begin(struct history *h, struct history_session *s, bool again, struct diag *d)
{
    if (!again)
        TRY(find_session(h, s, d));
    return s->id ? ST_OK : new_session(h, s, d);
}

/* Read a run from a row of run_names. */
static void take_run(struct history *h, sqlite3_stmt *q, struct suite_run *r)
{
    struct suite_result *x = &r->result;
    const char **const texts[] = {&r->label,   &r->network,    &r->configuration, &r->engine,
                                  &r->options, &r->model,      &x->verdict,       &x->message,
                                  &x->detail,  &x->energy_unit};
    double *const numbers[] = {&x->inferences, &x->wall_seconds, &r->baseline, &x->energy};
    int at = 3;

    *x = result_none;
    r->wall_before = -1;
    r->seed = (uint64_t)sqlite3_column_int64(q, 1);
    x->exit = sqlite3_column_int(q, 2);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = text_at(h, q, at++);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = sqlite3_column_double(q, at++);
    for (int i = 0; i < N_COLUMNS; i++)
        if (columns[i].run)
            x->number.at[i] = sqlite3_column_double(q, at++);
}

static enum status select_runs(struct history *h, int64_t session, sqlite3_stmt **q, struct diag *d)
{
    TRY(database_prepare(&h->base,
                         arena_printf(h->base.arena,
                                      "SELECT %s FROM run WHERE session = ?1 ORDER BY number",
                                      run_names(h)),
                         q, d));
    (void)sqlite3_bind_int64(*q, 1, session);
    return ST_OK;
}

enum status history_resume(struct history *h, int64_t session, struct suite *s, uint32_t *n_done,
                           struct diag *d)
{
    sqlite3_stmt *q;
    int rc;

    TRY(database_execute(&h->base,
                         arena_printf(h->base.arena,
                                      "DELETE FROM run WHERE session = %lld AND"
                                      " (exit < 0 OR exit > 4)",
                                      (long long)session),
                         d));
    *n_done = 0;
    TRY(select_runs(h, session, &q, d));
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        int64_t number = sqlite3_column_int64(q, 0);
        struct suite_run found = {0};
        if (number < 0 || number >= s->n)
            continue;
        take_run(h, q, &found);
        s->run[number].result = found.result;
        ++*n_done;
    }
    return rows_end(h, q, rc, d);
}

static enum status recall(struct history *h, const char *sql, struct suite *s, size_t field,
                          struct diag *d)
{
    sqlite3_stmt *q;
    int rc;

    TRY(database_prepare(&h->base, sql, &q, d));
    bind(q, 1, s->name);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        struct suite_run *r = suite_find(s, (const char *)sqlite3_column_text(q, 0));
        double value = sqlite3_column_double(q, 1);
        if (r)
            memcpy((char *)r + field, &value, sizeof value);
    }
    return rows_end(h, q, rc, d);
}

enum status history_recall(struct history *h, struct suite *s, struct diag *d)
{
    TRY(recall(h, "SELECT label, cycles FROM baseline WHERE suite = ?1 ORDER BY id", s,
               offsetof(struct suite_run, baseline), d));
    return recall(h,
                  "SELECT label, wall_seconds FROM run WHERE session ="
                  " (SELECT max(id) FROM session WHERE suite = ?1 AND ended > 0)",
                  s, offsetof(struct suite_run, wall_before), d);
}

/* --- the session's runs ----------------------------------------------------------------------- */

static void bind_run(sqlite3_stmt *q, uint32_t number, const struct suite_run *r)
{
    const struct suite_result *x = &r->result;
    const char *const texts[] = {r->label, r->network, r->configuration, r->engine, r->options,
                                 r->model, x->verdict, x->message,       x->detail, x->energy_unit};
    const double numbers[] = {x->inferences, x->wall_seconds, r->baseline, x->energy};
    int at = 5;

    (void)sqlite3_bind_int64(q, 2, number);
    (void)sqlite3_bind_int64(q, 3, (int64_t)r->seed);
    (void)sqlite3_bind_int(q, 4, x->exit);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        bind(q, at++, texts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        (void)sqlite3_bind_double(q, at++, numbers[i]);
    for (int i = 0; i < N_COLUMNS; i++)
        if (columns[i].run)
            (void)sqlite3_bind_double(q, at++, x->number.at[i]);
}

static enum status prepare_add(struct history *h, struct diag *d)
{
    struct text t;

    text_init(&t, h->base.arena);
    text_printf(&t, "INSERT OR IGNORE INTO run (session, %s) VALUES (?", run_names(h));
    for (const struct database_column *c = h->kind.column + N_FIXED; c->table; c++)
        text_add(&t, ", ?");
    text_add(&t, ")");
    return database_prepare(&h->base, t.data, &h->add, d);
}

enum status history_add(struct history *h, int64_t session, uint32_t number,
                        const struct suite_run *r, struct diag *d)
{
    if (!h->add)
        TRY(prepare_add(h, d));
    if (!h->pending) {
        TRY(database_begin(&h->base, d));
        h->pending = true;
        h->since = monotonic_seconds();
    }
    (void)sqlite3_bind_int64(h->add, 1, session);
    bind_run(h->add, number, r);
    return database_step(&h->base, h->add, d);
}

enum status history_flush(struct history *h, bool now, struct diag *d)
{
    if (!h->pending || (!now && monotonic_seconds() - h->since < 0.5))
        return ST_OK;
    h->pending = false;
    return database_end(&h->base, ST_OK, d);
}

/* --- the session's end ------------------------------------------------------------------------ */

enum status history_baseline(struct history *h, const char *suite, const char *label, double cycles,
                             int64_t session, const char *why, struct diag *d)
{
    sqlite3_stmt *q;

    TRY(database_prepare(&h->base,
                         "INSERT INTO baseline (suite, label, cycles, session, set_at, why)"
                         " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                         &q, d));
    bind(q, 1, suite);
    bind(q, 2, label);
    (void)sqlite3_bind_double(q, 3, cycles);
    (void)sqlite3_bind_int64(q, 4, session);
    (void)sqlite3_bind_int64(q, 5, (int64_t)time(NULL));
    bind(q, 6, why);
    return rows_end(h, q, sqlite3_step(q), d);
}

static bool is_right(const struct suite_result *r)
{
    return r->verdict && r->exit == 0 && r->number.cycles > 0;
}

static enum status first_baselines(struct history *h, int64_t session, struct suite *s,
                                   struct diag *d)
{
    for (uint32_t i = 0; i < s->n; i++) {
        struct suite_run *r = &s->run[i];
        if (r->baseline >= 0 || !is_right(&r->result))
            continue;
        r->baseline = r->result.number.cycles;
        TRY(history_baseline(h, s->name, r->label, r->baseline, session, "the first result", d));
    }
    return ST_OK;
}

static enum status add_findings(struct history *h, int64_t session, const struct judge *j,
                                struct diag *d)
{
    sqlite3_stmt *q;
    enum status st = ST_OK;

    TRY(database_prepare(&h->base,
                         "INSERT INTO finding (session, number, kind, text, why)"
                         " VALUES (?1, ?2, ?3, ?4, ?5)",
                         &q, d));
    (void)sqlite3_bind_int64(q, 1, session);
    for (uint32_t i = 0; i < j->n && st == ST_OK; i++) {
        (void)sqlite3_bind_int64(q, 2, j->finding[i].run);
        bind(q, 3, j->finding[i].kind);
        bind(q, 4, j->finding[i].text);
        bind(q, 5, j->finding[i].why);
        st = database_step(&h->base, q, d);
    }
    sqlite3_finalize(q);
    return st;
}

static enum status close_session(struct history *h, int64_t session, struct suite *s,
                                 const struct judge *j, struct diag *d)
{
    TRY(database_execute(
        &h->base,
        arena_printf(h->base.arena,
                     "DELETE FROM finding WHERE session = %lld;"
                     "UPDATE session SET ended = %lld WHERE id = %lld AND ended = 0",
                     (long long)session, (long long)time(NULL), (long long)session),
        d));
    TRY(add_findings(h, session, j, d));
    return first_baselines(h, session, s, d);
}

enum status history_end(struct history *h, int64_t session, struct suite *s, const struct judge *j,
                        struct diag *d)
{
    TRY(history_flush(h, true, d));
    TRY(database_begin(&h->base, d));
    return database_end(&h->base, close_session(h, session, s, j, d), d);
}

enum status history_times(struct history *h, struct history_session *s, struct diag *d)
{
    sqlite3_stmt *q;

    TRY(database_prepare(&h->base, "SELECT started, ended FROM session WHERE id = ?1", &q, d));
    (void)sqlite3_bind_int64(q, 1, s->id);
    int rc = sqlite3_step(q);
    s->started = sqlite3_column_int64(q, 0);
    s->ended = sqlite3_column_int64(q, 1);
    return rows_end(h, q, rc == SQLITE_ROW ? SQLITE_DONE : rc, d);
}

/* --- reading ----------------------------------------------------------------------------------- */

enum status history_sessions(struct history *h, const char *suite, struct history_session **s,
                             uint32_t *n, struct diag *d)
{
    sqlite3_stmt *q;
    int64_t most;
    int rc;

    TRY(database_number(&h->base, "SELECT count(*) FROM session", &most, d));
    *s = ARENA_ARRAY(h->base.arena, struct history_session, (size_t)most + 1);
    *n = 0;
    TRY(database_prepare(
        &h->base,
        "SELECT id, suite, commit_name, versions, plan, started, ended, planned,"
        " (SELECT count(*) FROM run WHERE session = id),"
        " (SELECT count(DISTINCT number) FROM finding WHERE session = id AND why IS NULL)"
        " FROM session WHERE ?1 IS NULL OR suite = ?1 ORDER BY id",
        &q, d));
    bind(q, 1, suite);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW && *n < most)
        (*s)[(*n)++] = (struct history_session){.id = sqlite3_column_int64(q, 0),
                                                .suite = text_at(h, q, 1),
                                                .commit = text_at(h, q, 2),
                                                .versions = text_at(h, q, 3),
                                                .plan = text_at(h, q, 4),
                                                .started = sqlite3_column_int64(q, 5),
                                                .ended = sqlite3_column_int64(q, 6),
                                                .n_planned = sqlite3_column_int64(q, 7),
                                                .n_done = sqlite3_column_int64(q, 8),
                                                .n_bad = sqlite3_column_int64(q, 9)};
    return rows_end(h, q, rc == SQLITE_ROW ? SQLITE_DONE : rc, d);
}

/* Read the findings. Run numbers have gaps if the session was interrupted. */
static enum status read_findings(struct history *h, int64_t session, const uint32_t *place,
                                 int64_t n_place, struct judge *j, struct diag *d)
{
    sqlite3_stmt *q;
    int64_t most;
    int rc;

    TRY(database_number(&h->base,
                        arena_printf(h->base.arena,
                                     "SELECT count(*) FROM finding WHERE session = %lld",
                                     (long long)session),
                        &most, d));
    *j = (struct judge){.finding =
                            ARENA_ARRAY(h->base.arena, struct judge_finding, (size_t)most + 1)};
    TRY(database_prepare(&h->base,
                         "SELECT number, kind, text, why FROM finding WHERE session = ?1"
                         " ORDER BY number, rowid",
                         &q, d));
    (void)sqlite3_bind_int64(q, 1, session);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW && j->n < most) {
        int64_t number = sqlite3_column_int64(q, 0);
        struct judge_finding *f = &j->finding[j->n];
        if (number < 0 || number >= n_place)
            continue;
        *f = (struct judge_finding){place[number], text_at(h, q, 1), text_at(h, q, 2), NULL};
        if (sqlite3_column_type(q, 3) != SQLITE_NULL)
            f->why = text_at(h, q, 3);
        j->n++;
        j->n_count += !f->why;
    }
    return rows_end(h, q, rc == SQLITE_ROW ? SQLITE_DONE : rc, d);
}

enum status history_read(struct history *h, const struct history_session *session, struct suite *s,
                         struct judge *j, struct diag *d)
{
    struct arena *a = h->base.arena;
    uint32_t *place = ARENA_ARRAY(a, uint32_t, (size_t)session->n_planned + 1);
    sqlite3_stmt *q;
    int rc;

    *s = (struct suite){.arena = a, .name = session->suite};
    s->run = ARENA_ARRAY(a, struct suite_run, (size_t)session->n_done + 1);
    TRY(select_runs(h, session->id, &q, d));
    while ((rc = sqlite3_step(q)) == SQLITE_ROW && s->n < session->n_done) {
        int64_t number = sqlite3_column_int64(q, 0);
        if (number < 0 || number >= session->n_planned)
            continue;
        place[number] = s->n;
        take_run(h, q, &s->run[s->n++]);
    }
    TRY(rows_end(h, q, rc == SQLITE_ROW ? SQLITE_DONE : rc, d));
    suite_sort(s);
    return read_findings(h, session->id, place, session->n_planned, j, d);
}
