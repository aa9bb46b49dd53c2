/* quant_see.c - run the float network on all samples by the CPU reference: find the least and
 * greatest value of each tensor, then, for ranges that need it, count its values in 2048 bins. */
#include <math.h>
#include <string.h>

#include "quant_own.h"
#include "reference/ref.h"

struct sight {
    const struct quant_job *job;
    struct quant_seen *seen;
    bool counts; /* the second pass */
};

static void widen(struct quant_seen *s, const float *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i]))
            s->finite = false;
        else if (v[i] < s->low)
            s->low = v[i];
        else if (v[i] > s->high)
            s->high = v[i];
    }
}

static void add_sums(struct quant_seen *s, const float *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->sum[i % s->n_sum] += (double)v[i];
    s->n_values += n / s->n_sum;
}

static void count(struct quant_seen *s, const float *v, size_t n)
{
    const double width = ((double)s->high - (double)s->low) / QUANT_BINS;

    if (!s->bin || width <= 0)
        return;
    for (size_t i = 0; i < n; i++) {
        const double at = ((double)v[i] - (double)s->low) / width;

        s->bin[!(at > 0) ? 0 : at < QUANT_BINS ? (uint32_t)at : QUANT_BINS - 1]++;
    }
}

static void look(const struct sight *p, uint32_t id, const uint8_t *bytes)
{
    const struct ir_tensor *t = p->job->g->tensor[id];
    const size_t n = (size_t)ir_elements(t);
    const float *v = (const float *)(const void *)bytes;
    struct quant_seen *s = &p->seen[id];

    if (t->type != IR_F32)
        return;
    if (p->counts) {
        count(s, v, n);
        return;
    }
    widen(s, v, n);
    if (s->sum)
        add_sums(s, v, n);
}

static void tap(void *ctx, const struct ir_op *op, const uint8_t *out)
{
    look(ctx, op->out[0], out);
}

static enum status pass(const struct sight *p, const char *what, struct diag *d)
{
    const struct quant_job *job = p->job;
    const struct ir_graph *g = job->g;
    struct ref *r = ref_new(job->arena, g, &(struct ref_options){0});
    const uint8_t **in = ARENA_ARRAY(job->arena, const uint8_t *, g->n_in + 1);
    uint8_t **out = ARENA_ARRAY(job->arena, uint8_t *, g->n_out + 1);

    for (uint32_t i = 0; i < g->n_out; i++)
        out[i] = arena_alloc(job->arena, (size_t)ir_bytes(g->tensor[g->out[i]]));
    ref_set_tap(r, tap, (void *)(uintptr_t)p);
    for (uint32_t k = 0; k < job->samples.n; k++) {
        if (job->progress)
            job->progress(job->ctx, what, k, job->samples.n);
        ref_reset(r);
        for (uint32_t i = 0; i < g->n_in; i++) {
            in[i] = job->samples.in[i] + k * (size_t)ir_bytes(g->tensor[g->in[i]]);
            look(p, g->in[i], in[i]);
        }
        TRY(ref_run(r, in, out, d));
    }
    return ST_OK;
}

/* Samples are numbers. */
static enum status check_samples(const struct quant_job *job, struct diag *d)
{
    for (uint32_t i = 0; i < job->g->n_in; i++) {
        const struct ir_tensor *t = job->g->tensor[job->g->in[i]];
        const float *v = (const float *)(const void *)job->samples.in[i];
        const size_t n = t->type == IR_F32 ? (size_t)ir_elements(t) : 0;

        for (size_t k = 0; k < n * job->samples.n; k++)
            if (!isfinite(v[k]))
                return FAIL(d, ST_USAGE,
                            "%s: input '%.80s', sample %zu, value %zu: expected a finite number, "
                            "found %g",
                            job->samples.name, t->name, k / n, k % n, (double)v[k]);
    }
    return ST_OK;
}

/* Take the range of constant operands from their values. */
static void look_at_constants(const struct sight *p)
{
    const struct ir_graph *g = p->job->g;

    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (g->tensor[i]->role == IR_CONST)
            look(p, i, g->tensor[i]->data);
}

/* Ask for the means of the inputs of a layer with weights. */
static void want_sums(const struct sight *p, const struct ir_op *op)
{
    const struct ir_graph *g = p->job->g;

    if (quant_form_of(g, op) != QUANT_PRODUCES || p->seen[op->in[0]].sum)
        return;
    const struct ir_tensor *t = ir_in(g, op, op->opcode == IR_OP_FULLY_CONNECTED ? 1 : 0);
    struct quant_seen *s = &p->seen[op->in[0]];

    s->n_sum = (uint32_t)ir_dim_back(t, 0);
    s->sum = ARENA_ARRAY(p->job->arena, double, s->n_sum);
}

enum status quant_see(const struct quant_job *job, struct quant_seen **seen, struct diag *d)
{
    const struct ir_graph *g = job->g;
    struct sight p = {job, ARENA_ARRAY(job->arena, struct quant_seen, g->n_tensor), false};

    TRY(check_samples(job, d));
    for (uint32_t i = 0; i < g->n_tensor; i++)
        p.seen[i].finite = true;
    for (uint32_t i = 0; i < g->n_op && job->options.bias_correction; i++)
        want_sums(&p, g->op[i]);
    TRY(pass(&p, "ranges", d));
    if (job->options.ranges != QUANT_MINMAX) {
        for (uint32_t i = 0; i < g->n_tensor; i++)
            if (quant_is_value(g->tensor[i]))
                p.seen[i].bin = ARENA_ARRAY(job->arena, uint64_t, QUANT_BINS);
        p.counts = true;
        TRY(pass(&p, "counts", d));
        p.counts = false;
    }
    look_at_constants(&p);
    *seen = p.seen;
    return ST_OK;
}
