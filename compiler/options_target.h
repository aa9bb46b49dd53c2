/* options_target.h - the part of the command line that depends on which targets there are.
 * Phase one finds the folders of targets, phase two parses with their attributes as options. */
#ifndef HEDDLE_OPTIONS_TARGET_H
#define HEDDLE_OPTIONS_TARGET_H

#include <argp.h>

#include "target/registry.h"

struct target_options {
    struct arena *arena;
    struct registry *registry;
    uint32_t n_choice, n_setting, n_row;
    const char **choice;               /* --target, in order */
    struct registry_setting *setting;  /* given */
    struct registry_setting *attr_row; /* of the option with key TARGET_OPTION_KEY + i */
};

/* Phase one: read --target-dir and its aliases, the environment, and the names in --target. */
enum status target_options_find(struct target_options *t, struct arena *a, struct registry *r,
                                int argc, char **argv, struct diag *d);
/* `table` (ended by an empty row) with a row for each attribute of each target. */
const struct argp_option *target_options_table(struct target_options *t,
                                               const struct argp_option *table);
/* A --target. */
void target_options_choose(struct target_options *t, const char *text);
/* True if `key` is the option of an attribute; then it is taken. */
bool target_options_take(struct target_options *t, int key, const char *value);
/* The targets of the run; systolic,c unless something was chosen. */
enum status target_options_select(struct target_options *t, struct target_list *list,
                                  struct diag *d);

/* What argp refused: names the option, the nearest there is, or the value that is missing. */
enum status target_options_unknown(const struct argp_option *table, int argc, char **argv,
                                   struct diag *d);

#endif
