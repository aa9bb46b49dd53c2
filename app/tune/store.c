/* store.c - see store.h. */
#include "store.h"

#include <string.h>

#include "base/database.h"

enum {
    APPLICATION_ID = 0x68747564, /* "htud" */
    FORMAT = 2,                  /* 2: knobs as text in the form of knob_file.h, not as rows */
};

struct store {
    struct database base;
    struct database_kind kind;
};

static const char schema[] =
    "CREATE TABLE network (id INTEGER PRIMARY KEY, graph TEXT NOT NULL, hardware TEXT NOT NULL,"
    " schedule TEXT NOT NULL, model TEXT, hw TEXT, UNIQUE (graph, hardware, schedule));"
    "CREATE TABLE trial (network INTEGER NOT NULL REFERENCES network (id), number INTEGER NOT NULL,"
    " estimate INTEGER NOT NULL, cycles INTEGER NOT NULL, knobs TEXT NOT NULL,"
    " PRIMARY KEY (network, number)) WITHOUT ROWID;";

static const struct database_column own_columns[] = {
    {"network", "id", DATABASE_INT, NULL},        {"network", "graph", DATABASE_TEXT, NULL},
    {"network", "hardware", DATABASE_TEXT, NULL}, {"network", "schedule", DATABASE_TEXT, NULL},
    {"trial", "network", DATABASE_INT, NULL},     {"trial", "number", DATABASE_INT, NULL},
    {"trial", "estimate", DATABASE_INT, NULL},    {"trial", "cycles", DATABASE_INT, NULL},
    {"trial", "knobs", DATABASE_TEXT, NULL},      {NULL, NULL, DATABASE_TEXT, NULL},
};

/* Describe the file; a message about it states how to create it. */
static struct database_kind kind_of(struct arena *a, const char *path)
{
    return (struct database_kind){"tune",
                                  arena_printf(a, "heddle tune MODEL --tuned=%s", path),
                                  APPLICATION_ID,
                                  FORMAT,
                                  schema,
                                  own_columns,
                                  NULL};
}

enum status store_open(struct arena *a, const char *path, enum store_mode mode, struct store **out,
                       struct diag *d)
{
    struct store *s = *out = ARENA_NEW(a, struct store);

    s->kind = kind_of(a, path);
    return database_open(a, path, mode == STORE_WRITE ? DATABASE_WRITE : DATABASE_READ, &s->kind,
                         &s->base, d);
}

void store_close(struct store *s)
{
    if (s)
        database_close(&s->base);
}

static void bind_key(sqlite3_stmt *q, const struct tune_key *key)
{
    (void)sqlite3_bind_text(q, 1, key->graph, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(q, 2, key->hardware, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(q, 3, key->schedule, -1, SQLITE_STATIC);
}

/* Note which trials of this graph exist if none match the whole `key`. */
static enum status nearest(struct store *s, const struct tune_key *key, const char **note,
                           struct diag *d)
{
    sqlite3_stmt *q;

    *note = "it has no results for this network";
    TRY(database_prepare(
        &s->base,
        "SELECT max(hardware = ?2), max(schedule = ?3) FROM network WHERE graph = ?1 "
        "AND EXISTS (SELECT * FROM trial WHERE network = id)",
        &q, d));
    bind_key(q, key);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW && sqlite3_column_type(q, 0) != SQLITE_NULL)
        *note =
            sqlite3_column_int(q, 0)
                ? "its results for this network are from another version of heddle's scheduler; "
                  "run heddle tune again"
                : "its results for this network are for other hardware or another memory system";
    sqlite3_finalize(q);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? ST_OK : database_failed(&s->base, rc, d);
}

enum status store_find(struct store *s, const struct tune_key *key, int64_t *id, const char **note,
                       struct diag *d)
{
    sqlite3_stmt *q;

    TRY(database_prepare(
        &s->base,
        "SELECT id FROM network WHERE graph = ?1 AND hardware = ?2 AND schedule = ?3 "
        "AND EXISTS (SELECT * FROM trial WHERE network = id)",
        &q, d));
    bind_key(q, key);
    int rc = sqlite3_step(q);
    *id = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_finalize(q);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return database_failed(&s->base, rc, d);
    return *id || !note ? ST_OK : nearest(s, key, note, d);
}

static enum status insert_network(struct store *s, const struct tune_key *key, const char *model,
                                  const char *hw, struct diag *d)
{
    sqlite3_stmt *q;

    TRY(database_prepare(&s->base,
                         "INSERT OR IGNORE INTO network (graph, hardware, schedule, model, hw) "
                         "VALUES (?1, ?2, ?3, ?4, ?5)",
                         &q, d));
    bind_key(q, key);
    (void)sqlite3_bind_text(q, 4, model, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(q, 5, hw, -1, SQLITE_STATIC);
    enum status st = database_step(&s->base, q, d);
    sqlite3_finalize(q);
    return st;
}

enum status store_make(struct store *s, const struct tune_key *key, const char *model,
                       const char *hw, int64_t *id, struct diag *d)
{
    sqlite3_stmt *q;

    TRY(database_begin(&s->base, d));
    TRY(database_end(&s->base, insert_network(s, key, model, hw, d), d));
    TRY(database_prepare(
        &s->base, "SELECT id FROM network WHERE graph = ?1 AND hardware = ?2 AND schedule = ?3", &q,
        d));
    bind_key(q, key);
    int rc = sqlite3_step(q);
    *id = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_finalize(q);
    return rc == SQLITE_ROW ? ST_OK : database_failed(&s->base, rc, d);
}

/* Read the knobs of a trial, which people may have edited. */
static enum status read_knobs(struct store *s, const char *text, const struct knob_shape *shape,
                              struct store_trial *t, struct diag *d)
{
    const char *name = arena_printf(s->base.arena, "%s: trial %u", s->base.path, t->number);
    struct json_doc doc;

    t->knobs = ARENA_ARRAY(s->base.arena, struct sched_knobs, shape->n_op + 1);
    t->value = ARENA_ARRAY(s->base.arena, int64_t, shape->attrs.n + 1);
    enum status st =
        json_doc_parse(s->base.arena, name, text ? text : "", text ? strlen(text) : 0, &doc, d);
    if (st == ST_OK)
        st = knob_file_take(&doc, shape, t->knobs, t->value, d);
    json_doc_free(&doc);
    return st;
}

static enum status read_trials(struct store *s, sqlite3_stmt *trials,
                               const struct knob_shape *shape, struct store_trial *to, uint32_t cap,
                               uint32_t *n, struct diag *d)
{
    int rc;

    *n = 0;
    while ((rc = sqlite3_step(trials)) == SQLITE_ROW && *n < cap) {
        struct store_trial *t = &to[(*n)++];
        t->number = (uint32_t)sqlite3_column_int64(trials, 0);
        t->estimate = (uint64_t)sqlite3_column_int64(trials, 1);
        t->cycles = (uint64_t)sqlite3_column_int64(trials, 2);
        TRY(read_knobs(s, (const char *)sqlite3_column_text(trials, 3), shape, t, d));
    }
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? ST_OK : database_failed(&s->base, rc, d);
}

enum status store_trials(struct store *s, int64_t id, const struct knob_shape *shape,
                         struct store_trial **trial, uint32_t *n, struct diag *d)
{
    sqlite3_stmt *trials;
    int64_t cap;

    TRY(database_number(&s->base,
                        arena_printf(s->base.arena,
                                     "SELECT count(*) FROM trial WHERE network = %lld",
                                     (long long)id),
                        &cap, d));
    *trial = ARENA_ARRAY(s->base.arena, struct store_trial, (size_t)cap + 1);
    TRY(database_prepare(&s->base,
                         "SELECT number, estimate, cycles, knobs FROM trial WHERE network = ?1 "
                         "ORDER BY number",
                         &trials, d));
    (void)sqlite3_bind_int64(trials, 1, id);
    enum status st = read_trials(s, trials, shape, *trial, (uint32_t)cap, n, d);
    sqlite3_finalize(trials);
    return st;
}

static enum status add_trial(struct store *s, int64_t id, const struct store_trial *t,
                             const char *knobs, struct diag *d)
{
    sqlite3_stmt *q;

    TRY(database_prepare(&s->base,
                         "INSERT OR IGNORE INTO trial (network, number, estimate, cycles, knobs) "
                         "VALUES (?1, ?2, ?3, ?4, ?5)",
                         &q, d));
    (void)sqlite3_bind_int64(q, 1, id);
    (void)sqlite3_bind_int64(q, 2, t->number);
    (void)sqlite3_bind_int64(q, 3, (int64_t)t->estimate);
    (void)sqlite3_bind_int64(q, 4, (int64_t)t->cycles);
    (void)sqlite3_bind_text(q, 5, knobs, -1, SQLITE_STATIC);
    enum status st = database_step(&s->base, q, d);
    sqlite3_finalize(q);
    return st;
}

enum status store_add(struct store *s, int64_t id, const struct store_trial *trial,
                      const struct knob_shape *shape, struct diag *d)
{
    cJSON *o = cJSON_CreateObject();

    knob_file_add(o, shape, trial->knobs, trial->value, false);
    char *knobs = cJSON_PrintUnformatted(o);
    cJSON_Delete(o);
    if (!knobs)
        return FAIL(d, ST_NO_MEMORY, "%s: no memory or disk left", s->base.path);
    enum status st = database_begin(&s->base, d);
    if (st == ST_OK)
        st = database_end(&s->base, add_trial(s, id, trial, knobs, d), d);
    cJSON_free(knobs);
    return st;
}
