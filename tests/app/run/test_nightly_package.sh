#!/bin/bash
# `heddle compile -o`: a folder or a tar file with the same bytes every time, that builds alone with
# gcc and clang, and for each processor of --target-c-mcpu and --target-c-march without a C library, and gives the
# golden answer in each (the last two on qemu, where their tools are). Memory figures are printed, and true.
. "$(dirname "$0")/../../e2e/common.sh"

skipped=()
samples=4
# One build with full optimisation (b_gcc's and the processors'); otherwise kernels take most of this test's time.
o0=$HEDDLE_HOME/tests/e2e/o0
export CC="$o0 ${CC:-cc}"
"$heddle" compile digits --target=c -o net 2>stderr || fail "compile: $(cat stderr)"
head -c $((samples * 64)) "$models/digits/in_0.bin" >in_0.bin
head -c $((samples * 10)) "$models/digits/out_0.bin" >want.bin

# --- the tar file ---
for i in 1 2; do
    "$heddle" compile digits --target=c -o net$i.tar 2>stderr || fail "compile to tar: $(cat stderr)"
    [ $i = 2 ] || sleep 1
done
same net1.tar net2.tar "two tar files of one network"
mkdir from_tar && tar -xf net1.tar -C from_tar || fail "tar cannot read net1.tar"
same net from_tar "folder and tar file"
tar -tf net1.tar >names
LC_ALL=C sort -c names || fail "entries are not sorted"
TZ=UTC tar -tv --numeric-owner -f net1.tar | grep -v '^-rw-r--r-- 0/0 .* 1970-01-01 00:00 ' &&
    fail "an entry with mode, owner or time of this machine"
grep -rl -e "$HEDDLE_HOME" -e "$work" net && fail "a path of this machine in the package"

metadata() {
    python3 -c "import json; m = json.load(open('$1/metadata.json')); print($2)" || fail "metadata: $2"
}
[ "$(metadata net 'm["inputs"][0]["shape"], m["outputs"][0]["type"]')" = "[1, 8, 8, 1] i8" ] ||
    fail "metadata: inputs or outputs are wrong"
[ "$(metadata net 'len(m["layers"]), [t["name"] for t in m["targets"]]')" = "15 ['c']" ] ||
    fail "metadata: layers or targets are wrong"
[ "$(metadata net '[(o["kernel_h"], o["stride_w"], o["kernel"], len(o["inputs"][1]["scale"]), o["outputs"][0]["shape"]) for o in m["layers"][5]["operators"]]')" \
    = "[(3, 2, 'hdk_conv2d', 32, [1, 4, 4, 32])]" ] || fail "metadata: parameters of 05_conv2d"

[ "$(metadata net 'm["heddle"] != "", m["targets"][0]')" = \
    "True {'name': 'c', 'kind': 'c', 'version': '$("$heddle" --version | cut -d' ' -f2)', 'attributes': {'mcpu': 'any', 'march': 'any'}}" ] || fail "metadata: heddle or target"
[ "$(metadata net 'len(m["layers"][0]["operators"][0]["inputs"][1]["zero_point"])')" = 16 ] ||
    fail "metadata: zero points"

# --- external targets: their C inside, named by their layers; builds alone, the same answer ---
# brings TARGET FUNCTION: FUNCTION is what its layers call, or its name where they are made of its blocks.
brings() {
    local target=$1 function=$2 here
    rm -rf outside b_outside
    "$heddle" compile digits --target="$target" --partition=priority -o outside 2>stderr ||
        { fail "compile for $target: $(cat stderr)"; return; }
    "$heddle" compile digits --target="$target" --partition=priority -o outside.tar 2>stderr
    mkdir b_outside && tar -xf outside.tar -C b_outside && same outside b_outside "$target: folder and tar file"
    rm -rf b_outside
    here="for l in m['layers'] for o in l['operators'] if l['target'] == '$target'"
    [ "$(metadata outside "*{o.get('function', o.get('blocks_of')) $here}")" = "$function" ] ||
        fail "metadata: the functions of $target"
    grep -rl -e "$HEDDLE_HOME" -e "$work" outside && fail "a path of this machine in $target's package"
    [ -d "outside/$target" ] || fail "no sources of $target in its package"
    cmake -S outside -B b_outside "-DCMAKE_C_COMPILER=cc" "-DCMAKE_C_COMPILER_LAUNCHER=$o0" >log 2>&1 && cmake --build b_outside >>log 2>&1 ||
        { fail "$target's package does not build: $(grep -m 3 -i error log)"; return; }
    cp in_0.bin b_outside/
    (cd b_outside && ./net) >printed 2>&1 || fail "$target's package: $(cat printed)"
    cmp -s b_outside/out_0.bin want.bin || fail "$target's package: not the golden answer"
}
brings vanilla vanilla_conv2d
brings strawberry strawberry

# --- building it ---
# build NAME SOURCE CMAKE-ARGUMENT...
build() {
    local name=$1 source=$2
    shift 2
    cmake -S "$source" -B "$name" "$@" >log 2>&1 && cmake --build "$name" >>log 2>&1 ||
        { fail "$name does not build: $(grep -m 3 -i error log)"; return 1; }
}

# answer FOLDER COMMAND...: runs it there, and compares bytes and memory figures.
answer() {
    local folder=$1 arena
    shift
    cp in_0.bin "$folder/"
    (cd "$folder" && timeout 120 "$@") >printed 2>&1 || fail "$folder: exit $?: $(head -c 300 printed)"
    cmp -s "$folder/out_0.bin" want.bin || fail "$folder: not the golden answer"
    arena=$(metadata net 'm["memory"]["arena_bytes"]')
    grep -qx "arena: $arena bytes" printed || fail "$folder: arena not $arena: $(cat printed)"
    grep -qx "inferences: $samples" printed || fail "$folder: $(cat printed)"
}

for cc in gcc clang; do
    command -v $cc >/dev/null || { skipped+=("$cc not found"); continue; }
    build "b_$cc" net -DCMAKE_C_COMPILER=$cc -DCMAKE_ASM_COMPILER=$cc && answer "b_$cc" ./net
done

# bare NAME COMPILER QEMU MACHINE...
bare() {
    local name=$1 cc=$2 qemu=$3 stack
    shift 3
    command -v "$cc" >/dev/null || { skipped+=("$cc not found"); return; }
    build "b_$name" net "-DCMAKE_TOOLCHAIN_FILE=$work/net/bare/$name.cmake" || return
    for source in accelerated/*.c accelerated/runtime/*.c; do
        [ "$source" = accelerated/port_hosted.c ] || "$cc" "${bare_flags[@]}" "$source" 2>stderr ||
            fail "$cc: $source: $(head -3 stderr)"
    done
    command -v "$qemu" >/dev/null || { skipped+=("$qemu not found"); return; }
    answer "b_$name" "$qemu" "$@" -nographic -monitor none -serial none \
        -semihosting-config enable=on,target=native -kernel net
    stack=$(sed -n 's/^stack: \([0-9]*\) bytes$/\1/p' printed)
    [ "${stack:-0}" -gt 100 ] && [ "$stack" -lt 4096 ] || fail "$name: stack of '$stack' bytes"
    echo "$name: stack $stack bytes"
}
bare_flags=(-std=c11 -ffreestanding -Wall -Werror -fsyntax-only -I accelerated/runtime
    -DHD_REGISTERS=0x40000000 -DHD_MEMORY=0x60000000 -DHD_MEMORY_BYTES=0x100000)
"$heddle" compile digits -o accelerated 2>stderr || fail "compile for systolic: $(cat stderr)"
bare cortex-m arm-none-eabi-gcc qemu-system-arm -M mps2-an385

# processor ATTRIBUTE COMPILER QEMU MACHINE...: a package for the processor builds for it without further options.
processor() {
    local attribute=$1 cc=$2 qemu=$3 name=${1#*=}
    shift 3
    command -v "$cc" >/dev/null && command -v "$qemu" >/dev/null || { skipped+=("$cc or $qemu not found"); return; }
    rm -rf for_one
    "$heddle" compile digits --target=c "--target-c-$attribute" -o for_one 2>stderr || fail "$attribute: $(cat stderr)"
    [ "$(metadata for_one "m['targets'][0]['attributes']['${attribute%%=*}']")" = "$name" ] || fail "$attribute: metadata"
    build "b_$name" for_one && answer "b_$name" "$qemu" "$@" -nographic -monitor none -serial none \
        -semihosting-config enable=on,target=native -kernel net
    grep -q -e "-$attribute" "b_$name/CMakeFiles/model.dir/flags.make" || fail "$attribute: other flags"
}
cortex_m() { processor "mcpu=$1" arm-none-eabi-gcc qemu-system-arm -M "$2"; }
cortex_m cortex-m55 mps3-an547
bare riscv32 riscv64-unknown-elf-gcc qemu-system-riscv32 -M virt -bios none
bare riscv64 riscv64-unknown-elf-gcc qemu-system-riscv64 -M virt -bios none
cortex_m cortex-m0 mps2-an385 # which is a Cortex-M3's: qemu has no board for these two that is large enough
cortex_m cortex-m0plus mps2-an385
cortex_m cortex-m4 mps2-an386
cortex_m cortex-m7 mps2-an500
processor march=rv32imc riscv64-unknown-elf-gcc qemu-system-riscv32 -M virt -bios none

# --- heddle run of a package ---
"$heddle" compile digits -o acc.tar 2>stderr || fail "compile: $(cat stderr)"
for package in net acc.tar; do # with the Verilated model that other tests built
    "$heddle" run "$package" --engine=rtl --allow-native-targets -i in_0.bin --expect want.bin \
        >stdout 2>stderr || fail "run $package on rtl: exit $?: $(cat stderr)"
    grep -qx "verdict: match: .* equal, bit for bit, to the expected outputs (.*)" stdout || fail "$package: $(cat stdout)"
done
grep -q " cycles each" stdout || fail "no cycles from rtl: $(cat stdout)"
export XDG_CACHE_HOME=$work/cache
expect 2 "heddle: acc.tar holds C that would be compiled and executed; if you trust it, give --allow-native-targets" \
    "$heddle" run acc.tar --engine=func
for package in net1.tar acc.tar net; do
    "$heddle" run "$package" --engine=func --allow-native-targets -i in_0.bin --expect want.bin -o ran \
        >stdout 2>stderr || fail "run $package: exit $?: $(cat stderr)"
    grep -qx "verdict: match: .* equal, bit for bit, to the expected outputs (.*)" stdout || fail "$package: $(cat stdout)"
    cmp -s ran/out_0.bin want.bin || fail "run $package: not the golden answer"
done
head -c 40 /dev/zero | tr '\0' '\1' | cat - <(tail -c +41 want.bin) >other.bin
"$heddle" run acc.tar --engine=func --allow-native-targets -i in_0.bin --expect other.bin >stdout 2>stderr
[ $? = 1 ] && grep -q "^    expected 1 (.*), found .*: off by [0-9]* steps" stderr ||
    fail "a wrong answer of a package: $(cat stderr)"

# --- --engine=qemu: the answer, on the processor that the package names; packages that cannot run there are refused ---
qemu() { "$heddle" run "$1" --engine=qemu --allow-native-targets -i in_0.bin "${@:2}"; }
expect 2 "heddle: --engine=qemu: it runs packages; heddle compile MODEL --target=c --target-c-mcpu=cortex-m55 -o net.tar makes one" \
    "$heddle" run digits --engine=qemu
expect 2 "heddle: --engine=qemu: not with --prog" "$heddle" run --engine=qemu --prog "$HEDDLE_HOME/driver/examples/matmul.c"
expect 2 "heddle: --seconds: only with --engine=qemu, --prog or an external target" "$heddle" run digits --engine=ref --seconds=3
expect 2 "heddle: --engine=qemu: not with --jobs" qemu net1.tar -j2
expect 2 "heddle: --engine=qemu: not with --reset-state" qemu net1.tar --reset-state
expect 2 "heddle: --host=iss: only the RTL has cycles; expected --engine=rtl, found qemu" qemu net1.tar --host=iss
mkdir linking && tar -xf net1.tar -C linking && sed -i 's/"libraries":.*\[\]/"libraries": ["dnnl"]/' linking/metadata.json
mkdir strange && tar -xf net1.tar -C strange && sed -i 's/"mcpu":.*"any"/"mcpu": "cortex-m85"/' strange/metadata.json
expect 3 "heddle: --engine=qemu: the package has commands for an accelerator (sys16), which qemu does not have; compile with \
--target=c, or run it with --host=iss" qemu acc.tar
expect 3 "heddle: --engine=qemu: library 'dnnl' of a target: without an operating system there is none; expected \"library_dirs\" with one for the processor" qemu linking
expect 3 "heddle: --engine=qemu: the package is for cortex-m85, for which qemu has no machine; it has for cortex-m0, cortex-m0plus, \
cortex-m3, cortex-m4, cortex-m7, cortex-m55, rv32im, rv32imc, rv64gc" qemu strange
mkdir tools && find /usr/bin /bin ! -name 'qemu-system-*' -exec ln -sf -t tools {} + 2>/dev/null
PATH=$work/tools expect 5 "heddle: --engine=qemu: cannot find 'qemu-system-riscv32': install the package qemu-system-misc" qemu net1.tar
rm tools/riscv64-unknown-elf-gcc 2>/dev/null
# stand_in TEXT: installs a script as qemu-system-riscv32.
stand_in() {
    rm -f tools/qemu-system-riscv32
    printf '#!/bin/bash\n[ "$1" = --version ] && echo "QEMU emulator version 0" && exit\n%s\n' "$1" >tools/qemu-system-riscv32
    chmod +x tools/qemu-system-riscv32
}
stand_in true
PATH=$work/tools expect 5 "heddle: --engine=qemu: cannot find 'riscv64-unknown-elf-gcc': install the package gcc-riscv64-unknown-elf" \
    qemu net1.tar
if command -v riscv64-unknown-elf-gcc qemu-system-riscv32 >/dev/null; then
    expect 0 "" qemu net1.tar --expect want.bin -o on_qemu
    cmp -s on_qemu/out_0.bin want.bin || fail "qemu: not the golden answer"
    grep -qx "verdict: match: .* equal, bit for bit, to the expected outputs (want.bin)" stdout || fail "qemu: $(cat stdout)"
    each=$(sed -n "s/^digits, engine qemu: $samples inferences on rv32imc (virt), \([0-9.]*\) instructions each$/\1/p" stdout)
    [ -n "$each" ] || fail "qemu: $(cat stdout)"
    expect 0 "" qemu net1.tar
    grep -q " to the expected outputs (the same package on this machine)$" stdout || fail "nothing expected: $(cat stdout)"
    expect_other=$("$heddle" run net1.tar --engine=qemu --allow-native-targets -i in_0.bin --expect other.bin 2>&1)
    [ $? = 1 ] && grep -q "expected 1 (.*), found" <<<"$expect_other" || fail "a wrong answer on qemu: $expect_other"
    # The count: every instruction that qemu itself logs, and those of run() separately.
    cp cache/heddle/qemu/*/net.elf .
    machine=(qemu-system-riscv32 -M virt -bios none -nographic -monitor none -serial none
        -semihosting-config "enable=on,target=native" -kernel net.elf)
    "${machine[@]}" -plugin "$HEDDLE_BUILD/libheddle_qemu.so,out=counts" >printed 2>&1 || fail "the plugin: $(cat printed)"
    read -r calls network all <counts
    [ "$calls" = $samples ] && [ "$(awk "BEGIN { printf \"%.1f\", $network / $calls }")" = "$each" ] || fail "counts: $(cat counts), $each"
    logged=$("${machine[@]}" -singlestep -d exec,nochain -D /dev/stderr 2>&1 >/dev/null | grep -c 'Trace [0-9]') # the program's text is among it
    [ "$logged" = "$all" ] && [ "$network" -gt $((all * 9 / 10)) ] || fail "$all instructions counted, $network in run(), $logged logged"
    ln -s "$(command -v riscv64-unknown-elf-gcc)" tools/
    there=$(command -v qemu-system-riscv32)
    stand_in "case \"\$*\" in *-plugin*) echo 'Could not load plugin: version' && exit 1;; esac; exec $there \"\$@\""
    PATH=$work/tools expect 0 "" qemu net1.tar
    grep -q "on rv32imc (virt), instructions not counted: this qemu takes another plugin$" stdout || fail "no plugin: $(cat stdout)"
    stand_in 'echo "qemu: unsupported machine type"; exit 1'
    PATH=$work/tools expect 3 "heddle: --engine=qemu: this qemu-system-riscv32 has no machine virt, for rv32imc" qemu net1.tar
    stand_in 'echo inference failed; exit 2'
    PATH=$work/tools expect 4 "heddle: --engine=qemu: the program failed on virt of qemu-system-riscv32: inference failed?" qemu net1.tar
    stand_in 'sleep 60'
    PATH=$work/tools expect 4 "heddle: --engine=qemu: qemu-system-riscv32 did not end within 1 seconds and was stopped; --seconds=N \
gives it more" qemu net1.tar --seconds=1
    [ -z "$(ls -d cache/heddle/qemu/run.* 2>/dev/null)" ] || fail "folders of runs stay"
else
    skipped+=("--engine=qemu: riscv64-unknown-elf-gcc or qemu-system-riscv32 not found")
fi

# --- tar files that heddle did not write: refused, and nothing lands outside ---
python3 - <<'END' || fail "no bad tar files"
import io, tarfile
def write(name, entry, kind=tarfile.REGTYPE, form=tarfile.USTAR_FORMAT):
    with tarfile.open(name, "w", format=form) as t:
        e = tarfile.TarInfo(entry)
        e.type, e.size, e.linkname = kind, 0 if kind != tarfile.REGTYPE else 4, "/etc/passwd"
        t.addfile(e, io.BytesIO(b"evil") if e.size else None)
write("dotdot.tar", "../evil")
write("deep.tar", "a/../../evil")
write("absolute.tar", "/tmp/evil")
write("link.tar", "evil", tarfile.SYMTYPE)
write("space.tar", "e vil")
raw = open("net1.tar", "rb").read()
for form in "gnu", "pax": # the same package by other programs, long names and times of its own
    with tarfile.open("net1.tar") as t, tarfile.open(form + ".tar", "w", format=getattr(tarfile, form.upper() + "_FORMAT")) as to:
        for e in t.getmembers():
            e.mtime = 1.5 if form == "pax" else 1
            to.addfile(e, t.extractfile(e))
        e = tarfile.TarInfo("n" * 120 + "/" + "m" * 120)
        to.addfile(e)
open("short.tar", "wb").write(raw[:700])
open("sum.tar", "wb").write(raw[:150] + bytes([raw[150] ^ 1]) + raw[151:])
open("text.tar", "wb").write(b"no archive" * 100)
END
for good in gnu pax; do
    "$heddle" run $good.tar --engine=func --allow-native-targets -i in_0.bin --expect want.bin >stdout 2>stderr ||
        fail "$good.tar: $(cat stderr)"
done
for bad in dotdot deep absolute link space short sum text; do
    "$heddle" run $bad.tar --engine=func --allow-native-targets >stdout 2>stderr
    [ $? = 2 ] && grep -q "tar file: " stderr || fail "$bad.tar: $(cat stderr)"
done
find "$work/cache" "$work/.." -maxdepth 4 -name evil 2>/dev/null | grep . && fail "a file was written outside"

# --- an accelerator that does not exist; an arena that is too small ---
# hosted SOURCE [OPTION...]: build with one gcc command, without CMake.
hosted() {
    gcc -std=c11 -Wall -Werror -I "$1" -I "$1/runtime" -Wa,-I"$1" -o "$1/program" "${@:2}" "$1"/*.c \
        "$1"/runtime/*.c "$1"/runtime/kernels/*.c 2>stderr || { fail "$1: $(head -3 stderr)"; return 1; }
}
if hosted accelerated; then
    accelerated/program >printed && fail "an accelerated network ran without an accelerator"
    grep -q "define HD_REGISTERS" printed || fail "no accelerator: $(cat printed)"
fi
if hosted accelerated -DHD_REGISTERS=0x40000000 -DHD_MEMORY=0x60000000 -DHD_MEMORY_BYTES=64; then
    accelerated/program >printed && fail "64 bytes of memory were enough"
    grep -q "needs more than HD_MEMORY_BYTES" printed || fail "64 bytes of memory: $(cat printed)"
fi
cp -r net small
arena=$(metadata net 'm["memory"]["arena_bytes"]')
sed -i "s/MODEL_ARENA_BYTES .*/MODEL_ARENA_BYTES $((arena - 64))/" small/model.h
if hosted small; then
    small/program >printed && fail "an arena 64 bytes too small was not noticed"
    grep -q "the arena is too small" printed || fail "small arena: $(cat printed)"
fi
for s in "${skipped[@]}"; do echo "not tried: $s"; done
finish
