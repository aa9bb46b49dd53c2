/* explore.c - see explore.h. Points come in generations: each is chosen from the results of the
 * earlier ones, so that the result does not depend on -j. The first has the ends of the costs that
 * need no estimate, and random ones; then come points next to those of the front, and random ones
 * where there are none. */
#include "explore.h"

#include <math.h>
#include <unistd.h>

#include "app/job/monotonic.h"
#include "app/regress/launch.h"
#include "app/regress/regress.h"
#include "app/regress/sweep.h"
#include "base/file.h"
#include "base/random.h"
#include "front.h"
#include "goal.h"
#include "journal.h"
#include "workers.h"

enum { GENERATION = 16, BEST = 8, MINUTES = 10 };

struct explore {
    struct explore_space space;
    const struct options *o;
    struct explore_goal goal;
    struct explore_workers *workers;
    const char *folder;
    int journal;
    uint64_t random;
    struct explore_point *best[BEST]; /* stand for the front */
    uint32_t n_best;
    uint32_t n_tried, n_before, n_most; /* n_most: not counting those of earlier calls */
    double begun, said;
};

static double seconds(const struct explore *e)
{
    return monotonic_seconds() - e->begun;
}

static uint32_t most_minutes(const struct explore *e)
{
    return e->o->minutes ? e->o->minutes : MINUTES;
}

/* Set the time of an estimated point, and if it meets the goal. */
static void judge(const struct explore *e, struct explore_point *p)
{
    const double mhz = e->o->clock_mhz ? e->o->clock_mhz : SWEEP_CLOCK_MHZ;
    double sum = 0;

    for (uint32_t i = 0; i < e->space.n_network && !p->wrong; i++)
        sum += log(fmax(p->cycles[i], 1));
    p->cost[EXPLORE_MS] = p->wrong ? -1 : exp(sum / e->space.n_network) / (mhz * 1e3);
    p->meets = !p->wrong && explore_meets(&e->goal, p);
}

/* --- which points come next ------------------------------------------------------------------- */

static struct explore_point *random_point(struct explore *e)
{
    const uint32_t n = e->space.n, first = (uint32_t)(random_next(&e->random) % n);

    for (uint32_t i = 0; i < n; i++)
        if (!e->space.point[(first + i) % n].tried)
            return &e->space.point[(first + i) % n];
    return NULL;
}

/* Return an untried point next to p, any of them; NULL: there is none. */
static struct explore_point *beside(struct explore *e, const struct explore_point *p)
{
    struct explore_space *s = &e->space;
    struct explore_point *found = NULL;
    uint32_t n = 0;

    for (uint32_t k = 0; k < s->n; k++)
        if (!s->point[k].tried && explore_adjacent(p, &s->point[k]) &&
            random_next(&e->random) % ++n == 0)
            found = &s->point[k];
    return found;
}

/* Return an untried point next to one of those that stand for the front, these in turn from number
 * *from on; NULL: there is none. */
static struct explore_point *next_point(struct explore *e, uint32_t *from)
{
    struct explore_point *found = NULL;

    for (uint32_t i = 0; i < e->n_best && !found; i++)
        found = beside(e, e->best[(*from)++ % e->n_best]);
    return found;
}

/* Return the untried point with the least (*from even) or greatest cost that needs no estimate. */
static struct explore_point *extreme_point(const struct explore *e, uint32_t *from)
{
    const enum explore_cost cost = EXPLORE_MULTIPLIERS + *from / 2;
    const double sign = *from % 2 ? -1 : 1;
    struct explore_point *found = NULL;

    if (cost > EXPLORE_BUS)
        return NULL;
    ++*from;
    for (uint32_t i = 0; i < e->space.n; i++) {
        struct explore_point *p = &e->space.point[i];
        if (!p->tried && (!found || sign * p->cost[cost] < sign * found->cost[cost]))
            found = p;
    }
    return found;
}

static bool goes_on(const struct explore *e)
{
    return e->n_tried < e->n_most && seconds(e) < 60.0 * most_minutes(e);
}

/* --- one generation --------------------------------------------------------------------------- */

static enum status take_result(struct explore *e, struct explore_point *p, struct diag *d)
{
    judge(e, p);
    e->n_tried++;
    if (seconds(e) > e->said + 1) {
        e->said = seconds(e);
        output_printf(e->o->output, OUTPUT_PROGRESS, "explore: %u of %u points, %.0f s", e->n_tried,
                      e->n_most, e->said);
    }
    return journal_add(&e->space, p, e->journal, d);
}

static enum status generation(struct explore *e, bool first, struct diag *d)
{
    struct explore_point *ended;
    uint32_t from = 0, begun = 0;

    for (const uint32_t before = e->n_tried; begun < GENERATION && before + begun < e->n_most;
         begun++) {
        struct explore_point *p = first ? extreme_point(e, &from) : next_point(e, &from);
        if (!p && !(p = random_point(e)))
            break;
        TRY(explore_begin(e->workers, p, &ended, d));
        if (ended)
            TRY(take_result(e, ended, d));
    }
    for (;;) {
        TRY(explore_end(e->workers, &ended, d));
        if (!ended)
            return ST_OK;
        TRY(take_result(e, ended, d));
    }
}

static enum status search(struct explore *e, struct diag *d)
{
    struct explore_space *s = &e->space;
    uint32_t untried = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        untried += !s->point[i].tried;
        e->n_before += s->point[i].before;
        if (s->point[i].tried)
            judge(e, &s->point[i]);
    }
    e->n_most = e->o->points && e->o->points < untried ? e->o->points : untried;
    const bool none = explore_front(s) == 0;
    e->n_best = explore_choose(s, BEST, e->best);
    for (bool first = none; goes_on(e); first = false) {
        TRY(generation(e, first, d));
        (void)explore_front(s);
        e->n_best = explore_choose(s, BEST, e->best);
    }
    output_text(e->o->output, OUTPUT_PROGRESS, "");
    return ST_OK;
}

/* --- results ---------------------------------------------------------------------------------- */

static enum status write_text(const struct explore *e, const char *name, const struct text *t,
                              struct diag *d)
{
    return file_write(arena_printf(e->space.arena, "%s/%s", e->folder, name), t->data, t->length,
                      d);
}

static enum status show(struct explore *e, struct diag *d)
{
    const struct explore_space *s = &e->space;
    struct text t, csv, page;

    text_init(&t, s->arena);
    text_init(&csv, s->arena);
    text_init(&page, s->arena);
    text_printf(&t, "%u of %u points estimated in %.1f s, %u before; %u cannot be built\n",
                e->n_tried, s->n, seconds(e), e->n_before, s->n_wrong);
    if (e->o->around)
        explore_table_around(&t, s);
    else
        explore_table(&t, s);
    explore_csv(&csv, s);
    explore_page(&page, s, e->o->goal ? e->o->goal : "");
    output_text(e->o->output, OUTPUT_RESULT, t.data);
    TRY(write_text(e, "explore.csv", &csv, d));
    TRY(write_text(e, "explore.html", &page, d));
    output_printf(e->o->output, OUTPUT_RESULT,
                  "%s/explore.html shows all points, explore.csv has all numbers\n", e->folder);
    return ST_OK;
}

/* Run the chosen configurations as a sweep. */
static enum status confirm(const struct explore *e, struct diag *d)
{
    const struct explore_space *s = &e->space;
    struct options o = *e->o;
    struct suite suite = *s->suite;

    suite.run = ARENA_ARRAY(s->arena, struct suite_run, s->suite->n + 1u);
    suite.n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < s->n_network && s->point[i].chosen; k++)
            suite.run[suite.n++] = *s->point[i].run[k];
    if (suite.n == 0)
        return ST_OK;
    suite_sort(&suite);
    o.command = COMMAND_SWEEP;
    o.out = e->folder;
    return regress_suite(s->arena, &o, &suite, d);
}

static void mark_chosen(struct explore *e)
{
    struct explore_point *chosen[EXPLORE_CHOSEN];
    const uint32_t n = explore_choose(&e->space, e->o->confirm, chosen);

    for (uint32_t i = 0; i < n; i++)
        chosen[i]->chosen = true;
}

static enum status explore(struct explore *e, struct diag *d)
{
    TRY(journal_open(&e->space, arena_printf(e->space.arena, "%s/points.tsv", e->folder),
                     e->o->again, &e->journal, d));
    TRY(explore_workers_new(e->space.arena, &e->space, e->o, &e->workers, d));
    enum status st = search(e, d);
    explore_workers_stop(e->workers);
    TRY(st);
    mark_chosen(e);
    return show(e, d);
}

enum status explore_command(struct arena *a, const struct options *o, struct diag *d)
{
    struct explore *e = ARENA_NEW(a, struct explore);
    struct suite suite, around;
    int lock = -1;

    *e = (struct explore){.o = o,
                          .folder = o->out ? o->out : "explore",
                          .journal = -1,
                          .random = o->seed,
                          .begun = monotonic_seconds()};
    TRY(launch_check(o->launcher, d));
    TRY(explore_goal_read(o->goal, &e->goal, d));
    TRY(suite_read(a, o->model, &suite, d));
    if (o->around) {
        TRY(explore_suite_around(&suite, o->around, &around, d));
        suite = around;
    }
    TRY(explore_points(a, &suite, &e->space, d));
    TRY(file_lock_dir(e->folder, &lock, d));
    enum status st = explore(e, d);
    (void)close(lock);
    if (e->journal >= 0)
        (void)close(e->journal);
    return st == ST_OK ? confirm(e, d) : st;
}
