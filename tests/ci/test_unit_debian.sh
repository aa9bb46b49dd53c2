#!/bin/bash
# debian/ agrees with the tree: what the build needs is .ci/packages, the library's package is named by its SONAME, what links
# statically needs is heddle.pc's, and installed files that no package takes are an error.
. "$(dirname "$0")/../e2e/common.sh"
cd "$HEDDLE_HOME" || exit 1
field() { # field PACKAGE NAME: the names of packages in a field of its paragraph
    awk -v first="$1" -v name="$2:" 'BEGIN { RS = ""; FS = "\n" }
        $1 == first { for (i = 2; i <= NF; i++) { if ($i !~ /^ /) on = $i ~ "^" name; if (on) print $i } }' debian/control |
        sed "s/^$2://" | tr ',' '\n' | sed 's/([^)]*)//; /[$]/d; s/ //g; /^$/d' | sort
}
differ() { # differ WHAT EXPECTED FOUND
    [ "$2" = "$3" ] || fail "$1: expected $(tr '\n' ' ' <<<"$2"), found $(tr '\n' ' ' <<<"$3")"
}

# Packages of build-essential, which every build has, and Verilator, which only runs need.
essential='gcc|g[+][+]|libc6-dev|make'
build=$(awk '$1 == "build" { print $2 }' .ci/packages | grep -vxE "$essential|verilator" | sort)
differ "Build-Depends" "$build" "$(field 'Source: heddle' Build-Depends | grep -v '^debhelper-compat$')"
needs=$(awk '$1 == "build" { print $2 }' .ci/packages | grep -xE "$essential|verilator" | sort)
differ "Depends of heddle" "$needs" "$(field 'Package: heddle' Depends | grep -v '^libheddle0$')"

soname=$(readelf -d "$HEDDLE_BUILD/libheddle.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
differ "SONAME" "$(sed -n 's/^Package: libheddle\([0-9]*\)$/libheddle.so.\1/p' debian/control)" "$soname"
for name in $(sed -n 's/^Requires.private: //p' include/cmake/heddle.pc.in); do
    field 'Package: libheddle-dev' Depends | grep -qE "^(lib)?${name#lib}(1g)?-dev$" ||
        fail "libheddle-dev does not need $name"
done
finish
