#!/usr/bin/env bash
# Messages, comments and pages use the field's words: none of the phrases below is in the sources of the
# program, the driver, the simulation, the targets or their tests. Each line: a regular expression, then what to
# write instead.
cd "$HEDDLE_HOME" || exit 1
folders=(app base compiler driver include kernels python reference sim targets tests)
failures=0
while IFS= read -r row; do
    phrase=${row%% -> *} instead=${row#* -> }
    while IFS= read -r line; do
        echo "FAIL: $line"
        echo "      write: $instead"
        failures=$((failures + 1))
    done < <(grep -rniwE --include='*.c' --include='*.h' --include='*.cpp' --include='*.def' --include='*.sv' \
        --include='*.md' --include='*.py' --include='*.sh' --include='*.json' --include='*.err' --include='*.txt' \
        --exclude="$(basename "$0")" -- "$phrase" "${folders[@]}")
done <<'PHRASES'
(lies?|one|not|codes?|values?|nothing|it) behind -> after, following
behind (it|them|the|a) -> after, following
hangs? on -> depends on
leaves the arena -> exceeds the arena
takes? no part -> is not selected (--target)
takes part -> is selected
stands? there twice -> duplicate
(as|error|errors|stops?|stopped|printed|told) in words -> as text
at the most -> at most
as many again -> twice
functional twin -> functional model
the twin -> functional model
(8|16)-bit codes -> 8-bit values, 16-bit values
(on|of|moves?|int8|uint8) codes -> quantised values
codes (of|with|from|as) -> quantised values
targets? from outside -> external target
beside (it|the|ARRAY|N) -> next to, in parallel with, in addition to
is not there -> not found
PHRASES
[ "$failures" = 0 ] || echo "$failures lines; docs/GLOSSARY.md has the terms"
[ "$failures" = 0 ]
