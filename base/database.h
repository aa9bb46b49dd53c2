/* database.h - open, recognise and check heddle's SQLite files; errors become messages. Uses the
 * rollback journal instead of WAL, so that a copy of the one file is complete, and a read-only file
 * can be read. */
#ifndef HEDDLE_BASE_DATABASE_H
#define HEDDLE_BASE_DATABASE_H

#include <sqlite3.h>

#include "arena.h"
#include "status.h"

enum database_mode { DATABASE_READ, DATABASE_WRITE };

/* Type of a column's values; SQLite itself does not enforce types. */
enum database_values {
    DATABASE_INT,
    DATABASE_COUNT, /* an integer from 0 to 10,000,000, usable as a size of memory */
    DATABASE_REAL,
    DATABASE_TEXT
};
struct database_column {
    const char *table, *column;
    enum database_values values;
    const char
        *missing; /* SQL value for a file that lacks the column, which is then added; NULL: such a
                  * file is damaged */
};

/* Identification of heddle's files. */
struct database_kind {
    const char *command; /* the command that writes it: "tune" */
    const char *create;  /* for the message about a missing file: "heddle tune MODEL ..." */
    int application_id, format;
    const char *schema;                   /* SQL that initialises an empty file of this kind */
    const struct database_column *column; /* by table; the last is NULL */
    const char *upgrade; /* SQL that converts a file of an earlier format to this one; NULL: none */
};

struct database {
    struct arena *arena;
    const char *path;
    const struct database_kind *kind;
    sqlite3 *db;
};

/* Open a database; DATABASE_WRITE creates it. ST_USAGE: not found, locked, damaged, of another kind
 * or format, or not writable; ST_NO_MEMORY: the disk is full. Close it even after a failure. */
enum status database_open(struct arena *a, const char *path, enum database_mode mode,
                          const struct database_kind *kind, struct database *b, struct diag *d);
void database_close(struct database *b);

/* Return SQLite's result `rc` as status and message. */
enum status database_failed(const struct database *b, int rc, struct diag *d);
enum status database_execute(struct database *b, const char *sql, struct diag *d);
/* Prepare a statement; finalise *q with sqlite3_finalize. */
enum status database_prepare(struct database *b, const char *sql, sqlite3_stmt **q, struct diag *d);
/* Step a statement without result rows, and reset it. */
enum status database_step(struct database *b, sqlite3_stmt *q, struct diag *d);
/* Return the first column of the first row; 0 if there is none. */
enum status database_number(struct database *b, const char *sql, int64_t *value, struct diag *d);
enum status database_begin(struct database *b, struct diag *d);
/* Commit, or roll back if `st` is a failure. */
enum status database_end(struct database *b, enum status st, struct diag *d);

#endif
