#!/bin/bash
# Every file, page, heading, option, make target and name that pages and comments mention exists (names.py).
# The last part plants one wrong name of each kind and expects it to be found.
. "$(dirname "$0")/../e2e/common.sh"
names=$HEDDLE_HOME/tests/docs/names.py

for command in $("$heddle" completion words ""); do "$heddle" "$command" --help; done >help || fail "heddle --help"
python3 "$names" "$HEDDLE_HOME" help >found || fail "names that do not exist:"$'\n'"$(cat found)"

mkdir -p tree/docs tree/base
printf 'all: thing\nthing:\n\ttrue\n' >tree/Makefile
printf '/* one.c - see gone.h, docs/PAGE.md, "No heading"; --gone, and two_words_gone. */\nint one_word;\n' >tree/base/one.c
cat >tree/docs/PAGE.md <<'END'
# Page
`one.c`, [one](../base/one.c), `one_word`, `--seed`, `make thing` and [itself](#page) exist.
`two.c`
[two](two.md)
[no heading](#two)
`name_gone`
`--sed`
`make nothing`
`base/*.h`
END
cat >expected <<'END'
base/one.c:1: no file gone.h
base/one.c:1: no heading "No heading" in docs/PAGE.md
base/one.c:1: no option --gone
docs/PAGE.md:3: no file two.c
docs/PAGE.md:4: no file two.md
docs/PAGE.md:5: no heading #two in docs/PAGE.md
docs/PAGE.md:6: no name name_gone
docs/PAGE.md:7: no option --sed
docs/PAGE.md:8: no make target nothing
docs/PAGE.md:9: no file base/*.h
END
python3 "$names" tree help >found && fail "the planted names were not found"
diff expected found >difference || fail "planted names: $(cat difference)"
finish
