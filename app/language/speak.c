/* speak.c - see speak.h. */
#include "speak.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/random.h"
#include "tokens.h"

enum {
    TOKENS = 20, /* unless --tokens specifies otherwise */
    MOST_PROMPT = 1 << 16
};

struct speaker {
    struct job *job;
    const char *prompt;
    struct tokens *tokens;
    uint32_t n_prompt; /* its tokens, without the one whose keys and values are there at first */
    uint32_t begin;    /* the position of the first one */
    double temperature;
    double *share; /* of each token, for a choice */
};

/* --- the choice of a token --- */

static int32_t most_likely(const float *logits, int32_t n)
{
    int32_t best = 0;

    for (int32_t i = 1; i < n; i++)
        best = logits[i] > logits[best] ? i : best;
    return best;
}

/* Choose by the probabilities at the temperature, with a number that depends on seed and place. */
static int32_t any_likely(const struct speaker *s, const float *logits, int32_t n, uint32_t place)
{
    uint64_t state = s->job->options->seed * 0x100000001b3u + place;
    const double most = (double)logits[most_likely(logits, n)];
    double sum = 0, at = (double)(random_next(&state) >> 11) * 0x1p-53;

    for (int32_t i = 0; i < n; i++)
        sum += s->share[i] = exp(((double)logits[i] - most) / s->temperature);
    at *= sum;
    for (int32_t i = 0; i < n; i++)
        if ((at -= s->share[i]) < 0)
            return i;
    return most_likely(logits, n);
}

/* Return the token after inference `k`, or -1 before the last one of the prompt. */
static int32_t choice(const struct speaker *s, uint32_t k, const uint8_t *out)
{
    const struct ir_graph *g = s->job->p->graph;
    const int32_t n = (int32_t)ir_elements(g->tensor[g->out[0]]);
    const float *logits = (const float *)(const void *)out;

    if (k + 1 < s->n_prompt)
        return -1;
    return s->temperature > 0 ? any_likely(s, logits, n, k) : most_likely(logits, n);
}

/* The chosen token is the next input; one that ends the text ends the run. */
static void next(void *ctx, uint32_t k, const uint8_t *out)
{
    struct speaker *s = ctx;
    const int32_t id = choice(s, k, out);

    if (id < 0)
        return;
    if (tokens_end(s->tokens, id))
        s->job->n = k + 1;
    if (k + 1 < s->job->n)
        memcpy(s->job->in[0].bytes + (k + 1) * sizeof id, &id, sizeof id);
}

static void say(void *ctx, uint32_t k, const uint8_t *out)
{
    struct speaker *s = ctx;
    const struct options *o = s->job->options;
    const int32_t id = choice(s, k, out);

    if (o->format != FORMAT_TEXT)
        return;
    if (k == 0)
        output_text(o->output, OUTPUT_RESULT, s->prompt);
    if (id >= 0)
        output_text(o->output, OUTPUT_RESULT, tokens_text(s->tokens, id));
    if (k + 1 == s->job->n)
        output_text(o->output, OUTPUT_RESULT, "\n");
}

/* --- options --- */

static enum status check(struct speaker *s, struct diag *d)
{
    const struct options *o = s->job->options;
    char *end = NULL;

    if (!text_ends(s->job->p->model.path, ".gguf"))
        return FAIL(d, ST_USAGE, "--prompt: expected a .gguf file, found '%s'",
                    s->job->p->model.path);
    if (o->n_input || o->n_expect || o->reset_state)
        return FAIL(d, ST_USAGE, "--prompt: not with --input, --expect or --reset-state");
    if (o->host != HOST_NATIVE || o->engine == ENGINE_QEMU)
        return FAIL(d, ST_USAGE, "--prompt: expected --host=native and --engine=ref, func or rtl");
    s->temperature = o->temperature ? strtod(o->temperature, &end) : 0;
    if ((end && *end) || !(s->temperature >= 0 && s->temperature <= 100))
        return FAIL(d, ST_USAGE, "--temperature: expected a number from 0 to 100, found '%s'",
                    o->temperature);
    return ST_OK;
}

/* Inputs of `n` inferences: tokens, of which those of the prompt are known, and positions. */
static void fill(const struct speaker *s, const int32_t *prompt, uint32_t n)
{
    struct job *job = s->job;
    int32_t *token = ARENA_ARRAY(job->arena, int32_t, n);
    int32_t *position = ARENA_ARRAY(job->arena, int32_t, n);

    memcpy(token, prompt, s->n_prompt * sizeof *token);
    for (uint32_t k = 0; k < n; k++)
        position[k] = (int32_t)(s->begin + k);
    job->n = n;
    job->in = ARENA_ARRAY(job->arena, struct run_data, 3);
    job->in[0] = (struct run_data){(uint8_t *)token, sizeof *token};
    job->in[1] = (struct run_data){(uint8_t *)position, sizeof *position};
}

/* Return the number of positions: the keys of a layer are a variable [1,heads,positions,size]. */
static uint32_t positions(const struct ir_graph *g)
{
    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (g->tensor[i]->role == IR_VARIABLE)
            return (uint32_t)g->tensor[i]->dim[2];
    return 0;
}

static const char *prompt_file(const struct job *job)
{
    return arena_printf(job->arena, "%s/prompt.txt", job->zoo);
}

bool speak_wanted(const struct job *job)
{
    return job->options->prompt ||
           (job->zoo && job->options->n_input == 0 && file_exists(prompt_file(job)));
}

/* --prompt, or the first line of the network's file. */
static enum status find_prompt(struct speaker *s, struct diag *d)
{
    uint8_t *text;
    size_t n;

    s->prompt = s->job->options->prompt;
    if (s->prompt)
        return ST_OK;
    TRY(file_read(s->job->arena, prompt_file(s->job), MOST_PROMPT, &text, &n, d));
    s->prompt = arena_strndup(s->job->arena, (char *)text, strcspn((char *)text, "\n"));
    return ST_OK;
}

/* The state may have a token that begins: position 0, which the prompt need not name. */
static void skip_begin(struct speaker *s, int64_t begin, int32_t **prompt)
{
    s->begin = begin >= 0;
    if (begin >= 0 && s->n_prompt > 0 && **prompt == begin) {
        s->n_prompt--;
        ++*prompt;
    }
}

enum status speak_inputs(struct job *job, struct diag *d)
{
    struct speaker *s = ARENA_NEW(job->arena, struct speaker);
    struct feeder *feeder = ARENA_NEW(job->arena, struct feeder);
    const struct pipeline_model *m = &job->p->model;
    const uint32_t n_new = job->options->tokens ? job->options->tokens : TOKENS;
    struct gguf *f = ARENA_NEW(job->arena, struct gguf);
    int32_t *prompt;

    s->job = job;
    TRY(check(s, d));
    TRY(find_prompt(s, d));
    TRY(gguf_read(job->arena, m->data, m->n_bytes, f, d));
    TRY(tokens_open(job->arena, f, &s->tokens, d));
    TRY(tokens_of(s->tokens, s->prompt, &prompt, &s->n_prompt, d));
    skip_begin(s, gguf_begin(f, &job->options->gguf), &prompt);
    if (s->n_prompt == 0)
        return FAIL(d, ST_USAGE, "--prompt: expected a text, found none");
    const uint32_t need = s->begin + s->n_prompt + n_new - 1;

    if (need > positions(job->p->reference))
        return FAIL(d, ST_USAGE, "--tokens: %u after a prompt of %u need --context=%u, found %u",
                    n_new, s->n_prompt, need, positions(job->p->reference));
    s->share =
        ARENA_ARRAY(job->arena, double, ir_elements(job->p->graph->tensor[job->p->graph->out[0]]));
    fill(s, prompt, s->n_prompt + n_new - 1);
    *feeder = (struct feeder){s, next, say};
    job->feeder = feeder;
    return ST_OK;
}
