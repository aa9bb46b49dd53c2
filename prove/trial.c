/* trial.c - see trial.h. */
#include "trial.h"

#include <string.h>

enum { INPUTS = 64, FEWEST = 8, COSTLY = 1 << 28 };

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

/* Find the arguments that hold input i of an operator. */
static bool find(struct prove_trial *t, const struct prove_op *o, uint32_t i)
{
    const uint32_t before = t->n_in;

    for (uint32_t flip = 0; flip < (o->in[i]->type == IR_U8 ? 2 : 1); flip++) {
        const uint32_t *x = flip ? prove_signed(o, o->in[i], o->x[i]) : o->x[i];
        struct prove_place at = {true, 0, ir_bytes(o->in[i]), flip ? 0x80 : 0};

        for (uint32_t a = 0; a < t->n_arg; a++)
            if (inside(t->k, t->arg[a], at.n, &at.at) && same_terms(t->k, at.at, x, at.n))
                t->in[t->n_in++] = (struct prove_operand){o, i, at};
    }
    return t->n_in > before;
}

static uint32_t tensor_of(const struct prove_operand *in)
{
    return in->op->op->in[in->input];
}

/* True if operand n holds another tensor than those before it. */
static bool is_first(const struct prove_trial *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (tensor_of(&t->in[i]) == tensor_of(&t->in[n]))
            return false;
    return true;
}

/* True if one of the operators makes the tensor, or it is found already. */
static bool is_known(const struct prove_trial *t, uint32_t tensor)
{
    for (uint32_t c = 0; c < t->n_op; c++)
        for (uint32_t i = 0; i < t->op[c]->op->n_out; i++)
            if (t->op[c]->op->out[i] == tensor)
                return true;
    for (uint32_t i = 0; i < t->n_in; i++)
        if (tensor_of(&t->in[i]) == tensor)
            return true;
    return false;
}

bool prove_trial_find(struct prove_trial *t)
{
    uint32_t most = 0;

    for (uint32_t c = 0; c < t->n_op; c++)
        most += t->op[c]->op->n_in;
    t->n_in = 0;
    t->missing = IR_NONE;
    t->in = ARENA_ARRAY(t->k->p->arena, struct prove_operand, (size_t)most * t->n_arg * 2 + 1);
    for (uint32_t c = 0; c < t->n_op; c++) {
        const struct prove_op *o = t->op[c];

        for (uint32_t i = 0; i < o->op->n_in; i++) {
            if (!o->in[i] || o->in[i]->role == IR_CONST || is_known(t, o->op->in[i]))
                continue;
            if (!o->x[i] || !find(t, o, i)) {
                t->missing = o->op->in[i];
                return false;
            }
        }
    }
    return true;
}

/* --- inputs --- */

static uint64_t draw(struct prove_trial *t)
{
    return t->seed = prove_mix(t->seed, 1);
}

static float real(struct prove_trial *t, uint32_t round)
{
    static const float plain[4] = {0, 1, -1, 0.5f};
    const uint64_t v = draw(t);
    const float unit = (float)(int32_t)(v >> 32) / 2147483648.0f;

    return v % 16 == 0 ? plain[v / 16 % 4] : unit * (float)(1u << round % 8) / 8;
}

/* Fill n bytes of a tensor: any values, every fourth time only the extremes of bytes. */
static void fill(struct prove_trial *t, const struct ir_tensor *of, uint8_t *to, uint32_t round)
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

static uint8_t *bytes_of(struct prove_trial *t, uint32_t tensor)
{
    const struct ir_tensor *of = t->op[0]->g->tensor[tensor];

    if (of->role == IR_CONST)
        return (uint8_t *)(uintptr_t)of->data;
    if (!t->bytes[tensor])
        t->bytes[tensor] = arena_alloc(t->k->p->arena, ir_bytes(of));
    return t->bytes[tensor];
}

/* --- one input --- */

static bool run_reference(struct prove_trial *t, const struct prove_op *o)
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

static bool agrees(const struct prove_trial *t, const struct prove_place *at, const uint8_t *bytes)
{
    for (uint64_t b = 0; b < at->n; b++)
        if (t->k->window[at->at + b] != (bytes[b] ^ at->flips))
            return false;
    return true;
}

/* Run both sides on one input. False: a variable differs, or constants changed. */
static bool run_once(struct prove_trial *t, uint32_t round)
{
    struct prove_package *k = t->k;
    const uint64_t from = hd_model_region_offset(k->model, HD_REGION_ARENA);
    bool good = true;

    for (uint64_t i = from; i < k->memory.n; i++)
        k->window[i] = (uint8_t)(draw(t) >> 32);
    for (uint32_t i = 0; i < t->n_in; i++) {
        const struct prove_operand *in = &t->in[i];
        uint8_t *bytes = bytes_of(t, tensor_of(in));

        if (is_first(t, i))
            fill(t, in->op->in[in->input], bytes, round);
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
        if (t->in[i].op->in[t->in[i].input]->role == IR_VARIABLE)
            good = good && agrees(t, &t->in[i].place, bytes_of(t, tensor_of(&t->in[i])));
    for (uint64_t i = 0; i < k->memory.n; i++)
        if (k->window[i] != t->before[i]) {
            t->wrote[i] = 1;
            good = good && i >= from;
        }
    return good;
}

/* --- the result --- */

/* New terms that are equal to x. */
static void place_terms(const struct prove_trial *t, const struct prove_op *o,
                        const struct ir_tensor *of, const struct prove_place *at, const uint32_t *x)
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
static bool only_variable(const struct prove_trial *t)
{
    const struct prove_op *o = t->op[0];
    bool only = false;

    for (uint32_t i = 0; i < t->n_in; i++)
        only = only || t->in[i].op->in[t->in[i].input]->role == IR_VARIABLE;
    for (uint32_t i = 0; i < o->g->n_op; i++)
        for (uint32_t x = 0; x < o->g->op[i]->n_in; x++)
            only = only && o->g->op[i]->in[x] != o->op->out[0];
    for (uint32_t i = 0; i < o->g->n_out; i++)
        only = only && o->g->out[i] != o->op->out[0];
    return only;
}

/* Give the window the terms of operator c's result, which is at place `at`, and of variables. */
static void conclude(struct prove_trial *t, uint32_t c, const struct prove_place *at)
{
    struct prove_package *k = t->k;
    const uint32_t out = t->op[c]->op->out[0];

    for (uint32_t i = 0; i < t->n_in; i++) {
        const struct prove_op *o = t->in[i].op;
        const uint32_t x = t->in[i].input;

        if (o->in[x]->role == IR_VARIABLE)
            place_terms(t, o, o->in[x], &t->in[i].place, o->after[x]);
    }
    if (at)
        place_terms(t, t->op[c], t->op[c]->g->tensor[out], at, k->graph->terms[out]);
    for (uint64_t i = 0; i < k->memory.n; i++)
        if (t->wrote[i])
            k->memory.term[i] = prove_fresh(k->p);
    forget_unknown(k->p);
}

static uint32_t rounds(const struct prove_trial *t)
{
    uint64_t macs = t->k->memory.n;

    for (uint32_t c = 0; c < t->n_op; c++)
        macs += t->op[c]->g->row[t->op[c]->op->row].macs;
    const uint64_t n = COSTLY / (macs + 1);
    return n < FEWEST ? FEWEST : n > INPUTS ? INPUTS : (uint32_t)n;
}

/* Any place may hold any result of op[c]. */
static void begin_results(struct prove_trial *t, uint32_t c)
{
    const struct ir_tensor *of = ir_out(t->op[c]->g, t->op[c]->op, 0);

    t->out[c] = ARENA_ARRAY(t->k->p->arena, struct prove_place, t->n_arg * 2);
    for (uint32_t a = 0; a < 2 * t->n_arg; a++) {
        struct prove_place *at = &t->out[c][a];

        at->n = ir_bytes(of);
        at->flips = a < t->n_arg ? 0 : 0x80;
        at->found = (a < t->n_arg || of->type == IR_U8) &&
                    inside(t->k, t->arg[a % t->n_arg], at->n, &at->at);
    }
}

bool prove_trial_run(struct prove_trial *t)
{
    struct prove_package *k = t->k;
    const uint32_t n = rounds(t);
    bool good = true;

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
