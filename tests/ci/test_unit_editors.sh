#!/bin/bash
# Files that editors read: verible.filelist lists the RTL (UPDATE=1 writes it); tasks and launches of .vscode are JSON, name each
# other, inputs and make targets that exist; the commands of the build are where .clangd looks for them.
. "$(dirname "$0")/../e2e/common.sh"
cd "$HEDDLE_HOME" || exit 1
command -v python3 >/dev/null || { echo "python3 not found"; exit 77; }

{
    echo "# For Verible's language server; UPDATE=1 tests/ci/test_unit_editors.sh writes it. make program writes build/gen."
    printf '+incdir+%s\n' build/gen build/gen/sys16 hw/rtl
    find hw/rtl -name '*.sv' | LC_ALL=C sort
} >"$work/filelist"
[ -z "${UPDATE:-}" ] || cp "$work/filelist" verible.filelist
diff verible.filelist "$work/filelist" >"$work/difference" || fail "verible.filelist: $(cat "$work/difference")"

database=$(sed -n 's/^  CompilationDatabase: //p' .clangd)
grep -q '^set(CMAKE_EXPORT_COMPILE_COMMANDS ON)$' CMakeLists.txt && [ "$database" = build ] || fail ".clangd: $database"

python3 - <<'PY' || fail ".vscode"
import json, re
tasks = json.load(open(".vscode/tasks.json"))
launch = json.load(open(".vscode/launch.json"))
labels = {task["label"] for task in tasks["tasks"]}
for needed in [t["dependsOn"] for t in tasks["tasks"] if "dependsOn" in t] + [c["preLaunchTask"] for c in launch["configurations"]]:
    assert needed in labels, needed
targets = set(re.findall(r"^([\w-]+):", open("Makefile").read(), re.MULTILINE))
for name in re.findall(r"\bmake ([\w-]+)", json.dumps(tasks)):
    assert name in targets, name
for document in tasks, launch:
    inputs = {i["id"] for i in document["inputs"]}
    assert set(re.findall(r"\$\{input:(\w+)\}", json.dumps(document))) == inputs, inputs
PY
finish
