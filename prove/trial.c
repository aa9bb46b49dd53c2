/* trial.c - see trial.h. */
#include "trial.h"

#include <string.h>

enum { INPUTS = 64, FEWEST = 8, COSTLY = 1 << 28 };

/* --- inputs --- */

static uint64_t draw(struct prove_trial *t)
{
    return t->seed = prove_mix(t->seed, 1);
}

/* Of eight rounds one has float32 of one sign, one small ones, one rows of 0. */
enum { ROUNDS = 8, ONE_SIGN = 4, SMALL = 5, ZEROS = 6 };

static float real(struct prove_trial *t, uint32_t round, uint64_t row)
{
    static const float plain[4] = {0, 1, -1, 0.5f};
    const uint64_t v = draw(t);
    const float unit = (float)(int32_t)(v >> 32) / 2147483648.0f,
                x = v % 16 == 0 ? plain[v / 16 % 4] : unit * (float)(1u << round % ROUNDS) / 8;

    switch (round % ROUNDS) {
    case ONE_SIGN: return (round / ROUNDS % 2 ? x > 0 : x < 0) ? -x : x;
    case SMALL: return x / (1 << 30);
    case ZEROS: return row % 2 == 0 ? 0 : x;
    default: return x;
    }
}

/* Fill n bytes of a tensor: any values, every fourth time only the extremes of bytes; float32: `real`. */
static void fill(struct prove_trial *t, const struct ir_tensor *of, uint8_t *to, uint32_t round)
{
    const uint64_t n = ir_elements(of), width = ir_bytes(of) / n;

    for (uint64_t e = 0; e < n; e++) {
        const uint64_t v = draw(t);
        int64_t number = (int64_t)(v >> 8) % 8 - (v & 1 ? 0 : 4);
        const float f = real(t, round, e / (uint64_t)ir_dim_back(of, 0));

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
    for (uint32_t i = 0; i < t->n_in; i++)
        if (t->in[i].op->op->in[t->in[i].input] == tensor)
            return t->value + t->in[i].first;
    if (!t->bytes[tensor])
        t->bytes[tensor] = arena_alloc(t->arena, ir_bytes(of));
    return t->bytes[tensor];
}

static uint8_t linked(const struct prove_trial *t, uint32_t link)
{
    return (uint8_t)(t->value[(link >> 1) - 1] ^ (link & 1u) << 7);
}

/* Bytes that have one term are equal; a constant is what it is. */
static void fill_operand(struct prove_trial *t, const struct prove_operand *in, uint32_t round)
{
    const struct ir_tensor *of = in->op->in[in->input];
    uint8_t *to = t->value + in->first;

    fill(t, of, to, round);
    for (uint32_t b = 0; b < ir_bytes(of); b++) {
        const uint32_t same = t->same[in->first + b];

        to[b] = same ? linked(t, same) : (uint8_t)(in->op->x[in->input][b] - 128);
    }
    for (uint64_t d = 0; in->digits && d < prove_digits(in->op, in->input); d++)
        t->value[in->digits + d] = prove_digit_byte(in, to, d);
}

/* The window holds operands where their terms are, and constants; all else is any bytes. */
static void fill_window(struct prove_trial *t)
{
    struct prove_package *k = t->k;
    uint64_t any = 0;

    for (uint64_t i = hd_model_region_offset(k->model, HD_REGION_ARENA); i < k->memory.n; i++) {
        const uint32_t term = k->memory.term[i], link = t->link[i];

        any = any >> 8 ? any >> 8 : draw(t);
        if (!link && term != PROVE_NOTHING && prove_is_constant(term))
            k->window[i] = (uint8_t)(term - 128);
        else
            k->window[i] = link ? linked(t, link) : (uint8_t)any;
    }
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

/* What a byte was in one round after the others. */
static void add_print(uint64_t *print, uint8_t byte)
{
    *print = (*print ^ byte ^ *print >> 29) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Run both sides on one input. False: a variable differs, or constants changed. */
static bool run_once(struct prove_trial *t, uint32_t round)
{
    struct prove_package *k = t->k;
    const uint64_t from = hd_model_region_offset(k->model, HD_REGION_ARENA);
    bool good = true;

    for (uint32_t i = 0; i < t->n_in; i++)
        fill_operand(t, &t->in[i], round);
    fill_window(t);
    memcpy(t->before, k->window, k->memory.n);
    t->call(t->p, t->arg);
    for (uint32_t c = 0; c < t->n_op; c++) {
        const struct prove_op *o = t->op[c];

        if (!run_reference(t, o))
            return false;
        const uint8_t *y = bytes_of(t, o->op->out[0]);
        for (uint64_t b = 0; b < ir_bytes(ir_out(o->g, o->op, 0)); b++)
            for (uint32_t flip = 0; flip < 2; flip++)
                add_print(&t->made[c][flip][b], y[b] ^ (flip ? 0x80 : 0));
    }
    for (uint64_t i = 0; i < k->memory.n; i++) {
        if (k->window[i] != t->before[i]) {
            t->wrote[i] = 1;
            good = good && i >= from;
        }
        add_print(&t->print[i], k->window[i]);
    }
    for (uint32_t i = 0; i < t->n_state && good; i++)
        good =
            memcmp(k->window + t->state[i].at, t->value + t->state[i].in.first, t->state[i].n) == 0;
    return good;
}

/* --- the result --- */

/* Where a result is: value k of pixel p of the window is value channel[k] of it. */
struct place {
    uint64_t at;
    uint32_t pixels, all, kept,
        width; /* values of a pixel: of the result, of the window; bytes of a value */
    uint32_t *channel;
    bool flip;
};

static bool same_channel(const struct prove_trial *t, uint32_t c, const struct place *m, uint32_t k,
                         uint32_t channel)
{
    const uint32_t w = m->width;

    for (uint64_t p = 0; p < m->pixels; p++)
        for (uint32_t b = 0; b < w; b++)
            if (t->print[m->at + (p * m->kept + k) * w + b] !=
                t->made[c][m->flip][(p * m->all + channel) * w + b])
                return false;
    return true;
}

/* The window has all channels, in their order. */
static bool is_whole(const struct prove_trial *t, uint32_t c, struct place *m)
{
    for (uint32_t k = 0; k < m->all; k++) {
        m->channel[k] = k;
        if (!same_channel(t, c, m, k, k))
            return false;
    }
    return true;
}

/* Each of m->kept channels is one of the result's. */
static bool is_part(const struct prove_trial *t, uint32_t c, struct place *m)
{
    for (uint32_t k = 0; k < m->kept; k++) {
        uint32_t e = 0, used = 1;

        for (; e < m->all && used; e += used) {
            used = !same_channel(t, c, m, k, e);
            for (uint32_t i = 0; i < k && !used; i++)
                used = m->channel[i] == e;
        }
        if (used)
            return false;
        m->channel[k] = e;
    }
    return true;
}

/* The first value of the window is one of the result's first pixel. */
static bool begins(const struct prove_trial *t, uint32_t c, struct place m)
{
    m.pixels = 1;
    for (uint32_t e = 0; e < m.all; e++)
        if (same_channel(t, c, &m, 0, e))
            return true;
    return false;
}

/* The result of op[c] is at one of the arguments: all of it, or with `part` as many channels as there are. */
static bool find_result(const struct prove_trial *t, uint32_t c, bool part, struct place *best)
{
    const struct ir_tensor *of = ir_out(t->op[c]->g, t->op[c]->op, 0);
    const uint32_t all = (uint32_t)ir_dim_back(of, 0),
                   pixels = (uint32_t)(ir_elements(of) / (uint64_t)all),
                   width = (uint32_t)ir_type_bytes(of->type);
    uint32_t *channel = ARENA_ARRAY(t->arena, uint32_t, all * UINT64_C(2));

    *best = (struct place){.channel = channel};
    for (uint32_t a = 0; a < t->n_arg; a++)
        for (uint32_t flip = 0; flip < (of->type == IR_U8 ? 2 : 1); flip++) {
            struct place m = {0, pixels, all, all - part, width, channel + all, flip};

            if (!prove_inside(t->k, t->arg[a], width, &m.at) || !begins(t, c, m))
                continue;
            for (; m.kept > (part ? best->kept : all - 1); m.kept--)
                if (prove_inside(t->k, t->arg[a], (uint64_t)pixels * m.kept * width, &m.at) &&
                    (part ? is_part(t, c, &m) : is_whole(t, c, &m))) {
                    memcpy(channel, m.channel, m.kept * sizeof *channel);
                    *best = m;
                    best->channel = channel;
                }
            if (!part && best->kept)
                return true;
        }
    return best->kept > 0;
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
    bool only = t->n_state > 0;

    for (uint32_t i = 0; i < o->g->n_op; i++)
        for (uint32_t x = 0; x < o->g->op[i]->n_in; x++)
            only = only && o->g->op[i]->in[x] != o->op->out[0];
    for (uint32_t i = 0; i < o->g->n_out; i++)
        only = only && o->g->out[i] != o->op->out[0];
    return only;
}

/* A new term that is equal to t, for a byte of the window. */
static void give(const struct prove_trial *t, uint64_t at, uint32_t term)
{
    t->k->memory.term[at] = prove_again(t->k->p, term);
    t->wrote[at] = 0;
}

/* Give the window the terms of operator c's result, which is at place m, and of variables. */
static void conclude(struct prove_trial *t, uint32_t c, const struct place *m)
{
    struct prove_package *k = t->k;
    const struct prove_op *o = t->op[c];
    const uint32_t *y = k->graph->terms[o->op->out[0]];

    if (m && m->flip)
        y = prove_signed(o, ir_out(o->g, o->op, 0), y);
    for (uint32_t i = 0; i < t->n_state; i++)
        for (uint64_t b = 0; b < t->state[i].n; b++)
            give(t, t->state[i].at + b, t->state[i].in.op->after[t->state[i].in.input][b]);
    for (uint64_t v = 0; m && v < (uint64_t)m->pixels * m->kept; v++)
        for (uint32_t b = 0; b < m->width; b++)
            give(t, m->at + v * m->width + b,
                 y[(v / m->kept * m->all + m->channel[v % m->kept]) * m->width + b]);
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

bool prove_trial_run(struct prove_trial *t)
{
    struct prove_package *k = t->k;
    const uint32_t n = rounds(t);
    struct place m;
    bool good = true;

    for (uint32_t c = 0; c < t->n_op; c++)
        for (uint32_t flip = 0; flip < 2; flip++)
            t->made[c][flip] =
                ARENA_ARRAY(t->arena, uint64_t, ir_bytes(ir_out(t->op[c]->g, t->op[c]->op, 0)));
    memset(t->wrote, 0, k->memory.n);
    memset(t->print, 0, k->memory.n * sizeof *t->print);
    for (uint32_t r = 0; good && r < n; r++)
        good = run_once(t, r);
    memcpy(k->window, t->window, k->memory.n);
    for (uint32_t part = 0; good && part < 2; part++)
        for (uint32_t c = 0; c < t->n_op; c++)
            if (find_result(t, c, part, &m)) {
                conclude(t, c, &m);
                return true;
            }
    good = good && only_variable(t);
    if (good)
        conclude(t, 0, NULL);
    return good;
}
