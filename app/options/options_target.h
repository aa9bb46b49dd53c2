/* options_target.h - options that depend on the targets found: --target, --target-dir and the
 * attributes --target-NAME-ATTR. */
#ifndef HEDDLE_OPTIONS_TARGET_H
#define HEDDLE_OPTIONS_TARGET_H

#include "compiler/target/registry.h"
#include "include/heddle/heddle.h"

#define TARGET_OPTIONS_MAX 64

struct target_options {
    struct arena *arena;
    struct registry *registry;
    uint32_t n_dir, n_choice, n_setting, n_row;
    const char *dir[TARGET_OPTIONS_MAX];    /* --target-dir and its aliases, in the order given */
    const char *choice[TARGET_OPTIONS_MAX]; /* --target, in order */
    struct registry_setting *setting;       /* the given ones; room for OPTIONS_MAX_GIVEN */
    struct registry_setting *row;           /* one per attribute, and */
    struct heddle_option *option;           /* the option shown for it */
};

/* Find the targets of its folders, then those of the environment and heddle; make rows for their
 * attributes, and for those of the instances that --target names. */
enum status target_options_find(struct target_options *t, struct diag *d);
/* Return true if `name` ("target-vanilla-topping") is an attribute's option; it is then set. */
bool target_options_take(struct target_options *t, const char *name, const char *value);
/* Select the targets of the run; systolic,c by default. */
enum status target_options_select(struct target_options *t, struct target_list *list,
                                  struct diag *d);

#endif
