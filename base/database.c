/* database.c - see database.h. */
#include "database.h"

#include <stdbool.h>
#include <string.h>

#include "file.h"
#include "text.h"

enum { BUSY_MS = 2000 };

enum status database_failed(const struct database *b, int rc, struct diag *d)
{
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return FAIL(d, ST_USAGE, "%s: locked by another process; wait for it to end", b->path);
    case SQLITE_NOTADB:
        return FAIL(d, ST_USAGE, "%s: not an SQLite database; expected one of heddle %s", b->path,
                    b->kind->command);
    case SQLITE_CORRUPT:
        return FAIL(d, ST_USAGE, "%s: damaged; remove it and run heddle %s again", b->path,
                    b->kind->command);
    case SQLITE_READONLY:
    case SQLITE_PERM: return FAIL(d, ST_USAGE, "%s: cannot be written", b->path);
    case SQLITE_CANTOPEN: return FAIL(d, ST_USAGE, "%s: cannot be opened", b->path);
    case SQLITE_FULL:
    case SQLITE_NOMEM: return FAIL(d, ST_NO_MEMORY, "%s: no memory or disk left", b->path);
    default: return FAIL(d, ST_USAGE, "%s: %s", b->path, sqlite3_errstr(rc));
    }
}

enum status database_execute(struct database *b, const char *sql, struct diag *d)
{
    int rc = sqlite3_exec(b->db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? ST_OK : database_failed(b, rc, d);
}

enum status database_prepare(struct database *b, const char *sql, sqlite3_stmt **q, struct diag *d)
{
    int rc = sqlite3_prepare_v2(b->db, sql, -1, q, NULL);

    return rc == SQLITE_OK ? ST_OK : database_failed(b, rc, d);
}

enum status database_number(struct database *b, const char *sql, int64_t *value, struct diag *d)
{
    sqlite3_stmt *q;

    TRY(database_prepare(b, sql, &q, d));
    int rc = sqlite3_step(q);
    *value = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_finalize(q);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? ST_OK : database_failed(b, rc, d);
}

static enum status check_whole(struct database *b, struct diag *d)
{
    sqlite3_stmt *q;

    TRY(database_prepare(b, "PRAGMA quick_check(1)", &q, d));
    int rc = sqlite3_step(q);
    const char *found = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(q, 0) : NULL;
    bool good = found && strcmp(found, "ok") == 0;
    sqlite3_finalize(q);
    return good ? ST_OK : database_failed(b, rc == SQLITE_ROW ? SQLITE_CORRUPT : rc, d);
}

static enum status damaged(const struct database *b, const char *table, const char *what,
                           struct diag *d)
{
    return FAIL(d, ST_USAGE, "%s: damaged: table %s, %s; remove it and run heddle %s again",
                b->path, table, what, b->kind->command);
}

/* Return false if SQLite fails to list the table's columns; the check then fails, too. */
static bool lacks(struct database *b, const struct database_column *c)
{
    int64_t n = 1;
    struct diag ignored = {0};

    return database_number(b,
                           arena_printf(b->arena,
                                        "SELECT count(*) FROM pragma_table_info('%s')"
                                        " WHERE name = '%s'",
                                        c->table, c->column),
                           &n, &ignored) == ST_OK &&
           n == 0;
}

/* Add the columns that are newer than the file. */
static enum status add_missing(struct database *b, struct diag *d)
{
    static const char *const types[] = {
        [DATABASE_INT] = "INTEGER",
        [DATABASE_COUNT] = "INTEGER",
        [DATABASE_REAL] = "REAL",
        [DATABASE_TEXT] = "TEXT",
    };

    for (const struct database_column *c = b->kind->column; c->table; c++)
        if (c->missing && lacks(b, c))
            TRY(database_execute(b,
                                 arena_printf(b->arena,
                                              "ALTER TABLE %s ADD COLUMN %s %s NOT NULL DEFAULT %s",
                                              c->table, c->column, types[c->values], c->missing),
                                 d));
    return ST_OK;
}

/* Check the columns of one table, from *c on; *c is then the next table's first. */
static enum status check_table(struct database *b, const struct database_column **c, struct diag *d)
{
    static const struct {
        const char *type, *text;
    } values[] = {
        [DATABASE_INT] = {"integer", "an integer"},
        [DATABASE_COUNT] = {"integer", "an integer from 0 to 10000000"},
        [DATABASE_REAL] = {"real", "a number"},
        [DATABASE_TEXT] = {"text", "a text"},
    };
    const struct database_column *const first = *c;
    struct text sql;
    sqlite3_stmt *q;

    text_init(&sql, b->arena);
    text_add(&sql, "SELECT CASE");
    for (; (*c)->table && strcmp((*c)->table, first->table) == 0; ++*c) {
        text_printf(&sql, " WHEN typeof(%s) != '%s'", (*c)->column, values[(*c)->values].type);
        if ((*c)->values == DATABASE_COUNT)
            text_printf(&sql, " OR %s NOT BETWEEN 0 AND 10000000", (*c)->column);
        text_printf(&sql, " THEN %d", (int)(*c - first));
    }
    text_printf(&sql, " END AS wrong FROM %s WHERE wrong IS NOT NULL LIMIT 1", first->table);
    if (sqlite3_prepare_v2(b->db, sql.data, -1, &q, NULL) != SQLITE_OK)
        return damaged(b, first->table, arena_strdup(b->arena, sqlite3_errmsg(b->db)), d);
    const int rc = sqlite3_step(q);
    const struct database_column *wrong = first + sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    if (rc == SQLITE_ROW)
        return damaged(b, first->table,
                       arena_printf(b->arena, "column %s: expected %s in each row", wrong->column,
                                    values[wrong->values].text),
                       d);
    return rc == SQLITE_DONE ? ST_OK : database_failed(b, rc, d);
}

static enum status check_columns(struct database *b, struct diag *d)
{
    const struct database_column *c = b->kind->column;

    while (c->table)
        TRY(check_table(b, &c, d));
    return ST_OK;
}

/* Check that the file is heddle's and of this format; an empty database is initialised. */
static enum status check_kind(struct database *b, enum database_mode mode, struct diag *d)
{
    int64_t application, format, tables;

    TRY(database_number(b, "SELECT count(*) FROM sqlite_schema", &tables, d));
    TRY(database_number(b, "PRAGMA application_id", &application, d));
    TRY(database_number(b, "PRAGMA user_version", &format, d));
    if (tables == 0 && application == 0 && mode == DATABASE_WRITE) {
        TRY(database_execute(
            b,
            arena_printf(b->arena, "PRAGMA application_id = %d; PRAGMA user_version = %d; %s",
                         b->kind->application_id, b->kind->format, b->kind->schema),
            d));
        return add_missing(b, d);
    }
    if (application != b->kind->application_id)
        return FAIL(d, ST_USAGE,
                    "%s: an SQLite database, but not one of heddle %s; name another file", b->path,
                    b->kind->command);
    if (b->kind->upgrade && format > 0 && format < b->kind->format) {
        TRY(database_execute(b,
                             arena_printf(b->arena,
                                          "SAVEPOINT upgrade; %s PRAGMA user_version = %d;"
                                          " RELEASE upgrade",
                                          b->kind->upgrade, b->kind->format),
                             d));
        format = b->kind->format;
    }
    if (format != b->kind->format)
        return FAIL(d, ST_USAGE,
                    "%s: has format %lld, this heddle reads format %d; name another file", b->path,
                    (long long)format, b->kind->format);
    TRY(check_whole(b, d));
    TRY(add_missing(b, d));
    return check_columns(b, d);
}

enum status database_begin(struct database *b, struct diag *d)
{
    return database_execute(b, "BEGIN IMMEDIATE", d);
}

enum status database_end(struct database *b, enum status st, struct diag *d)
{
    if (st == ST_OK)
        st = database_execute(b, "COMMIT", d);
    if (st != ST_OK)
        (void)sqlite3_exec(b->db, "ROLLBACK", NULL, NULL, NULL);
    return st;
}

enum status database_step(struct database *b, sqlite3_stmt *q, struct diag *d)
{
    int rc = sqlite3_step(q);

    (void)sqlite3_reset(q);
    return rc == SQLITE_DONE ? ST_OK : database_failed(b, rc, d);
}

enum status database_open(struct arena *a, const char *path, enum database_mode mode,
                          const struct database_kind *kind, struct database *b, struct diag *d)
{
    *b = (struct database){.arena = a, .path = path, .kind = kind};
    if (mode == DATABASE_READ && !file_exists(path))
        return FAIL(d, ST_USAGE, "%s: file not found; create it with %s", path, kind->create);
    int flags = SQLITE_OPEN_READWRITE | (mode == DATABASE_WRITE ? SQLITE_OPEN_CREATE : 0);
    int rc = sqlite3_open_v2(path, &b->db, flags, NULL);
    if (rc != SQLITE_OK)
        return database_failed(b, rc, d);
    (void)sqlite3_busy_timeout(b->db, BUSY_MS);
    if (mode == DATABASE_READ)
        return check_kind(b, mode, d);
    if (sqlite3_db_readonly(b->db, "main") == 1)
        return database_failed(b, SQLITE_READONLY, d);
    TRY(database_begin(b, d));
    return database_end(b, check_kind(b, mode, d), d);
}

void database_close(struct database *b)
{
    (void)sqlite3_close(b->db);
    b->db = NULL;
}
