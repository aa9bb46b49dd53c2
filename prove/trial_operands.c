/* trial_operands.c - the operands of a trial: what its operators read and none of them makes. A byte of the window holds
 * a byte of an operand if both have the same term, wherever it is: a package may leave out channels, or order them in
 * another way. */
#include <string.h>

#include "trial.h"

/* By element: the link of the operand's byte that has it, 0 if none has. */
struct table {
    struct slot {
        prove_uwide element;
        uint32_t link;
    } * slot;
    uint64_t mask;
};

static uint32_t *look(const struct table *s, prove_uwide element)
{
    uint64_t at = (uint64_t)element & s->mask;

    while (s->slot[at].link && s->slot[at].element != element)
        at = (at + 1) & s->mask;
    s->slot[at].element = element;
    return &s->slot[at].link;
}

static uint32_t tensor_of(const struct prove_operand *in)
{
    return in->op->op->in[in->input];
}

/* Enter the bytes of an operand, of uint8 also as int8; a byte with the term of another is that one. */
static void enter(struct prove_trial *t, const struct table *s, const struct prove_operand *in)
{
    const struct ir_tensor *of = in->op->in[in->input];
    const uint32_t *x = in->op->x[in->input], *y = prove_signed(in->op, of, x);
    const struct prove_term *term = t->k->p->term;

    for (uint32_t b = 0; b < ir_bytes(of); b++) {
        if (prove_is_constant(x[b]))
            continue;
        const uint32_t flipped = y != x ? *look(s, term[y[b]].element) : 0;
        uint32_t *link = look(s, term[x[b]].element);
        if (!*link)
            *link = flipped ? flipped ^ 1 : (in->first + b + 1) << 1;
        t->same[in->first + b] = *link;
        if (y != x)
            *look(s, term[y[b]].element) = *link ^ 1;
    }
}

/* Enter the digits of an operand's sums. */
static void enter_digits(struct prove_trial *t, const struct table *s,
                         const struct prove_operand *in)
{
    const uint64_t n = in->digits ? prove_digits(in->op, in->input) : 0;

    for (uint64_t d = 0; d < n; d++) {
        const uint32_t term = prove_digit_term(in, d);
        uint32_t *link = look(s, t->k->p->term[term].element);

        if (!*link)
            *link = (uint32_t)(in->digits + d + 1) << 1;
        t->same[in->digits + d] = *link;
    }
}

/* Link the window's bytes; mark by operand's byte which are there. */
static void link_window(struct prove_trial *t, const struct table *s, bool *there)
{
    const struct prove_package *k = t->k;

    for (uint64_t w = 0; w < k->memory.n; w++) {
        const uint32_t term = k->memory.term[w];

        t->link[w] = 0;
        if (term == PROVE_NOTHING || prove_is_constant(term))
            continue;
        t->link[w] = *look(s, k->p->term[term].element);
        if (t->link[w])
            there[(t->link[w] >> 1) - 1] = true;
    }
}

/* At least half of the operand's bytes that are not constant are in the window: those of channels that change no
 * result may be missing. */
static bool is_there(const struct prove_trial *t, const struct prove_operand *in, const bool *there)
{
    uint64_t found = 0, all = 0;

    for (uint32_t b = 0; b < ir_bytes(in->op->in[in->input]); b++) {
        const uint32_t same = t->same[in->first + b];

        all += same > 0;
        found += same && there[(same >> 1) - 1];
    }
    return 2 * found >= all;
}

/* At least a fourth of the digits: there are at most 4 of a sum. */
static bool has_digits(const struct prove_trial *t, const struct prove_operand *in,
                       const bool *there)
{
    const uint64_t n = in->digits ? prove_digits(in->op, in->input) : 0;
    uint64_t found = 0;

    for (uint64_t d = 0; d < n; d++)
        found += there[(t->same[in->digits + d] >> 1) - 1];
    return n && 4 * found >= n;
}

/* True if one of the operators makes the tensor, or it is an operand already. */
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

/* List the operands; false if one has no terms. */
static bool list(struct prove_trial *t)
{
    uint64_t most = 0, variables = 0;

    for (uint32_t c = 0; c < t->n_op; c++)
        for (uint32_t i = 0; i < t->op[c]->op->n_in; i++, most++)
            variables += t->op[c]->in[i] && t->op[c]->in[i]->role == IR_VARIABLE;
    t->in = ARENA_ARRAY(t->arena, struct prove_operand, most + 1);
    t->state = ARENA_ARRAY(t->arena, struct prove_variable, variables * t->n_arg + 1);
    t->n_in = t->n_value = t->n_state = 0;
    for (uint32_t c = 0; c < t->n_op; c++) {
        const struct prove_op *o = t->op[c];

        for (uint32_t i = 0; i < o->op->n_in; i++) {
            if (!o->in[i] || o->in[i]->role == IR_CONST || is_known(t, o->op->in[i]))
                continue;
            t->missing = o->op->in[i];
            if (!o->x[i])
                return false;
            struct prove_operand *in = &t->in[t->n_in++];
            *in = (struct prove_operand){.op = o, .input = i, .first = t->n_value};
            t->n_value += (uint32_t)ir_bytes(o->in[i]);
            in->digits = prove_digits(o, i) ? t->n_value : 0;
            t->n_value = (t->n_value + (uint32_t)prove_digits(o, i) + 15) & ~15u; /* aligned */
        }
    }
    t->missing = IR_NONE;
    return true;
}

/* Find the arguments that hold a variable. */
static bool find_variable(struct prove_trial *t, const struct prove_operand *in)
{
    const uint32_t *x = in->op->x[in->input], before = t->n_state;
    struct prove_variable v = {.in = *in, .n = ir_bytes(in->op->in[in->input])};

    for (uint32_t a = 0; a < t->n_arg; a++)
        if (prove_inside(t->k, t->arg[a], v.n, &v.at)) {
            uint64_t b = 0;

            for (; b < v.n; b++) {
                const uint32_t term = t->k->memory.term[v.at + b];
                if (term == PROVE_NOTHING ||
                    t->k->p->term[term].element != t->k->p->term[x[b]].element)
                    break;
            }
            if (b == v.n)
                t->state[t->n_state++] = v;
        }
    return t->n_state > before;
}

bool prove_trial_find(struct prove_trial *t)
{
    struct arena *a = t->arena;
    struct table s = {NULL, 1023};

    if (!list(t))
        return false;
    while (s.mask < (uint64_t)t->n_value * 4)
        s.mask = s.mask * 2 + 1;
    struct arena *own = arena_beside(a);
    bool *there = ARENA_ARRAY(own, bool, t->n_value + UINT64_C(1));
    s.slot = ARENA_ARRAY(own, struct slot, s.mask + 1);
    t->same = ARENA_ARRAY(a, uint32_t, t->n_value + UINT64_C(1));
    t->value = arena_alloc(a, t->n_value + UINT64_C(1));
    for (uint32_t i = 0; i < t->n_in; i++)
        enter(t, &s, &t->in[i]);
    for (uint32_t i = 0; i < t->n_in; i++)
        enter_digits(t, &s, &t->in[i]);
    link_window(t, &s, there);
    for (uint32_t i = 0; i < t->n_in && t->missing == IR_NONE; i++)
        if ((!is_there(t, &t->in[i], there) && !has_digits(t, &t->in[i], there)) ||
            (t->in[i].op->in[t->in[i].input]->role == IR_VARIABLE && !find_variable(t, &t->in[i])))
            t->missing = tensor_of(&t->in[i]);
    arena_free(own);
    return t->missing == IR_NONE;
}
