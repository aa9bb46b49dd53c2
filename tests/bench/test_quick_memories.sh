#!/usr/bin/env bash
# The judgement of memories.py, a small network, and a search that ends a cascade: 4,680 cycles if it cannot.
source "$(dirname "$0")/../e2e/common.sh"
bench=$HEDDLE_HOME/tests/bench
python3 -B - "$bench" <<'END' || fail "judgement"
import sys
sys.path.insert(0, sys.argv[1])
from memories import faster_with_more
assert faster_with_more({(16, 16): 1004, (64, 16): 1000, (16, 4): 1000, (64, 4): 1000}) == []
assert faster_with_more({(16, 16): 1006, (64, 16): 1000}) == [((16, 16), (64, 16))]
assert faster_with_more({(64, 16): 1006, (64, 4): 1000}) == [((64, 16), (64, 4))]
assert faster_with_more({(16, 4): 1100, (64, 16): 1000}) == []
END
python3 -B "$bench/memories.py" "$bench/cascade_or_parts.ir" >stdout 2>stderr || fail "memories.py: $(cat stderr)"
cycles=$(sed -n 's|.* 64/16 \([0-9]*\),.*|\1|p' stdout)
((cycles > 0 && cycles <= 4600)) || fail "latency 64, 16 bytes a cycle: ${cycles:-no} cycles, at most 4600 expected"
finish
