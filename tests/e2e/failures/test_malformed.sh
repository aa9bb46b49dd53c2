#!/bin/bash
# Files that must be refused (tests/oracle/fixed/malformed_tflite.py): exit code 3, exactly the message of
# expected.txt, within 64 MiB of address space (not under sanitizers, which take their own) and, on
# average, 100 ms of processor time.
. "$(dirname "$0")/../common.sh"

folder=$HEDDLE_HOME/tests/compiler/import/malformed
limit=65536
grep -q __asan_init "$heddle" && limit=unlimited
count=0
while IFS= read -r line; do
    name=${line%%: *}
    message=${line#*: }
    (ulimit -v $limit; exec "$heddle" inspect "$folder/$name.tflite") >stdout 2>stderr
    got=$?
    [ "$got" = 3 ] || fail "$name ends with $got: $(head -c 300 stderr)"
    [ "$(cat stderr)" = "heddle: $folder/$name.tflite: $message" ] ||
        fail "$name: expected '$message', found '$(head -c 300 stderr)'"
    count=$((count + 1))
done <"$folder/expected.txt"
[ "$count" -ge 40 ] || fail "only $count files"
[ "$count" = "$(find "$folder" -name '*.tflite' | wc -l)" ] || fail "files without a message"

read -r minutes seconds rest < <(times | tail -n 1 | sed 's/m/ /; s/\..*//')
[ $((minutes * 60 + seconds)) -le $((count / 10)) ] ||
    fail "$count files took $minutes m $seconds s $rest of processor time"
finish
