/* suite_parts.h - the axes of a suite's block: networks, configurations, lists of options, each
 * with its arguments of heddle run and a hash of its files. For suite.c only. */
#ifndef HEDDLE_REGRESS_SUITE_PARTS_H
#define HEDDLE_REGRESS_SUITE_PARTS_H

#include "suite.h"

struct suite_network {
    const char *name, *hash, *model; /* model: hash of the model file */
    const char *const *argv;         /* the model, its inputs, the expected outputs */
    uint32_t n_argv;
    bool seeded; /* its inputs are random */
};

/* A configuration, or a list of options. */
struct suite_part {
    const char *name, *hash;
    const char *const *argv;
    uint32_t n_argv;
};

struct suite_planner {
    struct suite *s;
    struct json_doc doc;
    uint32_t capacity;
    struct diag *d;
};

/* Read a network. `at`: its place in the file, for messages. */
enum status suite_read_network(struct suite_planner *p, const cJSON *o, const char *at,
                               struct suite_network *n);
/* Read a configuration given by name or file. */
enum status suite_read_configuration(struct suite_planner *p, const char *name, const char *at,
                                     struct suite_part *part);
/* Read the configurations of member `list` (NULL: sys16), including those to which its objects
 * expand: suite_grid.c. */
enum status suite_read_configurations(struct suite_planner *p, const cJSON *list, const char *at,
                                      struct suite_part **part, uint32_t *n);
/* Refuse an option that regress adds to each run itself. `at`: as above. */
enum status suite_check_option(struct suite_planner *p, const char *option, const char *at);
enum status suite_read_options(struct suite_planner *p, const cJSON *list, const char *at,
                               struct suite_part *part);
/* Return a member's text in the suite's arena; NULL: none. */
const char *suite_word(struct suite_planner *p, const cJSON *o, const char *name);

#endif
