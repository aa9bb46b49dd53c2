#!/bin/bash
# An installation, moved to a folder with a blank in its name: program, library, CMake package and
# pkg-config file work there, for a program outside of any tree (docs/API.md's example), with the
# source and build trees out of reach; nothing installed names them; only heddle_* is exported.
. "$(dirname "$0")/../common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

# --- install, stage, move ---
cmake --install "$HEDDLE_BUILD" --prefix "$work/first" >stdout 2>stderr || fail "install: $(cat stderr)"
DESTDIR=$work/stage cmake --install "$HEDDLE_BUILD" --prefix /opt/heddle >stdout 2>stderr ||
    fail "DESTDIR: $(cat stderr)"
(cd first && find . -type f | sort) >files
(cd stage/opt/heddle && find . -type f | sort) | diff files - >stdout || fail "DESTDIR: $(cat stdout)"
for file in bin/heddle lib/libheddle.so lib/libheddle.a include/heddle/heddle.h lib/pkgconfig/heddle.pc \
    lib/cmake/heddle/heddleConfig.cmake share/heddle/hw/accel.json share/heddle/targets/target.schema.json \
    share/heddle/ci/github.yml share/heddle/ci/gitlab.yml \
    share/doc/heddle/API.md share/bash-completion/completions/heddle share/zsh/site-functions/_heddle \
    share/fish/vendor_completions.d/heddle.fish share/man/man1/heddle.1 \
    share/man/man1/heddle-run.1; do
    [ -e "first/$file" ] || fail "$file is not installed"
done
mkdir "moved here" && mv first "moved here/heddle 1" && rm -r stage
there="$work/moved here/heddle 1"
golden=$work/golden
cp -r "$models/digits" "$golden"
truncate -s $((64 * 8)) "$golden/in_0.bin" # eight images
truncate -s $((10 * 8)) "$golden/out_0.bin"
cp "$HEDDLE_HOME/docs/API.md" API.md
source_tree=$HEDDLE_HOME build_tree=$HEDDLE_BUILD
unset HEDDLE_HOME HEDDLE_BUILD
cp "$source_tree/tests/e2e/o0" .
export XDG_CACHE_HOME=$work/cache CC="$work/o0 cc" HEDDLE_CXX="$work/o0 g++"

# --- nothing names a tree; nothing but heddle_* is exported ---
for tree in "$source_tree" "$build_tree" "$work/first"; do
    grep -rlF -- "$tree" "$there" >stdout && fail "$tree is named in: $(cat stdout)"
done
nm -D --defined-only "$there/lib/libheddle.so" | awk '$3 !~ /^heddle_/ { print $3 }' >stdout
[ -s stdout ] && fail "libheddle.so exports $(head -n 5 stdout)"
nm -g --defined-only "$there/lib/libheddle.a" | awk 'NF == 3 && $3 !~ /^heddle_/ { print $3 }' >stdout
[ -s stdout ] && fail "libheddle.a exports $(head -n 5 stdout)"
for name in $(sed -n 's/^HEDDLE_API .*[ *]\(heddle_[a-z_]*\)(.*/\1/p' "$there/include/heddle/heddle.h"); do
    nm -D "$there/lib/libheddle.so" | grep -q " T $name$" || fail "libheddle.so lacks $name"
    nm -g "$there/lib/libheddle.a" | grep -q " T $name$" || fail "libheddle.a lacks $name"
done

# --- the trees out of reach, where the kernel lets us: an empty folder mounted over each ---
hidden=
mkdir empty
# shellcheck disable=SC2016
hide='mount --bind "$1" "$2" && { [ ! -d "$3" ] || mount --bind "$1" "$3"; } && shift 3 && exec "$@"'
if unshare -rm sh -c "$hide" sh "$work/empty" "$source_tree" "$build_tree" true 2>/dev/null; then
    hidden=yes
else
    echo "mounts are not allowed here: the trees stay visible, their names are searched for only"
fi
away() {
    if [ $hidden ]; then
        unshare -rm sh -c "$hide" sh "$work/empty" "$source_tree" "$build_tree" "$@"
    else
        "$@"
    fi
}
[ $hidden ] && away ls "$source_tree/CMakeLists.txt" >/dev/null 2>&1 && fail "the source tree can be seen"

# --- the installed program ---
away "$there/bin/heddle" build --hw=tiny >stdout 2>stderr || fail "build: $(cat stderr)"
for engine in ref func rtl; do
    away "$there/bin/heddle" run digits --engine=$engine --hw=tiny -i "$golden/in_0.bin" -o "out $engine" >stdout 2>stderr ||
        fail "run digits on $engine: $(cat stderr)"
    same "out $engine/out_0.bin" "$golden/out_0.bin" "digits on $engine"
done
away "$there/bin/heddle" run --prog "$there/share/heddle/driver/examples/matmul.c" --hw=tiny >stdout 2>stderr ||
    fail "--prog: $(cat stderr)"
away "$there/bin/heddle" targets >stdout 2>stderr || fail "targets: $(cat stderr)"
grep -q '^vanilla ' stdout || fail "targets: $(cat stdout)"
away "$there/bin/heddle" run digits --target=vanilla --hw=tiny --engine=func -i "$golden/in_0.bin" >stdout 2>stderr ||
    fail "an example target: $(cat stderr)"
away "$there/bin/heddle" compile digits --hw=tiny -o digits.tar 2>stderr || fail "compile: $(cat stderr)"
away "$there/bin/heddle" run digits.tar --engine=func --allow-native-targets -i "$golden/in_0.bin" \
    --expect "$golden/out_0.bin" >stdout 2>stderr || fail "run of a package: $(cat stderr)"
away "$there/bin/heddle" new-target mine >stdout 2>stderr || fail "new-target: $(cat stderr)"
away "$there/bin/heddle" check-target mine --allow-native-targets >stdout 2>stderr ||
    fail "check-target: $(cat stderr stdout)"

# --- a user's program: docs/API.md's two files, by CMake and by pkg-config ---
mkdir answer
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' API.md >answer/answer.c
awk '/^```cmake$/ { on = 1; next } /^```/ { on = 0 } on' API.md >answer/CMakeLists.txt
check() { # check WORD COMMAND...
    local word=$1
    shift
    rm -f out.bin
    away "$@" "$golden/model.tflite" "$golden/in_0.bin" out.bin >stdout 2>stderr || fail "$word: $(cat stderr)"
    same out.bin "$golden/out_0.bin" "$word"
    grep -q '"heddle.stats.v2"' stdout || fail "$word: no report"
}
(CC=cc cmake -S answer -B answer/build "-DCMAKE_PREFIX_PATH=$there" && cmake --build answer/build) >stdout 2>&1 ||
    fail "CMake: $(tail -n 20 stdout)"
check "CMake, shared" answer/build/answer
ENGINE=rtl check "CMake, shared, RTL" answer/build/answer
HEDDLE_HOME=$there/share/heddle check "CMake, static" answer/build/answer_static
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$there/lib/pkgconfig
    eval cc -std=c11 -Wall -Wextra -Werror answer/answer.c "$(pkg-config --cflags --libs heddle)" \
        "'-Wl,-rpath,$there/lib'" -o answer/by_pc 2>stderr || fail "pkg-config: $(cat stderr)"
    check "pkg-config" answer/by_pc
    [ "$(pkg-config --modversion heddle)" = "$("$there/bin/heddle" --version | awk '{ print $2 }')" ] ||
        fail "heddle.pc and heddle --version differ"
    [ -e "$(eval echo "$(pkg-config --variable=datadir heddle)")/hw/accel.json" ] || [ -e \
        "$(pkg-config --variable=datadir heddle)/hw/accel.json" ] || fail "heddle.pc: datadir"
fi
c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++ "$there/include/heddle/heddle.h" 2>stderr ||
    fail "heddle.h as C++: $(cat stderr)"
answer/build/answer nothing.tflite x y >stdout 2>stderr
[ $? = 2 ] || fail "a missing model: $(cat stderr)"
finish
