#!/bin/bash
# --labels=auto: the classes of a TFLite file's metadata, from the archive at its end; what is missing or damaged, by name.
. "$(dirname "$0")/../../e2e/common.sh"

command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
python3 -B "$HEDDLE_HOME/tests/compiler/import/tfl_labels.py" . || fail "the files"
python3 -B -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<6f", 1, 2, -3, -4, 0, 1))' >x.bin
"$heddle" run right.tflite --labels=auto -i x.bin --engine=ref -o o >said 2>&1 || fail "$(cat said)"
grep -qx "classes: well, a bird, cat" said || fail "$(cat said)"
grep -q '"classes": *\["well, a bird", *"cat"\]' <(tr -d '\n\t' <o/stats.json) || fail "stats: $(grep -A3 classes o/stats.json)"
while IFS='|' read -r code net text; do
    expect "$code" "heddle: $text" "$heddle" run $net.tflite --labels=auto --engine=ref -i x.bin
done <<'END'
2|few|few.tflite: labels 'classes.txt': expected 3 lines, found 2
2|lost|lost.tflite: its metadata name the labels 'classes.txt', which its archive lacks
2|bare|bare.tflite: damaged archive of associated files: no directory of a ZIP archive at its end
2|none|--labels=auto: none.tflite has no names of its first output's classes; expected a TFLite file with metadata and labels
3|damaged|damaged.tflite: metadata: damaged, or not of kind 'M001' (40 bytes)
END
finish
