#!/bin/bash
# --help, manual pages, completion in bash, zsh and fish, all generated from the table of options; colours and progress of the
# command line.
. "$(dirname "$0")/../../e2e/common.sh"
commands=$("$heddle" completion words "")
for command in run compile inspect tune man; do
    grep -qx "$command" <<<"$commands" || fail "completion lacks the command $command"
done

# --- help: the commands; of one its options, by group; every option belongs to one ---
"$heddle" --help >all || fail "--help"
for command in $commands; do
    grep -q "^  $command " all || fail "--help lacks $command"
    "$heddle" "$command" --help >help || fail "$command --help"
    tr -s '\n ' ' ' <help >line # a long path of the program wraps it
    grep -q "\[OPTION...\] $command" line || fail "$command --help: $(head -1 help)"
    grep -oE '^ +(-., )?--[a-z-]+(=[^ ]+, --[a-z-]+)?' help | grep -oE -- '--[a-z-]+' | cut -c 3- | sort -u >"help.$command"
done
"$heddle" completion words -- | sed -n 's/^--\([a-z-]*\).*/\1/p' | sort -u >options
[ "$(wc -l <options)" -gt 40 ] || fail "options: $(wc -l <options)"
sort -u help.* | comm -13 - options >unused
[ -s unused ] && fail "in no command's help: $(head -3 unused)"
for title in "Inputs and outputs:" "Network, targets and compiler:" "Device and schedule:" "Reports and files:" "Attributes of targets:"; do
    "$heddle" run --help | grep -qx " $title" || fail "run --help lacks '$title'"
done
grep -qx stats help.run || fail "run --help lacks --stats"
grep -qx stats help.report && fail "report --help shows --stats"
"$heddle" report --help | grep -q "Attributes of targets" && fail "report --help has attributes of targets"

"$heddle" help >stdout && cmp -s stdout all || fail "help is not --help"
"$heddle" help run >stdout && "$heddle" run --help >help && cmp -s stdout help || fail "help run is not run --help"
expect 2 "heddle: help: found 'fly', expected a command of heddle --help" "$heddle" help fly
expect 2 "heddle: unknown option '--hep'; did you mean --help?" "$heddle" run --hep
expect 2 "heddle: command: found 'hlep'; did you mean help?" "$heddle" hlep

# --- manual pages: each command has one, with its options; man(1) has nothing to warn of ---
expect 2 "heddle: man: found 'fly', expected a command of heddle --help" "$heddle" man fly
expect 2 "heddle: completion: found 'tcsh', expected bash, zsh, fish or nothing" "$heddle" completion tcsh
for command in "" $commands; do
    # shellcheck disable=SC2086
    "$heddle" man $command >page.1 || fail "man $command"
    grep -q '^\.TH "HEDDLE' page.1 || fail "man $command: $(head -2 page.1)"
    if command -v man >/dev/null; then
        man --warnings -E UTF-8 -l -Tutf8 -Z page.1 >/dev/null 2>warnings
        [ -s warnings ] && fail "man $command: $(head -2 warnings)"
    fi
    ! command -v mandoc >/dev/null || mandoc -Tlint -Wwarning page.1 >warnings || fail "man $command: $(head -2 warnings)"
    [ -z "$command" ] && continue
    sed -n '/^\\fB\\-/p' page.1 | sed 's/\\-/-/g;s/\\f./ /g' | grep -oE -- '--[a-z-]+' | cut -c 3- | sort -u >man.options
    comm -23 man.options "help.$command" >more
    [ -s more ] && fail "man $command has $(head -1 more), its --help has not"
done
"$heddle" man run | grep -qF '\fB\-i\fR, \fB\-\-input\fR=\fIFILE\fR' || fail "man run lacks -i"

# --- completion ---
(eval "$("$heddle" completion bash)"
COMP_WORDS=("$heddle" ru) COMP_CWORD=1
_heddle
[ "${COMPREPLY[*]}" = run ] || exit 1
COMP_WORDS=("$heddle" report --q) COMP_CWORD=2
_heddle
[ "${COMPREPLY[*]}" = --quiet ] || exit 1
COMP_WORDS=("$heddle" report --st) COMP_CWORD=2 # run's
_heddle
[ "${COMPREPLY[*]}" = "" ]) || fail "completion in bash"
if command -v zsh >/dev/null; then
    python3 - "$(dirname "$heddle")" >stdout 2>&1 <<'END' || fail "completion in zsh: $(cat stdout)"
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(PATH=sys.argv[1] + ":" + os.environ["PATH"], TERM="dumb")
    os.execvp("zsh", ["zsh", "-f", "-i"])
def typed(keys, want, seconds=60):
    os.write(fd, keys)
    seen, end = b"", time.time() + seconds
    while want not in seen and time.time() < end:
        if select.select([fd], [], [], 0.2)[0]:
            seen += os.read(fd, 4096)
    if want not in seen:
        sys.exit(f"{keys}: expected {want}, found {seen}")
typed(b"PS1='> '; autoload -Uz compinit; compinit -u -D; source <(heddle completion zsh); print re''ady\n", b"ready\r")
for keys, want in ((b"heddle insp\t", b"inspect "), (b"--targ\t", b"--targ\aet"), (b"\x15heddle run --engine=f\t", b"--engine=func "),
                   (b"\x15heddle run --see\t", b"d="), (b"\x15heddle report --qu\t", b"iet ")):
    typed(keys, want)
os.write(fd, b"\x15exit\n")
END
else
    echo "zsh not found: its completion is not tried"
fi
if command -v fish >/dev/null; then
    for typed in "insp inspect" "run --engine=f --engine=func" "run --see --seed=" "report --q --quiet" "report --st "; do
        found=$(PATH=$(dirname "$heddle"):$PATH HOME=$work fish -c "source (heddle completion fish | psub); complete -C 'heddle ${typed% *}'")
        [ "$found" = "${typed##* }" ] || fail "completion in fish of ${typed% *}: $found"
    done
else
    echo "fish not found: its completion is not tried"
fi

# --- colours: on a terminal, without NO_COLOR ---
if command -v script >/dev/null; then
    coloured() { TERM=xterm script -qec "$1 '$heddle' run digits --engine=func -q" typescript >/dev/null 2>&1 </dev/null; }
    coloured "env -u NO_COLOR"
    grep -aqF $'verdict: \e[1;32mmatch\e[0m:' typescript || fail "no colour on a terminal: $(cat -v typescript)"
    coloured "env NO_COLOR=1"
    grep -aq $'\e\\[1' typescript && fail "NO_COLOR is ignored"
    coloured "env NO_COLOR="
    grep -aqF $'\e[1;32m' typescript || fail "an empty NO_COLOR is none"
fi
"$heddle" run digits --engine=func -q >stdout || fail "run -q"
grep -q $'\e' stdout && fail "colour without a terminal"

# --- -q: one line, and no progress; -v: units; the report of a file obeys both ---
[ "$(wc -l <stdout)" = 1 ] || fail "-q: $(cat stdout)"
"$heddle" run digits --engine=func -q -o out >quiet || fail "run -q -o"
[ "$(wc -l <out/report.txt)" -gt 10 ] || fail "-q shortens report.txt"
"$heddle" report out/stats.json -q | diff - quiet >/dev/null || fail "report -q"
"$heddle" report out/stats.json -v | grep -q '^legend: ' || fail "report without a legend"

# --- the slowest layers, against the stats file ---
python3 - out/stats.json out/report.txt >stdout <<'END' || fail "slowest: $(cat stdout)"
import json, sys
stats = json.load(open(sys.argv[1]))
time = {l["name"]: (l["host_cycles"] or 0) + (0 if l["group"] is not None else l["estimated_cycles"] or 0) for l in stats["layers"]}
time.update({f"group {n}": g["estimated_cycles"] for n, g in enumerate(stats["groups"])})
want = sorted(time.items(), key=lambda x: -x[1])[:3]
lines = open(sys.argv[2]).read().split("\n")
at = next(i for i, line in enumerate(lines) if line.startswith("slowest: "))
for (name, cycles), line in zip(want, lines[at:]):
    share = f"{100 * cycles / sum(time.values()):.1f} %"
    if line[9:].split()[:2] != [name, str(cycles)] or share not in line:
        sys.exit(f"expected {name} {cycles} {share}, found {line}")
END
finish
