/* estimator.c - a target whose verdicts and costs come from a separate program ("estimator"). It is
 * asked once about the graph to be partitioned; the operators that it accepts run on the host's
 * kernels. The program gets the graph as text and the numbers of the operators that target.json
 * accepts, and prints "NUMBER takes CYCLES" or "NUMBER refuses REASON" for each. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/home.h"
#include "base/text.h"
#include "describe.h"

enum { MAX_LINE = 400 };

/* The answers of one target about one graph, by operator. */
struct estimator_answers {
    const struct estimator_answers *before; /* answers of the previous target */
    const struct target *target;
    const struct ir_graph *graph;
    uint32_t n;
    struct estimator_answer {
        const struct ir_op *op;
        double cycles;
        const char *why; /* reason for the refusal; NULL: accepted */
    } answer[];
};

/* "python3 vela.py GRAPH 0,1,5 --memory_mode='Sram_Only'". */
static const char *command(struct arena *a, const struct target *t, const char *graph,
                           const char *list)
{
    struct text c;

    text_init(&c, a);
    text_printf(
        &c, "exec python3 %s",
        text_shell_word(a, arena_printf(a, "%s/%s", t->desc->origin, describe_of(t)->estimator)));
    text_printf(&c, " %s %s", text_shell_word(a, graph), list);
    for (uint32_t i = 0; i < t->desc->n_attr; i++)
        text_printf(&c, " %s",
                    text_shell_word(
                        a, arena_printf(a, "--%s=%s", t->desc->attr[i].name, t->setting[i].text)));
    return c.data;
}

static enum status read_line(struct arena *a, char *line, struct estimator_answers *all,
                             struct diag *d)
{
    const char *name = all->target->desc->name;
    unsigned number;
    double cycles;
    int at = 0;

    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "error ", 6) == 0)
        return FAIL(d, ST_USAGE, "target %s: %s", name, line + 6);
    if (sscanf(line, "%u takes %lf", &number, &cycles) == 2 && number < all->n && cycles >= 0) {
        all->answer[number].cycles = cycles;
        all->answer[number].why = NULL;
        return ST_OK;
    }
    if (sscanf(line, "%u refuses %n", &number, &at) == 1 && at && number < all->n) {
        all->answer[number].why = arena_strdup(a, line + at);
        return ST_OK;
    }
    return FAIL(d, ST_USAGE,
                "target %s: its estimator printed '%.60s', expected NUMBER takes CYCLES", name,
                line);
}

static enum status run(struct arena *a, const char *words, struct estimator_answers *all,
                       struct diag *d)
{
    char line[MAX_LINE];
    enum status st = ST_OK;

    fflush(NULL);
    FILE *out = popen(words, "re");
    if (!out)
        return FAIL(d, ST_NO_MEMORY, "target %s: its estimator cannot be started",
                    all->target->desc->name);
    while (fgets(line, sizeof line, out))
        if (st == ST_OK)
            st = read_line(a, line, all, d);
    const int state = pclose(out);
    if (st == ST_OK && state != 0)
        return FAIL(d, ST_USAGE, "target %s: its estimator ended with exit code %d",
                    all->target->desc->name, WIFEXITED(state) ? WEXITSTATUS(state) : -1);
    return st;
}

static enum status ask(struct arena *a, struct estimator_answers *all, const char *list,
                       struct diag *d)
{
    const char *cache;
    struct text t;

    if (!*list)
        return ST_OK;
    TRY(home_cache(a, &cache, d));
    char *path = arena_printf(a, "%s/estimate-XXXXXX", cache);
    const int fd = mkstemp(path);
    if (fd < 0)
        return FAIL(d, ST_USAGE, "cannot make a file '%s'", path);
    (void)close(fd);
    text_init(&t, a);
    ir_print(all->graph, &t);
    enum status st = file_write(path, t.data, t.length, d);
    if (st == ST_OK)
        st = run(a, command(a, all->target, path, list), all, d);
    (void)remove(path);
    return st;
}

enum status estimator_ask(struct arena *a, const struct target *t, const struct ir_graph *g,
                          const char *list, struct diag *d)
{
    struct describe *detail = (struct describe *)(uintptr_t)t->desc->detail;
    struct estimator_answers *all =
        arena_alloc(a, sizeof *all + g->n_op * sizeof(struct estimator_answer));
    *all = (struct estimator_answers){
        .before = detail->answers, .target = t, .graph = g, .n = g->n_op};
    for (uint32_t i = 0; i < g->n_op; i++)
        all->answer[i] = (struct estimator_answer){g->op[i], 0, "its estimator says nothing of it"};
    TRY(ask(a, all, list, d));
    detail->answers = all;
    return ST_OK;
}

void estimator_forget(const struct target *t)
{
    if (t->desc->detail)
        ((struct describe *)(uintptr_t)t->desc->detail)->answers = NULL;
}

static const struct estimator_answer *find(const struct target_question *q)
{
    const struct estimator_answers *all = describe_of(q->target)->answers;

    while (all && (all->target != q->target || all->graph != q->graph))
        all = all->before;
    for (uint32_t i = 0; all && i < all->n; i++)
        if (all->answer[i].op == q->op)
            return &all->answer[i];
    return NULL;
}

const char *estimator_refusal(const struct target_question *q)
{
    const struct estimator_answer *a = describe_of(q->target)->estimator ? find(q) : NULL;

    return a ? a->why : NULL;
}

double estimator_cost(const struct target_question *q)
{
    const struct estimator_answer *a = find(q);

    return a ? a->cycles : 0;
}
