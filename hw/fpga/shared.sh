# shared.sh - sourced by build.sh, simulate.sh and route.sh: root, build; what they share.
# Environment: HW the configuration, a name of accel.json or a JSON file (default tiny); HEDDLE_PICORV32 the processor's
# Verilog (default: of build/venv-cores, `.ci/venv cores`); HEDDLE_BUILD build tree (default build).
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${HEDDLE_BUILD:-$root/build}

# config FOLDER: hd_config.svh of HW into it.
config() {
    mkdir -p "$1"
    case ${HW:=tiny} in
        *[./]*) "$build/hdgen" "$root/hw/accel.json" --config "$HW" --svh "$1" ;;
        *) cp "$build/gen/$HW/hd_config.svh" "$1" ;;
    esac
}

# tool NAME...: the path of the first that is there.
tool() {
    command -v "$@" | grep -m1 . || { echo "no $1: SKIPPED" >&2; exit 77; }
}

processor() {
    local found=${HEDDLE_PICORV32:-$(find "$build"/venv-cores/ -name picorv32.v 2>/dev/null | head -1)}
    [ -e "$found" ] || { echo "no picorv32.v (.ci/venv cores, or HEDDLE_PICORV32): SKIPPED" >&2; exit 77; }
    echo "$found"
}
