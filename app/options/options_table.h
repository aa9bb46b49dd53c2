/* options_table.h - a row an option: how it is shown, where its value goes, what that may be. */
#ifndef HEDDLE_OPTIONS_TABLE_H
#define HEDDLE_OPTIONS_TABLE_H

#include <stddef.h>

#include "options.h"

enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_NUMBER,
    OPTION_WORD,
    OPTION_RATIO, /* "3" or "1/4": two numbers */
    OPTION_FILES, /* this and what follows may be given again */
    OPTION_TARGET,
    OPTION_TARGET_DIR,
};

struct option_row {
    struct heddle_option shown;
    enum option_kind kind;
    size_t at, size;            /* the field of struct options, bytes */
    size_t count_at;            /* FILES: how many there are, uint32_t */
    uint64_t least, most, unit; /* NUMBER: the field gets the number times `unit` (0: as it is) */
    uint32_t used_by;           /* OPTION_OF of the commands; COMMAND_COUNT: run with --prog */
};

#define OPTION_OF(command) (1u << (command))

/* The name of the last is NULL. */
extern const struct option_row options_table[];

/* The row by its full name or its letter, or NULL. */
const struct option_row *option_row_of(const char *name);

/* Put `value` (NULL for a flag: on) where the row specifies; of any kind but TARGET and TARGET_DIR.
 * ST_USAGE: option, value found, what is expected. */
enum status option_take(const struct option_row *row, const char *value, struct options *o,
                        struct diag *d);

#endif
