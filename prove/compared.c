/* compared.c - calls of kernels without a rule. The kernel and the reference's operators of its layer run on the same
 * random inputs, with the constants as they are. Only if all results are equal, the call's result is the operator's.
 * Where an operand is in the package is found by its terms, where a result is by its bytes. */
#include "compared.h"

#include <string.h>

#include "kernels/hdk.h"
#include "prove/graph/graph.h"

enum { ARGS = 4, STEP = 16, INPUTS = 64, FEWEST = 8, CHAIN = 4, COSTLY = 1 << 28 };

#define CALL2(kernel)                                                                              \
    static void call_##kernel(const void *p, void *const *arg)                                     \
    {                                                                                              \
        hdk_##kernel(p, arg[0], arg[1]);                                                           \
    }
#define CALL3(kernel)                                                                              \
    static void call_##kernel(const void *p, void *const *arg)                                     \
    {                                                                                              \
        hdk_##kernel(p, arg[0], arg[1], arg[2]);                                                   \
    }
#define CALL4(kernel)                                                                              \
    static void call_##kernel(const void *p, void *const *arg)                                     \
    {                                                                                              \
        hdk_##kernel(p, arg[0], arg[1], arg[2], arg[3]);                                           \
    }
#include "prove/runtime/calls.def"
#undef CALL2
#undef CALL3
#undef CALL4
#define CALL2(kernel) {#kernel, call_##kernel},
#define CALL3(kernel) CALL2(kernel)
#define CALL4(kernel) CALL2(kernel)

static const struct {
    const char *name;
    void (*call)(const void *p, void *const *arg);
} calls[] = {
#include "prove/runtime/calls.def"
};

/* Bytes of a tensor in the window. flips: 0x80 if uint8 is held as int8, else 0. */
struct place {
    bool found;
    uint64_t at, n;
    uint8_t flips;
};

/* The run function up to the end of a layer, in place of a kernel. */
struct layer_run {
    struct prove_package *k;
    uint32_t layer;
    uint8_t *before, *after; /* the window when the layer begins, and when it ends */
    bool inside;
};

struct trial {
    struct prove_package *k;
    const void *p;
    void *const *arg;
    void (*call)(const void *p, void *const *arg);
    const struct prove_op
        *op[CHAIN]; /* each but the first reads the last one's result, and constants */
    uint32_t n_op, n_arg, n_in;
    struct operand {
        uint32_t input; /* of op[0] */
        struct place place;
    } * in;
    struct place *out[CHAIN]; /* where results may be; found: as long as all bytes agree */
    uint8_t **bytes;          /* by tensor: the reference's */
    uint8_t *window, *before; /* a copy; the bytes before a call */
    uint8_t *wrote;           /* 1: a call changed that byte */
    uint64_t seed;
};

static bool inside(const struct prove_package *k, const void *at, uint64_t n, uint64_t *place)
{
    const uint8_t *b = at;

    if (!b || b < k->window || n > k->memory.n || b > k->window + k->memory.n - n)
        return false;
    *place = (uint64_t)(b - k->window);
    return true;
}

/* --- operands --- */

static bool same_terms(const struct prove_package *k, uint64_t at, const uint32_t *x, uint64_t n)
{
    const struct prove *p = k->p;

    for (uint64_t b = 0; b < n; b++) {
        const uint32_t t = k->memory.term[at + b];

        if (t == PROVE_NOTHING || p->term[t].element != p->term[x[b]].element)
            return false;
    }
    return true;
}

/* Find the arguments that hold input i of op[0]. */
static bool find(struct trial *t, uint32_t i)
{
    const struct prove_op *o = t->op[0];
    const uint32_t before = t->n_in;

    for (uint32_t flip = 0; flip < (o->in[i]->type == IR_U8 ? 2 : 1); flip++) {
        const uint32_t *x = flip ? prove_signed(o, o->in[i], o->x[i]) : o->x[i];
        struct place at = {true, 0, ir_bytes(o->in[i]), flip ? 0x80 : 0};

        for (uint32_t a = 0; a < t->n_arg; a++)
            if (inside(t->k, t->arg[a], at.n, &at.at) && same_terms(t->k, at.at, x, at.n))
                t->in[t->n_in++] = (struct operand){i, at};
    }
    return t->n_in > before;
}

static bool find_all(struct trial *t)
{
    const struct prove_op *o = t->op[0];

    t->n_in = 0;
    t->in = ARENA_ARRAY(t->k->p->arena, struct operand, (size_t)o->op->n_in * t->n_arg * 2 + 1);
    for (uint32_t i = 0; i < o->op->n_in; i++)
        if (o->in[i] && o->in[i]->role != IR_CONST && (!o->x[i] || !find(t, i)))
            return false;
    return true;
}

/* --- inputs --- */

static uint64_t draw(struct trial *t)
{
    return t->seed = prove_mix(t->seed, 1);
}

static float real(struct trial *t, uint32_t round)
{
    static const float plain[4] = {0, 1, -1, 0.5f};
    const uint64_t v = draw(t);
    const float unit = (float)(int32_t)(v >> 32) / 2147483648.0f;

    return v % 16 == 0 ? plain[v / 16 % 4] : unit * (float)(1u << round % 8) / 8;
}

/* Fill n bytes of a tensor: any values, every fourth time only the extremes of bytes. */
static void fill(struct trial *t, const struct ir_tensor *of, uint8_t *to, uint32_t round)
{
    const uint64_t n = ir_elements(of), width = ir_bytes(of) / n;

    for (uint64_t e = 0; e < n; e++) {
        const uint64_t v = draw(t);
        int64_t number = (int64_t)(v >> 8) % 8 - (v & 1 ? 0 : 4);
        const float f = real(t, round);

        switch (of->type) {
        case IR_F32: memcpy(to + e * 4, &f, 4); break;
        case IR_BOOL: to[e] = v >> 60 & 1; break;
        case IR_I32:
        case IR_I64: memcpy(to + e * width, &number, width); break;
        default:
            for (uint64_t b = 0; b < width; b++)
                to[e * width + b] = (uint8_t)(v >> (32 + 8 * b));
            if (round % 4 == 3)
                memset(to + e * width, v >> 63 ? 0x7f : 0x80, width);
        }
    }
}

static uint8_t *bytes_of(struct trial *t, uint32_t tensor)
{
    const struct ir_tensor *of = t->op[0]->g->tensor[tensor];

    if (of->role == IR_CONST)
        return (uint8_t *)(uintptr_t)of->data;
    if (!t->bytes[tensor])
        t->bytes[tensor] = arena_alloc(t->k->p->arena, ir_bytes(of));
    return t->bytes[tensor];
}

/* --- one input --- */

static bool run_reference(struct trial *t, const struct prove_op *o)
{
    const uint8_t *x[16];
    uint8_t *y[4];
    const struct ir_tensor *out[4];
    struct diag d = {0};

    if (o->op->n_in > 16 || o->op->n_out > 4)
        return false;
    for (uint32_t i = 0; i < o->op->n_in; i++)
        x[i] = o->in[i] ? bytes_of(t, o->op->in[i]) : NULL;
    for (uint32_t i = 0; i < o->op->n_out; i++) {
        out[i] = ir_out(o->g, o->op, i);
        y[i] = bytes_of(t, o->op->out[i]);
    }
    const struct ref_call c = {o->op, o->in, x, out, y, o->k};
    return ref_kernel_of(o->op->opcode, o->in[0]->type)(&c, &d) == ST_OK;
}

static bool agrees(const struct trial *t, const struct place *at, const uint8_t *bytes)
{
    for (uint64_t b = 0; b < at->n; b++)
        if (t->k->window[at->at + b] != (bytes[b] ^ at->flips))
            return false;
    return true;
}

/* Run both sides on one input. False: a variable differs, or constants changed. */
static bool run_once(struct trial *t, uint32_t round)
{
    struct prove_package *k = t->k;
    const struct prove_op *o = t->op[0];
    const uint64_t from = hd_model_region_offset(k->model, HD_REGION_ARENA);
    bool good = true;

    for (uint64_t i = from; i < k->memory.n; i++)
        k->window[i] = (uint8_t)(draw(t) >> 32);
    for (uint32_t i = 0; i < t->n_in; i++) {
        const struct operand *in = &t->in[i];
        uint8_t *bytes = bytes_of(t, o->op->in[in->input]);

        if (i == 0 || in->input != in[-1].input)
            fill(t, o->in[in->input], bytes, round);
        for (uint64_t b = 0; b < in->place.n; b++)
            k->window[in->place.at + b] = bytes[b] ^ in->place.flips;
    }
    memcpy(t->before, k->window, k->memory.n);
    t->call(t->p, t->arg);
    for (uint32_t c = 0; c < t->n_op; c++) {
        if (!run_reference(t, t->op[c]))
            return false;
        for (uint32_t a = 0; a < 2 * t->n_arg; a++)
            t->out[c][a].found =
                t->out[c][a].found && agrees(t, &t->out[c][a], bytes_of(t, t->op[c]->op->out[0]));
    }
    for (uint32_t i = 0; i < t->n_in; i++)
        if (o->in[t->in[i].input]->role == IR_VARIABLE)
            good = good && agrees(t, &t->in[i].place, bytes_of(t, o->op->in[t->in[i].input]));
    for (uint64_t i = 0; i < k->memory.n; i++)
        if (k->window[i] != t->before[i]) {
            t->wrote[i] = 1;
            good = good && i >= from;
        }
    return good;
}

/* --- the result --- */

/* New terms that are equal to x. */
static void place_terms(const struct trial *t, const struct prove_op *o, const struct ir_tensor *of,
                        const struct place *at, const uint32_t *x)
{
    struct prove_package *k = t->k;
    const uint32_t *y = at->flips ? prove_signed(o, of, x) : x;

    for (uint64_t b = 0; b < at->n; b++) {
        k->memory.term[at->at + b] = prove_again(k->p, y[b]);
        t->wrote[at->at + b] = 0;
    }
}

static void forget_unknown(struct prove *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_unknown; i++)
        if (p->unknown[i].layer != p->layer)
            p->unknown[n++] = p->unknown[i];
    p->n_unknown = n;
}

/* True if op[0] changes a variable and no operator reads its result. */
static bool only_variable(const struct trial *t)
{
    const struct prove_op *o = t->op[0];
    bool only = false;

    for (uint32_t i = 0; i < t->n_in; i++)
        only = only || o->in[t->in[i].input]->role == IR_VARIABLE;
    for (uint32_t i = 0; i < o->g->n_op; i++)
        for (uint32_t x = 0; x < o->g->op[i]->n_in; x++)
            only = only && o->g->op[i]->in[x] != o->op->out[0];
    for (uint32_t i = 0; i < o->g->n_out; i++)
        only = only && o->g->out[i] != o->op->out[0];
    return only;
}

/* Give the window the terms of operator c's result, which is at place `at`, and of op[0]'s variables. */
static void conclude(struct trial *t, uint32_t c, const struct place *at)
{
    struct prove_package *k = t->k;
    const struct prove_op *o = t->op[0];
    const uint32_t out = t->op[c]->op->out[0];

    for (uint32_t i = 0; i < t->n_in; i++) {
        const uint32_t x = t->in[i].input;

        if (o->in[x]->role == IR_VARIABLE)
            place_terms(t, o, o->in[x], &t->in[i].place, o->after[x]);
    }
    if (at)
        place_terms(t, t->op[c], o->g->tensor[out], at, k->graph->terms[out]);
    for (uint64_t i = 0; i < k->memory.n; i++)
        if (t->wrote[i])
            k->memory.term[i] = prove_fresh(k->p);
    forget_unknown(k->p);
}

static uint32_t rounds(const struct trial *t)
{
    const uint64_t macs = t->op[0]->g->row[t->op[0]->op->row].macs + t->k->memory.n,
                   n = COSTLY / (macs + 1);

    return n < FEWEST ? FEWEST : n > INPUTS ? INPUTS : (uint32_t)n;
}

/* Any place may hold any result of op[c]. */
static void begin_results(struct trial *t, uint32_t c)
{
    const struct ir_tensor *of = ir_out(t->op[c]->g, t->op[c]->op, 0);

    t->out[c] = ARENA_ARRAY(t->k->p->arena, struct place, t->n_arg * 2);
    for (uint32_t a = 0; a < 2 * t->n_arg; a++) {
        struct place *at = &t->out[c][a];

        at->n = ir_bytes(of);
        at->flips = a < t->n_arg ? 0 : 0x80;
        at->found = (a < t->n_arg || of->type == IR_U8) &&
                    inside(t->k, t->arg[a % t->n_arg], at->n, &at->at);
    }
}

static bool try_chain(struct trial *t)
{
    struct prove_package *k = t->k;
    const uint32_t n = rounds(t);
    bool good = find_all(t);

    if (!good)
        return false;
    for (uint32_t c = 0; c < t->n_op; c++)
        begin_results(t, c);
    memset(t->wrote, 0, k->memory.n);
    for (uint32_t r = 0; good && r < n; r++)
        good = run_once(t, r);
    memcpy(k->window, t->window, k->memory.n);
    for (uint32_t c = 0; good && c < t->n_op; c++)
        for (uint32_t a = 0; a < 2 * t->n_arg; a++)
            if (t->out[c][a].found) {
                conclude(t, c, &t->out[c][a]);
                return true;
            }
    good = good && only_variable(t);
    if (good)
        conclude(t, 0, NULL);
    return good;
}

/* Add the operators that read only the last result and constants. */
static void extend(struct trial *t, uint32_t first)
{
    const struct prove_graph *graph = t->k->graph;
    const struct ir_graph *g = graph->g;

    for (uint32_t i = first + 1; i < g->n_op && t->n_op < CHAIN; i++) {
        const struct prove_op *o = &graph->op[i];
        const uint32_t last = t->op[t->n_op - 1]->op->out[0];
        bool reads = false, other = g->op[i]->dead || ir_op_info(g->op[i]->opcode)->has_state;

        for (uint32_t x = 0; x < g->op[i]->n_in; x++) {
            reads = reads || g->op[i]->in[x] == last;
            other = other ||
                    (g->op[i]->in[x] != last && o->in && o->in[x] && o->in[x]->role != IR_CONST);
        }
        if (reads && !other)
            t->op[t->n_op++] = o;
    }
}

static void (*call_of(const char *name))(const void *, void *const *)
{
    for (uint32_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].call;
    return NULL;
}

/* True if some operator of the layer is what the call computes. */
static bool try_layer(struct trial *t)
{
    struct prove_package *k = t->k;
    struct arena *m = k->p->arena;
    const uint32_t layer = k->p->layer;

    t->k->trial = true;
    prove_graph_run(k->p, k->graph);
    const struct ir_graph *g = k->graph->g;
    bool found = false;

    t->seed = k->p->seed;
    t->bytes = ARENA_ARRAY(m, uint8_t *, g->n_tensor + 1);
    t->before = arena_alloc(m, k->memory.n);
    t->wrote = arena_alloc(m, k->memory.n);
    t->window = arena_memdup(m, k->window, k->memory.n);
    for (uint32_t i = 0; i < g->n_op && !found; i++) {
        if (g->op[i]->dead || g->op[i]->row != layer)
            continue;
        t->op[0] = &k->graph->op[i];
        t->n_op = 1;
        extend(t, i);
        found = try_chain(t);
    }
    k->trial = false;
    return found;
}

bool prove_compared(struct prove_package *k, const char *name, const void *p, void *const *arg)
{
    struct trial t = {.k = k, .p = p, .arg = arg, .n_arg = ARGS, .call = call_of(name)};

    if (!t.call || !try_layer(&t))
        return false;
    prove_package_compared(k, name);
    return true;
}

/* --- layers whose code is emitted --- */

/* At the begin of the layer the window is as it was; its end is kept. Kernels and devices do nothing meanwhile. */
static void enter(void *ctx, uint32_t layer, uint32_t submission)
{
    struct layer_run *r = ctx;

    (void)submission;
    if (layer == r->layer && !r->inside)
        memcpy(r->k->window, r->before, r->k->memory.n);
    else if (layer != r->layer && r->inside)
        memcpy(r->after, r->k->window, r->k->memory.n);
    r->inside = layer == r->layer;
}

static void run_layer(const void *p, void *const *arg)
{
    struct layer_run r = *(const struct layer_run *)p;
    struct hd_call call = *r.k->call;

    (void)arg;
    call.enter = enter;
    call.ctx = &r;
    memcpy(r.before, r.k->window, r.k->memory.n);
    (void)r.k->model->run(&call);
    if (!r.inside)
        memcpy(r.k->window, r.after, r.k->memory.n);
}

bool prove_emitted(struct prove_package *k)
{
    struct arena *m = k->p->arena;
    const uint64_t from = hd_model_region_offset(k->model, HD_REGION_ARENA);
    const uint32_t n = (uint32_t)((k->memory.n - from) / STEP);
    void **arg = ARENA_ARRAY(m, void *, n + 1);
    const struct layer_run r = {.k = k,
                                .layer = k->p->layer,
                                .before = arena_alloc(m, k->memory.n),
                                .after = arena_alloc(m, k->memory.n)};
    struct trial t = {.k = k, .p = &r, .arg = arg, .n_arg = n, .call = run_layer};
    const char *target = k->target ? k->target[k->p->layer] : NULL;

    for (uint32_t i = 0; i < n; i++)
        arg[i] = k->window + from + (uint64_t)i * STEP;
    if (!target || !try_layer(&t))
        return false;
    prove_package_compared(k, target);
    return true;
}
