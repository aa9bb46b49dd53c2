/* quant_measure.c - measure the distance between quantised layers and float ones. The quantised
 * network is simulated: the float graph with dequantised int8 weights, each result rounded to its
 * scale. It runs on the CPU reference next to the float network, sample by sample. */
#include <math.h>
#include <string.h>

#include "quant_own.h"
#include "reference/ref.h"

enum { SAMPLES = 16 };

double quant_decibel(struct quant_noise n)
{
    if (!(n.noise > 0))
        return INFINITY;
    return n.signal > 0 ? 10 * log10(n.signal / n.noise) : -INFINITY;
}

/* --- the graph --- */

/* Make a constant of `like`'s shape. */
static uint32_t new_constant(struct ir_graph *g, const struct ir_tensor *like, const float *data)
{
    struct ir_tensor *t = ir_tensor_new(g, like->name, IR_F32, like->rank, like->dim);

    t->role = IR_CONST;
    t->data = (const uint8_t *)data;
    return t->id;
}

static void put_weights(const struct quant *q, struct ir_graph *g, struct ir_op *op)
{
    const struct quant_weights *w = &q->weights[op->id];
    const struct ir_tensor *t = ir_in(g, op, 1);
    const size_t n = (size_t)ir_elements(t);
    float *value = ARENA_ARRAY(q->arena, float, n);

    for (size_t i = 0; i < n; i++)
        value[i] = w->scale[quant_channel(q->g, op, i)] * (float)w->code[i];
    op->in[1] = new_constant(g, t, value);
    if (!w->bias)
        return;
    float *bias = ARENA_ARRAY(q->arena, float, w->n);
    const struct ir_tensor shape = {.name = "bias", .rank = 1, .dim = {(int32_t)w->n}};
    const uint32_t id = new_constant(g, &shape, bias);

    for (uint32_t c = 0; c < w->n; c++)
        bias[c] = (float)((double)w->bias_scale[c] * w->bias[c]);
    if (op->n_in < 3) {
        uint32_t *in = ARENA_ARRAY(q->arena, uint32_t, 3);

        memcpy(in, op->in, 2 * sizeof *in);
        op->in = in;
        op->n_in = 3;
    }
    op->in[2] = id;
}

static void put_constants(const struct quant *q, struct ir_graph *g, struct ir_op *op)
{
    for (uint32_t i = 0; i < ir_n_data(op); i++) {
        const struct ir_tensor *t = ir_in(g, op, i);

        if (!t || t->role != IR_CONST || !q->tensor[t->id])
            continue;
        const size_t n = (size_t)ir_elements(t);
        float *value = arena_memdup(q->arena, t->data, n * sizeof *value);

        for (size_t k = 0; k < n; k++)
            value[k] = quant_rounded(q->scale[t->id], value[k]);
        op->in[i] = new_constant(g, t, value);
    }
}

/* Return the graph with quantised weights and constants dequantised to floats. */
static struct ir_graph *simulated(const struct quant *q)
{
    struct ir_graph *g = ir_copy(q->arena, q->g);

    for (uint32_t i = 0; i < g->n_op; i++) {
        if (q->weights[i].n)
            put_weights(q, g, g->op[i]);
        else if (q->op[i])
            put_constants(q, g, g->op[i]);
    }
    return g;
}

/* --- runs --- */

struct watch {
    const struct quant *q;
    const struct ref *exact; /* the float network's values for this sample */
    struct quant_noise *noise;
    bool own;
};

static void round_all(const struct quant *q, uint32_t id, float *v)
{
    const size_t n = (size_t)ir_elements(q->g->tensor[id]);

    for (size_t i = 0; i < n; i++)
        v[i] = quant_rounded(q->scale[id], v[i]);
}

static void compare(struct quant_noise *sum, const float *want, const float *found, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double e = (double)want[i] - (double)found[i];

        sum->signal += (double)want[i] * (double)want[i];
        sum->noise += e * e;
    }
}

static void tap(void *ctx, const struct ir_op *op, const uint8_t *out)
{
    const struct watch *p = ctx;
    const uint32_t id = op->out[0];
    const struct ir_tensor *t = p->q->g->tensor[id];
    float *v = (float *)(uintptr_t)out; /* the reference's buffer, which a tap may change */
    const float *want = (const float *)(const void *)ref_bytes(p->exact, id);

    if (t->type != IR_F32)
        return;
    if (p->q->tensor[id])
        round_all(p->q, id, v);
    compare(&p->noise[op->id], want, v, (size_t)ir_elements(t));
    if (p->own)
        memcpy(v, want, (size_t)ir_bytes(t));
}

/* Round inputs as the quantised network reads them, into separate buffers. */
static void round_inputs(const struct quant *q, const uint8_t *const *in, uint8_t **rounded)
{
    for (uint32_t i = 0; i < q->g->n_in; i++) {
        const uint32_t id = q->g->in[i];

        memcpy(rounded[i], in[i], (size_t)ir_bytes(q->g->tensor[id]));
        if (q->tensor[id])
            round_all(q, id, (float *)(void *)rounded[i]);
    }
}

static uint8_t **buffers(struct arena *a, const struct ir_graph *g, uint32_t n, const uint32_t *id)
{
    uint8_t **to = ARENA_ARRAY(a, uint8_t *, n + 1);

    for (uint32_t i = 0; i < n; i++)
        to[i] = arena_alloc(a, (size_t)ir_bytes(g->tensor[id[i]]));
    return to;
}

enum status quant_measure(const struct quant_job *job, const struct quant_trial *trial, uint32_t n,
                          const char *what, struct diag *d)
{
    const struct ir_graph *g = job->g;
    struct arena *a = job->arena;
    const struct ref_options options = {0};
    struct ref *exact = ref_new(a, g, &options), **rounded = ARENA_ARRAY(a, struct ref *, n);
    struct watch *watch = ARENA_ARRAY(a, struct watch, n);
    const uint8_t **in = ARENA_ARRAY(a, const uint8_t *, g->n_in + 1);
    uint8_t **out = buffers(a, g, g->n_out, g->out), **own = buffers(a, g, g->n_in, g->in);
    const uint32_t samples = job->samples.n < SAMPLES ? job->samples.n : SAMPLES;

    for (uint32_t t = 0; t < n; t++) {
        rounded[t] = ref_new(a, simulated(trial[t].q), &options);
        watch[t] = (struct watch){trial[t].q, exact, trial[t].noise, trial[t].own};
        ref_set_tap(rounded[t], tap, &watch[t]);
    }
    for (uint32_t k = 0; k < samples; k++) {
        if (job->progress)
            job->progress(job->ctx, what, k, samples);
        for (uint32_t i = 0; i < g->n_in; i++)
            in[i] = job->samples.in[i] + k * (size_t)ir_bytes(g->tensor[g->in[i]]);
        TRY(ref_run(exact, in, out, d));
        for (uint32_t t = 0; t < n; t++) {
            round_inputs(trial[t].q, in, own);
            TRY(ref_run(rounded[t], (const uint8_t *const *)own, out, d));
        }
    }
    return ST_OK;
}
