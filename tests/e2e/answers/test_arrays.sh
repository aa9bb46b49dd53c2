#!/bin/bash
# .npy and .npz as inputs and expected outputs: element type, shape and order must be the model's, or the
# answer to another question would be called a match.
. "$(dirname "$0")/../common.sh"
export heddle
digits=$models/digits in=serving_default_input:0 out=StatefulPartitionedCall:0
head -c 64 "$digits/in_0.bin" >one.bin
head -c 10 "$digits/out_0.bin" >out.bin
run() { "$heddle" run digits --engine=ref "$@" >stdout 2>stderr || fail "$*: $(cat stderr)"; }
# array SHAPE MESSAGE: refused for the input 1x8x8x1
expected="expected (1, 8, 8, 1), or (N, 8, 8, 1) for N inferences"
array() {
    npy '|i1' "$1" one.bin a.npy
    expect 2 "heddle: a.npy: $2" "$heddle" run digits --engine=ref -i a.npy
}

# --- what is accepted ---
for shape in '(1, 8, 8, 1)' '(1,8,8,1,)' '(1, 1, 8, 8, 1)'; do
    npy '|i1' "$shape" one.bin a.npy
    run -i a.npy --expect out.bin
    grep -q "1 inferences" stdout || fail "$shape: $(tail -n 3 stdout)"
done
npy '|i1' '(360, 8, 8, 1)' "$digits/in_0.bin" all.npy
npy '|i1' '(360, 10)' "$digits/out_0.bin" all_out.npy
run -i all.npy --expect all_out.npy
grep -q "360 inferences" stdout || fail "a batch: $(tail -n 3 stdout)"

# --- shapes ---
array '(1, 1, 8, 8)' "input '$in' has shape (1, 1, 8, 8), $expected"
array '(64,)' "input '$in' has shape (64,), $expected"
array '(8, 8)' "input '$in' has shape (8, 8), $expected"
array '()' "input '$in' has shape (), $expected"
array '(0, 8, 8, 1)' "input '$in' has shape (0, 8, 8, 1), $expected"
array '(2, 8, 8, 1)' "input has shape (2, 8, 8, 1), but 64 bytes of data"
array '(99999999999999,)' ".npy header: expected smaller dimensions, found '9,), }'"
array '(-1, 64)' ".npy header: expected a shape such as (1, 8, 8, 1), found '-1, 64), }'"
array '64' ".npy header: expected a shape such as (1, 8, 8, 1), found '64, }'"
array '(64)' ".npy header: expected ',' or ')', found ', }'"
npy '|i1' '(1, 10, 1)' out.bin bad.npy
expect 2 "heddle: bad.npy: expected output '$out' has shape (1, 10, 1), expected (1, 10), or (N, 10) for N inferences" \
    "$heddle" run digits --engine=ref -i one.bin --expect bad.npy

# --- types, order, keys ---
npy '|u1' '(1, 8, 8, 1)' one.bin a.npy
expect 2 "heddle: a.npy: input has type u1, expected i1 (i8)" "$heddle" run digits --engine=ref -i a.npy
npy '>f4' '(1, 8, 8, 1)' one.bin a.npy
expect 2 "heddle: a.npy: .npy element type '>f4': expected little-endian numbers such as '<f4' or '|i1'" \
    "$heddle" run digits --engine=ref -i a.npy
# header TEXT MESSAGE
header() {
    local n=$((${#1} + 1))
    # shellcheck disable=SC2059
    { printf '\x93NUMPY\x01\x00'"\\x$(printf '%02x' $((n % 256)))\\x$(printf '%02x' $((n / 256)))"
      printf '%s\n' "$1"; cat one.bin; } >h.npy
    expect 2 "heddle: h.npy: $2" "$heddle" run digits --engine=ref -i h.npy
}
header "{'descr': '|i1', 'fortran_order': True, 'shape': (1, 8, 8, 1)}" \
    ".npy is in Fortran order; save it with numpy.ascontiguousarray"
header "{'descr': '|i1', 'descr': '|i1', 'fortran_order': False, 'shape': (1, 8, 8, 1)}" \
    ".npy header: key 'descr' is a duplicate"
header "{'x': \"'descr': '|i1'\", 'descr': '>f8', 'fortran_order': False, 'shape': (1, 8, 8, 1)}" \
    ".npy header: key 'x' is unknown"
header "{'descr': \"'descr': '|i1'\", 'fortran_order': False, 'shape': (1, 8, 8, 1)}" \
    ".npy element type ''descr': '|i1'': expected little-endian numbers such as '<f4' or '|i1'"
header "{'descr': [('a', '|i1')], 'fortran_order': False, 'shape': (64,)}" \
    ".npy element type: expected numbers, found a structure"
header "{'descr': '|i1', 'fortran_order': False}" ".npy header: key 'shape' is missing"
header "{'descr': '|i1', 'fortran_order': 0, 'shape': ()}" \
    ".npy header: expected True or False, found '0, 'shape': ()}'"
header "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 8, 8, 1)} x" ".npy header: expected its end, found 'x'"
header "nonsense" ".npy header: expected '{', found 'nonsense'"
cp one.bin raw.npy
expect 2 "heddle: raw.npy: not a .npy file of version 1 to 3" "$heddle" run digits --engine=ref -i raw.npy

# --- .npz ---
# npz FILE MEMBER=FILE...: deflated from the second member on
npz() {
    python3 - "$@" <<'P'
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1], 'w')
for i, m in enumerate(sys.argv[2:]):
    name, path = m.split('=')
    z.writestr(name, open(path, 'rb').read(), zipfile.ZIP_DEFLATED if i else zipfile.ZIP_STORED)
z.close()
P
}
npz all.npz arr_0.npy=all.npy
npz out.npz "$out.npy=all_out.npy"
run -i all.npz --expect out.npz
grep -q "360 inferences" stdout || fail "an .npz: $(tail -n 3 stdout)"
npz two.npz other.npy=all_out.npy "$in.npy=all.npy"
run -i two.npz --expect all_out.npy
npz wrong.npz a.npy=all_out.npy b.npy=all.npy
expect 2 "heddle: wrong.npz: no array '$in' for this input; found 'a', 'b'. Name it so, or save one for each in the \
model's order" "$heddle" run digits --engine=ref -i wrong.npz
npy '|i1' '(64,)' one.bin flat.npy
npz flat.npz "$in.npy=flat.npy"
expect 2 "heddle: flat.npz, array '$in': input '$in' has shape (64,), $expected" \
    "$heddle" run digits --engine=ref -i flat.npz
npz member.npz input.txt=one.bin
expect 2 "heddle: member.npz: member 'input.txt' is no .npy file; expected arrays only" \
    "$heddle" run digits --engine=ref -i member.npz
cp all.npy nozip.npz
"$heddle" run digits --engine=ref -i nozip.npz >stdout 2>stderr
[ $? = 2 ] && grep -q "^heddle: nozip.npz: damaged .npz file: " stderr || fail "no ZIP: $(cat stderr)"
head -c $(($(stat -c %s two.npz) / 2)) two.npz >cut.npz
cp two.npz bent.npz
printf '\x55\xaa\x55' | dd of=bent.npz bs=1 seek=$(($(stat -c %s two.npz) / 2)) conv=notrunc 2>/dev/null
for file in cut bent; do
    "$heddle" run digits --engine=ref -i $file.npz >stdout 2>stderr
    [ $? = 2 ] && grep -q "^heddle: $file.npz: " stderr || fail "$file: $(cat stderr)"
done
# Each field of the directory and of the headers, and other methods.
python3 - <<'P' || fail "zip fields"
import os, struct, subprocess, sys, zipfile
heddle, good = os.environ["heddle"], open("two.npz", "rb").read()
end = good.rindex(b"PK\5\6")
entry = struct.unpack_from("<I", good, end + 16)[0]
def says(bytes_, text):
    open("odd.npz", "wb").write(bytes_)
    done = subprocess.run([heddle, "run", "digits", "--engine=ref", "-i", "odd.npz"], capture_output=True, text=True)
    assert done.returncode == 2 and text in done.stderr, (text, done)
def put(at, form, value):
    b = bytearray(good)
    struct.pack_into(form, b, at, value)
    return bytes(b)
damaged = "heddle: odd.npz: damaged .npz file: "
says(good[:-1], damaged + "no directory of a ZIP archive at its end")
says(put(end + 16, "<I", len(good)), damaged + "its directory is cut short")
says(put(end + 10, "<H", 3), damaged + "its directory is cut short")
says(put(end + 10, "<H", 0), "heddle: odd.npz: found no array, expected at least one")
says(put(entry + 28, "<H", 65535), damaged + "its directory is cut short")
says(put(entry + 42, "<I", 2**32 - 1), damaged + "a member is cut short")
says(put(entry + 20, "<I", 2**32 - 1), damaged + "a member is cut short")
says(put(entry + 24, "<I", 5), damaged + "sizes of a stored member")
says(put(entry + 24, "<I", 2**32 - 1), "its data exceed what heddle reads from a file")
says(put(entry + 16, "<I", 1), damaged + "a checksum")
says(put(entry + 10, "<H", 14), "heddle: odd.npz: member 'other.npy': expected data stored or deflated, found method 14")
says(put(entry + 8, "<H", 1), "found method 0, encrypted")
second = good.index(b"PK\1\2", entry + 4)
says(put(second + 24, "<I", 2**28), damaged + "sizes of a deflated member")
says(put(second + 24, "<I", 5), damaged + "deflated data")
P

# --- a network with two inputs: one archive for both, by name or in order ---
cat >two.ir <<'I'
heddle-ir 1
graph name="two"
row 0 name="00_add" op="ADD" tensor="y" shape="1x2x2x4" macs=0
tensor 0 i8 [1,2,2,4] input name="a" scale=(0.1) zero=(3)
tensor 1 i8 [1,2,2,4] input name="b" scale=(0.2) zero=(-5)
tensor 2 i8 [1,2,2,4] value name="y" scale=(0.3) zero=(1)
op add row=0 in=(0,1) out=(2)
border in=(0,1) out=(2)
I
head -c 16 one.bin >a.bin
tail -c 16 "$digits/in_0.bin" >b.bin
"$heddle" run two.ir --engine=ref -i a.bin -i b.bin -o raw >stdout 2>stderr || fail "two: $(cat stderr)"
npy '|i1' '(1, 2, 2, 4)' a.bin a.npy
npy '|i1' '(1, 2, 2, 4)' b.bin b.npy
npz named.npz b.npy=b.npy a.npy=a.npy
npz ordered.npz arr_0.npy=a.npy arr_1.npy=b.npy
npz single.npz arr_0.npy=b.npy
for given in "-i named.npz" "-i ordered.npz" "-i a.npy -i single.npz"; do
    # shellcheck disable=SC2086
    "$heddle" run two.ir --engine=ref $given -o got >stdout 2>stderr || fail "$given: $(cat stderr)"
    same raw/out_0.bin got/out_0.bin "$given"
done
finish
