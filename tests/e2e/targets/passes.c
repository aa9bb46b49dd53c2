/* passes.c - the shared object of test_passes.sh's target: MODE and PHASE in the environment select
 * what its pass does, and when. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle_target.h"

/* Return `text` with the first `from` after `after` replaced by `to`; NULL if it does not exist. */
static char *replaced(const char *text, const char *after, const char *from, const char *to)
{
    const char *start = strstr(text, after), *at = start ? strstr(start, from) : NULL;
    char *out = at ? malloc(strlen(text) + strlen(to) + 1) : NULL;

    if (out)
        sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

/* Set the first value of the bias, the third operand, of the first operator `op` to `to`. */
static char *bias_of(const char *text, const char *op, const char *to)
{
    int x, w, bias;
    char name[32], from[64], all[64], *values;
    const char *at = strstr(text, op);

    if (!at || !(at = strstr(at, " in=(")) || sscanf(at, " in=(%d,%d,%d", &x, &w, &bias) != 3)
        return NULL;
    snprintf(name, sizeof name, "tensor %d i32", bias);
    values = strstr(strstr(text, name), "values=(");
    snprintf(from, sizeof from, "%.*s", (int)(strcspn(values, ",)")), values);
    snprintf(all, sizeof all, "values=(%s", to);
    return replaced(text, name, from, all);
}

static int pass(const struct heddle_pass *p, char **changed, char *why, size_t n)
{
    const char *mode = getenv("MODE"), *phase = getenv("PHASE"), *log = getenv("LOG");
    FILE *f = log ? fopen(log, "a") : NULL;

    if (f) {
        fprintf(f, "%s %s %s\n", p->target, p->phase_name,
                strstr(p->graph, " target=0") ? "parted" : "whole");
        fclose(f);
    }
    if (!mode || (phase && strcmp(phase, p->phase_name) != 0))
        return 0;
    if (strcmp(mode, "stop") == 0)
        snprintf(why, n, "it is Sunday");
    else if (strcmp(mode, "same") == 0)
        *changed = replaced(p->graph, "heddle-ir", "heddle-ir", "heddle-ir");
    else if (strcmp(mode, "nonsense") == 0)
        *changed = replaced(p->graph, "op ", "op ", "op no");
    else if (strcmp(mode, "own") == 0)
        *changed = bias_of(p->graph, "op fully_connected", "99999");
    else if (strcmp(mode, "other") == 0)
        *changed = bias_of(p->graph, "op conv2d", "99999");
    else if (strcmp(mode, "far") == 0)
        *changed = bias_of(p->graph, "op conv2d", "9999999");
    else if (strcmp(mode, "clamp") == 0)
        *changed = replaced(p->graph, "op conv2d", " clamp=(-128", " clamp=(-127");
    else if (strcmp(mode, "order") == 0)
        *changed = replaced(p->graph, "op softmax", " target=1", " target=0");
    else if (strcmp(mode, "border") == 0)
        *changed = replaced(p->graph, "border", " out=(", " out=(),in=(");
    return *changed ? 1 : -1;
}

static void release(char *changed)
{
    free(changed);
}

const struct heddle_target_api heddle_target = {
    .abi = HEDDLE_TARGET_ABI, .name = "mine", .pass = pass, .release = release};
