/* database.h - one SQLite file of heddle's own: opened, recognised, checked; its errors as messages.
 * The rollback journal, not WAL: then a copy of the one file is whole, and a file that cannot be
 * written can still be read. */
#ifndef HEDDLE_BASE_DATABASE_H
#define HEDDLE_BASE_DATABASE_H

#include <sqlite3.h>

#include "arena.h"
#include "status.h"

enum database_mode { DATABASE_READ, DATABASE_WRITE };

/* Type of a column's values: SQLite itself stores any in any. */
enum database_values {
    DATABASE_INT,
    DATABASE_COUNT, /* an integer from 0 to 10,000,000: what may size memory */
    DATABASE_REAL,
    DATABASE_TEXT
};
struct database_column {
    const char *table, *column;
    enum database_values values;
    const char *
        missing; /* the SQL value in a file that lacks the column, which is then added; NULL: damaged */
};

/* The identification of our files. */
struct database_kind {
    const char *command; /* that writes it: "tune" */
    const char *create;  /* for the message of one that is not found: "heddle tune MODEL ..." */
    int application_id, format;
    const char *schema;                   /* SQL that makes an empty file one of this kind */
    const struct database_column *column; /* by table; the last one's is NULL */
    const char *upgrade; /* SQL that makes a file of an earlier format one of this; NULL: none */
};

struct database {
    struct arena *arena;
    const char *path;
    const struct database_kind *kind;
    sqlite3 *db;
};

/* DATABASE_WRITE creates it. ST_USAGE: not found, locked, damaged, of another kind or format, not to
 * be written; ST_NO_MEMORY: the disk is full. Close it also after a failure. */
enum status database_open(struct arena *a, const char *path, enum database_mode mode,
                          const struct database_kind *kind, struct database *b, struct diag *d);
void database_close(struct database *b);

/* The message of SQLite's result `rc`. */
enum status database_failed(const struct database *b, int rc, struct diag *d);
enum status database_execute(struct database *b, const char *sql, struct diag *d);
/* Finalise *q with sqlite3_finalize. */
enum status database_prepare(struct database *b, const char *sql, sqlite3_stmt **q, struct diag *d);
/* Step a statement that has no rows, and reset it. */
enum status database_step(struct database *b, sqlite3_stmt *q, struct diag *d);
/* The first column of the first row; 0 if there is none. */
enum status database_number(struct database *b, const char *sql, int64_t *value, struct diag *d);
enum status database_begin(struct database *b, struct diag *d);
/* Commits, or takes all back if `st` is a failure. */
enum status database_end(struct database *b, enum status st, struct diag *d);

#endif
