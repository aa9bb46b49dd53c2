/* store.c - see store.h. */
#include "store.h"

#include <string.h>

#include "base/database.h"
#include "compiler/schedule/sched.h"

enum {
    APPLICATION_ID = 0x68747564, /* "htud" */
    FORMAT = 1,
};

struct store {
    struct database base;
    struct database_kind kind;
};

static const char schema[] =
    "CREATE TABLE network (id INTEGER PRIMARY KEY, graph TEXT NOT NULL, hardware TEXT NOT NULL,"
    " schedule TEXT NOT NULL, model TEXT, hw TEXT, UNIQUE (graph, hardware, schedule));"
    "CREATE TABLE trial (network INTEGER NOT NULL REFERENCES network (id), number INTEGER NOT NULL,"
    " estimate INTEGER NOT NULL, cycles INTEGER NOT NULL, PRIMARY KEY (network, number))"
    " WITHOUT ROWID;"
    "CREATE TABLE knob (network INTEGER NOT NULL, trial INTEGER NOT NULL, op INTEGER NOT NULL,"
    " layer TEXT, name TEXT NOT NULL, value INTEGER NOT NULL,"
    " PRIMARY KEY (network, trial, op, name)) WITHOUT ROWID;";

/* The file of a message says how to make it. */
static struct database_kind kind_of(struct arena *a, const char *path)
{
    return (struct database_kind){"tune", arena_printf(a, "heddle tune MODEL --tuned=%s", path),
                                  APPLICATION_ID, FORMAT, schema};
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

/* What there is of this graph, if not of all of `key`. */
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

/* Where a stored knob belongs. Knobs of a target stand at operator -1 - its index. */
static bool put(const struct store_shape *shape, struct store_trial *t, int64_t op,
                const char *name, int64_t value)
{
    for (uint32_t k = 0; k < SCHED_KNOBS && op >= 0 && op < shape->n_op; k++)
        if (strcmp(sched_knob_name(k), name) == 0 && value > 0 && value <= sched_knob_most(k)) {
            *sched_knob(&t->knobs[op], k) = (uint32_t)value;
            return true;
        }
    for (uint32_t k = 0; k < shape->attrs.n; k++) {
        const struct tune_attr *at = &shape->attrs.at[k];
        if (op == -1 - (int64_t)at->target && strcmp(at->name, name) == 0 && value >= at->low &&
            value <= at->high) {
            t->value[k] = value;
            return true;
        }
    }
    return false;
}

static enum status read_knobs(struct store *s, sqlite3_stmt *q, const struct store_shape *shape,
                              struct store_trial *t, struct diag *d)
{
    int rc;

    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        int64_t op = sqlite3_column_int64(q, 0), value = sqlite3_column_int64(q, 2);
        bool number = sqlite3_column_type(q, 2) == SQLITE_INTEGER;
        const char *name = (const char *)sqlite3_column_text(q, 1), *text;

        if (name && number && put(shape, t, op, name, value))
            continue;
        text = (const char *)sqlite3_column_text(q, 2);
        return FAIL(
            d, ST_USAGE,
            "%s: damaged: operator %lld has knob %s = %s, which is not in its range; remove "
            "the file and run heddle tune again",
            s->base.path, (long long)op, name ? name : "(none)", text ? text : "(none)");
    }
    return rc == SQLITE_DONE ? ST_OK : database_failed(&s->base, rc, d);
}

static enum status read_trials(struct store *s, sqlite3_stmt *trials, sqlite3_stmt *knobs,
                               const struct store_shape *shape, struct store_trial *to,
                               uint32_t cap, uint32_t *n, struct diag *d)
{
    int rc;

    *n = 0;
    while ((rc = sqlite3_step(trials)) == SQLITE_ROW && *n < cap) {
        struct store_trial *t = &to[(*n)++];
        t->number = (uint32_t)sqlite3_column_int64(trials, 0);
        t->estimate = (uint64_t)sqlite3_column_int64(trials, 1);
        t->cycles = (uint64_t)sqlite3_column_int64(trials, 2);
        t->knobs = ARENA_ARRAY(s->base.arena, struct sched_knobs, shape->n_op + 1);
        t->value = ARENA_ARRAY(s->base.arena, int64_t, shape->attrs.n + 1);
        (void)sqlite3_bind_int64(knobs, 2, t->number);
        TRY(read_knobs(s, knobs, shape, t, d));
        (void)sqlite3_reset(knobs);
    }
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? ST_OK : database_failed(&s->base, rc, d);
}

enum status store_trials(struct store *s, int64_t id, const struct store_shape *shape,
                         struct store_trial **trial, uint32_t *n, struct diag *d)
{
    sqlite3_stmt *trials, *knobs;
    int64_t cap;

    TRY(database_number(&s->base,
                        arena_printf(s->base.arena,
                                     "SELECT count(*) FROM trial WHERE network = %lld",
                                     (long long)id),
                        &cap, d));
    *trial = ARENA_ARRAY(s->base.arena, struct store_trial, (size_t)cap + 1);
    TRY(database_prepare(
        &s->base, "SELECT number, estimate, cycles FROM trial WHERE network = ?1 ORDER BY number",
        &trials, d));
    enum status st = database_prepare(
        &s->base, "SELECT op, name, value FROM knob WHERE network = ?1 AND trial = ?2", &knobs, d);
    if (st == ST_OK) {
        (void)sqlite3_bind_int64(trials, 1, id);
        (void)sqlite3_bind_int64(knobs, 1, id);
        st = read_trials(s, trials, knobs, shape, *trial, (uint32_t)cap, n, d);
        sqlite3_finalize(knobs);
    }
    sqlite3_finalize(trials);
    return st;
}

struct row {
    int64_t op;
    const char *layer, *name;
    int64_t value;
};

static enum status add_knob(struct store *s, sqlite3_stmt *q, const struct row *row, struct diag *d)
{
    (void)sqlite3_bind_int64(q, 3, row->op);
    (void)sqlite3_bind_text(q, 4, row->layer, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(q, 5, row->name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(q, 6, row->value);
    return database_step(&s->base, q, d);
}

static enum status add_all(struct store *s, sqlite3_stmt *q, const struct store_trial *t,
                           const struct store_shape *shape, struct diag *d)
{
    for (uint32_t op = 0; op < shape->n_op; op++)
        for (uint32_t k = 0; k < SCHED_KNOBS; k++) {
            struct row row = {op, shape->layer[op], sched_knob_name(k),
                              *sched_knob(&t->knobs[op], k)};
            if (row.value)
                TRY(add_knob(s, q, &row, d));
        }
    for (uint32_t k = 0; k < shape->attrs.n; k++) {
        const struct tune_attr *at = &shape->attrs.at[k];
        TRY(add_knob(s, q,
                     &(struct row){-1 - (int64_t)at->target, at->owner, at->name, t->value[k]}, d));
    }
    return ST_OK;
}

static enum status add_knobs(struct store *s, int64_t id, const struct store_trial *t,
                             const struct store_shape *shape, struct diag *d)
{
    sqlite3_stmt *q;

    TRY(database_prepare(
        &s->base,
        "INSERT OR IGNORE INTO knob (network, trial, op, layer, name, value) VALUES "
        "(?1, ?2, ?3, ?4, ?5, ?6)",
        &q, d));
    (void)sqlite3_bind_int64(q, 1, id);
    (void)sqlite3_bind_int64(q, 2, t->number);
    enum status st = add_all(s, q, t, shape, d);
    sqlite3_finalize(q);
    return st;
}

static enum status add_trial(struct store *s, int64_t id, const struct store_trial *t,
                             struct diag *d)
{
    sqlite3_stmt *q;

    TRY(database_prepare(&s->base,
                         "INSERT OR IGNORE INTO trial (network, number, estimate, cycles) "
                         "VALUES (?1, ?2, ?3, ?4)",
                         &q, d));
    (void)sqlite3_bind_int64(q, 1, id);
    (void)sqlite3_bind_int64(q, 2, t->number);
    (void)sqlite3_bind_int64(q, 3, (int64_t)t->estimate);
    (void)sqlite3_bind_int64(q, 4, (int64_t)t->cycles);
    enum status st = database_step(&s->base, q, d);
    sqlite3_finalize(q);
    return st;
}

enum status store_add(struct store *s, int64_t id, const struct store_trial *trial,
                      const struct store_shape *shape, struct diag *d)
{
    TRY(database_begin(&s->base, d));
    enum status st = add_trial(s, id, trial, d);
    if (st == ST_OK)
        st = add_knobs(s, id, trial, shape, d);
    return database_end(&s->base, st, d);
}
