/* lookup.c - find knobs that were tuned or written by hand, for compile and run. */
#include "store.h"
#include "tune.h"

/* Return the trial with the fewest cycles, the first among equal ones. */
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
    const struct knob_shape shape = knob_shape_of(p);

    *knobs = NULL;
    TRY(tune_key_of(p, o, &key, d));
    TRY(store_find(s, &key, &id, &note, d));
    if (id)
        TRY(store_trials(s, id, &shape, &trial, &n, d));
    if (n) {
        const struct store_trial *best = best_of(trial, n);
        *knobs = best->knobs;
        tune_attrs_set(p, &shape.attrs, best->value);
    } else /* a note instead of an error, since the answer does not change */
        output_printf(o->output, OUTPUT_NOTE, "note: %s is not used: %s", o->tuned, note);
    return ST_OK;
}

/* Read --knobs=FILE; knobs that the file does not name are by rule. */
static enum status read_file(struct pipeline *p, const struct options *o,
                             const struct sched_knobs **knobs, struct diag *d)
{
    const struct knob_shape shape = knob_shape_of(p);
    struct sched_knobs *own = ARENA_ARRAY(p->arena, struct sched_knobs, shape.n_op + 1);
    int64_t *value = tune_attrs_values(p, &shape.attrs);
    struct json_doc doc;

    enum status st = json_doc_read(p->arena, o->knobs, &doc, d);
    if (st == ST_OK)
        st = knob_file_take(&doc, &shape, own, value, d);
    json_doc_free(&doc);
    TRY(st);
    tune_attrs_set(p, &shape.attrs, value);
    *knobs = own;
    return ST_OK;
}

enum status tune_lookup(struct pipeline *p, const struct options *o,
                        const struct sched_knobs **knobs, struct diag *d)
{
    struct store *s = NULL;

    if (o->knobs && o->tuned)
        return FAIL(d, ST_USAGE, "--knobs and --tuned both give knobs; expected one of them");
    if (o->knobs)
        return read_file(p, o, knobs, d);
    enum status st = store_open(p->arena, o->tuned, STORE_READ, &s, d);

    if (st == ST_OK)
        st = look_up(p, o, s, knobs, d);
    store_close(s);
    return st;
}
