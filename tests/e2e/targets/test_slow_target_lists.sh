#!/bin/bash
# Whatever list of targets is selected, the answer has the same bytes: resnet8, kws and vww of the shared
# models against their goldens where they are, else the networks of tests/models. Each target named
# is used in one of the networks at least.
. "$(dirname "$0")/../common.sh"
shared=$HEDDLE_HOME/../shared/models
lists=(
    "vanilla"
    "vanilla,systolic --partition=priority"
    "systolic,vanilla"
    "strawberry"
    "strawberry,systolic --partition=priority"
    "vanilla,strawberry,shifty,systolic --partition=priority"
    "shifty,systolic"
    "shifty,c --partition=priority"
    "systolic:a,systolic:b --target-a-hw=sys16 --target-b-hw=sys8"
)
export OMP_NUM_THREADS=1
if echo '#include <dnnl.h>' | ${CC:-cc} -fsyntax-only -x c - 2>/dev/null; then
    lists+=("onednn --partition=priority" "onednn,vanilla,systolic --partition=priority")
fi

# prepare NAME: its file, inputs and expected outputs, one after another.
prepare() {
    if [ -e "$shared/$1/model.tflite" ]; then
        file=$shared/$1/model.tflite
        for i in 0 1; do cat "$shared/$1/in_${i}_0.bin"; done >in.bin
        for i in 0 1; do cat "$shared/$1/out_${i}_0.bin"; done >want.bin
        return
    fi
    case $1 in resnet8) file=resnet8_own ;; kws) file=dscnn_own ;; vww) file=mobilenet025_own ;; esac
    cp "$models/$file/in_0.bin" in.bin
    cp "$models/$file/out_0.bin" want.bin
}

n=0
for model in resnet8 kws vww; do
    prepare $model
    for list in "${lists[@]}"; do
        # shellcheck disable=SC2086
        "$heddle" run "$file" --engine=func --no-search --target=$list -i in.bin --expect want.bin \
            >stdout 2>stderr || fail "$model, $list: exit $?: $(head -c 300 stderr)"
        grep -q '^verdict: match: .* to the expected outputs ' stdout ||
            fail "$model, $list: $(grep ^verdict stdout)"
        awk '$1 ~ /^[0-9][0-9]/ {print $3}' stdout >>took
        n=$((n + 1))
    done
done
for target in vanilla strawberry systolic a; do
    grep -qx $target took || fail "$target took no operator"
done
echo "$n runs of $(dirname "${file%/model.tflite}")/{resnet8,kws,vww}"
finish
