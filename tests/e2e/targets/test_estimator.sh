#!/bin/bash
# Targets whose verdicts and costs come from a program ("estimator"), without Vela: what the program is given, what its
# answers do, what it may not answer; the missing Vela of targets/ethos_u; names with - for _.
. "$(dirname "$0")/../common.sh"
export XDG_CONFIG_HOME=$work/config
unset HEDDLE_TARGET_PATH UMA_BACKENDS VELA
mkdir said
cat >said/target.json <<'END'
{"heddle_target": 1, "name": "said", "version": "1.0", "requires_heddle": "0.1", "help": "x", "estimator": "say.py",
 "attributes": [{"name": "mode", "type": "string", "default": "it's", "help": "x"}],
 "operators": [{"op": "conv2d", "where": {"kernel_h": 3}}, {"op": "fully_connected"}]}
END
cat >said/say.py <<'END'
import os, re, sys
graph = open(sys.argv[1]).read()
open(os.environ["SAID"], "w").write(" ".join(sys.argv[2:]))
ops = re.findall(r"^op (\w+)", graph, re.M)
for i in sys.argv[2].split(","):
    print(f"{i} takes 42" if ops[int(i)] == "conv2d" else f"{i} refuses too; narrow" if i != "0" else "")
print(os.environ.get("MORE", ""), end="")
END
export SAID=$work/seen
inspect() { "$heddle" inspect digits --target-dir=said --target=said --allow-native-targets "$@"; }
inspect >stdout 2>stderr || fail "$(cat stderr)"
grep -q '^01_conv2d .* said (not simulated) said 42, c ' stdout || fail "taken: $(cat stdout)"
grep -q '^13_fully_connected .* c .*; said: too; narrow$' stdout || fail "refused: $(cat stdout)"
grep -q "it's" seen || fail "settings: $(cat seen)"
"$heddle" run digits --engine=func --target-dir=said --target=said --allow-native-targets -o out >stdout 2>stderr || fail "$(cat stderr)"
grep -q '^verdict: match' stdout && grep -q '^01_conv2d .* said .*  not simulated$' stdout || fail "run: $(cat stdout)"
grep -q '/\* said (not simulated): 01_conv2d' out/emitted/model.c || fail "emitted C"
expect 2 "heddle: target said: its estimator printed '999 takes 1', expected NUMBER takes CYCLES" env MORE="999 takes 1" \
    "$heddle" inspect digits --target-dir=said --target=said --allow-native-targets
expect 2 "heddle: target said: no such NPU" env MORE="error no such NPU" \
    "$heddle" inspect digits --target-dir=said --target=said --allow-native-targets
expect 3 "heddle: target said: its operators are estimated, not executed: there is nothing to check" \
    "$heddle" check-target said --allow-native-targets
"$heddle" inspect digits --target-dir=said --target=said >stdout 2>stderr
[ $? = 2 ] && grep -q "allow-native-targets" stderr || fail "trust: $(cat stderr)"
echo 'raise SystemExit(3)' >said/say.py
expect 2 "heddle: target said: its estimator ended with exit code 3" inspect
sed -i 's/"op": "conv2d"/&, "cost": {"fixed": 1}/' said/target.json
expect 2 "heddle: $work/said/target.json:3:16: operators[0]: the host computes what an \"estimator\" takes: leave call and cost out" inspect
sed -i 's/say.py/talk.py/' said/target.json
expect 2 "heddle: $work/said/target.json:1:108: estimator: file '$work/said/talk.py' not found" inspect
mkdir empty
PATH=$work/empty:/usr/bin:/bin expect 2 \
    "heddle: target ethos_u: Vela not found (PyPI ethos-u-vela); put vela on PATH, or name it by \$VELA" \
    "$heddle" inspect digits --target=ethos-u,c
finish
