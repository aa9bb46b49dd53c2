/* difference.c - see difference.h. */
#include "difference.h"
#include "app/job/results.h"

#include <math.h>
#include <string.h>

/* float32 values rounded by DEQUANTIZE are within this of a whole number of steps, up to 65535
 * steps. */
#define STEP_SLACK 0.01

enum { SHOWN_OUTPUTS = 8 };

static const struct ir_tensor *output_of(const struct job *job, uint32_t i)
{
    return ir_border(job->p->graph, job->p->graph->out[i]);
}

static const uint8_t *inference(const struct run_data *data, uint32_t k)
{
    return data->bytes + k * data->n_bytes;
}

/* Return the distance; 0 for two NaNs, infinite for one. */
static double distance(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    return isnan(a - b) ? INFINITY : fabs(a - b);
}

double run_difference(const struct ir_tensor *t, const uint8_t *want, const uint8_t *got)
{
    double most = 0, range = 0;

    for (uint64_t i = 0; i < ir_elements(t); i++) {
        double a = ir_element(t, want, i), apart = distance(a, ir_element(t, got, i));
        most = apart > most ? apart : most;
        range = fabs(a) > range ? fabs(a) : range;
    }
    if (t->type != IR_F32)
        range = t->type == IR_I16 ? 65535 : 255;
    return most == 0 ? 0 : most / range;
}

/* --- steps --- */

static const struct ir_op *producer(const struct ir_graph *g, const struct ir_tensor *t)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_out; k++)
            if (!g->op[i]->dead && g->op[i]->out[k] == t->id)
                return g->op[i];
    return NULL;
}

double difference_step(const struct ir_graph *g, const struct ir_tensor *t)
{
    const struct ir_op *op = t->type == IR_F32 ? producer(g, t) : NULL;

    if (g->tensor[t->id]->quantised) /* STORE dequantises it */
        return (double)g->tensor[t->id]->quant.scale[0];
    if (t->type != IR_F32)
        return ir_is_code(t->type) && t->quant.n ? (double)t->quant.scale[0] : 0;
    while (op && ir_rearranges(op))
        op = producer(g, ir_in(g, op, 0));
    if (!op || op->opcode != IR_OP_DEQUANTIZE)
        return 0;
    t = ir_in(g, op, 0);
    return t->quant.n == 1 ? (double)t->quant.scale[0] : 0;
}

/* Return the steps per unit of a stored value; 0 if the output has no steps. */
static double steps_per_unit(const struct ir_graph *g, const struct ir_tensor *t)
{
    double step = difference_step(g, t);

    if (step <= 0)
        return 0;
    return t->type == IR_F32 ? 1 / step : 1;
}

enum status difference_options(const struct job *job, struct diag *d)
{
    const struct ir_graph *g = job->p->graph;

    if (!job->options->tolerance)
        return ST_OK;
    for (uint32_t i = 0; i < g->n_out; i++)
        if (difference_step(g, g->tensor[g->out[i]]) > 0)
            return ST_OK;
    return FAIL(d, ST_USAGE,
                "--tolerance counts steps of quantised outputs: this network has none, found "
                "output 0 of type %s; expected int8, uint8, int16, or float32 from a DEQUANTIZE",
                g->n_out ? ir_type_name(ir_border(g, g->out[0])->type) : "none");
}

/* --- the comparison --- */

/* The difference of one output in one inference. */
struct one {
    uint64_t n_values, first;
    double largest;
};

static struct one compare_values(const struct ir_tensor *t, double per_unit, const uint8_t *want,
                                 const uint8_t *got)
{
    const size_t size = ir_type_bytes(t->type);
    struct one one = {0};

    for (uint64_t i = 0; i < ir_elements(t); i++) {
        if (memcmp(want + i * size, got + i * size, size) == 0)
            continue;
        double apart = distance(ir_element(t, want, i), ir_element(t, got, i));
        apart *= per_unit > 0 ? per_unit : 1;
        one.first = one.n_values++ ? one.first : i;
        one.largest = apart > one.largest ? apart : one.largest;
    }
    return one;
}

/* Return true if the difference is within the patterns' tolerance, a fraction of the output's
 * range. */
static bool within_patterns(const struct job *job, struct run_results *results,
                            const struct ir_tensor *t, const uint8_t *want, const uint8_t *got)
{
    if (job->tolerance == 0 || (t->type != IR_F32 && !ir_is_code(t->type)))
        return false;
    double apart = run_difference(t, want, got);
    if (apart > job->tolerance)
        return false;
    results->difference = apart > results->difference ? apart : results->difference;
    return true;
}

/* Return the first value that exceeds the tolerance, or the first that differs. */
static uint64_t first_wrong(const struct job *job, const struct ir_tensor *t, double per_unit,
                            const uint8_t *want, const uint8_t *got, uint64_t first)
{
    for (uint64_t i = first; per_unit > 0 && job->tolerance == 0 && i < ir_elements(t); i++) {
        double apart = distance(ir_element(t, want, i), ir_element(t, got, i)) * per_unit;
        if (apart > job->options->tolerance + STEP_SLACK)
            return i;
    }
    return first;
}

/* Compare one output of inference k; false if it differs by more than the tolerance. */
static bool compare_one(const struct job *job, const struct run_measured *m,
                        struct run_results *results, uint32_t output, uint32_t k)
{
    const struct ir_tensor *t = output_of(job, output);
    const uint8_t *want = inference(&job->expected[output], k),
                  *got = inference(&m->out[output], k);
    struct run_differ *r = &results->differ[output];
    double per_unit = steps_per_unit(job->p->graph, t);

    if (memcmp(want, got, m->out[output].n_bytes) == 0)
        return true;
    struct one one = compare_values(t, per_unit, want, got);
    bool in_steps = per_unit > 0 && job->options->tolerance &&
                    one.largest <= job->options->tolerance + STEP_SLACK;
    bool fine = in_steps || within_patterns(job, results, t, want, got);
    if (r->n_inferences == 0 || (!fine && !r->wrong)) {
        r->inference = k;
        r->index = fine ? one.first : first_wrong(job, t, per_unit, want, got, one.first);
    }
    r->n_inferences++;
    r->n_values += one.n_values;
    r->largest = one.largest > r->largest ? one.largest : r->largest;
    r->wrong = r->wrong || !fine;
    return fine;
}

void difference_judge(const struct job *job, const struct run_measured *m,
                      struct run_results *results)
{
    uint32_t n_out = job->p->graph->n_out;

    results->verdict = job->expected ? VERDICT_MATCH : VERDICT_UNCHECKED;
    if (!job->expected)
        return;
    results->differ = ARENA_ARRAY(job->arena, struct run_differ, n_out + 1);
    for (uint32_t k = 0; k < job->n; k++) {
        bool wrong = false;
        for (uint32_t i = 0; i < n_out; i++)
            wrong = !compare_one(job, m, results, i, k) || wrong;
        results->first_wrong = wrong && results->n_wrong == 0 ? k : results->first_wrong;
        results->n_wrong += wrong;
    }
    for (uint32_t i = 0; i < n_out && results->verdict != VERDICT_MISMATCH; i++)
        if (results->differ[i].n_values)
            results->verdict = results->n_wrong ? VERDICT_MISMATCH : VERDICT_WITHIN;
}

void difference_sums(const struct job *job, const struct run_results *results, double *largest,
                     uint64_t *n_values)
{
    *largest = 0;
    *n_values = 0;
    for (uint32_t i = 0; results->differ && i < job->p->graph->n_out; i++) {
        const struct run_differ *r = &results->differ[i];
        *largest = r->largest > *largest ? r->largest : *largest;
        *n_values += r->n_values;
    }
}

/* --- as text --- */

/* "4 steps", "0.25". */
static const char *apart_text(struct arena *a, double apart, bool steps)
{
    return steps ? arena_printf(a, "%.4g step%s", apart, apart == 1 ? "" : "s")
                 : arena_printf(a, "%.6g", apart);
}

/* Return "[0,3]" for flat index 3. */
static const char *index_text(struct arena *a, const struct ir_tensor *t, uint64_t at)
{
    uint64_t index[IR_MAX_RANK];
    struct text s;

    for (uint32_t i = t->rank; i-- > 0;) {
        index[i] = at % (uint64_t)t->dim[i];
        at /= (uint64_t)t->dim[i];
    }
    text_init(&s, a);
    text_add(&s, "[");
    for (uint32_t i = 0; i < t->rank; i++)
        text_printf(&s, "%s%llu", i ? "," : "", (unsigned long long)index[i]);
    text_add(&s, "]");
    return s.data;
}

/* Return the index of the scale of value `at` of a quantised tensor. */
static uint32_t channel_of(const struct ir_tensor *t, uint64_t at)
{
    if (t->quant.n <= 1)
        return 0;
    for (uint32_t i = t->rank; --i > t->quant.axis;)
        at /= (uint64_t)t->dim[i];
    return (uint32_t)(at % t->quant.n);
}

/* Return "-119 (0.03529)": a quantised value and the real one; float32 in nine digits, which are
 * exact. */
static const char *value_text(struct arena *a, const struct ir_tensor *t, const uint8_t *bytes,
                              uint64_t at)
{
    double v = ir_element(t, bytes, at);

    if (t->type == IR_F32)
        return arena_printf(a, "%.9g", v);
    if (!ir_is_code(t->type) || t->quant.n == 0)
        return arena_printf(a, "%.0f", v);
    uint32_t c = channel_of(t, at);
    double real = (double)t->quant.scale[c] * (v - t->quant.zero_point[c]);
    return arena_printf(a, "%.0f (%.6g)", v, real);
}

/* Return the number of float32 values between the two. */
static uint64_t ulps(const uint8_t *want, const uint8_t *got)
{
    int32_t a, b;

    memcpy(&a, want, 4);
    memcpy(&b, got, 4);
    int64_t x = a < 0 ? (int64_t)INT32_MIN - a : a, y = b < 0 ? (int64_t)INT32_MIN - b : b;
    return (uint64_t)(x > y ? x - y : y - x);
}

static const char *first_apart(const struct job *job, const struct run_results *results,
                               uint32_t output, const uint8_t *want, const uint8_t *got)
{
    const struct ir_tensor *t = output_of(job, output);
    uint64_t at = results->differ[output].index;
    double a = ir_element(t, want, at), apart = distance(a, ir_element(t, got, at));
    double per_unit = steps_per_unit(job->p->graph, t);

    if (per_unit > 0)
        return apart_text(job->arena, apart * per_unit, true);
    if (t->type != IR_F32)
        return apart_text(job->arena, apart, false);
    return arena_printf(job->arena, "%.6g (%.3g of it, %llu ULP)", apart,
                        a != 0 ? apart / fabs(a) : INFINITY,
                        (unsigned long long)ulps(want + 4 * at, got + 4 * at));
}

static void output_lines(const struct job *job, const struct run_measured *m,
                         const struct run_results *results, uint32_t i, struct diag *d)
{
    const struct ir_tensor *t = output_of(job, i);
    const struct run_differ *r = &results->differ[i];
    const uint8_t *want = inference(&job->expected[i], r->inference),
                  *got = inference(&m->out[i], r->inference);
    bool steps = difference_step(job->p->graph, t) > 0;

    diag_line(d,
              "output %u '%.60s': %llu of %llu values differ, in %u of %u inferences, by at "
              "most %s",
              i, t->name, (unsigned long long)r->n_values,
              (unsigned long long)(ir_elements(t) * job->n), r->n_inferences, job->n,
              apart_text(job->arena, r->largest, steps));
    diag_line(d, "  first: inference %u, index %s (flat %llu)", r->inference,
              index_text(job->arena, t, r->index), (unsigned long long)r->index);
    diag_line(d, "  expected %s, found %s: off by %s", value_text(job->arena, t, want, r->index),
              value_text(job->arena, t, got, r->index), first_apart(job, results, i, want, got));
}

/* Add a line about values of an ONNX file that round differently in the runtime that made the
 * expectations. */
static void onnx_line(const struct job *job, struct diag *d)
{
    const char *path = job->model_path ? job->model_path : ""; /* a package has no path */
    size_t n = strlen(path);

    if (n < 6 || strcmp(path + n - 5, ".onnx") != 0 || strcmp(job->checked_against, "expect") != 0)
        return;
    if (job->options->legalise.rounding == LGL_ROUND_ONNX)
        diag_line(d, "ONNX: with --onnx-rounding=onnx, ONNX Runtime gives the same bytes when its "
                     "optimisations are off (docs/ONNX.md)");
    else
        diag_line(d, "ONNX: for ONNX Runtime's bytes, try --onnx-rounding=onnx, and ONNX Runtime "
                     "without optimisations (docs/ONNX.md)");
}

enum status difference_fail(const struct job *job, const struct run_measured *m,
                            const struct run_results *results, struct diag *d)
{
    uint32_t shown = 0, n_out = job->p->graph->n_out;

    (void)FAIL(d, ST_MISMATCH, "%llu of %u inferences differ from %s",
               (unsigned long long)results->n_wrong, job->n,
               strcmp(job->checked_against, "ref") == 0 ? "the CPU reference"
                                                        : "the expected outputs");
    for (uint32_t i = 0; i < n_out; i++)
        if (results->differ[i].wrong && shown++ < SHOWN_OUTPUTS)
            output_lines(job, m, results, i, d);
    if (shown > SHOWN_OUTPUTS)
        diag_line(d, "%u more outputs differ", shown - SHOWN_OUTPUTS);
    if (job->tolerance > 0)
        diag_line(
            d,
            "the difference exceeds what the targets' patterns allow: %.3g of the output's range",
            job->tolerance);
    if (job->options->tolerance)
        diag_line(d, "the difference exceeds --tolerance: %u steps", job->options->tolerance);
    onnx_line(job, d);
    return ST_MISMATCH;
}
