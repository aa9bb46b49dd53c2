/* formula.h - find the operators that make a tensor by a formula.
 * A formula is text, as
 *     "mul(div(d = sub(x, mean(x)), sqrt(add(mean(mul(d, d)), #e))), #g)".
 * A word before '(' is an operator of operators.def. A letter is a tensor, the same one wherever it
 * stands; "letter =" names the result of a term; '#' marks a constant. The operands of an operator
 * that commutes match in either order. */
#ifndef HEDDLE_COMPILER_IR_FORMULA_H
#define HEDDLE_COMPILER_IR_FORMULA_H

#include "ir.h"

enum { IR_MATCH_LETTERS = 26, IR_MATCH_OPS = 20 };

struct ir_match {
    const struct ir_graph *g;
    const void *ctx;
    /* Condition that an operator must meet beyond the formula. NULL: none, and a constant is a
     * tensor of role IR_CONST. */
    bool (*takes)(const struct ir_match *m, const struct ir_op *op);
    bool (*is_constant)(const struct ir_match *m, uint32_t id);
    /* The match: tensors by letter (IR_NONE for letters not in the formula), operators in the order
     * of their words. */
    uint32_t tensor[IR_MATCH_LETTERS];
    struct ir_op *op[IR_MATCH_OPS];
    uint32_t n_op;
};

/* Match tensor `id`; if false, the match is undefined. */
bool ir_match(struct ir_match *m, uint32_t id, const char *formula);
static inline uint32_t ir_matched(const struct ir_match *m, char letter)
{
    return m->tensor[letter - 'a'];
}

#endif
