/* quantise.c - see quantise.h: the samples' ranges, scales, the file, and the noise of each
 * layer. */
#include "quant_own.h"

#include <math.h>

enum { TRIED = 3 }; /* layers for which float32 is tried */

/* Return the signal to quantisation noise, in dB, over all outputs of the graph. */
static double output_decibel(const struct ir_graph *g, const struct quant_noise *noise)
{
    struct quant_noise sum = {0, 0};

    for (uint32_t i = 0; i < g->n_out; i++) {
        const uint32_t maker = g->tensor[g->out[i]]->producer;

        if (maker == IR_NONE)
            continue;
        sum.signal += noise[maker].signal;
        sum.noise += noise[maker].noise;
    }
    return quant_decibel(sum);
}

/* List the layers. A layer is a row of the file; the output of its last operator that computes is
 * compared. */
static void list_layers(const struct quant *q, const struct quant_noise *network,
                        const struct quant_noise *own, struct quant_result *r)
{
    const struct ir_graph *g = q->g;
    uint32_t *place =
        ARENA_ARRAY(q->arena, uint32_t, g->n_row + 1); /* index of a row's layer + 1 */

    r->layer = ARENA_ARRAY(q->arena, struct quant_layer, g->n_op + 1);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];

        if (ir_rearranges(op) || ir_out(g, op, 0)->type != IR_F32)
            continue;
        if (!place[op->row]) {
            r->layer[r->n_layer] = (struct quant_layer){.row = op->row, .quantised = true};
            place[op->row] = ++r->n_layer;
        }
        struct quant_layer *last = &r->layer[place[op->row] - 1];

        last->quantised = last->quantised && q->op[i];
        last->reason = q->op[i] ? last->reason : q->reason[i];
        last->network = quant_decibel(network[i]);
        last->own = quant_decibel(own[i]);
    }
}

/* Return the unlisted layer with the largest error of its own. */
static uint32_t worst(const struct quant_result *r, const uint32_t *listed, uint32_t n)
{
    uint32_t found = IR_NONE;

    for (uint32_t i = 0; i < r->n_layer; i++) {
        bool is_new = r->layer[i].quantised;

        for (uint32_t k = 0; k < n; k++)
            is_new = is_new && listed[k] != i;
        if (is_new && (found == IR_NONE || r->layer[i].own < r->layer[found].own))
            found = i;
    }
    return found;
}

/* Quantise with layer `l` kept in float32, as are those kept already. */
static enum status keep_one(const struct quant *q, const struct quant_layer *l, struct quant *to,
                            struct diag *d)
{
    bool *keep = arena_memdup(q->arena, q->keep, (q->g->n_row + 1) * sizeof *keep);

    keep[l->row] = true;
    *to = *q;
    to->keep = keep;
    return quant_make(to, d);
}

/* Measure how much the outputs improve if one of the worst layers stays float. */
static enum status try_worst(const struct quant_job *job, const struct quant *q,
                             struct quant_result *r, struct diag *d)
{
    struct quant_trial trial[TRIED];
    struct quant one[TRIED];
    uint32_t listed[TRIED], n = 0;

    while (n < TRIED && (listed[n] = worst(r, listed, n)) != IR_NONE) {
        TRY(keep_one(q, &r->layer[listed[n]], &one[n], d));
        trial[n] = (struct quant_trial){&one[n], false,
                                        ARENA_ARRAY(q->arena, struct quant_noise, q->g->n_op)};
        n++;
    }
    TRY(quant_measure(job, trial, n, "layers kept float", d));
    for (uint32_t i = 0; i < n; i++)
        r->layer[listed[i]].kept = output_decibel(q->g, trial[i].noise);
    return ST_OK;
}

enum status quantise(const struct quant_job *given, struct quant_result *result, struct diag *d)
{
    struct quant_job split = *given, *job = &split;
    struct ir_graph *g;

    *result = (struct quant_result){.limits = given->options.limits};
    TRY(quant_check(given->g, d));
    TRY(quant_split(job->arena, given->g, &g, d));
    job->g = g;
    struct quant_noise *network = ARENA_ARRAY(job->arena, struct quant_noise, g->n_op),
                       *own = ARENA_ARRAY(job->arena, struct quant_noise, g->n_op);
    struct quant q = {.arena = job->arena, .g = g, .options = &job->options};
    const struct quant_trial trial[] = {{&q, false, network}, {&q, true, own}};
    struct quant_seen *seen;
    bool *keep;

    TRY(quant_kept(job->arena, g, job->options.keep_float, &keep, d));
    TRY(quant_see(job, &seen, d));
    q.keep = keep;
    q.seen = seen;
    TRY(quant_make(&q, d));
    TRY(qdq_write(&q, &result->file, &result->n_bytes, d));
    TRY(quant_measure(job, trial, 2, "errors of layers", d));
    result->output = output_decibel(g, network);
    list_layers(&q, network, own, result);
    return try_worst(job, &q, result, d);
}
