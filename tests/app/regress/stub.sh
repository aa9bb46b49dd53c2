# stub.sh - shared by tests of heddle regress: runs that take no time. Sourced; sources common.sh.
. "$HEDDLE_HOME/tests/e2e/common.sh"
export STUB_RULES=$work/rules STUB_LOG=$work/log XDG_CACHE_HOME=$work/cache
: >rules >log
for net in a b c; do echo $net >$net.tflite; done

# suite NAME [JSON of more members]: writes a suite of networks a and b, tiny and sys16, seeds 1 and 2: 8 runs.
suite() {
    cat >"$1.json" <<END
{"schema": "heddle.suite.v1", "name": "$1",
 "runs": [{"networks": ["a.tflite", "b.tflite"], "configurations": ["tiny", "sys16"], "seeds": [1, 2]}]${2:-}}
END
}
regress() { "$heddle" regress "$@" --heddle="$HEDDLE_BUILD/regress_stub" --commit=c1; }
started() { wc -l <log; }
