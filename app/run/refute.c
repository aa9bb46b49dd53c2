/* refute.c - see refute.h. Every try is one inference on the functional model and on the reference, with the bytes
 * of every layer compared. The search runs in a process of its own: a wrong package may crash. */
#define _GNU_SOURCE
#include "refute.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/compare/compare_layers.h"
#include "app/engine/runner.h"
#include "app/inputs/generate.h"
#include "base/random.h"
#include "reference/ref.h"

enum { SECONDS = 5, BATCH = 16, STEPS = 64 };

/* How wrong an inference is: more is nearer to a wrong output. */
struct score {
    uint64_t row, wrong; /* 1 + the last wrong layer; wrong values */
    bool output;
};

struct search {
    struct run run; /* of one inference */
    struct runner *p;
    struct run_shared *shared;
    struct ref *ref;
    const uint8_t **in;
    uint8_t **want;
    uint64_t random;
    clock_t start;
};

/* In shared memory, with the inputs' bytes after it. */
struct finding {
    bool found;
    uint8_t bytes[];
};

static uint32_t draw(struct search *s, uint64_t n)
{
    return (uint32_t)((random_next(&s->random) >> 32) * n >> 32);
}

static bool has_state(const struct ir_graph *g)
{
    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (g->tensor[i]->role == IR_VARIABLE)
            return true;
    return false;
}

/* CPU seconds since the search began. */
static double seconds(const struct search *s)
{
    return (double)(clock() - s->start) / CLOCKS_PER_SEC;
}

/* --- one try --- */

static void enter(void *ctx, uint32_t layer, uint32_t submission)
{
    struct compare *compare = ctx;

    (void)layer;
    if (compare)
        compare_enter(compare, submission);
}

/* Run job.in once. A package that fails is wrong. */
static struct score try_input(struct search *s)
{
    struct compare *compare = s->run.results.compare;
    const uint32_t n_row = s->run.job.p->graph->n_row;
    struct score score = {0, 0, false};
    struct diag d = {0};

    memset(s->shared, 0, sizeof *s->shared + n_row * sizeof s->shared->row[0]);
    if (ref_run(s->ref, s->in, s->want, &d) != ST_OK ||
        (compare && compare_begin(compare, 0, &d) != ST_OK))
        return score;
    if (runner_infer(s->p, 0) != HD_OK)
        return (struct score){n_row, 1, true};
    if (compare)
        compare_end(compare);
    for (uint32_t i = 0; i < n_row; i++) {
        score.wrong += s->shared->row[i].compare.wrong;
        score.row = s->shared->row[i].compare.wrong ? i + 1 : score.row;
    }
    for (uint32_t i = 0; i < s->p->model->n_outputs; i++)
        score.output = score.output ||
                       memcmp(s->p->call.out[i], s->want[i], s->p->model->outputs[i].n_bytes) != 0;
    return score;
}

static bool at_least(const struct score *a, const struct score *b)
{
    if (a->output != b->output)
        return a->output;
    return a->row != b->row ? a->row > b->row : a->wrong >= b->wrong;
}

/* --- the search --- */

/* Return true if only QUANTIZE reads input `i`, which specifies what becomes of every float. */
static bool is_quantised(const struct ir_graph *g, uint32_t i)
{
    const uint32_t id = g->in[i];
    bool quantised = g->tensor[id]->type == IR_F32 && !g->tensor[id]->is_output;

    for (uint32_t k = 0; k < g->n_op; k++)
        for (uint32_t n = 0; !g->op[k]->dead && n < g->op[k]->n_in; n++)
            if (g->op[k]->in[n] == id && g->op[k]->opcode != IR_OP_QUANTIZE)
                quantised = false;
    return quantised;
}

/* Give one place in eight of such inputs NaN, the infinities or any bits. Let other float32 have one sign, or be
 * small or 0. */
static void any_floats(struct search *s, struct run_data *to)
{
    static const uint32_t special[] = {0x7fc00000, 0xffc00000, 0x7f800000, 0xff800000};
    const struct ir_graph *g = s->run.job.p->reference;

    for (uint32_t i = 0; i < g->n_in; i++) {
        const bool quantised = is_quantised(g, i);
        const uint32_t form = draw(s, 4);

        for (uint64_t at = 0; g->tensor[g->in[i]]->type == IR_F32 && at < to[i].n_bytes; at += 4) {
            const uint32_t kind = draw(s, 64);
            uint8_t *place = to[i].bytes + at;

            if (!quantised) {
                float v;

                memcpy(&v, place, sizeof v);
                v = form == 0 ? fabsf(v) : form == 1 ? -fabsf(v) : form == 2 ? v / (1 << 30) : 0;
                memcpy(place, &v, sizeof v);
            } else if (kind < 8) {
                const uint32_t bits = kind < 4 ? special[kind] : (uint32_t)random_next(&s->random);

                memcpy(place, &bits, sizeof bits);
            }
        }
    }
}

/* Change some bytes of int8 and uint8 inputs: to anything, to the ends, by a little, or to those of `other`. */
static void change(struct search *s, struct run_data *const to, const struct run_data *other,
                   uint32_t k)
{
    const struct ir_graph *g = s->run.job.p->graph;
    const uint32_t i = draw(s, g->n_in), kind = draw(s, 4);
    const uint64_t n = to[i].n_bytes, at = draw(s, n), count = 1 + draw(s, draw(s, 2) ? n - at : 1);

    if (ir_type_bytes(g->tensor[g->in[i]]->type) != 1)
        return;
    for (uint64_t b = at; b < at + count; b++)
        to[i].bytes[b] = kind == 0   ? (uint8_t)draw(s, 256)
                         : kind == 1 ? (uint8_t)(draw(s, 2) ? 0x7f : 0x80)
                         : kind == 2 ? (uint8_t)(to[i].bytes[b] + draw(s, 5) - 2)
                                     : other[i].bytes[k * n + b];
}

static void copy(const struct job *job, struct run_data *to, const struct run_data *from,
                 uint32_t k)
{
    for (uint32_t i = 0; i < job->p->graph->n_in; i++)
        memcpy(to[i].bytes, from[i].bytes + k * from[i].n_bytes, from[i].n_bytes);
}

static struct run_data *inputs(const struct job *job, uint32_t n)
{
    const struct ir_graph *g = job->p->graph;
    struct run_data *in = ARENA_ARRAY(job->arena, struct run_data, g->n_in + 1);

    for (uint32_t i = 0; i < g->n_in; i++)
        in[i] =
            (struct run_data){arena_alloc(job->arena, job->in[i].n_bytes * n), job->in[i].n_bytes};
    return in;
}

/* Generated inputs of further seeds, half of them with any floats, and changes of the best. True: job.in makes a
 * wrong output, or else a layer. */
static bool look(struct search *s, struct diag *d)
{
    struct options o = *s->run.job.options;
    struct job many = s->run.job;
    struct run_data *in = s->run.job.in, *best = inputs(&many, 1);
    struct score top = {0, 0, false};

    many.n = BATCH;
    many.in = inputs(&s->run.job, BATCH);
    many.options = &o;
    while (!top.output && seconds(s) < SECONDS) {
        o.seed++;
        if (generate_inputs(&many, d) != ST_OK)
            return false;
        for (uint32_t k = 0; k < BATCH + STEPS && !top.output && seconds(s) < SECONDS; k++) {
            if (k >= BATCH && !top.row)
                break; /* nothing to start from */
            copy(&many, in, k < BATCH ? many.in : best, k < BATCH ? k : 0);
            if (k < BATCH && draw(s, 2))
                any_floats(s, in);
            for (uint32_t c = k < BATCH ? 0 : 1 + draw(s, 3); c > 0; c--)
                change(s, in, many.in, draw(s, BATCH));
            const struct score score = try_input(s);
            if ((!score.output && !score.row) || !at_least(&score, &top))
                continue;
            top = score;
            copy(&many, best, in, 0);
        }
    }
    copy(&many, in, best, 0);
    return top.output || top.row;
}

static enum status search(const struct run *of, const char *so, struct finding *to, struct diag *d)
{
    struct search *s = ARENA_NEW(of->job.arena, struct search);
    const struct ir_graph *g = of->job.p->reference;
    const struct ref_options ref = pipeline_ref_options(&of->job.options->legalise);
    struct arena *a = of->job.arena;
    uint64_t at = 0;

    s->run.job = of->job;
    s->run.job.in = inputs(&of->job, 1);
    s->run.job.n = 1;
    s->random = of->job.options->seed;
    s->start = clock();
    s->p = ARENA_NEW(a, struct runner);
    s->shared =
        arena_alloc(a, sizeof *s->shared + of->job.p->graph->n_row * sizeof s->shared->row[0]);
    s->ref = ref_new(a, g, &ref);
    s->in = ARENA_ARRAY(a, const uint8_t *, g->n_in + 1);
    s->want = ARENA_ARRAY(a, uint8_t *, g->n_out + 1);
    for (uint32_t i = 0; i < g->n_in; i++)
        s->in[i] = s->run.job.in[i].bytes;
    for (uint32_t i = 0; i < g->n_out; i++)
        s->want[i] = arena_alloc(a, (size_t)ir_bytes(g->tensor[g->out[i]]));
    compare_open(&s->run.job, &s->run.results);
    const struct runner_setup setup = {&s->run.job, NULL, ENGINE_FUNC, so};
    TRY(runner_open(s->p, &setup, NULL, enter, s->run.results.compare, d));
    if (s->run.results.compare)
        compare_attach(s->run.results.compare, s->p, s->shared);
    to->found = look(s, d);
    for (uint32_t i = 0; i < g->n_in; at += s->run.job.in[i].n_bytes, i++)
        memcpy(to->bytes + at, s->run.job.in[i].bytes, s->run.job.in[i].n_bytes);
    return ST_OK;
}

enum status refute(const struct run *run, const char *so, struct run_bytes *in, bool *found,
                   struct diag *d)
{
    const struct job *job = &run->job;
    uint64_t n = sizeof(struct finding), at = 0;

    *found = false;
    if (has_state(job->p->reference))
        return ST_OK;
    for (uint32_t i = 0; i < job->p->graph->n_in; i++)
        n += job->in[i].n_bytes;
    struct finding *to = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (to == MAP_FAILED)
        return FAIL(d, ST_NO_MEMORY, "no memory for the search of an input");
    const pid_t pid = fork();
    if (pid < 0)
        return FAIL(d, ST_NO_MEMORY, "no process for the search of an input");
    if (pid == 0) {
        (void)alarm(SECONDS * 20); /* a package that hangs */
        _exit(search(run, so, to, d) == ST_OK ? 0 : 1);
    }
    (void)waitpid(pid, NULL, 0);
    *found = to->found;
    for (uint32_t i = 0; i < job->p->graph->n_in; at += job->in[i].n_bytes, i++)
        in[i] = (struct run_bytes){arena_memdup(job->arena, to->bytes + at, job->in[i].n_bytes),
                                   job->in[i].n_bytes};
    (void)munmap(to, n);
    return ST_OK;
}
