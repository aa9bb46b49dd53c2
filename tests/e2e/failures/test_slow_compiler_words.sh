#!/bin/bash
# CC and HEDDLE_CXX with arguments, as ccache and Debian set them, and in folders with blanks: for emitted C,
# programs, check-target and models.
. "$(dirname "$0")/../common.sh"
export XDG_CACHE_HOME=$work/cache
mkdir -p tools "a b"

# Stubs that record their calls: a compiler launcher and a compiler.
printf '#!/bin/sh\necho "launched $1" >>"%s/noted"\nexec "$@"\n' "$work" >tools/ccache
printf '#!/bin/sh\necho "called $1" >>"%s/noted"\nexec cc "$@"\n' "$work" >"a b/cc"
chmod +x tools/ccache "a b/cc"
ln -s ../tools/called "a b/linked"
printf '#!/bin/sh\necho "linked ${0##*/}" >>"%s/noted"\nexec cc "$@"\n' "$work" >tools/called
chmod +x tools/called

cat >program.c <<'END'
#include "driver/hd.h"
int hd_program(struct hd_device *dev, uint8_t *memory, uint64_t base, uint64_t bytes)
{ (void)dev; (void)memory; (void)base; (void)bytes; return 0; }
END
noted() { # noted NOTED COMMAND...: the command ends well; the last line that a stub noted
    rm -f noted
    PATH=$work/tools:$PATH "${@:2}" >stdout 2>stderr || fail "CC='$CC': $*: $(cat stdout stderr)"
    [ "$(tail -n 1 noted 2>/dev/null)" = "$1" ] || fail "CC='$CC': $*: expected '$1', found '$(cat noted)'"
}
program() { # program CC NOTED
    CC=$1 noted "$2" "$heddle" run --prog=program.c --engine=func --hw=tiny
}
program "cc -pipe" ""
program "env cc" ""
program " ccache  cc " "launched cc"
program "$work/a b/cc" "called -std=c11"
program "$work/a b/cc -pipe -g0" "called -pipe"
program "a b/cc -pipe" "called -pipe"
program "$work/a b/linked" "linked linked"
program "" ""
CC="no such cc -pipe" expect 5 "heddle: cannot find 'no such cc -pipe', needed to build the simulator: install the package gcc" \
    "$heddle" run --prog=program.c --engine=func --hw=tiny

# Emitted C (test_nightly_package.sh: a package), and a target under sanitizers.
export CC="$work/a b/cc -pipe"
noted "called -pipe" "$heddle" run digits --engine=func --hw=tiny -q
"$heddle" new-target mine >/dev/null 2>stderr || fail "new-target: $(cat stderr)"
noted "called -pipe" "$heddle" check-target mine --allow-native-targets
unset CC

# A model: its makefile has the words of HEDDLE_CXX between quotes. Verilator's stub translates nothing.
cat >verilator <<'END'
#!/bin/sh
case $1 in
    --version) echo "Verilator 5.006 stand-in" ;;
    --getenv) echo /nowhere ;;
    *) mkdir -p obj && : >obj/Vhd_sim_top_classes.mk ;;
esac
END
printf '#!/bin/sh\ncase "$*" in *--version) exec g++ --version ;; esac\nprintf "<%%s>" "$0" "$1" "$2" "$3" >>"%s/noted"\nexit 1\n' "$work" >'a b/c $HOME+"`+'
chmod +x verilator 'a b/c $HOME+"`+'
rm -f noted
HEDDLE_VERILATOR=$work/verilator HEDDLE_CXX="$work/a b/c \$HOME+\"\`+ -pipe -DX='\$Y'" "$heddle" build --hw=tiny >stdout 2>stderr
grep -q "<$work/a b/c \$HOME+\"\`+><-pipe><-DX='\$Y'><-std=gnu++17>" noted || fail "HEDDLE_CXX: $(cat stderr noted)"
finish
