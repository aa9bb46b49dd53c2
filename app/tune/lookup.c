/* lookup.c - what was tuned, for compile and run. */
#include "store.h"
#include "tune.h"

/* Fewest cycles; of equals the first. */
static const struct store_trial *best_of(const struct store_trial *trial, uint32_t n)
{
    const struct store_trial *best = trial;

    for (uint32_t i = 1; i < n; i++)
        if (trial[i].cycles < best->cycles)
            best = &trial[i];
    return best;
}

static enum status look_up(struct pipeline *p, const struct options *o, struct store *s,
                           const struct sched_knobs **knobs, struct diag *d)
{
    struct tune_key key;
    struct store_trial *trial;
    const char *note;
    int64_t id;
    uint32_t n = 0;
    const struct store_shape shape = {p->graph->n_op, NULL, tune_attrs_of(p)};

    *knobs = NULL;
    TRY(tune_key_of(p, o, &key, d));
    TRY(store_find(s, &key, &id, &note, d));
    if (id)
        TRY(store_trials(s, id, &shape, &trial, &n, d));
    if (n) {
        const struct store_trial *best = best_of(trial, n);
        *knobs = best->knobs;
        tune_attrs_set(p, &shape.attrs, best->value);
    } else /* a note, not an error: the answer is the same */
        output_printf(o->output, OUTPUT_NOTE, "note: %s is not used: %s", o->tuned, note);
    return ST_OK;
}

enum status tune_lookup(struct pipeline *p, const struct options *o,
                        const struct sched_knobs **knobs, struct diag *d)
{
    struct store *s = NULL;
    enum status st = store_open(p->arena, o->tuned, STORE_READ, &s, d);

    if (st == ST_OK)
        st = look_up(p, o, s, knobs, d);
    store_close(s);
    return st;
}
