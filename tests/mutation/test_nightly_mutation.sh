#!/bin/bash
# mutation.py makes mutants of one module, kills them by its bench, continues from its results, drops those of another
# netlist, and fails below its bar; yosys distinguishes a mutant that is equal from one that is not.
. "$(dirname "$0")/../e2e/common.sh"
for tool in python3 yosys verilator; do
    command -v $tool >/dev/null || { echo "SKIPPED: no $tool"; exit 77; }
done
run="python3 $HEDDLE_HOME/tests/mutation/mutation.py --only hd_acc --work $work --results $work/results.csv"
printf 'module,hash,mutant,verdict,tried,seconds\nhd_acc,000000000000,-mode inv,acc,,1.0\nhd_other,1,-mode inv,,bench,1.0\n' >results.csv
expect 0 '' $run --stages bench --bar 100
grep -q '^bench acc: [1-9][0-9]* of ' stdout || fail "the bench: $(cat stdout)"
grep -q '^hd_acc,.*,acc,' results.csv || fail "results: $(cat results.csv)"
grep -q '^hd_acc,000000000000' results.csv && fail "a mutant of another netlist is kept"
grep -q '^hd_other,1,' results.csv || fail "what is known of another module is gone"
cp results.csv before.csv
killed=$(grep -c ',acc,' results.csv)
expect 0 '' $run --table
grep -q "^$killed of $killed decided mutants killed: 100.0 %" stdout || fail "--table: $(tail -n 1 stdout)"
same results.csv before.csv "a table that writes"
sed -i 's/,acc,[^,]*,/,,unread bench equal proof layers long,/' results.csv
expect 1 '' $run --table
grep -q '^0 of [0-9]* decided mutants killed: 0.0 %' stdout || fail "survivors: $(tail -n 1 stdout)"

# hd_array_ports needs some fields of the command of the next tile; its last bit is of none of them.
cat >equal.py <<'EOF'
import os, pathlib, sys, types
sys.path.insert(0, os.environ["HEDDLE_HOME"] + "/tests/mutation")
import designs, equality, netlist
rtl = designs.sources(pathlib.Path(os.environ["HEDDLE_BUILD"]), pathlib.Path("rtl"))
modules = netlist.elaborate("yosys", rtl, ["hd_*.sv"], "hd_array_ports")
ports = next(m for m in modules.values() if m.base == "hd_array_ports")
line = next(i for i, text in enumerate((rtl / "hd_array_ports.sv").read_text().splitlines(), 1) if "assign seg_cmd" in text)
(cell,), = [c for k, c in netlist.places(ports).items() if k[0].startswith(f"hd_array_ports.sv:{line}.")]
mutants = [types.SimpleNamespace(number=i, text=f"-mode inv -module {ports.name} -cell {cell} -port {p} -portbit 0") for i, p in enumerate("YS", 1)]
judge = equality.Judge(types.SimpleNamespace(yosys="yosys", work=pathlib.Path.cwd()), modules, mutants)
unread = equality.unread("yosys", pathlib.Path("unread"), modules, ports.name, mutants)
print(*(judge(m)[0] for m in mutants), *(unread(m)[0] for m in mutants))
EOF
expect 0 '' python3 equal.py
grep -qx 'equal None equal hd_array_ports None' stdout || fail "a bit that nothing shows, and a choice that is: $(cat stdout)"
finish
