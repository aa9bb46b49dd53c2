#!/usr/bin/env bash
# Comments, messages, option help and pages use a construction of grammar.txt no more often than its limit states.
# The last part plants each construction once and expects it to be found.
. "$(dirname "$0")/../e2e/common.sh"
grammar=$HEDDLE_HOME/tests/docs/grammar.py

python3 "$grammar" "$HEDDLE_HOME" "$HEDDLE_HOME/tests/docs/grammar.txt" >found || fail "$(cat found)"

mkdir -p tree/docs tree/base
sed 's/^\([a-z]*\) [0-9]* /\1 0 /' "$HEDDLE_HOME/tests/docs/grammar.txt" >limits
cat >tree/base/one.c <<'END'
/* Of one process, a multiple of 64 bytes. */
/* one.c - a table.
 * What --target
 * was given. */
int a; // has so many rows
static const char *help = "the unit is told of it";
/* The row stands in memory. Nobody reads it. */
/* A SLICE backwards is a GATHER. Is it
 * the last? */
/* All but for one: it goes on with a line a run. */
/* It is no image. The same of rows: no matter. */
END
{
    echo "A page stands for itself. As many rows as columns."
    echo "This sentence has one two three four five six seven eight nine ten one two three four five six seven eight"
    echo "nine ten, which is two words more."
} >tree/docs/page.md
python3 "$grammar" tree limits >found && fail "the planted constructions were not found"
grep -o '^  [^ ]*' found | sort >places
sort >expected <<'END'
  base/one.c:1:
  base/one.c:2:
  base/one.c:5:
  base/one.c:6:
  base/one.c:7:
  base/one.c:7:
  base/one.c:8:
  base/one.c:8:
  base/one.c:10:
  base/one.c:10:
  base/one.c:10:
  base/one.c:11:
  base/one.c:11:
  base/one.c:11:
  docs/page.md:1:
END
diff expected places >difference || fail "planted constructions: $(cat difference)"
grep -qx "15 in all" found || fail "expected 15 in all, found $(tail -1 found)"
finish
