#!/bin/bash
# Targets as packages: the folder of new-target installs itself by CMake, into a user's prefix and the system's; heddle
# finds both, with their versions, and one run uses them together; a name in two places is reported, with the one that
# is used; being installed gives no leave to execute anything.
. "$(dirname "$0")/../common.sh"
export XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache HOME=$work/home
unset HEDDLE_TARGET_PATH UMA_BACKENDS XDG_DATA_HOME
export XDG_DATA_DIRS=$work/local/share:$work/usr/share
user=$HOME/.local/share/heddle/targets system=$work/usr/share/heddle/targets

# install NAME PREFIX: as its CMakeLists.txt says.
install() {
    (cmake -S "$1" -B "build_$1" && cmake --install "build_$1" --prefix "$2") >log 2>&1 || fail "install $1: $(tail -5 log)"
}

# --- installed in two prefixes, from folders that go away ---
for name in mine yours; do
    "$heddle" new-target $name >stdout 2>stderr || fail "new-target: $(cat stderr)"
    grep -qx "$name/CMakeLists.txt" stdout || fail "no CMakeLists.txt: $(cat stdout)"
done
"$heddle" new-target core --template=core >stdout 2>stderr || fail "new-target: $(cat stderr)"
sed -i 's/"version": "0.1.0"/"version": "0.2.0"/' yours/target.json
mkdir mine/.git && touch mine/.git/x.md
(cmake -S mine -B mine/build && cmake --install mine/build --prefix "$HOME/.local") >log 2>&1 || fail "install: $(tail -5 log)"
install yours "$work/usr"
install core "$work/usr"
grep -q 'CMAKE_PROJECT_VERSION:STATIC=0.2.0' build_yours/CMakeCache.txt || fail "the package's version is not target.json's"
for file in target.json mine.c mine.h README.md; do [ -e "$user/mine/$file" ] || fail "mine/$file is not installed"; done
[ -e "$system/core/core_core.sv" ] || fail "Verilog is not installed: $(ls "$system/core")"
[ -e "$user/mine/build" ] || [ -e "$user/mine/.git" ] && fail "too much is installed: $(ls -a "$user/mine")"
rm -rf mine/build && mkdir old && mv mine yours core build_* old

# --- listed with origin and version, used together ---
"$heddle" targets >stdout 2>stderr || fail "targets: $(cat stderr)"
grep -A 1 '^mine  *0\.1\.0 ' stdout | grep -qx "    origin: $user/mine" || fail "mine: $(cat stdout)"
grep -A 1 '^yours  *0\.2\.0 ' stdout | grep -qx "    origin: $system/yours" || fail "yours: $(cat stdout)"
grep -q 'not used' stdout && fail "a clash of nothing: $(grep 'not used' stdout)"
both="--target=mine,yours --offload=*fully_connected=yours"
# shellcheck disable=SC2086
expect 0 "" "$heddle" inspect digits $both
grep -q '^13_fully_connected .* yours ' stdout && grep -q ' mine [0-9]*, yours [0-9]*, c ' stdout || fail "both: $(cat stdout)"
# shellcheck disable=SC2086
expect 2 "heddle: target yours comes from '$system/yours', and this would execute its code: add --allow-native-targets, or \
that folder as a line of '$XDG_CONFIG_HOME/heddle/trusted'" "$heddle" run digits --engine=func $both
# shellcheck disable=SC2086
expect 0 "" "$heddle" run digits --engine=func $both --allow-native-targets
grep -q '^verdict: match' stdout || fail "run: $(cat stdout)"

# --- one name in two places: the user's wins, and both are reported ---
sed -i 's/"version": "0.1.0"/"version": "0.3.0"/' old/mine/target.json
mv old/mine . && install mine "$work/usr"
"$heddle" targets >stdout 2>stderr || fail "targets: $(cat stderr)"
grep -A 2 '^mine  *0\.1\.0 ' stdout | tail -1 | grep -qx "    not used: 0.3.0 of '$system/mine'" || fail "a clash: $(cat stdout)"
told="heddle: note: target mine: 0.1.0 of '$user/mine' is used, not 0.3.0 of '$system/mine'"
expect 0 "$told" "$heddle" inspect digits --target=mine
expect 0 "" "$heddle" inspect digits --target=yours
# A folder that is named twice counts once.
XDG_DATA_HOME=$work/usr/share expect 0 "" "$heddle" inspect digits --target=mine
# Among three, --target-dir wins.
install mine "$work/local"
expect 0 "$told, 0.3.0 of '$work/local/share/heddle/targets/mine'" env \
    XDG_DATA_DIRS="$work/usr/share:relative:$work/local/share:$work/usr/share" "$heddle" inspect digits --target=mine
expect 0 "heddle: note: target mine: 0.3.0 of '$work/mine' is used, not 0.1.0 of '$user/mine', \
0.3.0 of '$work/local/share/heddle/targets/mine', 0.3.0 of '$system/mine'" "$heddle" inspect digits --target-dir=mine --target=mine

# --- a word of a call is an operand, whatever it stands for: -5 and &x too ---
"$heddle" new-target words --template=copy >/dev/null || fail "new-target --template=copy"
sed -i 's/zero=(0)/zero=(-5)/' words/copy.ir
sed -i 's/\$out_bytes)/0-$z_in*0-$z_in-5+$params->channels*$params->in_h*$params->in_w)/' words/target.json
expect 0 "" "$heddle" run words/copy.ir --engine=func --target-dir=words --target=words --allow-native-targets
grep -q '^verdict: match' stdout || fail "words: $(cat stdout)"
# Weights and sums of a unit of blocks begin at whole words of any port.
expect 0 "" "$heddle" compile digits --target=strawberry -o net
[ "$(grep -oE '(weights|sums)_at = 0x[0-9a-f]+' net/model.c | grep -vcE '0x[0-9a-f]*[048c]0$')" = 0 ] &&
    grep -q 'sums_at = ' net/model.c || fail "blocks: $(grep 'sums_at' net/model.c)"
finish
