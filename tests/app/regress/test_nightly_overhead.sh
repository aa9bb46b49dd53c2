#!/bin/bash
# A suite of 10,000 runs of a stub is planned, started, stored, judged and printed in less than 1 ms per run of heddle's
# own CPU time; a second call, with nothing missing, in less than 0.3 ms.
. "$(dirname "$0")/stub.sh"
command -v python3 >/dev/null || { echo "python3 not found"; exit 77; }
unset STUB_LOG
cat >large.json <<END
{"schema": "heddle.suite.v1", "name": "large",
 "runs": [{"networks": ["a.tflite", "b.tflite", "c.tflite", "a2.tflite", "b2.tflite"],
           "configurations": ["tiny", "sys8", "sys16", "sys32"], "seeds": [$(seq -s, 500)]}]}
END
cp a.tflite a2.tflite
cp b.tflite b2.tflite
# own MOST: checks the milliseconds per run of the process itself, without its children.
own() {
    python3 - "$1" "$heddle" regress large.json -j2 "--heddle=$HEDDLE_BUILD/regress_stub" --commit=c1 <<'PY'
import os, subprocess, sys, time
begun = time.time()
with open("stdout", "w") as out:
    child = subprocess.Popen(sys.argv[2:], stdout=out)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    user, system = open(f"/proc/{child.pid}/stat").read().rpartition(")")[2].split()[11:13]
    code = child.wait()
each = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") / 10000 * 1000
print(f"10,000 runs in {time.time() - begun:.1f} s; heddle itself: {each:.3f} ms a run")
sys.exit(code or each > float(sys.argv[1]))
PY
}
own 1 || fail "more than 1 ms a run, or not all equal: $(tail -1 stdout)"
grep -q ': 10000 of 10000 runs done, 0 wrong$' stdout || fail "$(tail -2 stdout)"
own 0.3 || fail "more than 0.3 ms a run when nothing is missing: $(tail -1 stdout)"
du -k regress/regress.db regress/index.html regress/results.json
finish
