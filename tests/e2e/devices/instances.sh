# Shared by test_slow_instances.sh and test_nightly_instances.sh, after common.sh: a network between two
# accelerators of different configurations.
two=(--target=systolic:a,systolic:b --target-a-hw=tiny --target-b-hw=sys8)

# scatter SEED MODEL: prints --offload options that give each operator of the accelerator to a or b; SOFTMAX, which tiny
# lacks, to b.
scatter() {
    local seed=$1 row
    for row in $("$heddle" inspect "$2" --target=systolic | awk '$3 == "systolic" {print $1}'); do
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        if [ $((seed / 65536 % 2)) = 0 ] && [[ $row != *_softmax ]]; then echo "--offload=$row=a"; else echo "--offload=$row=b"; fi
    done
}

# between SEED MODEL OPTIONS...: checks the network's golden with some operators on each.
between() {
    local seed=$1 model=$2 some
    shift 2
    mapfile -t some < <(scatter "$seed" "$model")
    "$heddle" run "$model" "${two[@]}" "${some[@]}" "$@" -o out >stdout 2>stderr ||
        fail "$model, seed $seed, $*: exit $?: $(head -c 400 stderr)"
    cmp -s out/out_0.bin "$models/$model/out_0.bin" || fail "$model, seed $seed, $*: another answer"
    grep -q '^[0-9].* a  ' stdout || fail "$model, seed $seed: nothing on a"
    grep -q '^[0-9].* b  ' stdout || fail "$model, seed $seed: nothing on b"
}
