/* formula.c - see formula.h. Reads a formula along the operators that compute a tensor. */
#include "formula.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { WORD = 24 };

static bool term(struct ir_match *m, const char **at, uint32_t id);

static void skip_spaces(const char **at)
{
    while (**at == ' ')
        ++*at;
}

static bool skip(const char **at, char c)
{
    skip_spaces(at);
    if (**at != c)
        return false;
    ++*at;
    return true;
}

/* Return true if the same operator makes both of one tensor: a file may dequantise it twice. */
static bool alike(const struct ir_graph *g, uint32_t a, uint32_t b)
{
    const struct ir_tensor *x = g->tensor[a], *y = g->tensor[b];

    if (x->producer == IR_NONE || y->producer == IR_NONE || x->type != y->type || x->quant.n != 0)
        return false;
    const struct ir_op *p = g->op[x->producer], *q = g->op[y->producer];
    return p->opcode == q->opcode && p->n_in == 1 && q->n_in == 1 && p->in[0] == q->in[0] &&
           memcmp(p->attr, q->attr, sizeof p->attr) == 0;
}

/* Bind the letter to tensor `id`; false if the letter already names another tensor. */
static bool bind(struct ir_match *m, char letter, uint32_t id)
{
    uint32_t *t = &m->tensor[letter - 'a'];

    if (*t == IR_NONE)
        *t = id;
    return *t == id || alike(m->g, *t, id);
}

static bool constant(struct ir_match *m, uint32_t id)
{
    return m->is_constant ? m->is_constant(m, id) : m->g->tensor[id]->role == IR_CONST;
}

/* Match the operands in brackets; `exchanged`: the second one first. */
static bool operands(struct ir_match *m, const char **at, const struct ir_op *op, bool exchanged)
{
    for (uint32_t i = 0; skip(at, i == 0 ? '(' : ','); i++) {
        const uint32_t k = exchanged ? 1 - i : i;

        if (k >= op->n_in || op->in[k] == IR_NONE || !term(m, at, op->in[k]))
            return false;
    }
    return skip(at, ')');
}

static bool operation(struct ir_match *m, const char **at, uint32_t id, const char *word)
{
    const uint32_t maker = m->g->tensor[id]->producer;
    struct ir_op *op = maker == IR_NONE ? NULL : m->g->op[maker];
    const struct ir_match before = *m;
    const char *const begin = *at;
    enum ir_opcode opcode = IR_OPCODES;

    if (!ir_op_named(word, &opcode))
        assert(!"a formula names no operator of operators.def");
    if (!op || op->opcode != opcode || (m->takes && !m->takes(m, op)))
        return false;
    for (uint32_t way = 0; way < (ir_op_info(opcode)->commutes ? 2 : 1); way++) {
        *m = before;
        *at = begin;
        assert(m->n_op < IR_MATCH_OPS);
        m->op[m->n_op++] = op;
        if (operands(m, at, op, way == 1))
            return true;
    }
    return false;
}

static bool term(struct ir_match *m, const char **at, uint32_t id)
{
    char word[WORD] = {0};
    uint32_t n = 0;

    if (skip(at, '#') && !constant(m, id))
        return false;
    skip_spaces(at);
    while (n + 1 < WORD && (isalnum((unsigned char)**at) || **at == '_'))
        word[n++] = *(*at)++;
    skip_spaces(at);
    if (**at == '(')
        return operation(m, at, id, word);
    assert(n == 1 && islower((unsigned char)*word));
    return bind(m, *word, id) && (!skip(at, '=') || term(m, at, id));
}

bool ir_match(struct ir_match *m, uint32_t id, const char *formula)
{
    m->n_op = 0;
    for (uint32_t i = 0; i < IR_MATCH_LETTERS; i++)
        m->tensor[i] = IR_NONE;
    return term(m, &formula, id);
}
