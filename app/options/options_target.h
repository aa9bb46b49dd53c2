/* options_target.h - the options that depend on which targets there are: --target, --target-dir and
 * the attributes --target-NAME-ATTR. */
#ifndef HEDDLE_OPTIONS_TARGET_H
#define HEDDLE_OPTIONS_TARGET_H

#include "compiler/target/registry.h"
#include "include/heddle/heddle.h"

#define TARGET_OPTIONS_MAX 64

struct target_options {
    struct arena *arena;
    struct registry *registry;
    uint32_t n_dir, n_choice, n_setting, n_row;
    const char *dir[TARGET_OPTIONS_MAX];    /* --target-dir and its aliases, in order */
    const char *choice[TARGET_OPTIONS_MAX]; /* --target, in order */
    struct registry_setting *setting;       /* given; room for OPTIONS_MAX_GIVEN */
    struct registry_setting *row;           /* an attribute each, and */
    struct heddle_option *option;           /* how it is shown */
};

/* The targets of its folders, then of the environment and heddle's own; rows for their attributes,
 * and for those of the instances that --target names. */
enum status target_options_find(struct target_options *t, struct diag *d);
/* True if `name` ("target-vanilla-topping") is the option of an attribute; then it is taken. */
bool target_options_take(struct target_options *t, const char *name, const char *value);
/* The targets of the run; systolic,c unless something was chosen. */
enum status target_options_select(struct target_options *t, struct target_list *list,
                                  struct diag *d);

#endif
