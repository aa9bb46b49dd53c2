#!/bin/bash
# COUNT damaged databases: bytes flipped, and values of any type in any column. heddle regress reads them or reports them:
# exit 0, 1 or 2, never a signal. SEED (default 1), COUNT (1000).
. "$(dirname "$0")/stub.sh"
command -v python3 >/dev/null || { echo "python3 not found"; exit 77; }
suite s
expect 0 "" regress s.json
echo "b.tflite 1 1000 1000 0 output 0 differs" >rules
"$heddle" regress s.json --heddle="$HEDDLE_BUILD/regress_stub" --commit=c2 --again >stdout 2>stderr
[ $? = 1 ] || fail "the second session: $(cat stderr)"
mkdir d
python3 - "$heddle" "${SEED:-1}" "${COUNT:-1000}" <<'PY' || fail "seed ${SEED:-1}"
import random, shutil, sqlite3, subprocess, sys
heddle, seed = sys.argv[1], int(sys.argv[2])
COLUMNS = [(t, c[1]) for t in ("session", "run", "finding", "baseline")
           for c in sqlite3.connect("regress/regress.db").execute(f"PRAGMA table_info({t})")]
VALUES = [None, 0, -1, 1, 2**31, 2**62, -2**63, 1e308, float("inf"), -0.5, "", "x" * 100000, "\x00a", "{", "[1", "%s%n", b"\xff\x00", b""]
ends = {}
for k in range(int(sys.argv[3])):
    r = random.Random(seed * 1000 + k)
    shutil.copyfile("regress/regress.db", "d/regress.db")
    if k % 2:
        with open("d/regress.db", "r+b") as f:
            size = f.seek(0, 2)
            for _ in range(r.choice((1, 2, 8, 64))):
                f.seek(r.randrange(size))
                f.write(bytes([r.randrange(256)]))
    else:
        with sqlite3.connect("d/regress.db") as c:
            for _ in range(r.choice((1, 1, 2, 4))):
                table, column = r.choice(COLUMNS)
                try:
                    c.execute(f"UPDATE {table} SET {column} = ? WHERE rowid % ? = 0", (r.choice(VALUES), r.choice((1, 3))))
                except sqlite3.IntegrityError:
                    pass # a column that may not be NULL, or a key
    for command in (["show"], ["show", "a sys16 rtl seed 1"], ["compare", "c1", "c2"], ["accept", "a sys16 rtl seed 1", "--why=x"], ["s.json", "--heddle=/bin/true"]):
        done = subprocess.run([heddle, "regress", *command, "-o", "d"], capture_output=True, timeout=60)
        ends[done.returncode] = ends.get(done.returncode, 0) + 1
        if done.returncode not in (0, 1, 2):
            shutil.copyfile("d/regress.db", f"damaged_{k}.db")
            sys.exit(f"database {k}: regress {' '.join(command)}: exit {done.returncode}: {done.stderr.decode()[:300]}")
print(ends)
PY
finish
