#!/bin/bash
# Objects in the cache are executed: one of another user, or one that others can write, is not loaded; one that is
# truncated or altered is rebuilt.
. "$(dirname "$0")/../common.sh"
export XDG_CACHE_HOME=$work/shared/cache
root=$XDG_CACHE_HOME/heddle host=$XDG_CACHE_HOME/heddle/host
run() { "$heddle" run digits --engine=func -o out; }
good() {
    run >stdout 2>stderr || fail "$1: $(cat stderr)"
    grep -q "^verdict: match" stdout || fail "$1: $(cat stdout)"
}
umask 002
good "a new cache"
so=$(echo "$host"/*/model.so) me=$(id -u)
folder=$(dirname "$so")
[ -f "$so.digest" ] || fail "no digest beside $so"
for made in "$root" "$host" "$folder" "$so"; do
    [ "$(stat -c %a "$made")" = 700 ] || fail "$made has mode $(stat -c %a "$made")"
done
size=$(stat -c %s "$so")
made=$(stat -c %i "$so")
good "found again"
[ "$(stat -c %i "$so")" = "$made" ] || fail "compiled twice"

# --- damaged: rebuilt silently ---
truncate -s 1000 "$so"
good "cut short"
[ "$(stat -c %s "$so")" = "$size" ] || fail "not made again"
printf '\x55' | dd of="$so" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
printf '\xaa' | dd of="$so" bs=1 seek=$((size / 3)) conv=notrunc 2>/dev/null
good "altered"
: >"$so"
good "empty"
rm "$so.digest"
good "no digest"
[ -f "$so.digest" ] || fail "no new digest"
echo "nonsense" >"$so.digest"
good "another digest"

# --- a user's folder that others can write is closed; such files and links are refused ---
chmod 777 "$root" "$host" "$folder"
good "folders of mode 777"
for made in "$root" "$host" "$folder"; do
    [ "$(stat -c %a "$made")" = 700 ] || fail "$made still has mode $(stat -c %a "$made")"
done
advice="remove it, or set XDG_CACHE_HOME to a folder of your own"
chmod 777 "$so"
expect 2 "heddle: '$so' can be written by other users (mode 0777), and heddle would execute what is in it; $advice" run
chmod 700 "$so"
mv "$so" "$so.moved"
ln -s "$so.moved" "$so"
expect 2 "heddle: cannot read '$so': it is a link; remove it" run
rm "$so"
mv "$so.moved" "$so"
mv "$folder" "$folder.moved"
ln -s "$folder.moved" "$folder"
expect 2 "heddle: cannot open folder '$folder': it is a link or no folder" run
rm "$folder"
mv "$folder.moved" "$folder"
good "in place again"

# --- another user's: only root can make such files for a test ---
other() {
    local message="'$1' belongs to user 65534, heddle runs as user 0 and would execute what is in it; $advice"
    expect 2 "heddle: $message" run
    [ -e planted ] && fail "$1: what was planted ran"
    chown -h 0 "$1"
}
if [ "$me" = 0 ]; then
    cat >plant.c <<'C'
#include <stdio.h>
__attribute__((constructor)) static void planted(void) { fclose(fopen("planted", "w")); }
C
    cp "$so" kept.so
    cc -shared -fPIC plant.c -o "$so" || fail "plant.c"
    chown 65534 "$so"
    chmod 755 "$so"
    other "$so"
    cp kept.so "$so"
    for made in "$folder" "$host" "$root"; do
        chown 65534 "$made"
        other "$made"
    done
    ln -s "$root" "$work/link"
    mkdir "$work/to" && ln -s "$root" "$work/to/heddle" && chown -h 65534 "$work/to/heddle"
    XDG_CACHE_HOME=$work/to other "$work/to/heddle"
    XDG_CACHE_HOME=$work/to good "root's link to root's folder"
    good "root's again"
    # the cache of another user is not root's, but all may use root's
    chmod 755 "$work" "$work/shared" "$XDG_CACHE_HOME" "$root" "$host" "$folder" "$so"
    chmod 644 "$so.digest"
else
    echo "objects of other users: only root can test them"
fi
finish
