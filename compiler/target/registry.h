/* registry.h - find the targets, and select those of a run. They are found in this order, and the
 * first of a name wins: built in; --target-dir (in the order given); $HEDDLE_TARGET_PATH and
 * $UMA_BACKENDS (folders separated by ':'); heddle/targets in ${XDG_DATA_HOME:-~/.local/share} and
 * each of ${XDG_DATA_DIRS:-/usr/local/share:/usr/share}; <home>/targets. Such a folder holds a
 * target.json itself, or folders that do. */
#ifndef HEDDLE_COMPILER_TARGET_REGISTRY_H
#define HEDDLE_COMPILER_TARGET_REGISTRY_H

#include "target.h"

struct registry_entry {
    const char *name;               /* name of the target; of its folder if that cannot be read */
    const struct target_desc *desc; /* NULL if it cannot be read */
    const char *error;              /* then why */
    const char *others; /* unused targets of the same name: "1.1 of 'DIR'"; NULL: none */
};

struct registry {
    struct arena *arena;
    uint32_t n, cap;
    struct registry_entry *entry;
};

/* Start with the built-in targets only. */
void registry_init(struct registry *r, struct arena *a);
/* Add a --target-dir. ST_USAGE: it holds no target, one that cannot be read, or a name that is
 * built in or came from another --target-dir. */
enum status registry_add_dir(struct registry *r, const char *dir, struct diag *d);
/* Add the folders of the environment and of heddle. A folder that cannot be read is kept as an
 * entry with its error, for `heddle targets` and for runs that select it. */
enum status registry_add_environment(struct registry *r, struct diag *d);

/* Return the entry of that name, or NULL. */
const struct registry_entry *registry_find(const struct registry *r, const char *name);

/* A choice is one --target: "vanilla,systolic:big,c", or JSON: {"kind": "vanilla", "name": "v",
 * "topping": "sprinkles"}, or an array of such objects and of names. */
/* One --target-NAME-ATTR=VALUE. */
struct registry_setting {
    const char *name, *attr, *value; /* name: the target's name in the run */
};
/* Select the targets of a run, with their settings. ST_USAGE: the message names an unknown target
 * and those that exist, a setting for a target that is not selected, or a value out of range. */
enum status registry_select(const struct registry *r, const char *const *choice, uint32_t n_choice,
                            const struct registry_setting *setting, uint32_t n_setting,
                            struct target_list *list, struct diag *d);

/* Return "--target-NAME-ATTR", with - instead of _. */
const char *target_option(struct arena *a, const char *name, const char *attr);

/* Return "target x: 1.0 of 'A' is used, not 1.1 of 'B'" for a name found in two places; otherwise
 * NULL. */
const char *registry_clash(struct arena *a, const struct registry_entry *e);

/* Print "heddle targets": name, version, origin, attributes, operators, and why a target cannot be
 * used. */
void target_print(const struct registry *r, struct text *t);
/* reference.c: docs/TARGET.md. */
enum status target_reference(struct arena *a, struct text *t, struct diag *d);

/* trust.c: check that code of `desc` may be executed. That of heddle's targets (<home>/targets)
 * may; that of others with --allow-native-targets, or if
 * ${XDG_CONFIG_HOME:-~/.config}/heddle/trusted has a line with their folder or one above it.
 * ST_USAGE states what to do. */
enum status target_trusted(struct arena *a, const struct target_desc *desc, bool allow,
                           struct diag *d);

#endif
