#!/bin/bash
# The tarball of .ci/dist: the same bytes twice, with its checksum; the commit that --version prints, in a checkout, one with
# changes, the tarball, and a folder of another checkout.
. "$(dirname "$0")/../e2e/common.sh"
command -v git >/dev/null || { echo "git not found"; exit 77; }

mkdir -p checkout/.ci checkout/include && cd checkout || exit 1
cp "$HEDDLE_HOME/.ci/dist" .ci/
cp "$HEDDLE_HOME/CMakeLists.txt" "$HEDDLE_HOME/.gitattributes" .
cp -r "$HEDDLE_HOME/include/cmake" include/
printf '/build/\n' >.gitignore
git init -q . && git add -A && git -c user.name=A -c user.email=a@b.c commit -qm one || fail "git"
commit=$(git rev-parse HEAD)
version=$(sed -n 's/^project(heddle VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)

printed() { # printed SOURCE: what --version appends
    cmake -DSOURCE="$1" -DOUT="$work/out.h" -P "$1/include/cmake/commit.cmake" &&
        sed -n 's/^#define HD_COMMIT "\(.*\)"$/\1/p' "$work/out.h"
}
commits() { # commits WHAT EXPECTED SOURCE
    [ "$(printed "$3")" = "$2" ] || fail "commit of $1: expected '$2', found '$(printed "$3")'"
}
commits "a checkout" " (${commit:0:12})" "$work/checkout"
.ci/dist >"$work/first" || fail ".ci/dist"
cp "build/heddle-$version.tar.gz" "$work/first.tar.gz"
echo "# changed" >>CMakeLists.txt
commits "a checkout with changes" " (${commit:0:12}+)" "$work/checkout"
sleep 1.1 # a time in the archive would differ
.ci/dist >"$work/second" || fail ".ci/dist"
same "build/heddle-$version.tar.gz" "$work/first.tar.gz" "tarballs"
same "$work/first" "$work/second" "checksums"
(cd build && sha256sum --quiet -c "heddle-$version.tar.gz.sha256") || fail "the checksum"

tar -C "$work/checkout" -xzf "build/heddle-$version.tar.gz"
commits "a tarball" " (${commit:0:12})" "$work/checkout/heddle-$version"
cp "$HEDDLE_HOME/include/cmake/commit" "heddle-$version/include/cmake/commit"
commits "a folder of another checkout" "" "$work/checkout/heddle-$version"
finish
