#!/usr/bin/env bash
# The version of heddle, of the core file, of the Debian packages and of the newest release in CHANGELOG.md is the one of CMakeLists.txt.
cd "$HEDDLE_HOME" || exit 1
version=$(sed -n 's/^project(heddle VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
failures=0
same() { # WHAT FOUND
    [ "$2" = "$version" ] && return
    echo "FAIL: $1: expected '$version', found '$2'"
    failures=1
}

same "heddle --version" "$("$HEDDLE_BUILD/heddle" --version | awk '{ print $2 }')"
same heddle.core "$(sed -n 's/^name: "::heddle:\(.*\)"$/\1/p' heddle.core)"
same debian/changelog "$(sed -n '1s/^heddle (\(.*\)) .*/\1/p' debian/changelog)"
same CHANGELOG.md "$(sed -n 's/^## \[\([0-9.]*\)\] - 20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]$/\1/p' CHANGELOG.md | head -1)"
lines=$(awk '/^## \[[0-9]/ { n++ } n == 1' CHANGELOG.md | wc -l)
[ "$lines" -le 120 ] || { echo "FAIL: CHANGELOG.md: the newest release has $lines lines, expected at most 120"; failures=1; }
exit "$failures"
