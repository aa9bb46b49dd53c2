#!/bin/bash
# Every command printed on a page (README.md, docs/, the README of each folder, those that new-target writes) does
# what it states, pasted as printed: in the checkout at ~/heddle, pages of docs/ and of new targets in an empty folder with
# what their own lines put there. Each page starts afresh. Text that the page shows as printed was printed by one of its
# commands, digit for digit (page_says.py). `never` and `later` are what is not tried, and why. Pages: README.md and
# RETARGET.md; HEDDLE_DOCS=all (.ci/nightly): all of them, and `later` too. Lines after such a command are compared then.
# UPDATE=1 writes what is printed now into the pages:
#     UPDATE=1 HEDDLE_HOME=$PWD HEDDLE_BUILD=$PWD/build bash tests/e2e/pages/test_slow_docs.sh README.md
# A comment "exit code N" next to a command: that is what it returns. Arguments: pages, instead of all.
. "$(dirname "$0")/../common.sh"
[ $# -gt 0 ] || [ "${HEDDLE_DOCS:-}" = all ] || set -- README.md docs/RETARGET.md

# REGEX REASON, on "PAGE COMMAND".
never=(
    '\.md (make (unit|check|check-rtl|formal|coverage|test|lint|format|nightly)\b|\.ci/run\b)' 'steps of .ci/run and .ci/nightly'
    '\.md make (bench-host|bench-sim|bench-memory|bench-peers|synth)\b' 'measures for minutes to hours on a quiet machine'
    '\.md tests/mutants/mutants\.py( [a-z]| *#|$)' 'a step of .ci/nightly'
    '\.md make registers\b' 'writes into the source tree; tests/hw/gen compares the page'
    'FPGA\.md bash \S*/route\.sh' 'places and routes for an hour'
    '\.md gtkwave ' 'needs a display; tests/waves opens these files in one'
    '\.md (sudo )?apt-get ' 'changes the machine'
    '-m venv|(TRAIN|CLASSIC|NEW|keras|torch|verilators?)/bin/|CLASSIC=' 'downloads a Python environment'
    'grade/README\.md build/heddle grade-target mine ' 'needs a target of yours: tests/app/grade does it for a small core'
    'cmsis_nn/README\.md build/heddle run ' 'needs CMSIS-NN: tests/e2e/targets/test_slow_cmsis_nn.sh'
    'ethos_u/README\.md ' 'needs Vela: tests/e2e/targets/test_slow_ethos_u.sh'
    'build/shapes/|tensorflow as tf|KERAS\.md heddle quantise' 'needs TensorFlow: tests/e2e/pages/test_slow_keras.sh'
    'PYTORCH\.md heddle run ' 'needs PyTorch: tests/e2e/pages/test_nightly_pytorch.sh'
)
later=(
    '\.md make sim .*WAVES=' 'builds a traced model of sys16 for a minute; tests/waves has tiny'
    'run resnet8_own .*--target=(onednn|shuttle,c|strawberry,c|vanilla|xnnpack)( |$)' '10 to 20 s each; tests/e2e/targets/test_*_ONE.sh runs digits there'
    'heddle grade-target ' 'takes its minutes; tests/app/grade does it for a small core'
    'check-target targets/' 'tests/e2e/targets/test_*_ONE.sh does'
    'README\.md cmake -S net ' 'docs/PACKAGE.md has the same'
    'PACKAGE\.md .*(net/(arm|riscv)|net55)' 'compiles all kernels again; tests/app/run/test_nightly_package.sh does it'
    'tune/README\.md ' 'README.md has the same'
    'README\.md .*tuned=my\.db' 'tunes for 15 s; tests/e2e/numbers/test_nightly_tune_target.sh, pages that tune fewer trials'
    'FPGA\.md bash \S*/simulate\.sh' 'builds a model for half a minute; tests/fpga/test_nightly_soc.sh runs the same'
    '\.md make regress' 'builds models of four configurations'
    'kit/(core|wide|copy)/README\.md heddle (check-target|run) ' 'tests/app/check and docs/RETARGET.md do the like'
)

export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache} LC_ALL=C
source_tree=$HEDDLE_HOME build_tree=$HEDDLE_BUILD old_path=$PATH
unset HEDDLE_HOME HEDDLE_BUILD HEDDLE_TARGET_PATH XDG_CONFIG_HOME
tree=$work/home/heddle
tried=0 shown=0

# A checkout that is built, in an empty home: the tree's files, and links to what the build tree holds.
fresh_home() {
    chmod -R u+w "$work/home" 2>/dev/null
    rm -rf "$work/home"
    mkdir -p "$tree/build"
    tar -C "$source_tree" --exclude=./build --exclude=./.git -cf - . | tar -C "$tree" -xf -
    find "$build_tree" -mindepth 1 -maxdepth 1 ! -name out -exec ln -s {} "$tree/build/" \;
}

pages() {
    (cd "$source_tree" && find . -path ./build -prune -o -name '*.md' ! -name CHANGELOG.md -print | sed 's/^..//' | sort)
}

# why LINE LIST...: the reason of the first expression that fits.
why() {
    local line=$1
    shift
    while [ $# -gt 0 ]; do
        [[ $line =~ $1 ]] && { echo "$2"; return; }
        shift 2
    done
    return 1
}

# One line of a page, as a line of a shell that went through those before.
try() { # try PAGE:LINE COMMAND
    local expected=0 got start=$SECONDS
    [[ $2 =~ \#.*exit\ code\ ([0-9]+) ]] && expected=${BASH_REMATCH[1]}
    eval "$2" >"$work/out" 2>&1 </dev/null
    got=$?
    [ "$got" = "$expected" ] || fail "$1: $2: exit $got, expected $expected: $(tail -c 600 "$work/out")"
    cat "$work/out" >>"$work/printed"
    echo "$1 ($((SECONDS - start)) s): $2"
}

page() { # page NAME FILE FOLDER: in a subshell; the exit status is the number of failures
    local name=$1 file=$2 kind at text reason tried=yes source=()
    [ -z "${UPDATE:-}" ] || source=("$file")
    cd "$3" || exit 1
    failures=0
    : >"$work/printed"
    : >"$work/says"
    python3 "$source_tree/tests/e2e/pages/page_lines.py" "$file" . >"$work/lines" || fail "$name"
    while IFS=$'\t' read -r -u 3 kind at text; do
        [ "$kind" = run ] || { [ -z "$tried" ] || printf '%s\t%s\n' "$at" "$text" >>"$work/says"; continue; }
        tried=yes
        if reason=$(why "$name $text" "${never[@]}"); then
            echo "$name:$at: not tried ($reason): $text"
            tried=
        elif [ "${HEDDLE_DOCS:-}" != all ] && reason=$(why "$name $text" "${later[@]}"); then
            echo "$name:$at: nightly ($reason): $text"
            tried=
        else
            try "$name:$at" "$text"
        fi
    done 3<"$work/lines"
    python3 "$source_tree/tests/e2e/pages/page_says.py" "$name" "$work/printed" "${source[@]}" <"$work/says" ||
        fail "$name: what it shows as printed"
    exit "$failures"
}

start() { # start NAME FILE FOLDER: on its own, and counted
    (page "$@")
    failures=$((failures + $?))
    tried=$((tried + $(grep -c ^run "$work/lines")))
    shown=$((shown + $(grep -c ^says "$work/lines")))
}

why_not=$("$source_tree/.ci/venv" cores) || never+=('FPGA\.md .*(venv cores|simulate\.sh)' "$why_not")
why_not=$("$source_tree/.ci/venv" new) || never+=('MISMATCH\.md .*(venv new|--oracle)' "$why_not")
export HOME=$work/home
while read -r name; do
    python3 "$source_tree/tests/e2e/pages/page_lines.py" "$source_tree/$name" "$work" >lines || fail "$name"
    grep -q ^run lines && [[ $# = 0 || " $* " = *" $name "* ]] || continue
    fresh_home
    case $name in
        docs/*) mkdir "$work/home/any" && start "$name" "$source_tree/$name" "$work/home/any" ;;
        targets/kit/*)
            mkdir "$work/home/any"
            (cd "$work/home/any" && "$tree/build/heddle" new-target newtarget --template="$(basename "$(dirname "$name")")") \
                >stdout 2>&1 || fail "$name: $(cat stdout)"
            PATH=$tree/build:$old_path HEDDLE=$tree start "$name" "$work/home/any/newtarget/README.md" "$work/home/any"
            ;;
        tests/*) start "$name" "$source_tree/$name" "$tree/$(dirname "$name")" ;;
        *) start "$name" "$source_tree/$name" "$tree" ;;
    esac
done < <(pages)
echo "$tried commands, $shown lines that they print"
[ $# -gt 0 ] || { [ "$tried" -ge 90 ] && [ "$shown" -ge 55 ]; } || fail "only $tried commands and $shown printed lines were found"

# --- a page that leaves out what a match covers is found ---
printf 'verdict: match: 1 output, and 2 of 2 layers\n' >printed
printf '1\tverdict: match: 1 output, and 2 of 2 layers\n' | python3 "$source_tree/tests/e2e/pages/page_says.py" page printed || fail "a whole verdict is refused"
printf '1\tverdict: match: 1 output\n' | python3 "$source_tree/tests/e2e/pages/page_says.py" page printed >stdout && fail "a part of a verdict passes"

# --- docs/TARGET.md is what heddle prints; tests/docs/test_names.sh follows the links between pages ---
"$heddle" targets --reference | diff - "$source_tree/docs/TARGET.md" >stdout ||
    fail "docs/TARGET.md is not what heddle targets --reference prints: $(head -n 4 stdout)"
finish
