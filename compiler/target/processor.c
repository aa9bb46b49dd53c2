/* processor.c - the processor of a package: the attribute `mcpu` (a Cortex-M) or `march` (a RISC-V)
 * of one of the run's targets, the host or another. */
#include <string.h>

#include "registry.h"

const char *const processor_cortex_m[] = {"any",       "cortex-m0", "cortex-m0plus", "cortex-m3",
                                          "cortex-m4", "cortex-m7", "cortex-m55",    NULL};
const char *const processor_riscv[] = {"any", "rv32im", "rv32imc", "rv64gc", NULL};

struct choice {
    const struct target *target; /* NULL: none */
    const char *attr, *word;
};

static bool listed(const char *const *words, const char *word)
{
    for (uint32_t i = 1; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* Return true if attribute `attr` of `t` names a processor. */
static bool names(const struct target *t, uint32_t attr, struct choice *c)
{
    const struct target_attr *a = &t->desc->attr[attr];
    const bool arm = strcmp(a->name, "mcpu") == 0, other = strcmp(a->name, "march") == 0;

    if (!t->setting || (!arm && !other) || a->type != TARGET_CHOICE)
        return false;
    *c = (struct choice){t, a->name, t->setting[attr].text};
    return listed(arm ? processor_cortex_m : processor_riscv, c->word);
}

static const char *option(struct arena *a, const struct choice *c)
{
    return arena_printf(a, "%s=%s", target_option(a, c->target->name, c->attr), c->word);
}

/* Find the named processor in *first. ST_USAGE: two targets name different processors. */
static enum status find(struct arena *a, const struct target_list *list, struct choice *first,
                        struct diag *d)
{
    struct choice c;

    *first = (struct choice){NULL, NULL, NULL};
    for (uint32_t t = list->n; t-- > 0;)
        for (uint32_t i = 0; i < list->target[t]->desc->n_attr; i++) {
            if (!names(list->target[t], i, &c))
                continue;
            if (first->target && strcmp(first->word, c.word) != 0)
                return FAIL(d, ST_USAGE, "%s and %s: a package is for one processor",
                            option(a, first), option(a, &c));
            *first = first->target ? *first : c;
        }
    return ST_OK;
}

enum status processor_check(struct arena *a, const struct target_list *list, struct diag *d)
{
    struct choice c;

    return find(a, list, &c, d);
}

const char *processor_toolchain(struct arena *a, const struct target_list *list)
{
    struct choice c;
    struct diag d = {0};

    if (find(a, list, &c, &d) != ST_OK || !c.target)
        return NULL;
    const bool arm = strcmp(c.attr, "mcpu") == 0;
    return arena_printf(a,
                        "# toolchain.cmake - of %s, which CMakeLists.txt takes where "
                        "no other is given.\n"
                        "set(NET_%s %s)\n"
                        "include(${CMAKE_CURRENT_LIST_DIR}/%s.cmake)\n",
                        option(a, &c), arm ? "MCPU" : "MARCH", c.word,
                        arm                               ? "cortex-m"
                        : strncmp(c.word, "rv64", 4) == 0 ? "riscv64"
                                                          : "riscv32");
}
