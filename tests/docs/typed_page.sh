# Shared by tests that type a page of docs/ into a copy of the sources, tree/. Sourced after common.sh; page: its path.
# A block is the indented lines up to one that is not; empty lines inside are part of it. Blocks are counted from 1. typed: the files that were changed.
typed=

copy_sources() { # copy_sources [PATH...]: the sources without tests, and those PATHs
    mkdir tree
    (cd "$HEDDLE_HOME" && { git ls-files -z -- ':!tests' && { [ $# = 0 ] || git ls-files -z -- "$@"; }; } |
        tar -c --null -T -) | tar -x -C tree || fail "cannot copy the sources"
}

block_of() { # block_of N: block N, to the file "block"
    awk -v want="$1" '/^    /{if (!inside) n++; else if (empty && n == want) print ""; inside = 1; empty = 0
            if (n == want) print substr($0, 5); next}
        /^$/{empty = 1; next} {inside = 0; empty = 0}' "$page" >block
    [ -s block ] || fail "$page has no block $1"
}

# put HOW FILE TEXT N: block N goes before FILE's first line with TEXT, or instead of it; within: directly after TEXT.
put() {
    block_of "$4"
    awk -v how="$1" -v text="$3" '
        FNR == NR { block = block (FNR > 1 ? "\n" : "") $0; next }
        !done && (at = index($0, text)) {
            done = 1
            if (how == "within") { end = at + length(text); $0 = substr($0, 1, end - 1) block substr($0, end) }
            else { print block; if (how == "instead") next }
        }
        { print }' block "tree/$2" >changed
    cmp -s changed "tree/$2" && fail "$2 has no line with '$3'"
    mv changed "tree/$2"
    typed=$(printf '%s\n' $typed "$2" | sort -u)
}

at_most() { # at_most COUNT: files of the list typed
    [ "$(wc -w <<<"$typed")" -le "$1" ] || fail "$(basename "$page"): more than $1 files: $typed"
}
