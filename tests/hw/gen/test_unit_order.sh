#!/bin/bash
# No source compares a VECTOR operation, opcode or space by its place in the enum: what a value means is
# in hw/accel.json, section facts. The number of values (HD_VOP_COUNT) is a bound, not a meaning.
set -eu
name='(HD_(VOP|OPCODE|SPACE)_[A-Z0-9_]+|(Vop|Op|Space)[A-Z][A-Za-z]*)'
by_order="(^|[^<>=-])(<|<=|>|>=) *$name|$name *(<|<=|>|>=)([^<>=]|\$)"

compared() { # compared < LINES: those that compare by order
    grep -E "$by_order" | grep -vE '(HD_(VOP|OPCODE|SPACE)_COUNT|(Vop|Op|Space)(Bits|Count))' || true
}

planted='if (c->op <= HD_VOP_PRELU)
two_o <= op_i <= VopMaxPoolTwo;
return HD_SPACE_BIAS < space;'
[ "$(compared <<<"$planted" | wc -l)" = 3 ] || { echo "the test misses a planted comparison"; exit 1; }
! compared <<<'for (op = 0; op < HD_VOP_COUNT; op++) x = op == HD_VOP_ADD ? p->op : 1 << HD_VOP_SUM;' | grep . ||
    { echo "the test takes a bound for a comparison"; exit 1; }

found=$(git ls-files '*.c' '*.h' '*.cpp' '*.sv' '*.svh' '*.def' | xargs -d '\n' grep -HnE "$name" | compared)
[ -z "$found" ] || { echo "compared by its order in an enum; expected a column of hw/accel.json's facts:"; echo "$found"; exit 1; }
