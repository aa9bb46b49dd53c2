#!/bin/bash
# Every column of app/stats/columns.def is in stats.json, the schemas, the CSV, the table and its legend, report.html,
# docs/REPORT.md, and those of a run in the database, table, page and results.json of regress and in sweep's CSV
# (columns.py); a row typed into a copy of the table is missed in each.
. "$(dirname "$0")/../../e2e/common.sh"
check() { python3 "$HEDDLE_HOME/tests/app/stats/columns.py" "$@" out layers.csv sweep; }

expect 0 '' "$heddle" run "$HEDDLE_HOME/tests/e2e/numbers/accounts.ir" --hw=tiny --engine=func -o out
"$heddle" report out/stats.json --format=csv >layers.csv || fail "--format=csv"
cat >suite.json <<END
{"schema": "heddle.suite.v1", "name": "s", "runs": [{"networks": ["$HEDDLE_HOME/tests/e2e/numbers/accounts.ir"],
 "configurations": ["tiny"], "engines": ["func"]}]}
END
expect 0 '' "$heddle" sweep suite.json -o sweep
expect 0 '' "$heddle" regress suite.json -o sweep
"$heddle" regress show last -o sweep >sweep_show.txt || fail "regress show"
check >found || fail "$(cat found)"

cp "$HEDDLE_HOME/app/stats/columns.def" planted.def
cat >>planted.def <<'END'
COLUMN(lost_cycles, WORK, "mean", 1, "lost", 9, NUMBER, "Lost", "by nothing", mean(0), mean(0),
       RUN(9, mean(0)))
END
cat >expected <<'END'
lost_cycles: no member of each layer of stats.json
lost_cycles: CSV: expected a column
lost_cycles: no heading 'lost' in the table
lost_cycles: heading 'lost' is not in the legend
lost_cycles: not among the columns of report.html
lost_cycles: docs/REPORT.md has no line with it
lost_cycles: no member of stats.json
lost_cycles: results.json: expected a member
lost_cycles: sweep.csv: expected a member
lost_cycles: regress.db: expected a member
lost_cycles: no heading 'lost' in regress's table
lost_cycles: no heading 'lost' in regress's page
docs/stats.v2.schema.json: not as columns.def: run tests/app/stats/columns.py --write
docs/regress.v1.schema.json: not as columns.def: run tests/app/stats/columns.py --write
END
check --columns planted.def >found && fail "a planted column was not missed"
same expected found "planted column"

# --write adds it to the schemas of layers, groups and runs, and changes nothing else
mkdir -p tree/docs tree/app/stats
cp "$HEDDLE_HOME"/docs/{stats.v2,regress.v1}.schema.json tree/docs/
cp "$HEDDLE_HOME/app/stats/columns.def" tree/app/stats/
write() { python3 "$HEDDLE_HOME/tests/app/stats/columns.py" --tree tree --write "$@"; }
write
for schema in stats.v2 regress.v1; do
    same "$HEDDLE_HOME/docs/$schema.schema.json" tree/docs/$schema.schema.json "the schema is as the table"
done
write --columns planted.def
[ "$(grep -c '^ *"lost_cycles": {"$ref": "#/$defs/mean"},$' tree/docs/stats.v2.schema.json)" = 3 ] ||
    fail "--write: $(grep lost tree/docs/stats.v2.schema.json)"
[ "$(grep -c '^        "lost_cycles": {"$ref": "#/$defs/number_or_null"},$' tree/docs/regress.v1.schema.json)" = 1 ] ||
    fail "--write: $(grep lost tree/docs/regress.v1.schema.json)"
finish
