#!/bin/bash
# docs/README.md begins with three doors: each has one to ten lines of commands and leads on to pages. The nightly types them
# (tests/e2e/pages). Every page of docs/ is in its table.
. "$(dirname "$0")/../e2e/common.sh"
cd "$HEDDLE_HOME/docs" || exit 1
awk '/^## All pages/ { exit } /^## / { door = substr($0, 4); lines[door] = 0 } /^    [^ ]/ { lines[door]++ } /\.md\)/ { on[door] = 1 }
    END { for (door in lines) print lines[door], on[door] + 0, door }' README.md | sort -k3 >"$work/doors"
[ "$(awk '$1 >= 1 && $1 <= 10 && $2' "$work/doors" | wc -l)" = 3 ] && [ "$(wc -l <"$work/doors")" = 3 ] || fail "doors: $(cat "$work/doors")"
for page in *.md; do
    [ "$page" = README.md ] || grep -q "^| \[$page\]($page) |" README.md || fail "the table lacks $page"
done
finish
