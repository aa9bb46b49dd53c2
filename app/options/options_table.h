/* options_table.h - one row per option: how it is shown, the field for its value, and the allowed
 * values. */
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
    OPTION_FILES, /* this kind and the following ones may be given repeatedly */
    OPTION_TARGET,
    OPTION_TARGET_DIR,
};

struct option_row {
    struct heddle_option shown;
    enum option_kind kind;
    size_t at, size;            /* offset and size of the field in struct options */
    size_t count_at;            /* FILES: offset of their number, a uint32_t */
    uint64_t least, most, unit; /* NUMBER: the field gets the number times `unit` (0: unchanged) */
    uint32_t used_by;           /* OPTION_OF the commands; COMMAND_COUNT: run with --prog */
};

#define OPTION_OF(command) (1u << (command))

/* The last name is NULL. */
extern const struct option_row options_table[];

/* Return the row by its full name or its letter, or NULL. */
const struct option_row *option_row_of(const char *name);

/* Store `value` (NULL for a flag: on) in the row's field; not for kinds TARGET and TARGET_DIR.
 * ST_USAGE: the message has the option, the value and what is expected. */
enum status option_take(const struct option_row *row, const char *value, struct options *o,
                        struct diag *d);

#endif
