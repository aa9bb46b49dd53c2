#!/bin/bash
# hw/sites.py: sites of a placed netlist, put into one that is not placed, whatever its numbers; what is refused leaves it alone.
. "$(dirname "$0")/../e2e/common.sh"
sites=$HEDDLE_HOME/hw/sites.py
netlist() { # FILE LINE NUMBER [placed]
    awk -v line="$2" -v number="$3" -v placed="${4:-}" 'BEGIN {
        printf "{\"modules\": {\"box\": {\"cells\": {}}, \"hd_top\": {\"cells\": {\"u_add\": {\"type\": \"LUT4\", \"attributes\": {}}"
        n = split("$flatten\\\\u_lane[1].$mul$hd_lane.sv:9$2 MULT18X18D X4/Y10/MULT18_0;" \
                  "$flatten\\\\u_lane[1].$mul$hd_lane.sv:10$1 MULT18X18D X5/Y10/MULT18_1;u_ram.mem.0.0 DP16KD X6/Y22/EBR1", cells, ";")
        for (i = 1; i <= n; i++) {
            split(cells[i], c, " ")
            sub(/:9\$2/, ":" line + 0 "$" number + 8, c[1])
            sub(/:10\$1/, ":" line + 1 "$" number + 0, c[1])
            printf ", \"%s\": {\"type\": \"%s\", \"attributes\": {%s}}", c[1], c[2], placed ? "\"NEXTPNR_BEL\": \"" c[3] "\"" : ""
        }
        print "}}}}"
    }' >"$1"
}
netlist placed.json 9 2 placed
netlist new.json 99 1
expect 0 '' "$sites" --from placed.json
printf 'u_lane[1] 0 X4/Y10/MULT18_0\nu_lane[1] 1 X5/Y10/MULT18_1\nu_ram.mem.0.0 0 X6/Y22/EBR1\n' | cmp - stdout || fail "$(cat stdout)"
cp stdout sites.txt
expect 0 '' "$sites" new.json sites.txt
sed 's/BEL/NEXTPNR_BEL/g; s/sv:99\$9/sv:9$2/; s/sv:100\$1/sv:10$1/' new.json >named.json
expect 0 '' "$sites" --from named.json
cmp sites.txt stdout || fail "other sites: $(cat new.json)"

netlist new.json 9 2
cp new.json before.json
sed 1d sites.txt >short.txt
expect 1 "sites.py: short.txt: u_lane[1] 0 is missing (3 cells, 2 lines): another configuration, or the RTL has changed; make it again with --from" \
    "$sites" new.json short.txt
echo 'u_rom 0 X8/Y22/EBR2' >>sites.txt
expect 1 "sites.py: sites.txt: u_rom 0 is not in the netlist (3 cells, 4 lines): another configuration, or the RTL has changed; make it again with --from" \
    "$sites" new.json sites.txt
echo 'u_ram X8/Y22/EBR2' >odd.txt
expect 1 "sites.py: odd.txt:1: expected 'instance index site', each cell once, found 'u_ram X8/Y22/EBR2'" "$sites" new.json odd.txt
expect 1 'sites.py: none.txt: No such file or directory' "$sites" new.json none.txt
expect 1 'sites.py: odd.txt: expected a netlist, JSON of yosys or nextpnr: Expecting value: line 1 column 1 (char 0)' "$sites" odd.txt sites.txt
expect 1 'sites.py: new.json: u_lane[1] has no site: expected what nextpnr wrote (--write)' "$sites" --from new.json
cmp before.json new.json || fail "a refused netlist was changed"
finish
