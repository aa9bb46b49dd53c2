#!/bin/bash
# Every column of app/stats/columns.def is in stats.json, its schema, the CSV, the table and its legend, report.html and
# docs/REPORT.md (columns.py); a row typed into a copy of the table is missed in each.
. "$(dirname "$0")/../../e2e/common.sh"
check() { python3 "$HEDDLE_HOME/tests/app/stats/columns.py" "$@" out layers.csv; }

expect 0 '' "$heddle" run "$HEDDLE_HOME/tests/e2e/accounts.ir" --hw=tiny --engine=func -o out
"$heddle" report out/stats.json --format=csv >layers.csv || fail "--format=csv"
check >found || fail "$(cat found)"

cp "$HEDDLE_HOME/app/stats/columns.def" planted.def
cat >>planted.def <<'END'
COLUMN(lost_cycles, WORK, "mean", 1, "lost", 9, NUMBER, "Lost", "by nothing", mean(0), mean(0))
END
cat >expected <<'END'
lost_cycles: no member of each layer of stats.json
lost_cycles: CSV: expected a column
lost_cycles: no heading 'lost' in the table
lost_cycles: heading 'lost' is not in the legend
lost_cycles: not among the columns of report.html
lost_cycles: docs/REPORT.md has no line with it
docs/stats.v2.schema.json: not as columns.def: run tests/app/stats/columns.py --write
END
check --columns planted.def >found && fail "a planted column was not missed"
same expected found "planted column"

# --write brings it into the schema, for layers and groups, and nothing else changes
mkdir -p tree/docs tree/app/stats
cp "$HEDDLE_HOME/docs/stats.v2.schema.json" tree/docs/
cp "$HEDDLE_HOME/app/stats/columns.def" tree/app/stats/
python3 "$HEDDLE_HOME/tests/app/stats/columns.py" --tree tree --write
same "$HEDDLE_HOME/docs/stats.v2.schema.json" tree/docs/stats.v2.schema.json "the schema is as the table"
python3 "$HEDDLE_HOME/tests/app/stats/columns.py" --tree tree --columns planted.def --write
[ "$(grep -c '^        "lost_cycles": {"$ref": "#/$defs/mean"},$' tree/docs/stats.v2.schema.json)" = 2 ] ||
    fail "--write: $(grep lost tree/docs/stats.v2.schema.json)"
finish
